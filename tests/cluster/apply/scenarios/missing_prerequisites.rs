//! Prerequisites that others create later, or that are unavailable for a while: with `--wait` everything is applied in
//! the end; without it, the error is reported at once.

use std::time::Duration;

use super::super::Run;
use super::super::fixture::{CRD, DEPLOYMENT_PATH, OBJECTS, Project, WIDGET, config_map, map};
use super::{assert_code, message_of, objects_with, wait_until};
use crate::TestBedCase;
use crate::fault_rules::{Fault, Reply, RequestMatcher, SeenRequest};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::missing_prerequisites::wait_waits_for_a_kind_of_others", wait_waits_for_a_kind_of_others),
    (
        "apply::missing_prerequisites::a_missing_kind_does_not_block_later_levels",
        a_missing_kind_does_not_block_later_levels,
    ),
    (
        "apply::missing_prerequisites::wait_waits_for_a_namespace_of_others",
        wait_waits_for_a_namespace_of_others,
    ),
    (
        "apply::missing_prerequisites::wait_waits_for_the_namespace_of_the_inventory",
        wait_waits_for_the_namespace_of_the_inventory,
    ),
    ("apply::missing_prerequisites::wait_waits_for_a_failing_webhook", wait_waits_for_a_failing_webhook),
    (
        "apply::missing_prerequisites::wait_survives_an_outage_while_applying",
        wait_survives_an_outage_while_applying,
    ),
    (
        "apply::missing_prerequisites::wait_survives_an_outage_while_polling",
        wait_survives_an_outage_while_polling,
    ),
    ("apply::missing_prerequisites::a_newer_rollout_stops_an_older_one", a_newer_rollout_stops_an_older_one),
];

const WIDGET_NAME: &str = "Widget.example.test/one";
const NOT_SERVED: &str = "the API server does not serve the kind Widget.example.test";

const CHECKS: &str = "\
apiVersion: transship.openshift.io/v1
kind: Checks
metadata:
  name: checks
kinds:
  Widget.example.test:
    servedBy: another operator
    scope: Cluster
  Gadget.other.test:
    servedBy: another operator
    scope: Cluster
externals:
- objects:
  - Namespace/openshift-later
  reason: another operator has it in its own manifests
";

/// The payload without the CRD of a custom resource, and with an object at a later level.
fn without_definition() -> Project {
    let project = Project::new();
    project.place_everything_here();
    project.write("profiles/checks.yaml", CHECKS);
    project.remove("10_crd");
    project.write_manifest("60_after", &config_map("after", "one"));
    project
}

/// Applies with `--wait`. Runs `then` as soon as `is_so` holds.
fn applied_meanwhile(
    cluster: &TestCluster,
    project: &Project,
    is_so: impl Fn() -> bool,
    then: impl FnOnce(),
) -> Run {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(cluster, &["--wait", "--timeout", "40s"]));
        wait_until("what was waited for", is_so);
        then();
        run.join().unwrap()
    })
}

/// Returns the time at the end of a message.
fn waited<'m>(message: &'m str, start: &str) -> &'m str {
    message.strip_prefix(start).and_then(|rest| rest.strip_prefix(", for ")).unwrap_or(message)
}

/// Others create the CRD of a custom resource later. No other object waits for it, at its level or later.
fn wait_waits_for_a_kind_of_others(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, without_definition());
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(objects_with(&run, "failed"), [WIDGET_NAME]);
    assert_eq!(
        message_of(&run, "failed", WIDGET_NAME).unwrap(),
        format!("{NOT_SERVED}; --wait waits for it")
    );
    assert!(cluster.get(&map("after")).is_some());

    let run = project.apply(cluster, &["--wait", "--timeout", "5s"]);
    assert_code(&run, 3);
    assert_eq!(objects_with(&run, "failed"), [WIDGET_NAME]);
    let why = message_of(&run, "failed", WIDGET_NAME).unwrap();
    assert!(["4 s", "5 s"].contains(&waited(&why, NOT_SERVED)), "{why}");

    cluster.delete(&map("after"));
    let there = || cluster.get(&map("after")).is_some();
    let run = applied_meanwhile(cluster, &project, there, || cluster.apply_yaml(CRD));
    assert_code(&run, 0);
    assert_eq!(message_of(&run, "waiting", WIDGET_NAME).unwrap(), NOT_SERVED);
    assert_eq!(objects_with(&run, "waiting").iter().filter(|object| **object == WIDGET_NAME).count(), 1);
    assert_eq!(objects_with(&run, "created"), ["ConfigMap/after in openshift-op", WIDGET_NAME]);
    assert_eq!(cluster.get(WIDGET).unwrap()["spec"]["size"], 1);
}

