//! Waiting until everything is what it says, and what ends it.

use std::time::Duration;

use super::super::fixture::{DEPLOYMENT_PATH, OBJECTS, Project, WIDGET, config_map, map};
use super::{assert_code, inventory, is_in_inventory, objects, told, until};
use crate::BedCase;
use crate::bed::Bed;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::waiting::pods_that_never_start", pods_that_never_start),
    ("apply::faults::waiting::an_operator_that_fails", an_operator_that_fails),
    ("apply::faults::waiting::no_nodes", no_nodes),
    ("apply::faults::waiting::a_newer_rollout", a_newer_rollout),
    ("apply::faults::waiting::the_same_rollout_twice", the_same_rollout_twice),
];

const DAEMON_SET: &str = "\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: everywhere
  namespace: openshift-op
spec:
  selector:
    matchLabels: {app: everywhere}
  template:
    metadata:
      labels: {app: everywhere}
    spec:
      serviceAccountName: op
      automountServiceAccountToken: false
      containers:
      - name: it
        image: example.test/op:1
";

const OPERATOR: &str = "\
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata:
  name: op
status:
  versions:
  - name: operator
    version: 4.22.0
";

const CHECKS: &str = "\
apiVersion: transship.openshift.io/v1
kind: Checks
metadata:
  name: checks
kinds:
  ClusterOperator.config.openshift.io:
    servedBy: the cluster-version-operator
    scope: Cluster
";

/// How long was waited, and for what, of a message that says so.
fn waited(message: &str) -> (u64, &str) {
    let rest = message.strip_prefix("it is not ready after ").unwrap_or_else(|| panic!("{message}"));
    let (seconds, seen) = rest.split_once(" s: ").unwrap();
    (seconds.parse().unwrap(), seen)
}

/// No pod starts: when the time is over it is told which object is not ready, what is seen of it, and since when.
fn pods_that_never_start(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.stand_in.pods_fail(true);
    let run = project.apply(side, &["--wait", "--timeout", "5s"]);
    assert_code(&run, 3);
    let expected = [
        ("Deployment.apps/op in openshift-op", "0 of 1 replicas are available"),
        ("Job.batch/migrate in openshift-op", "it has not completed"),
    ];
    assert_eq!(objects(&run, "failed"), expected.map(|(object, _)| object));
    for (object, seen) in expected {
        let message = told(&run, "failed", object).unwrap();
        let (seconds, found) = waited(&message);
        assert!((2..=6).contains(&seconds) && found == seen, "{message}");
        assert!(told(&run, "waiting", object).is_some(), "{}", run.stderr);
    }
    side.stand_in.pods_fail(false);
    project.applied(side, &["--wait"]);
}

/// An operator says that it is unavailable: that is what is told, in its own words.
fn an_operator_that_fails(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.write("profiles/checks.yaml", CHECKS);
    project.put("60_operator", OPERATOR);
    side.stand_in.operators_fail(true);
    let run = project.apply(side, &["--wait", "--timeout", "5s"]);
    assert_code(&run, 3);
    let operator = "ClusterOperator.config.openshift.io/op";
    assert_eq!(objects(&run, "failed"), [operator]);
    let message = told(&run, "failed", operator).unwrap();
    let (seconds, seen) = waited(&message);
    assert_eq!(seen, "Available is False: StandInFails, the stand-in was told to fail");
    assert!((2..=6).contains(&seconds), "{message}");
    side.stand_in.operators_fail(false);
    project.applied(side, &["--wait"]);
    // Available, but not yet what the payload brings.
    side.stand_in.version("4.21.0");
    project.change("60_operator", "name: op\n", "name: op\n  labels: {changed: \"yes\"}\n");
    until("the old version", || {
        let live = side.get("/apis/config.openshift.io/v1/clusteroperators/op").unwrap();
        live["status"]["versions"][0]["version"] == "4.21.0"
    });
    let run = project.apply(side, &["--wait", "--timeout", "3s"]);
    assert_code(&run, 3);
    let message = told(&run, "failed", operator).unwrap();
    assert_eq!(waited(&message).1, "the version of operator is 4.21.0, and must be 4.22.0");
}

/// A cluster without nodes has all the pods of a `DaemonSet` that it can have.
fn no_nodes(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.stand_in.nodes(0);
    until("no node", || side.list("/api/v1/nodes").is_empty());
    project.only_here();
    project.leave_out("30_deployment");
    project.leave_out("30_job");
    project.leave_out("20_service");
    project.put("30_daemons", DAEMON_SET);
    let run = project.apply(side, &["--wait", "--timeout", "10s"]);
    assert_code(&run, 0);
    let live = side.get("/apis/apps/v1/namespaces/openshift-op/daemonsets/everywhere").unwrap();
    assert_eq!(live["status"]["desiredNumberScheduled"], 0);
}

/// While one rollout waits another one begins, and waits as well. The first one notices that it is not the last word any
/// more: it ends, long before its time is over, says so, and takes nothing away that the second one may have brought.
fn a_newer_rollout(bed: &Bed) {
    let (side, project, newer) = (&bed.guest, Project::new(), Project::new());
    for project in [&project, &newer] {
        project.put("20_more", &config_map("more", "one"));
    }
    project.applied(side, &["--wait"]);
    project.leave_out("20_more");
    project.change("30_deployment", "image: example.test/op:1", "image: example.test/op:2");
    newer.change("20_settings", "mode: one", "mode: two");
    newer.change("30_deployment", "image: example.test/op:1", "image: example.test/op:3");
    side.stand_in.pods_fail(true);
    let image = |image: &str| {
        let live = side.get(DEPLOYMENT_PATH).unwrap();
        live["spec"]["template"]["spec"]["containers"][0]["image"] == image
    };
    let (run, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| project.apply(side, &["--wait", "--prune"]));
        until("the change", || image("example.test/op:2"));
        let second = scope.spawn(|| newer.apply(side, &["--wait"]));
        let run = first.join().unwrap();
        assert!(!second.is_finished(), "the first one has seen the other's beginning");
        side.stand_in.pods_fail(false);
        (run, second.join().unwrap())
    });
    assert_code(&second, 0);
    assert_code(&run, 3);
    assert_eq!(
        told(&run, "blocked", "Deployment.apps/op in openshift-op").unwrap(),
        "another rollout has begun since, and this one leaves the last word to it"
    );
    let expected = "somebody else has written the inventory, ConfigMap/transship-standalone in \
                    openshift-config-managed, since we read it: another rollout is under way";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(objects(&run, "pruned"), Vec::<String>::new());
    assert!(side.get(&map("more")).is_some() && is_in_inventory(side, "ConfigMap", "more"));
    assert_eq!(side.get(&map("settings")).unwrap()["data"]["mode"], "two");
}

/// While one rollout waits somebody else begins the same one, and does not wait: both want the same, and the first one goes on.
fn the_same_rollout_twice(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.stand_in.pods_fail(true);
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(side, &["--wait"]));
        until("all of it", || side.get(WIDGET).is_some() && side.get(DEPLOYMENT_PATH).is_some());
        project.applied(side, &[]);
        // It would have been noticed within a second.
        std::thread::sleep(Duration::from_secs(2));
        side.stand_in.pods_fail(false);
        run.join().unwrap()
    });
    assert_code(&run, 0);
    assert_eq!(inventory(side).len(), OBJECTS);
}
