//! What cannot be changed on an object that is there.

use serde_json::json;

use super::super::fixture::{DEPLOYMENT_PATH, JOB_PATH, Project};
use super::{assert_code, objects, told, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::changing::another_job", another_job),
    ("apply::faults::changing::another_selector", another_selector),
    ("apply::faults::changing::another_strategy", another_strategy),
];

fn uid(side: &Side, path: &str) -> String {
    side.get(path).unwrap()["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// A Job cannot be changed and is made to be run: it is made again.
fn another_job(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &["--wait"]);
    let before = uid(side, JOB_PATH);
    project.change("30_job", "image: example.test/op:1", "image: example.test/op:2");
    let run = project.applied(side, &["--wait"]);
    assert_eq!(objects(&run, "recreated"), ["Job.batch/migrate in openshift-op"]);
    assert_ne!(uid(side, JOB_PATH), before);
    let mark = side.audit.mark();
    project.applied(side, &["--wait"]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// A Deployment with another selector is another one: it is made again if somebody says so, and else told.
fn another_selector(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    let before = uid(side, DEPLOYMENT_PATH);
    project.change("30_deployment", "{app: op}", "{app: operator}");
    project.change("20_service", "{app: op}", "{app: operator}");
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let deployment = "Deployment.apps/op in openshift-op";
    assert_eq!(
        told(&run, "failed", deployment).unwrap(),
        "spec.selector cannot be changed on an object that is there; --recreate Deployment/op takes it away and makes it again"
    );
    assert_eq!(objects(&run, "changed"), ["Service/op-webhook in openshift-op"]);
    assert_eq!(uid(side, DEPLOYMENT_PATH), before);
    let run = project.applied(side, &["--recreate", "Deployment/op"]);
    assert_eq!(objects(&run, "recreated"), [deployment]);
    assert_ne!(uid(side, DEPLOYMENT_PATH), before);
    let live = side.get(DEPLOYMENT_PATH).unwrap();
    assert_eq!(live["spec"]["selector"]["matchLabels"], json!({"app": "operator"}));
}

/// The API server fills in how pods are replaced one by one, and takes no other way while that is there.
fn another_strategy(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    assert!(side.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"]["rollingUpdate"].is_object());
    project.change("30_deployment", "  replicas: 1\n", "  replicas: 1\n  strategy: {type: Recreate}\n");
    let run = project.applied(side, &[]);
    assert_eq!(objects(&run, "changed"), ["Deployment.apps/op in openshift-op"]);
    assert_eq!(side.get(DEPLOYMENT_PATH).unwrap()["spec"]["strategy"], json!({"type": "Recreate"}));
    let mark = side.audit.mark();
    project.applied(side, &[]);
    assert_eq!(written(side, mark), Vec::<String>::new());
}