/// The same after the first installation: a later level may create what is missing.
fn a_missing_kind_does_not_block_later_levels(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.place_everything_here();
    project.write("profiles/checks.yaml", CHECKS);
    project.apply_ok(cluster, &["--wait"]);
    project.write_manifest("15_gadget", "apiVersion: other.test/v1\nkind: Gadget\nmetadata:\n  name: one\n");
    project.change("20_settings", "mode: one", "mode: two");
    let run = project.apply(cluster, &["--wait", "--timeout", "4s"]);
    assert_code(&run, 3);
    assert_eq!(objects_with(&run, "failed"), ["Gadget.other.test/one"]);
    assert_eq!(objects_with(&run, "blocked"), Vec::<String>::new());
    assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], "two");
}

/// Others create the namespace of an object later.
fn wait_waits_for_a_namespace_of_others(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.write("profiles/checks.yaml", CHECKS);
    project.write_manifest(
        "20_elsewhere",
        &config_map("elsewhere", "one").replace("openshift-op", "openshift-later"),
    );
    let (name, missing) =
        ("ConfigMap/elsewhere in openshift-later", "its namespace openshift-later does not exist");
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert_eq!(objects_with(&run, "failed"), [name]);
    assert_eq!(message_of(&run, "failed", name).unwrap(), format!("{missing}; --wait waits for it"));
    assert!(cluster.get(DEPLOYMENT_PATH).is_some());
    let mark = cluster.proxy.seen().len();
    let is_try = |seen: &&SeenRequest| seen.method == "PATCH" && seen.path.contains("/openshift-later/");
    let tried_twice = || cluster.proxy.seen()[mark..].iter().filter(is_try).count() == 2;
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-later\n";
    let run = applied_meanwhile(cluster, &project, tried_twice, || cluster.apply_yaml(namespace));
    assert_code(&run, 0);
    assert_eq!(message_of(&run, "waiting", name).unwrap(), missing);
    assert_eq!(objects_with(&run, "created"), [name]);
}

/// The namespace of the inventory does not exist yet. Nothing is written before it does.
fn wait_waits_for_the_namespace_of_the_inventory(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let mut reply = Reply::status(404, "NotFound");
    reply.body = serde_json::json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": 404, "reason": "NotFound",
        "message": "namespaces \"openshift-config-managed\" not found",
        "details": {"name": "openshift-config-managed", "kind": "namespaces"},
    })
    .to_string();
    let is_inventory =
        |seen: &SeenRequest| seen.method == "POST" && seen.path.contains("/openshift-config-managed/");
    let why = "cannot write the inventory: its namespace openshift-config-managed does not exist";
    cluster.proxy.fault(RequestMatcher::matching(is_inventory), 1, Fault::Respond(reply.clone()));
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    assert!(run.stderr.contains(&format!("failed      {why}\n")), "{}", run.stderr);
    assert!(cluster.get("/api/v1/namespaces/openshift-op").is_none());
    cluster.proxy.fault(RequestMatcher::matching(is_inventory), usize::MAX, Fault::Respond(reply.clone()));
    let run = project.apply(cluster, &["--wait", "--timeout", "3s"]);
    assert_code(&run, 3);
    assert!(run.stderr.contains(&format!("failed      {why}\n")), "{}", run.stderr);
    let blocked = format!("its cluster cannot be used: {why}");
    assert_eq!(message_of(&run, "blocked", "ConfigMap/settings in openshift-op").unwrap(), blocked);
    cluster.proxy.clear_faults();
    cluster.proxy.fault(RequestMatcher::matching(is_inventory), 2, Fault::Respond(reply));
    let run = project.apply_ok(cluster, &["--wait"]);
    assert_eq!(run.stderr.matches(&format!("waiting     {why}\n")).count(), 1, "{}", run.stderr);
    assert!(
        run.stderr.contains("ready       the cluster responds, and objects can be applied\n"),
        "{}",
        run.stderr
    );
}

