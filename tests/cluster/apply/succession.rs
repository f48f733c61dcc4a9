//! transship succeeds managers that created the objects first, and gives the objects back.

use serde_json::{Value, json};

use super::crash::scene::Scene;
use super::fixture::{INVENTORY, NAMESPACE, Project, map};
use super::in_process::Verb;
use super::scenarios::{assert_code, create, inventory, message_of, patch_as, written_paths};
use super::storage_payload::{path, rendered};
use super::{repository, run_hosted};
use crate::TestBedCase;
use crate::audit::{self, Mark};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::succession::a_guest_is_succeeded_and_given_back", a_guest_is_succeeded_and_given_back),
    ("apply::succession::update_managers_are_succeeded", update_managers_are_succeeded),
    ("apply::succession::third_parties_keep_their_fields", third_parties_keep_their_fields),
    ("apply::succession::a_found_object_is_succeeded_later", a_found_object_is_succeeded_later),
    ("apply::succession::a_crash_at_every_request", a_crash_at_every_request),
];

const CVO: &str = "cluster-version-operator";
const LABEL: &str = "applyset.kubernetes.io/part-of";
const SETTINGS: &str = "ConfigMap/settings in openshift-op";
const ADOPTS: &str = "adopts: {from: [cluster-version-operator]}\n";

/// Returns the manifests of the guest as the cluster-version-operator of an older release has them: each with one field that
/// transship does not render.
fn manifests_of_cvo() -> Vec<Value> {
    let mut objects = rendered("hypershift-guest", "operator");
    for object in &mut objects {
        object["metadata"]["labels"]["example.test/older"] = json!("yes");
        object.as_object_mut().unwrap().remove("status");
    }
    objects
}

fn as_yaml(objects: &[Value]) -> String {
    let texts: Vec<String> = objects.iter().map(ToString::to_string).collect();
    texts.join("\n---\n")
}

fn is_create_only(object: &Value) -> bool {
    object["metadata"]["annotations"]["release.openshift.io/create-only"] == "true"
}

/// Returns the managers of the main resource of an object, each with its operation, sorted.
fn managers(live: &Value) -> Vec<String> {
    let entries = live["metadata"]["managedFields"].as_array().unwrap().iter();
    let of_object = entries.filter(|entry| entry.get("subresource").is_none());
    let mut names: Vec<String> = of_object
        .map(|entry| {
            format!("{} {}", entry["manager"].as_str().unwrap(), entry["operation"].as_str().unwrap())
        })
        .collect();
    names.sort();
    names
}

fn uids(cluster: &TestCluster, paths: &[String]) -> Vec<Value> {
    paths.iter().map(|path| cluster.get(path).unwrap()["metadata"]["uid"].clone()).collect()
}

/// Returns what was deleted since a mark, without the Lease.
fn deleted(cluster: &TestCluster, mark: Mark) -> Vec<String> {
    let entries = cluster.audit.since(mark).into_iter().filter(|entry| entry.verb.starts_with("delete"));
    let deleted = entries.map(|entry| entry.uri.split('?').next().unwrap().to_owned());
    deleted.filter(|path| !path.contains("/leases/")).collect()
}

