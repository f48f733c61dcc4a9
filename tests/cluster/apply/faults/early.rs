//! What others bring is not there yet, or is away for a while: who waits has everything in the end, and hears what is
//! missing; who does not is told at once.

use std::time::Duration;

use super::super::Run;
use super::super::fixture::{DEFINITION, DEPLOYMENT_PATH, OBJECTS, Project, WIDGET, config_map, map};
use super::{assert_code, objects, told, until};
use crate::BedCase;
use crate::bed::Bed;
use crate::faults::{Fault, Reply, Seen, Which};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::early::a_kind_of_others", a_kind_of_others),
    ("apply::faults::early::a_kind_of_others_in_an_upgrade", a_kind_of_others_in_an_upgrade),
    ("apply::faults::early::a_namespace_of_others", a_namespace_of_others),
    ("apply::faults::early::a_place_for_the_inventory", a_place_for_the_inventory),
    ("apply::faults::early::a_webhook_that_comes_back", a_webhook_that_comes_back),
    ("apply::faults::early::a_server_that_is_away_for_long", a_server_that_is_away_for_long),
    ("apply::faults::early::what_is_ready_late_and_out_of_sight", what_is_ready_late_and_out_of_sight),
    ("apply::faults::early::a_newer_rollout", a_newer_rollout),
];

const WIDGET_NAME: &str = "Widget.example.test/one";
const NOT_SERVED: &str = "the cluster does not serve the kind Widget.example.test";

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

/// The payload, but for the definition of a kind that it has an object of; and something at a later level.
fn without_definition() -> Project {
    let project = Project::new();
    project.only_here();
    project.write("profiles/checks.yaml", CHECKS);
    project.leave_out("10_definition");
    project.put("60_after", &config_map("after", "one"));
    project
}

/// Applies and waits. Meanwhile, when something is so, something is done.
fn applied_meanwhile(side: &Side, project: &Project, is_so: impl Fn() -> bool, then: impl FnOnce()) -> Run {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(side, &["--wait", "--timeout", "40s"]));
        until("what was waited for", is_so);
        then();
        run.join().unwrap()
    })
}

/// How long was waited, of a message that ends so.
fn waited<'m>(message: &'m str, start: &str) -> &'m str {
    message.strip_prefix(start).and_then(|rest| rest.strip_prefix(", for ")).unwrap_or(message)
}

/// An object is of a kind that others define, later. Nothing else waits for that, at its level or behind it.
fn a_kind_of_others(bed: &Bed) {
    let (side, project) = (&bed.guest, without_definition());
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    assert_eq!(objects(&run, "failed"), [WIDGET_NAME]);
    assert_eq!(told(&run, "failed", WIDGET_NAME).unwrap(), format!("{NOT_SERVED}; --wait waits for it"));
    assert!(side.get(&map("after")).is_some());

    let run = project.apply(side, &["--wait", "--timeout", "5s"]);
    assert_code(&run, 3);
    assert_eq!(objects(&run, "failed"), [WIDGET_NAME]);
    let why = told(&run, "failed", WIDGET_NAME).unwrap();
    assert!(["4 s", "5 s"].contains(&waited(&why, NOT_SERVED)), "{why}");

    side.delete(&map("after"));
    let there = || side.get(&map("after")).is_some();
    let run = applied_meanwhile(side, &project, there, || side.apply_yaml(DEFINITION));
    assert_code(&run, 0);
    assert_eq!(told(&run, "waiting", WIDGET_NAME).unwrap(), NOT_SERVED);
    assert_eq!(objects(&run, "waiting").iter().filter(|object| **object == WIDGET_NAME).count(), 1);
    assert_eq!(objects(&run, "created"), ["ConfigMap/after in openshift-op", WIDGET_NAME]);
    assert_eq!(side.get(WIDGET).unwrap()["spec"]["size"], 1);
}

/// The same when everything was there before: what others are to bring may be what a later level is for.
fn a_kind_of_others_in_an_upgrade(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.only_here();
    project.write("profiles/checks.yaml", CHECKS);
    project.applied(side, &["--wait"]);
    project.put("15_gadget", "apiVersion: other.test/v1\nkind: Gadget\nmetadata:\n  name: one\n");
    project.change("20_settings", "mode: one", "mode: two");
    let run = project.apply(side, &["--wait", "--timeout", "4s"]);
    assert_code(&run, 3);
    assert_eq!(objects(&run, "failed"), ["Gadget.other.test/one"]);
    assert_eq!(objects(&run, "blocked"), Vec::<String>::new());
    assert_eq!(side.get(&map("settings")).unwrap()["data"]["mode"], "two");
}

/// An object belongs into a namespace that others make, later.
fn a_namespace_of_others(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.write("profiles/checks.yaml", CHECKS);
    project.put("20_elsewhere", &config_map("elsewhere", "one").replace("openshift-op", "openshift-later"));
    let (name, missing) =
        ("ConfigMap/elsewhere in openshift-later", "its namespace openshift-later is not there");
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    assert_eq!(objects(&run, "failed"), [name]);
    assert_eq!(told(&run, "failed", name).unwrap(), format!("{missing}; --wait waits for it"));
    assert!(side.get(DEPLOYMENT_PATH).is_some());
    let mark = side.proxy.seen().len();
    let is_try = |seen: &&Seen| seen.method == "PATCH" && seen.path.contains("/openshift-later/");
    let tried_twice = || side.proxy.seen()[mark..].iter().filter(is_try).count() == 2;
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: openshift-later\n";
    let run = applied_meanwhile(side, &project, tried_twice, || side.apply_yaml(namespace));
    assert_code(&run, 0);
    assert_eq!(told(&run, "waiting", name).unwrap(), missing);
    assert_eq!(objects(&run, "created"), [name]);
}

