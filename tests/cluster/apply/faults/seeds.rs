//! Fields that are given once, and fields that are others' from the beginning.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::fixture::{CLASS_PATH, Project, WEBHOOK_PATH, map};
use super::others::make_settings;
use super::{edit, make, until, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::faults::{Fault, Seen, Which};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::seeds::what_is_left_to_others", what_is_left_to_others),
    ("apply::faults::seeds::what_is_left_alone", what_is_left_alone),
    ("apply::faults::seeds::what_is_given_away", what_is_given_away),
    ("apply::faults::seeds::what_is_left_when_taken_over", what_is_left_when_taken_over),
    ("apply::faults::seeds::items_when_taken_over", items_when_taken_over),
    ("apply::faults::seeds::what_was_only_planted", what_was_only_planted),
    ("apply::faults::seeds::a_seed_that_is_changed_at_once", a_seed_that_is_changed_at_once),
];

/// The field that is left to others from now on.
const YIELDED: &str =
    "- for: ConfigMap/settings\n  path: /data/mode\n  reason: whoever runs the cluster sets it\n";

/// A seeded field and a yielded one are changed: nothing is written, and they stay.
fn what_is_left_to_others(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let default = "storageclass.kubernetes.io/is-default-class";
    assert_eq!(side.get(CLASS_PATH).unwrap()["metadata"]["annotations"][default], "true");
    edit(side, "admin", CLASS_PATH, &json!({"metadata": {"annotations": {default: "false"}}}));
    let bundle =
        json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": authority(side)}]);
    side.patch(WEBHOOK_PATH, "application/json-patch+json", &bundle.to_string());
    let mark = side.audit.mark();
    let run = project.applied(side, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written(side, mark), Vec::<String>::new());
    // Not even where something else of the same object changes.
    project.change(
        "40_class",
        "provisioner: example.test/fast",
        "provisioner: example.test/fast\nallowVolumeExpansion: true",
    );
    project.change("40_webhook", "resources: [gadgets]", "resources: [gizmos]");
    project.applied(side, &[]);
    let class = side.get(CLASS_PATH).unwrap();
    assert_eq!(
        (&class["metadata"]["annotations"][default], &class["allowVolumeExpansion"]),
        (&json!("false"), &json!(true))
    );
    let webhook = &side.get(WEBHOOK_PATH).unwrap()["webhooks"][0];
    assert_eq!(webhook["rules"][0]["resources"], json!(["gizmos"]));
    assert_eq!(webhook["clientConfig"]["caBundle"], json!(authority(side)));
}

