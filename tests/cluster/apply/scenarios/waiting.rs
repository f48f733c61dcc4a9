//! `--wait`: waits until every object is ready, and what ends the waiting.

use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use super::super::fixture::{CRD_PATH, DEPLOYMENT_PATH, JOB_PATH, OBJECTS, Project, WIDGET, config_map, map};
use super::{assert_code, inventory, is_in_inventory, message_of, objects_with, patch_as, wait_until};
use crate::TestBedCase;
use crate::etcd::{self, Change};
use crate::fault_rules::{Fault, RequestMatcher, SeenRequest};
use crate::requests::{block_on, open_client};
use crate::test_bed::TestBed;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::waiting::the_timeout_reports_what_is_not_ready", the_timeout_reports_what_is_not_ready),
    (
        "apply::waiting::a_cluster_operator_is_reported_in_its_own_words",
        a_cluster_operator_is_reported_in_its_own_words,
    ),
    ("apply::waiting::a_daemon_set_without_nodes_is_ready", a_daemon_set_without_nodes_is_ready),
    ("apply::waiting::a_paused_deployment_is_not_waited_out", a_paused_deployment_is_not_waited_out),
    ("apply::waiting::old_pods_count_with_on_delete", old_pods_count_with_on_delete),
    ("apply::waiting::a_job_may_be_gone_after_its_time_to_live", a_job_may_be_gone_after_its_time_to_live),
    ("apply::waiting::a_crd_that_stays_at_installing_is_updated", a_crd_that_stays_at_installing_is_updated),
    ("apply::waiting::warnings_of_the_api_server_are_shown_once", warnings_of_the_api_server_are_shown_once),
    ("apply::waiting::a_newer_rollout_stops_an_older_one", a_newer_rollout_stops_an_older_one),
    (
        "apply::waiting::two_rollouts_of_the_same_objects_both_succeed",
        two_rollouts_of_the_same_objects_both_succeed,
    ),
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

/// Reads the time and the reason from a message.
fn waited(message: &str) -> (u64, &str) {
    let rest = message.strip_prefix("it is not ready after ").unwrap_or_else(|| panic!("{message}"));
    let (seconds, seen) = rest.split_once(" s: ").unwrap();
    (seconds.parse().unwrap(), seen)
}

/// No pod starts. At the timeout, each object is reported with what it waits for and how long.
fn the_timeout_reports_what_is_not_ready(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.stand_in.pods_fail(true);
    let run = project.apply(cluster, &["--wait", "--timeout", "5s"]);
    assert_code(&run, 3);
    let expected = [
        ("Deployment.apps/op in openshift-op", "0 of 1 replicas are available"),
        ("Job.batch/migrate in openshift-op", "it is not complete"),
    ];
    assert_eq!(objects_with(&run, "failed"), expected.map(|(object, _)| object));
    for (object, seen) in expected {
        let message = message_of(&run, "failed", object).unwrap();
        let (seconds, found) = waited(&message);
        assert!((2..=6).contains(&seconds) && found == seen, "{message}");
        assert!(message_of(&run, "waiting", object).is_some(), "{}", run.stderr);
    }
    cluster.stand_in.pods_fail(false);
    project.apply_ok(cluster, &["--wait"]);
}

/// A `ClusterOperator` is unavailable. Its own message is reported.
fn a_cluster_operator_is_reported_in_its_own_words(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.write("profiles/checks.yaml", CHECKS);
    project.write_manifest("60_operator", OPERATOR);
    cluster.stand_in.operators_fail(true);
    let run = project.apply(cluster, &["--wait", "--timeout", "5s"]);
    assert_code(&run, 3);
    let operator = "ClusterOperator.config.openshift.io/op";
    assert_eq!(objects_with(&run, "failed"), [operator]);
    let message = message_of(&run, "failed", operator).unwrap();
    let (seconds, seen) = waited(&message);
    assert_eq!(seen, "Available is False: StandInFails, the stand-in was told to fail");
    assert!((2..=6).contains(&seconds), "{message}");
    cluster.stand_in.operators_fail(false);
    project.apply_ok(cluster, &["--wait"]);
    // It is available, but not at the version of the payload.
    cluster.stand_in.version("4.21.0");
    project.change("60_operator", "name: op\n", "name: op\n  labels: {changed: \"yes\"}\n");
    wait_until("the old version", || {
        let live = cluster.get("/apis/config.openshift.io/v1/clusteroperators/op").unwrap();
        live["status"]["versions"][0]["version"] == "4.21.0"
    });
    let run = project.apply(cluster, &["--wait", "--timeout", "3s"]);
    assert_code(&run, 3);
    let message = message_of(&run, "failed", operator).unwrap();
    assert_eq!(waited(&message).1, "the version of operator is 4.21.0, expected 4.22.0");
}