/// The cluster-version-operator applies the same manifests first. It finds its objects again when transship has left, and needs
/// no force.
fn a_guest_is_succeeded_and_given_back(bed: &TestBed) {
    let (guest, theirs) = (&bed.guest, manifests_of_cvo());
    guest.apply_yaml_as(CVO, &as_yaml(&theirs));
    let paths: Vec<String> = theirs.iter().map(|object| path(guest, object)).collect();
    let (before, mark) = (uids(guest, &paths), guest.audit.mark());
    let role = "guest      ClusterRole.rbac.authorization.k8s.io/csi-snapshot-controller-operator-clusterrole is taken over from \
                cluster-version-operator\n  /metadata/labels/applyset.kubernetes.io~1part-of: ";
    let diff = run_hosted(bed, repository(), "diff", &["--live"]);
    assert_code(&diff, 1);
    assert!(diff.stdout.contains(role), "{}", diff.stdout);
    assert!(diff.stdout.contains("\n  /metadata/labels/example.test~1older: \"yes\" (removed)\n"));

    let run = run_hosted(bed, repository(), "apply", &["-v", "--wait", "--timeout", "60s"]);
    assert_code(&run, 0);
    let role = "ClusterRole.rbac.authorization.k8s.io/csi-snapshot-controller-operator-clusterrole";
    assert_eq!(message_of(&run, "changed", role).unwrap(), "taken over from cluster-version-operator");
    for (object, path) in theirs.iter().zip(&paths) {
        let live = guest.get(path).unwrap();
        let (is_theirs, labels) = (is_create_only(object), &live["metadata"]["labels"]);
        assert_eq!(managers(&live).contains(&format!("{CVO} Apply")), is_theirs, "{path}");
        assert_eq!(labels["example.test/older"] == "yes", is_theirs, "{path}");
        assert_eq!(labels[LABEL].is_string(), !is_theirs, "{path}");
        assert_eq!(live["metadata"]["annotations"].get("transship.openshift.io/succeeds"), None, "{path}");
    }
    assert_eq!(uids(guest, &paths), before);
    let marks = [bed.management.audit.mark(), guest.audit.mark()];
    assert_code(&run_hosted(bed, repository(), "apply", &["--wait", "--timeout", "60s"]), 0);
    assert_eq!(written_paths(&bed.management, marks[0]), Vec::<String>::new());
    assert_eq!(written_paths(guest, marks[1]), Vec::<String>::new());
    assert_eq!(deleted(guest, mark), Vec::<String>::new());

    give_back(bed, &theirs, &paths);
    assert_eq!(uids(guest, &paths), before);
    let is_inventory = |path: &String| path.contains("/configmaps/transship-");
    assert!(deleted(guest, mark).iter().all(is_inventory), "{:?}", deleted(guest, mark));
}

/// transship leaves, and the cluster-version-operator applies its manifests again.
fn give_back(bed: &TestBed, theirs: &[Value], paths: &[String]) {
    let guest = &bed.guest;
    let mark = guest.audit.mark();
    let dry = run_hosted(bed, repository(), "delete", &["--orphan", "--dry-run"]);
    assert_code(&dry, 0);
    assert_eq!(written_paths(guest, mark), Vec::<String>::new());
    let run = run_hosted(bed, repository(), "delete", &["-v", "--orphan"]);
    assert_code(&run, 0);
    let role = "ClusterRole.rbac.authorization.k8s.io/csi-snapshot-controller-operator-clusterrole";
    assert_eq!(message_of(&run, "released", role).unwrap(), "given back to cluster-version-operator");
    for path in paths {
        let live = guest.get(path).unwrap();
        let managers = managers(&live);
        assert!(managers.contains(&format!("{CVO} Apply")), "{path}: {managers:?}");
        assert!(!managers.iter().any(|manager| manager.starts_with("transship")), "{path}: {managers:?}");
        assert_eq!(live["metadata"]["labels"].get(LABEL), None, "{path}");
    }
    for cluster in [&bed.management, guest] {
        let inventories = cluster.list("/api/v1/configmaps?labelSelector=applyset.kubernetes.io%2Fid");
        assert_eq!(inventories, Vec::<Value>::new());
    }
    let deployment = "/apis/apps/v1/namespaces/clusters-example/deployments/cluster-storage-operator";
    assert!(bed.management.get(deployment).is_some(), "an object that transship created stays");
    guest.apply_yaml_as(CVO, &as_yaml(theirs));
    for path in paths {
        assert_eq!(guest.get(path).unwrap()["metadata"]["labels"]["example.test/older"], "yes", "{path}");
    }
}

/// Creates a namespace and a ConfigMap as the real cluster-version-operator does: with update requests.
fn make_settings_of_cvo(cluster: &TestCluster) {
    let namespace = json!({"metadata": {"name": NAMESPACE}});
    create(cluster, "somebody", "/api/v1/namespaces", &namespace).ok().unwrap();
    let settings = json!({"metadata": {"name": "settings"}, "data": {"mode": "theirs", "older": "theirs"}});
    create(cluster, CVO, "/api/v1/namespaces/openshift-op/configmaps", &settings).ok().unwrap();
}