/// A webhook for some objects fails for longer than a request is retried. Only those objects wait for it.
fn wait_waits_for_a_failing_webhook(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let is_map = |seen: &SeenRequest| seen.method == "PATCH" && seen.path.contains("/configmaps/settings");
    let mut reply = Reply::status(500, "InternalError");
    reply.body = reply.body.replace(
        "the fault proxy says InternalError",
        "Internal error occurred: failed calling webhook \\\"gate.example.test\\\": connection refused",
    );
    cluster.proxy.fault(RequestMatcher::matching(is_map), usize::MAX, Fault::Respond(reply));
    let name = "ConfigMap/settings in openshift-op";
    let there = || cluster.get(WIDGET).is_some() && cluster.get(DEPLOYMENT_PATH).is_some();
    let run = applied_meanwhile(cluster, &project, there, || {
        std::thread::sleep(Duration::from_secs(4));
        cluster.proxy.clear_faults();
    });
    assert_code(&run, 0);
    let why = message_of(&run, "waiting", name).unwrap();
    assert!(why.starts_with("an admission webhook does not respond: "), "{why}");
    assert_eq!(objects_with(&run, "created").len(), OBJECTS);
}

/// The API server is unavailable for longer than a request is retried, in the middle of an apply.
fn wait_survives_an_outage_while_applying(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let is_patch = |seen: &SeenRequest| seen.method == "PATCH";
    cluster.proxy.fault(
        RequestMatcher::matching(is_patch),
        usize::MAX,
        Fault::Delay(Duration::from_millis(200)),
    );
    let written = || cluster.proxy.seen().iter().any(is_patch);
    let run = applied_meanwhile(cluster, &project, written, || {
        cluster.proxy.refuse(true);
        std::thread::sleep(Duration::from_secs(6));
        cluster.proxy.refuse(false);
    });
    assert_code(&run, 0);
    assert!(run.stderr.contains(": no response: "), "{}", run.stderr);
    assert!(cluster.get(WIDGET).is_some() && cluster.get(DEPLOYMENT_PATH).is_some());
}

/// The same while objects are polled.
fn wait_survives_an_outage_while_polling(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.stand_in.pods_fail(true);
    let there = || cluster.get(DEPLOYMENT_PATH).is_some() && cluster.get(WIDGET).is_some();
    let run = applied_meanwhile(cluster, &project, there, || {
        cluster.proxy.refuse(true);
        cluster.stand_in.pods_fail(false);
        std::thread::sleep(Duration::from_secs(6));
        cluster.proxy.refuse(false);
    });
    assert_code(&run, 0);
    assert!(run.stderr.contains(" ready       Deployment.apps/op in openshift-op"), "{}", run.stderr);
}

/// A second rollout starts while the first one waits for a CRD of others. The first one stops long before its timeout.
fn a_newer_rollout_stops_an_older_one(bed: &TestBed) {
    let (cluster, project, newer) = (&bed.guest, without_definition(), without_definition());
    newer.remove("50_widget");
    let there = || cluster.get(&map("after")).is_some();
    let run = applied_meanwhile(cluster, &project, there, || {
        newer.apply_ok(cluster, &[]);
    });
    assert_code(&run, 3);
    let why = "another command has started to write to the cluster, so this one stops";
    assert_eq!(message_of(&run, "blocked", WIDGET_NAME).unwrap(), why);
}
