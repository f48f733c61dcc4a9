//! Objects that existed before stay someone else's: they are changed where nobody else owns the fields, and never
//! deleted.

use serde_json::{Value, json};

use super::super::fixture::{DEPLOYMENT_PATH, JOB_PATH, NAMESPACE, OBJECTS, Project, map};
use super::{
    assert_code, create, is_in_inventory, message_of, objects_with, patch_as, wait_until, written_paths,
};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::existing_objects::existing_objects_are_never_deleted", existing_objects_are_never_deleted),
    ("apply::existing_objects::existing_objects_can_be_adopted_later", existing_objects_can_be_adopted_later),
    (
        "apply::existing_objects::objects_without_the_label_become_ready",
        objects_without_the_label_become_ready,
    ),
    ("apply::existing_objects::existing_objects_are_not_recreated", existing_objects_are_not_recreated),
];

const SETTINGS: &str = "ConfigMap/settings in openshift-op";
const NOTE: &str = "it existed before, so transship never deletes it; --adopt takes it over";
const LABEL: &str = "applyset.kubernetes.io/part-of";

/// Creates a namespace and a ConfigMap with the names of ours, without the fields that we set.
fn make_both(cluster: &TestCluster) {
    create(cluster, "somebody", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}}))
        .ok()
        .unwrap();
    let settings = json!({"metadata": {"name": "settings"}, "data": {"precious": "his"}});
    create(cluster, "somebody", "/api/v1/namespaces/openshift-op/configmaps", &settings).ok().unwrap();
}

fn label(cluster: &TestCluster, path: &str) -> Option<Value> {
    cluster.get(path).unwrap()["metadata"]["labels"].get(LABEL).cloned()
}

/// Existing objects are reported, not written twice, and still there after `delete`.
fn existing_objects_are_never_deleted(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    make_both(cluster);
    let run = project.apply_ok(cluster, &[]);
    for object in [SETTINGS, "Namespace/openshift-op"] {
        assert_eq!(message_of(&run, "changed", object).unwrap(), NOTE);
    }
    let data = |cluster: &TestCluster| cluster.get(&map("settings")).unwrap()["data"].clone();
    assert_eq!(data(cluster), json!({"mode": "one", "precious": "his"}));
    assert_eq!(label(cluster, &map("settings")), None);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    patch_as(cluster, "somebody", &map("settings"), &json!({"data": {"mode": "his"}}));
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(message_of(&run, "changed", SETTINGS).unwrap(), "");
    assert_eq!(data(cluster)["mode"], "one");
    project.change("20_settings", "mode: one", "mode: two");
    project.apply_ok(cluster, &[]);
    assert_eq!(data(cluster)["mode"], "two");
    assert_eq!(label(cluster, &map("settings")), None);

    project.remove("20_settings");
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(message_of(&run, "released", SETTINGS).unwrap(), "it existed before transship applied it");
    assert!(!is_in_inventory(cluster, "ConfigMap", "settings"));
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 0);
    assert_eq!(objects_with(&run, "released"), ["Namespace/openshift-op"]);
    assert_eq!(data(cluster)["precious"], "his");
    assert!(cluster.get(DEPLOYMENT_PATH).is_none());
}

/// `--adopt` takes existing objects over, even later, and `delete` deletes them.
fn existing_objects_can_be_adopted_later(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    make_both(cluster);
    project.apply_ok(cluster, &[]);
    let run = project.apply_ok(cluster, &["--adopt"]);
    assert_eq!(objects_with(&run, "changed"), [SETTINGS, "Namespace/openshift-op"]);
    assert!(label(cluster, &map("settings")).is_some());
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &["--adopt"]);
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 0);
    // One of them is a tombstone.
    assert_eq!(objects_with(&run, "deleted").len(), OBJECTS);
    assert!(cluster.get("/api/v1/namespaces/openshift-op").is_none());
}

/// A Job that someone else created is not recreated when ours changes. A ConfigMap that we would only create is not
/// deleted.
fn existing_objects_are_not_recreated(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    create(cluster, "somebody", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}}))
        .ok()
        .unwrap();
    let container = json!({"name": "migrate", "image": "example.test/op:1"});
    let pod = json!({
        "serviceAccountName": "op", "automountServiceAccountToken": false, "restartPolicy": "Never", "containers": [container],
    });
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    create(cluster, "somebody", JOB_PATH.strip_suffix("/migrate").unwrap(), &job).ok().unwrap();
    let chosen = json!({"metadata": {"name": "chosen"}, "data": {"choice": "his"}});
    create(cluster, "somebody", "/api/v1/namespaces/openshift-op/configmaps", &chosen).ok().unwrap();
    project.apply_ok(cluster, &[]);
    let before = cluster.get(JOB_PATH).unwrap()["metadata"]["uid"].clone();
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", "Job.batch/migrate in openshift-op").unwrap(),
        "it existed before, and spec.template is immutable; --adopt takes it over"
    );
    let run = project.run(cluster, "delete", &[]);
    assert_code(&run, 0);
    assert_eq!(
        objects_with(&run, "released"),
        ["ConfigMap/chosen in openshift-op", "Job.batch/migrate in openshift-op", "Namespace/openshift-op"]
    );
    assert_eq!(cluster.get(JOB_PATH).unwrap()["metadata"]["uid"], before);
    assert_eq!(cluster.get(&map("chosen")).unwrap()["data"], json!({"choice": "his"}));
}

/// The readiness of an object is seen even if it does not have the label.
fn objects_without_the_label_become_ready(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    create(cluster, "somebody", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}}))
        .ok()
        .unwrap();
    cluster.stand_in.pods_fail(true);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(cluster, &["--wait"]));
        wait_until("the deployment", || cluster.get(DEPLOYMENT_PATH).is_some());
        patch_as(cluster, "somebody", DEPLOYMENT_PATH, &json!({"metadata": {"labels": {LABEL: null}}}));
        cluster.stand_in.pods_fail(false);
        let run = run.join().unwrap();
        assert_code(&run, 0);
        assert!(
            objects_with(&run, "ready").contains(&"Deployment.apps/op in openshift-op".to_owned()),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("no longer exists"), "{}", run.stderr);
    });
}