/// The fields of a manager that uses update requests are taken over, and given back under this operation. If it writes the object
/// again, the next apply takes the fields over again.
fn update_managers_are_succeeded(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    make_settings_of_cvo(cluster);
    let run = project.apply(cluster, &[]);
    assert!(
        message_of(&run, "failed", SETTINGS).unwrap().contains("--adopt takes it over"),
        "{}",
        run.stderr
    );
    project.add_to_profile("standalone", ADOPTS);
    let dry = super::scenarios::as_apply(project.run(cluster, "apply", &["--dry-run"]));
    assert_eq!(
        message_of(&dry, "changed", SETTINGS).unwrap(),
        "it is taken over from cluster-version-operator; after its namespace, Namespace/openshift-op"
    );
    project.apply_ok(cluster, &[]);
    let live = || cluster.get(&map("settings")).unwrap();
    assert_eq!(live()["data"], json!({"mode": "one"}));
    assert_eq!(managers(&live()), ["transship Apply"]);
    patch_as(cluster, CVO, &map("settings"), &json!({"data": {"mode": "theirs", "newer": "theirs"}}));
    project.apply_ok(cluster, &[]);
    assert_eq!(
        (&live()["data"], managers(&live())),
        (&json!({"mode": "one"}), vec!["transship Apply".to_owned()])
    );
    assert_code(&project.run(cluster, "delete", &["--orphan"]), 0);
    assert_eq!(managers(&live()), ["cluster-version-operator Update"]);
    assert_eq!(live()["data"], json!({"mode": "one"}));
    let namespace = cluster.get("/api/v1/namespaces/openshift-op").unwrap();
    assert_eq!(namespace["metadata"]["labels"].get(LABEL), None);
    assert!(cluster.get(INVENTORY).is_none());
}

/// A third manager owns a field that transship would change, so nothing of the object is written. A field that transship does not
/// render stays with its manager.
fn third_parties_keep_their_fields(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.add_to_profile("standalone", ADOPTS);
    make_settings_of_cvo(cluster);
    patch_as(cluster, "somebody", &map("settings"), &json!({"data": {"mode": "his", "more": "his"}}));
    let before = cluster.get(&map("settings")).unwrap();
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let message = message_of(&run, "failed", SETTINGS).unwrap();
    assert!(message.contains(".data.mode (conflict with \"somebody\" using v1)"), "{message}");
    assert!(!message.contains(CVO), "{message}");
    assert_eq!(cluster.get(&map("settings")).unwrap(), before);
    project.change("20_settings", "mode: one", "mode: his");
    project.apply_ok(cluster, &[]);
    let live = cluster.get(&map("settings")).unwrap();
    assert_eq!(live["data"], json!({"mode": "his", "more": "his"}));
    assert_eq!(managers(&live), ["somebody Update", "transship Apply"]);
}

/// An object that transship found before becomes its own when the profile names the manager that created it. No request removes
/// a field of the object for a moment.
fn a_found_object_is_succeeded_later(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    make_settings_of_cvo(cluster);
    project.change("20_settings", "mode: one", "mode: theirs\n  ours: added");
    project.apply_ok(cluster, &[]);
    let live = || cluster.get(&map("settings")).unwrap();
    assert_eq!(live()["data"], json!({"mode": "theirs", "older": "theirs", "ours": "added"}));
    assert!(inventory(cluster).iter().any(|line| line.contains(" settings ") && line.ends_with(" found")));
    project.add_to_profile("standalone", ADOPTS);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(live()["data"], json!({"mode": "theirs", "ours": "added"}));
    assert_eq!(managers(&live()), ["transship Apply"]);
    let entries = cluster.audit.since(mark);
    let writes = audit::writes(&entries).into_iter();
    let real = writes.filter(|entry| !entry.dry_run && entry.uri.starts_with(&map("settings")));
    assert_eq!(real.count(), 2, "one transfers the fields, and one applies them");
    let succeeds = " succeeds=Update:cluster-version-operator";
    assert!(inventory(cluster).iter().any(|it| it.contains(" settings ") && it.ends_with(succeeds)));
}

/// Whatever interrupted a run, the next one takes the object over and records from whom.
fn a_crash_at_every_request(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let keeps = ["10_namespace", "20_settings"];
    for (name, _) in super::fixture::MANIFESTS.iter().filter(|(name, _)| !keeps.contains(name)) {
        project.remove(name);
    }
    project.place_everything_here();
    project.add_to_profile("standalone", ADOPTS);
    cluster.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-config-managed}\n");
    make_settings_of_cvo(cluster);
    Scene::standalone(cluster, project.path(), Verb::Apply).cut_off_everywhere();
    let live = cluster.get(&map("settings")).unwrap();
    assert_eq!(
        (&live["data"], managers(&live)),
        (&json!({"mode": "one"}), vec!["transship Apply".to_owned()])
    );
    let lines = inventory(cluster);
    let settings = lines.iter().find(|line| line.contains(" settings ")).unwrap();
    assert!(settings.ends_with(" succeeds=Update:cluster-version-operator"), "{settings}");
}
