//! Seeds and unmanaged fields.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::fixture::{CLASS_PATH, Project, WEBHOOK_PATH, map};
use super::other_writers::make_settings;
use super::{create, message_of, patch_as, wait_until, written_paths};
use crate::TestBedCase;
use crate::fault_rules::{Fault, RequestMatcher, SeenRequest};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::seeds::seeded_and_unmanaged_fields_keep_changes", seeded_and_unmanaged_fields_keep_changes),
    ("apply::seeds::an_empty_map_is_not_owned", an_empty_map_is_not_owned),
    (
        "apply::seeds::a_field_that_becomes_unmanaged_keeps_its_value",
        a_field_that_becomes_unmanaged_keeps_its_value,
    ),
    ("apply::seeds::adoption_keeps_unmanaged_values", adoption_keeps_unmanaged_values),
    ("apply::seeds::adoption_removes_list_items_of_others", adoption_removes_list_items_of_others),
    ("apply::seeds::seeds_are_split_after_a_crash", seeds_are_split_after_a_crash),
    (
        "apply::seeds::a_changed_object_that_was_only_created_is_pruned_with_approval",
        a_changed_object_that_was_only_created_is_pruned_with_approval,
    ),
    (
        "apply::seeds::a_seed_changed_during_creation_keeps_the_change",
        a_seed_changed_during_creation_keeps_the_change,
    ),
];

/// An unmanaged field that a test adds to a profile.
const YIELDED: &str =
    "- for: ConfigMap/settings\n  path: /data/mode\n  reason: the cluster administrator sets it\n";

/// Others change a seed and an unmanaged field. Nothing is written, and the changes stay.
fn seeded_and_unmanaged_fields_keep_changes(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let default = "storageclass.kubernetes.io/is-default-class";
    assert_eq!(cluster.get(CLASS_PATH).unwrap()["metadata"]["annotations"][default], "true");
    patch_as(cluster, "admin", CLASS_PATH, &json!({"metadata": {"annotations": {default: "false"}}}));
    let bundle =
        json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": authority(cluster)}]);
    cluster.patch(WEBHOOK_PATH, "application/json-patch+json", &bundle.to_string());
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    // The changes stay even if another field of the same object is applied.
    project.change(
        "40_class",
        "provisioner: example.test/fast",
        "provisioner: example.test/fast\nallowVolumeExpansion: true",
    );
    project.change("40_webhook", "resources: [gadgets]", "resources: [gizmos]");
    project.apply_ok(cluster, &[]);
    let class = cluster.get(CLASS_PATH).unwrap();
    assert_eq!(
        (&class["metadata"]["annotations"][default], &class["allowVolumeExpansion"]),
        (&json!("false"), &json!(true))
    );
    let webhook = &cluster.get(WEBHOOK_PATH).unwrap()["webhooks"][0];
    assert_eq!(webhook["rules"][0]["resources"], json!(["gizmos"]));
    assert_eq!(webhook["clientConfig"]["caBundle"], json!(authority(cluster)));
}