/// A `DaemonSet` in a cluster without nodes is ready.
fn a_daemon_set_without_nodes_is_ready(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.stand_in.nodes(0);
    wait_until("no node", || cluster.list("/api/v1/nodes").is_empty());
    project.place_everything_here();
    project.remove("30_deployment");
    project.remove("30_job");
    project.remove("20_service");
    project.write_manifest("30_daemons", DAEMON_SET);
    let run = project.apply(cluster, &["--wait", "--timeout", "10s"]);
    assert_code(&run, 0);
    let live = cluster.get("/apis/apps/v1/namespaces/openshift-op/daemonsets/everywhere").unwrap();
    assert_eq!(live["status"]["desiredNumberScheduled"], 0);
}

/// A Deployment that its manifest pauses is ready. One that someone else paused fails at once, and says so.
fn a_paused_deployment_is_not_waited_out(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change("30_deployment", "  replicas: 1\n", "  replicas: 1\n  paused: true\n");
    project.apply_ok(cluster, &["--wait"]);
    project.change("30_deployment", "  paused: true\n", "");
    project.apply_ok(cluster, &["--wait"]);
    patch_as(cluster, "admin", DEPLOYMENT_PATH, &json!({"spec": {"paused": true}}));
    project.change("30_deployment", "image: example.test/op:1", "image: example.test/op:2");
    let started = Instant::now();
    let run = project.apply(cluster, &["--wait", "--timeout", "5m"]);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "failed", "Deployment.apps/op in openshift-op").unwrap(),
        "someone paused it: 0 of 1 replicas are updated; `kubectl rollout resume` lets it continue"
    );
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

/// With the strategy `OnDelete`, the pods of a `DaemonSet` stay old until someone deletes them. It is ready nevertheless.
fn old_pods_count_with_on_delete(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.place_everything_here();
    let daemons =
        DAEMON_SET.replace("spec:\n  selector", "spec:\n  updateStrategy: {type: OnDelete}\n  selector");
    project.write_manifest("30_daemons", &daemons);
    project.apply_ok(cluster, &["--wait"]);
    project.change("30_daemons", "image: example.test/op:1", "image: example.test/op:2");
    project.apply_ok(cluster, &["--wait"]);
    let live = cluster.get("/apis/apps/v1/namespaces/openshift-op/daemonsets/everywhere").unwrap();
    let status = &live["status"];
    assert_eq!((&status["desiredNumberScheduled"], &status["numberAvailable"]), (&json!(1), &json!(1)));
}

/// A Job is deleted as soon as it is complete, before transship polls it.
fn a_job_may_be_gone_after_its_time_to_live(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change("30_job", "spec:\n  template", "spec:\n  ttlSecondsAfterFinished: 0\n  template");
    let poll = |seen: &SeenRequest| seen.method == "GET" && seen.path.contains("/jobs");
    cluster.proxy.fault(RequestMatcher::matching(poll), usize::MAX, Fault::Delay(Duration::from_secs(4)));
    project.apply_ok(cluster, &["--wait", "--timeout", "60s"]);
    wait_until("the end of the Job", || cluster.get(JOB_PATH).is_none());
}