/// The namespace that the inventory belongs into is not there yet: nothing is written before it is.
fn a_place_for_the_inventory(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let mut reply = Reply::status(404, "NotFound");
    reply.body = serde_json::json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": 404, "reason": "NotFound",
        "message": "namespaces \"openshift-config-managed\" not found",
        "details": {"name": "openshift-config-managed", "kind": "namespaces"},
    })
    .to_string();
    let is_inventory =
        |seen: &Seen| seen.method == "POST" && seen.path.contains("/openshift-config-managed/");
    let why = "the inventory cannot be written, since its namespace openshift-config-managed is not there";
    side.proxy.fault(Which::matching(is_inventory), 1, Fault::Answer(reply.clone()));
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    assert!(run.stderr.contains(&format!("failed    {why}\n")), "{}", run.stderr);
    assert!(side.get("/api/v1/namespaces/openshift-op").is_none());
    side.proxy.fault(Which::matching(is_inventory), usize::MAX, Fault::Answer(reply.clone()));
    let run = project.apply(side, &["--wait", "--timeout", "3s"]);
    assert_code(&run, 3);
    assert!(run.stderr.contains(&format!("failed    {why}\n")), "{}", run.stderr);
    let blocked = format!("nothing can be done in its cluster: {why}");
    assert_eq!(told(&run, "blocked", "ConfigMap/settings in openshift-op").unwrap(), blocked);
    side.proxy.clear_faults();
    side.proxy.fault(Which::matching(is_inventory), 2, Fault::Answer(reply));
    let run = project.applied(side, &["--wait"]);
    assert_eq!(run.stderr.matches(&format!("waiting   {why}\n")).count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("ready     objects can go there now\n"), "{}", run.stderr);
}

/// A webhook that must agree to some objects is away for longer than one request is tried: only they wait for it.
fn a_webhook_that_comes_back(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let is_map = |seen: &Seen| seen.method == "PATCH" && seen.path.contains("/configmaps/settings");
    let mut reply = Reply::status(500, "InternalError");
    reply.body = reply.body.replace(
        "the fault proxy says InternalError",
        "Internal error occurred: failed calling webhook \\\"gate.example.test\\\": connection refused",
    );
    side.proxy.fault(Which::matching(is_map), usize::MAX, Fault::Answer(reply));
    let name = "ConfigMap/settings in openshift-op";
    let there = || side.get(WIDGET).is_some() && side.get(DEPLOYMENT_PATH).is_some();
    let run = applied_meanwhile(side, &project, there, || {
        std::thread::sleep(Duration::from_secs(4));
        side.proxy.clear_faults();
    });
    assert_code(&run, 0);
    let why = told(&run, "waiting", name).unwrap();
    assert!(why.starts_with("a webhook that must agree does not answer: "), "{why}");
    assert_eq!(objects(&run, "created").len(), OBJECTS);
}

/// The API server is away for longer than one request is tried, in the middle.
fn a_server_that_is_away_for_long(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let is_patch = |seen: &Seen| seen.method == "PATCH";
    side.proxy.fault(Which::matching(is_patch), usize::MAX, Fault::Delay(Duration::from_millis(200)));
    let written = || side.proxy.seen().iter().any(is_patch);
    let run = applied_meanwhile(side, &project, written, || {
        side.proxy.refuse(true);
        std::thread::sleep(Duration::from_secs(6));
        side.proxy.refuse(false);
    });
    assert_code(&run, 0);
    assert!(run.stderr.contains(": no answer: "), "{}", run.stderr);
    assert!(side.get(WIDGET).is_some() && side.get(DEPLOYMENT_PATH).is_some());
}

/// The same while something is waited for that is there already.
fn what_is_ready_late_and_out_of_sight(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.stand_in.pods_fail(true);
    let there = || side.get(DEPLOYMENT_PATH).is_some() && side.get(WIDGET).is_some();
    let run = applied_meanwhile(side, &project, there, || {
        side.proxy.refuse(true);
        side.stand_in.pods_fail(false);
        std::thread::sleep(Duration::from_secs(6));
        side.proxy.refuse(false);
    });
    assert_code(&run, 0);
    assert!(run.stderr.contains(" ready     Deployment.apps/op in openshift-op"), "{}", run.stderr);
}

/// While one rollout waits for others another one begins, which does not: the first one leaves the last word to it, long
/// before its time is over.
fn a_newer_rollout(bed: &Bed) {
    let (side, project, newer) = (&bed.guest, without_definition(), without_definition());
    newer.leave_out("50_widget");
    let there = || side.get(&map("after")).is_some();
    let run = applied_meanwhile(side, &project, there, || {
        newer.applied(side, &[]);
    });
    assert_code(&run, 3);
    let why = "another rollout has begun since, and this one leaves the last word to it";
    assert_eq!(told(&run, "blocked", WIDGET_NAME).unwrap(), why);
}