/// The same if the field is the only one of its map: transship does not own the empty map.
fn an_empty_map_is_not_owned(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change("40_class", "    example.test/of: test\n", "");
    project.apply_ok(cluster, &[]);
    let default = "storageclass.kubernetes.io/is-default-class";
    patch_as(
        cluster,
        "admin",
        CLASS_PATH,
        &json!({"metadata": {"annotations": {default: "false", "his": "too"}}}),
    );
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// A field becomes unmanaged. It keeps its value, and later changes of others stay.
fn a_field_that_becomes_unmanaged_keeps_its_value(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change("20_settings", "mode: one", "mode: one\n  other: one");
    project.apply_ok(cluster, &[]);
    project.add_to_profile("standalone", YIELDED);
    project.change("20_settings", "other: one", "other: two");
    project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"], json!({"mode": "one", "other": "two"}));
    patch_as(cluster, "admin", &map("settings"), &json!({"data": {"mode": "his"}}));
    project.change("20_settings", "other: two", "other: three");
    project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"], json!({"mode": "his", "other": "three"}));
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// An adopted object keeps the value of an unmanaged field, and nothing else.
fn adoption_keeps_unmanaged_values(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change("20_settings", "mode: one", "mode: one\n  other: one");
    project.add_to_profile("standalone", YIELDED);
    make_settings(cluster, &json!({"name": "settings"}));
    project.apply_ok(cluster, &["--adopt"]);
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"], json!({"mode": "theirs", "other": "one"}));
}

/// Adoption removes a webhook that is not rendered, and keeps the CA bundle of ours.
fn adoption_removes_list_items_of_others(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let webhook = |name: &str| {
        json!({"name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
            "clientConfig": {"url": "https://theirs.example.test/", "caBundle": authority(cluster)},
            "rules": [{"apiGroups": ["example.test"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["gadgets"]}]})
    };
    let config = json!({"metadata": {"name": "op"}, "webhooks": [webhook("op.example.test"), webhook("theirs.example.test")]});
    let all = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    create(cluster, "kubectl-client-side-apply", all, &config).ok().unwrap();
    project.apply_ok(cluster, &["--adopt"]);
    let webhooks = cluster.get(WEBHOOK_PATH).unwrap()["webhooks"].as_array().unwrap().clone();
    assert_eq!(webhooks.len(), 1, "{webhooks:#?}");
    assert_eq!(webhooks[0]["clientConfig"]["url"], "https://op-webhook.clusters-example.svc:443/check");
    assert_eq!(webhooks[0]["clientConfig"]["caBundle"], json!(authority(cluster)));
}

/// An object that transship only creates leaves the payload after its user changed it. It is pruned only with approval.
fn a_changed_object_that_was_only_created_is_pruned_with_approval(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &["--wait"]);
    patch_as(cluster, "kubectl-edit", &map("chosen"), &json!({"data": {"choice": "theirs"}}));
    project.remove("30_chosen");
    let run = project.apply_ok(cluster, &["--prune"]);
    assert_eq!(
        message_of(&run, "held", "ConfigMap/chosen in openshift-op").as_deref(),
        Some("transship only created it, and others changed it; --approve-prune deletes it"),
        "{}",
        run.stderr
    );
    assert_eq!(cluster.get(&map("chosen")).unwrap()["data"]["choice"], "theirs");
    project.apply_ok(cluster, &["--prune", "--approve-prune", "1"]);
    assert_eq!(cluster.get(&map("chosen")), None);
}

/// Returns the fields of `transship-seed`.
fn seeded(cluster: &TestCluster, path: &str) -> Value {
    let live = cluster.get(path).unwrap();
    let entries = live["metadata"]["managedFields"].as_array().unwrap().iter();
    let mut entries = entries.filter(|entry| entry["manager"] == "transship-seed");
    entries.next().map(|entry| entry["fieldsV1"].clone()).unwrap_or_default()
}

/// A run was interrupted after it created an object together with its seeds. After the next run, `transship-seed` owns
/// the seeds and nothing else.
fn seeds_are_split_after_a_crash(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let default = "storageclass.kubernetes.io/is-default-class";
    let annotation = json!({"f:metadata": {"f:annotations": {format!("f:{default}"): {}}}});
    assert_eq!(seeded(cluster, CLASS_PATH), annotation);
    let mut planted = cluster.get(CLASS_PATH).unwrap();
    for field in ["managedFields", "uid", "resourceVersion", "creationTimestamp"] {
        planted["metadata"].as_object_mut().unwrap().remove(field);
    }
    for more in [&[][..], &["--adopt"]] {
        cluster.delete(CLASS_PATH);
        let path = format!("{CLASS_PATH}?fieldManager=transship-seed&force=true");
        cluster.patch(&path, "application/apply-patch+yaml", &planted.to_string());
        project.apply_ok(cluster, more);
        assert_eq!(cluster.get(CLASS_PATH).unwrap()["provisioner"], "example.test/fast");
        assert_eq!(seeded(cluster, CLASS_PATH), annotation, "{more:?}");
    }
}

/// Someone changes a seed while its object is created. The change stays, and `transship-seed` owns nothing else.
fn a_seed_changed_during_creation_keeps_the_change(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let default = "storageclass.kubernetes.io/is-default-class";
    let second = |seen: &SeenRequest| {
        seen.path.starts_with(CLASS_PATH) && seen.path.contains("fieldManager=transship&")
    };
    cluster.proxy.fault(RequestMatcher::matching(second), 1, Fault::Delay(Duration::from_secs(2)));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply_ok(cluster, &[]));
        wait_until("the class", || cluster.get(CLASS_PATH).is_some());
        patch_as(cluster, "admin", CLASS_PATH, &json!({"metadata": {"annotations": {default: "false"}}}));
        run.join().unwrap();
    });
    assert_eq!(cluster.get(CLASS_PATH).unwrap()["metadata"]["annotations"][default], "false");
    assert_eq!(seeded(cluster, CLASS_PATH), Value::Null);
    let mark = cluster.audit.mark();
    project.apply_ok(cluster, &[]);
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// Returns a certificate for a CA bundle.
fn authority(cluster: &TestCluster) -> String {
    use base64::Engine;
    let text = std::fs::read(cluster.control_plane.folder().join("authority.crt")).unwrap();
    base64::engine::general_purpose::STANDARD.encode(text)
}
