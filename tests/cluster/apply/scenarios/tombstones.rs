//! Tombstones delete objects that transship applied, and nothing else.

use serde_json::{Value, json};

use super::super::Run;
use super::super::fixture::{NAMESPACE, Project, config_map, map};
use super::{
    as_apply, assert_code, create, is_in_inventory, message_of, objects_with, patch_as, written_paths,
};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::tombstones::an_applied_object_is_deleted", an_applied_object_is_deleted),
    ("apply::tombstones::the_secret_of_another_operator_stays", the_secret_of_another_operator_stays),
    ("apply::tombstones::an_object_that_is_no_longer_ours_stays", an_object_that_is_no_longer_ours_stays),
    (
        "apply::tombstones::an_object_of_another_set_is_never_deleted",
        an_object_of_another_set_is_never_deleted,
    ),
];

const SETTINGS: &str = "ConfigMap/settings in openshift-op";
const ROOT_CA: &str = "/api/v1/namespaces/openshift-op/secrets/root-ca";

/// Makes a manifest a tombstone.
fn tombstone(manifest: &str) -> String {
    let annotations =
        "metadata:\n  annotations:\n    release.openshift.io/delete: \"true\"\n    example.test/of: test\n";
    manifest.replacen("metadata:\n", annotations, 1)
}

fn bury_settings(project: &Project) {
    project.write_manifest("20_settings", &tombstone(&config_map("settings", "one")));
}

/// Returns the output of a dry run as if it were that of `apply`.
fn dry_run(project: &Project, cluster: &TestCluster, more: &[&str]) -> Run {
    as_apply(project.apply(cluster, &[&["--dry-run"], more].concat()))
}

fn an_applied_object_is_deleted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    bury_settings(&project);
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(objects_with(&run, "deleted"), [SETTINGS]);
    assert_eq!(objects_with(&run, "held"), Vec::<String>::new());
    assert!(!is_in_inventory(cluster, "ConfigMap", "settings"));
}

/// Another operator creates a Secret with the name of a tombstone. `apply`, its dry run and `diff --live` report it and
/// leave it. `--adopt` deletes it.
fn the_secret_of_another_operator_stays(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let secrets = format!("/api/v1/namespaces/{NAMESPACE}/secrets");
    let secret = json!({"metadata": {"name": "root-ca"}, "data": {"ca.key": "Y2FuYXJ5"}});
    let before = create(cluster, "root-ca-operator", &secrets, &secret).ok().unwrap();
    let manifest = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: root-ca\n  namespace: openshift-op\n";
    project.write_manifest("20_root_ca", &tombstone(manifest));
    let object = "Secret/root-ca in openshift-op";
    let expected = "it has a tombstone, but it is not in the inventory, so transship does not delete it; \
                    its field managers are root-ca-operator; --adopt deletes it";

    let mark = cluster.audit.mark();
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(message_of(&run, "failed", object).unwrap(), expected);
    let run = dry_run(&project, cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(message_of(&run, "failed", object).unwrap(), expected);
    let run = project.run(cluster, "diff", &["--live"]);
    assert_eq!((run.code, run.stdout), (1, format!("cluster    {object} would be rejected: {expected}\n")));
    assert!(!written_paths(cluster, mark).contains(&ROOT_CA.to_owned()));
    assert_eq!(cluster.get(ROOT_CA).unwrap(), before);

    let run = dry_run(&project, cluster, &["--adopt"]);
    assert_eq!(objects_with(&run, "deleted"), [object]);
    let run = project.run(cluster, "diff", &["--live", "--adopt"]);
    assert_eq!(run.stdout, format!("cluster    {object} would be deleted\n"));
    assert_eq!(cluster.get(ROOT_CA).unwrap(), before);
    let run = project.apply_ok(cluster, &["--adopt"]);
    assert_eq!(objects_with(&run, "deleted"), [object]);
    assert!(cluster.get(ROOT_CA).is_none());
}

/// transship applied an object. Then someone replaces it, or removes the label to keep it.
fn an_object_that_is_no_longer_ours_stays(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    bury_settings(&project);
    let refusal = |reason: &str, managers: &str| {
        let run = project.apply(cluster, &["--prune"]);
        assert_code(&run, 3);
        let message = message_of(&run, "failed", SETTINGS).unwrap();
        let expected = format!(
            "it has a tombstone, but {reason}, so transship does not delete it; its field managers are {managers}; \
             --adopt deletes it"
        );
        assert_eq!(message, expected);
        let held = message_of(&run, "held", SETTINGS).unwrap();
        assert_eq!(held, "the rollout is incomplete, so nothing is pruned");
        assert!(is_in_inventory(cluster, "ConfigMap", "settings"));
    };
    let ours = cluster.get(&map("settings")).unwrap();
    let labels = json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": null}}});
    patch_as(cluster, "somebody", &map("settings"), &labels);
    refusal("it no longer has transship's label", "transship");
    cluster.delete(&map("settings"));
    let theirs = json!({"metadata": {"name": "settings", "labels": ours["metadata"]["labels"]}});
    create(cluster, "somebody", &format!("/api/v1/namespaces/{NAMESPACE}/configmaps"), &theirs).ok().unwrap();
    refusal("another object with its name exists", "somebody");
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"], Value::Null);
}

/// Not even `--adopt` deletes an object of another `ApplySet`.
fn an_object_of_another_set_is_never_deleted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    bury_settings(&project);
    let labels = json!({"metadata": {"labels": {"applyset.kubernetes.io/part-of": "applyset-other-v1"}}});
    patch_as(cluster, "somebody", &map("settings"), &labels);
    let run = project.apply(cluster, &["--adopt"]);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", SETTINGS).unwrap(),
        "it belongs to another ApplySet, applyset-other-v1, so transship does not change it"
    );
    assert!(cluster.get(&map("settings")).is_some());
}
