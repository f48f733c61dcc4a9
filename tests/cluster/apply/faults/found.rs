//! What others made before us is theirs: it is changed where nobody minds, and stays when we leave.

use serde_json::{Value, json};

use super::super::fixture::{DEPLOYMENT_PATH, JOB_PATH, NAMESPACE, OBJECTS, Project, map};
use super::{assert_code, edit, is_in_inventory, make, objects, told, until, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::found::what_was_found_stays", what_was_found_stays),
    ("apply::faults::found::what_was_found_is_taken_over", what_was_found_is_taken_over),
    ("apply::faults::found::what_was_found_becomes_ready", what_was_found_becomes_ready),
    ("apply::faults::found::what_was_found_is_not_made_again", what_was_found_is_not_made_again),
];

const SETTINGS: &str = "ConfigMap/settings in openshift-op";
const NOTE: &str = "it was there before us, so it is never taken away; --adopt makes it ours";
const LABEL: &str = "applyset.kubernetes.io/part-of";

/// Somebody has a namespace and a map of the names of ours, and nothing in them that we would set.
fn make_both(side: &Side) {
    make(side, "somebody", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let settings = json!({"metadata": {"name": "settings"}, "data": {"precious": "his"}});
    make(side, "somebody", "/api/v1/namespaces/openshift-op/configmaps", &settings).ok().unwrap();
}

fn label(side: &Side, path: &str) -> Option<Value> {
    side.get(path).unwrap()["metadata"]["labels"].get(LABEL).cloned()
}

/// It is told, kept as it should be without being written twice, and is there when all of ours is gone.
fn what_was_found_stays(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make_both(side);
    let run = project.applied(side, &[]);
    for object in [SETTINGS, "Namespace/openshift-op"] {
        assert_eq!(told(&run, "changed", object).unwrap(), NOTE);
    }
    let data = |side: &Side| side.get(&map("settings")).unwrap()["data"].clone();
    assert_eq!(data(side), json!({"mode": "one", "precious": "his"}));
    assert_eq!(label(side, &map("settings")), None);
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
    edit(side, "somebody", &map("settings"), &json!({"data": {"mode": "his"}}));
    let run = project.applied(side, &[]);
    assert_eq!(told(&run, "changed", SETTINGS).unwrap(), "");
    assert_eq!(data(side)["mode"], "one");
    project.change("20_settings", "mode: one", "mode: two");
    project.applied(side, &[]);
    assert_eq!(data(side)["mode"], "two");
    assert_eq!(label(side, &map("settings")), None);

    project.leave_out("20_settings");
    let run = project.applied(side, &["--prune"]);
    assert_eq!(told(&run, "forgotten", SETTINGS).unwrap(), "it was there before us, so it stays");
    assert!(!is_in_inventory(side, "ConfigMap", "settings"));
    let run = project.run(side, "delete", &[]);
    assert_code(&run, 0);
    assert_eq!(objects(&run, "forgotten"), ["Namespace/openshift-op"]);
    assert_eq!(data(side)["precious"], "his");
    assert!(side.get(DEPLOYMENT_PATH).is_none());
}

/// Who asks for it has it, also later, and then it goes with the rest.
fn what_was_found_is_taken_over(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make_both(side);
    project.applied(side, &[]);
    let run = project.applied(side, &["--adopt"]);
    assert_eq!(objects(&run, "changed"), [SETTINGS, "Namespace/openshift-op"]);
    assert!(label(side, &map("settings")).is_some());
    let mark = side.audit.mark();
    project.applied(side, &["--adopt"]);
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
    let run = project.run(side, "delete", &[]);
    assert_code(&run, 0);
    // One of them never was there.
    assert_eq!(objects(&run, "deleted").len(), OBJECTS);
    assert!(side.get("/api/v1/namespaces/openshift-op").is_none());
}

/// A Job of somebody else's is just as ours would be, until ours is another one: it is not taken away for that. Nor is a map
/// that we would only have made, and that he has.
fn what_was_found_is_not_made_again(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make(side, "somebody", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    let container = json!({"name": "migrate", "image": "example.test/op:1"});
    let pod = json!({
        "serviceAccountName": "op", "automountServiceAccountToken": false, "restartPolicy": "Never", "containers": [container],
    });
    let job = json!({"metadata": {"name": "migrate"}, "spec": {"template": {"spec": pod}}});
    make(side, "somebody", JOB_PATH.strip_suffix("/migrate").unwrap(), &job).ok().unwrap();
    let chosen = json!({"metadata": {"name": "chosen"}, "data": {"choice": "his"}});
    make(side, "somebody", "/api/v1/namespaces/openshift-op/configmaps", &chosen).ok().unwrap();
    project.applied(side, &[]);
    let before = side.get(JOB_PATH).unwrap()["metadata"]["uid"].clone();
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    assert_eq!(
        told(&run, "failed", "Job.batch/migrate in openshift-op").unwrap(),
        "it was there before us, and spec.template cannot be changed on an object that is there; --adopt takes it over"
    );
    let run = project.run(side, "delete", &[]);
    assert_code(&run, 0);
    assert_eq!(
        objects(&run, "forgotten"),
        ["ConfigMap/chosen in openshift-op", "Job.batch/migrate in openshift-op", "Namespace/openshift-op"]
    );
    assert_eq!(side.get(JOB_PATH).unwrap()["metadata"]["uid"], before);
    assert_eq!(side.get(&map("chosen")).unwrap()["data"], json!({"choice": "his"}));
}

/// It does not carry our label, and neither does what has lost it: whether they are ready is seen all the same.
fn what_was_found_becomes_ready(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    make(side, "somebody", "/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).ok().unwrap();
    side.stand_in.pods_fail(true);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(side, &["--wait"]));
        until("the deployment", || side.get(DEPLOYMENT_PATH).is_some());
        edit(side, "somebody", DEPLOYMENT_PATH, &json!({"metadata": {"labels": {LABEL: null}}}));
        side.stand_in.pods_fail(false);
        let run = run.join().unwrap();
        assert_code(&run, 0);
        assert!(
            objects(&run, "ready").contains(&"Deployment.apps/op in openshift-op".to_owned()),
            "{}",
            run.stderr
        );
        assert!(!run.stderr.contains("not there any more"), "{}", run.stderr);
    });
}