/// The same where the field is the only one of its map: an empty one is not ours either.
fn what_is_left_alone(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.change("40_class", "    example.test/of: test\n", "");
    project.applied(side, &[]);
    let default = "storageclass.kubernetes.io/is-default-class";
    edit(side, "admin", CLASS_PATH, &json!({"metadata": {"annotations": {default: "false", "his": "too"}}}));
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// A field was ours, and is left to others from now on: it stays as it is, and so does what they make of it.
fn what_is_given_away(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.change("20_settings", "mode: one", "mode: one\n  other: one");
    project.applied(side, &[]);
    project.add_to_profile("standalone", YIELDED);
    project.change("20_settings", "other: one", "other: two");
    project.applied(side, &[]);
    assert_eq!(side.get(&map("settings")).unwrap()["data"], json!({"mode": "one", "other": "two"}));
    edit(side, "admin", &map("settings"), &json!({"data": {"mode": "his"}}));
    project.change("20_settings", "other: two", "other: three");
    project.applied(side, &[]);
    assert_eq!(side.get(&map("settings")).unwrap()["data"], json!({"mode": "his", "other": "three"}));
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// An object is taken over that has a value in a field that is left to others: it keeps that, and nothing else.
fn what_is_left_when_taken_over(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.change("20_settings", "mode: one", "mode: one\n  other: one");
    project.add_to_profile("standalone", YIELDED);
    make_settings(side, &json!({"name": "settings"}));
    project.applied(side, &["--adopt"]);
    assert_eq!(side.get(&map("settings")).unwrap()["data"], json!({"mode": "theirs", "other": "one"}));
}

/// A configuration of webhooks is taken over, one of which we do not have: it goes, and ours keeps the bundle that it has.
fn items_when_taken_over(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let webhook = |name: &str| {
        json!({"name": name, "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
            "clientConfig": {"url": "https://theirs.example.test/", "caBundle": authority(side)},
            "rules": [{"apiGroups": ["example.test"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["gadgets"]}]})
    };
    let config = json!({"metadata": {"name": "op"}, "webhooks": [webhook("op.example.test"), webhook("theirs.example.test")]});
    let all = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    make(side, "kubectl-client-side-apply", all, &config).ok().unwrap();
    project.applied(side, &["--adopt"]);
    let webhooks = side.get(WEBHOOK_PATH).unwrap()["webhooks"].as_array().unwrap().clone();
    assert_eq!(webhooks.len(), 1, "{webhooks:#?}");
    assert_eq!(webhooks[0]["clientConfig"]["url"], "https://op-webhook.clusters-example.svc:443/check");
    assert_eq!(webhooks[0]["clientConfig"]["caBundle"], json!(authority(side)));
}

/// What those who give things away have of an object.
fn seeded(side: &Side, path: &str) -> Value {
    let live = side.get(path).unwrap();
    let entries = live["metadata"]["managedFields"].as_array().unwrap().iter();
    let mut entries = entries.filter(|entry| entry["manager"] == "transship-seed");
    entries.next().map(|entry| entry["fieldsV1"].clone()).unwrap_or_default()
}

/// A run is cut off when it has made an object with its seeds, and nothing more: whoever goes on, the seeds are all that is
/// given away in the end.
fn what_was_only_planted(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let default = "storageclass.kubernetes.io/is-default-class";
    let annotation = json!({"f:metadata": {"f:annotations": {format!("f:{default}"): {}}}});
    assert_eq!(seeded(side, CLASS_PATH), annotation);
    let mut planted = side.get(CLASS_PATH).unwrap();
    for field in ["managedFields", "uid", "resourceVersion", "creationTimestamp"] {
        planted["metadata"].as_object_mut().unwrap().remove(field);
    }
    for more in [&[][..], &["--adopt"]] {
        side.delete(CLASS_PATH);
        let path = format!("{CLASS_PATH}?fieldManager=transship-seed&force=true");
        side.patch(&path, "application/apply-patch+yaml", &planted.to_string());
        project.applied(side, more);
        assert_eq!(side.get(CLASS_PATH).unwrap()["provisioner"], "example.test/fast");
        assert_eq!(seeded(side, CLASS_PATH), annotation, "{more:?}");
    }
}

/// Somebody changes a seed while its object is being made: his value counts, and nothing else is given away for that.
fn a_seed_that_is_changed_at_once(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let default = "storageclass.kubernetes.io/is-default-class";
    let second =
        |seen: &Seen| seen.path.starts_with(CLASS_PATH) && seen.path.contains("fieldManager=transship&");
    side.proxy.fault(Which::matching(second), 1, Fault::Delay(Duration::from_secs(2)));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.applied(side, &[]));
        until("the class", || side.get(CLASS_PATH).is_some());
        edit(side, "admin", CLASS_PATH, &json!({"metadata": {"annotations": {default: "false"}}}));
        run.join().unwrap();
    });
    assert_eq!(side.get(CLASS_PATH).unwrap()["metadata"]["annotations"][default], "false");
    assert_eq!(seeded(side, CLASS_PATH), Value::Null);
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// A certificate, as such a field must have one.
fn authority(side: &Side) -> String {
    use base64::Engine;
    let text = std::fs::read(side.control_plane.folder().join("authority.crt")).unwrap();
    base64::engine::general_purpose::STANDARD.encode(text)
}