/// The API server was killed before it established a CRD, and does not do so after its start. An update of the CRD helps.
fn a_crd_that_stays_at_installing_is_updated(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let plane = &cluster.control_plane;
    plane.kill();
    block_on(async {
        let etcd = open_client(plane.etcd_port());
        let all = etcd::read(&etcd, true).await;
        let (key, stored) = all.iter().find(|(key, _)| key.ends_with("/widgets.example.test")).unwrap();
        let text = String::from_utf8(BASE64.decode(&stored.value).unwrap()).unwrap();
        let mut crd: Value = serde_json::from_str(&text).unwrap();
        for condition in crd["status"]["conditions"].as_array_mut().unwrap() {
            if condition["type"] == "Established" {
                condition["status"] = json!("False");
                condition["reason"] = json!("Installing");
            }
        }
        etcd::change(&etcd, &[Change::Put(key.clone(), BASE64.encode(crd.to_string()))]).await;
    });
    plane.restart();
    let is_established = || {
        let crd = cluster.get(CRD_PATH).unwrap();
        let conditions = crd["status"]["conditions"].as_array().unwrap().clone();
        conditions.iter().any(|one| one["type"] == "Established" && one["status"] == "True")
    };
    assert!(!is_established(), "the API server does not do it on its own");
    project.apply_ok(cluster, &["--timeout", "60s"]);
    assert!(is_established());
    assert_eq!(cluster.get(CRD_PATH).unwrap()["metadata"]["annotations"], json!({"example.test/of": "test"}));
}

/// The API server warns about an object that it accepts. The warning is shown with the object, and only after a write.
fn warnings_of_the_api_server_are_shown_once(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.change(
        "10_namespace",
        "  name: openshift-op\n",
        "  name: openshift-op\n  labels: {pod-security.kubernetes.io/warn: restricted}\n",
    );
    let run = project.apply_ok(cluster, &[]);
    let warning = message_of(&run, "warning", "Deployment.apps/op in openshift-op").unwrap();
    assert!(warning.starts_with("would violate PodSecurity \"restricted:latest\": "), "{warning}");
    assert_eq!(run.stdout, "cluster: 13 created, 0 changed, 1 unchanged, 0 pruned, 0 failed\n");
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(objects_with(&run, "warning"), Vec::<String>::new());
}

/// A second rollout of other objects starts while the first one waits. The first one notices it, ends long before its
/// timeout, and prunes nothing.
fn a_newer_rollout_stops_an_older_one(bed: &TestBed) {
    let (cluster, project, newer) = (&bed.guest, Project::new(), Project::new());
    for project in [&project, &newer] {
        project.write_manifest("20_more", &config_map("more", "one"));
    }
    project.apply_ok(cluster, &["--wait"]);
    project.remove("20_more");
    project.change("30_deployment", "image: example.test/op:1", "image: example.test/op:2");
    newer.change("20_settings", "mode: one", "mode: two");
    newer.change("30_deployment", "image: example.test/op:1", "image: example.test/op:3");
    cluster.stand_in.pods_fail(true);
    let image = |image: &str| {
        let live = cluster.get(DEPLOYMENT_PATH).unwrap();
        live["spec"]["template"]["spec"]["containers"][0]["image"] == image
    };
    let (run, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| project.apply(cluster, &["--wait", "--prune"]));
        wait_until("the change", || image("example.test/op:2"));
        let second = scope.spawn(|| newer.apply(cluster, &["--wait"]));
        let run = first.join().unwrap();
        assert!(!second.is_finished(), "the first one has seen the other's beginning");
        cluster.stand_in.pods_fail(false);
        (run, second.join().unwrap())
    });
    assert_code(&second, 0);
    assert_code(&run, 3);
    assert_eq!(
        message_of(&run, "blocked", "Deployment.apps/op in openshift-op").unwrap(),
        "another command has started to write to the cluster, so this one stops"
    );
    let expected = "another command has written the inventory, ConfigMap/transship-standalone in \
                    openshift-config-managed, since this one read it, so this one stops";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert_eq!(objects_with(&run, "pruned"), Vec::<String>::new());
    assert!(cluster.get(&map("more")).is_some() && is_in_inventory(cluster, "ConfigMap", "more"));
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], "two");
}

/// Someone starts the same rollout without `--wait`. Both rollouts are of the same objects, so the first one
/// continues.
fn two_rollouts_of_the_same_objects_both_succeed(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.stand_in.pods_fail(true);
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(cluster, &["--wait"]));
        wait_until("all of it", || cluster.get(WIDGET).is_some() && cluster.get(DEPLOYMENT_PATH).is_some());
        project.apply_ok(cluster, &[]);
        // The first rollout would have noticed it within a second.
        std::thread::sleep(Duration::from_secs(2));
        cluster.stand_in.pods_fail(false);
        run.join().unwrap()
    });
    assert_code(&run, 0);
    assert_eq!(inventory(cluster).len(), OBJECTS);
}
