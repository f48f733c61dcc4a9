//! Failures of the network and of API servers.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::fixture::{HOSTED, INVENTORY, OBJECTS, Project, WIDGET, config_map, map};
use super::{assert_code, count_of, inventory, message_of, objects_with, wait_until, written_paths};
use crate::TestBedCase;
use crate::fault_rules::{Fault, Reply, RequestMatcher, SeenRequest};
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    (
        "apply::network_failures::a_new_field_of_a_crd_can_be_used_in_the_same_run",
        a_new_field_of_a_crd_can_be_used_in_the_same_run,
    ),
    ("apply::network_failures::every_text_arrives_unchanged", every_text_arrives_unchanged),
    ("apply::network_failures::a_busy_api_server_gets_fewer_requests", a_busy_api_server_gets_fewer_requests),
    ("apply::network_failures::broken_connections_are_retried", broken_connections_are_retried),
    (
        "apply::network_failures::an_api_server_restarts_during_an_apply",
        an_api_server_restarts_during_an_apply,
    ),
    ("apply::network_failures::a_crd_is_served_late", a_crd_is_served_late),
    (
        "apply::network_failures::a_kind_that_cannot_be_listed_is_read_one_by_one",
        a_kind_that_cannot_be_listed_is_read_one_by_one,
    ),
    ("apply::network_failures::an_unknown_field_is_not_retried", an_unknown_field_is_not_retried),
    (
        "apply::network_failures::an_unreachable_guest_does_not_affect_the_management_cluster",
        an_unreachable_guest_does_not_affect_the_management_cluster,
    ),
    (
        "apply::network_failures::invalid_responses_of_the_guest_do_no_harm",
        invalid_responses_of_the_guest_do_no_harm,
    ),
    (
        "apply::network_failures::wait_applies_to_a_guest_that_starts_later",
        wait_applies_to_a_guest_that_starts_later,
    ),
    (
        "apply::network_failures::a_guest_that_stops_responding_blocks_its_objects",
        a_guest_that_stops_responding_blocks_its_objects,
    ),
    (
        "apply::network_failures::delete_continues_without_an_unreachable_guest",
        delete_continues_without_an_unreachable_guest,
    ),
    ("apply::network_failures::commands_end_soon_after_the_timeout", commands_end_soon_after_the_timeout),
];

fn is_patch(seen: &SeenRequest) -> bool {
    seen.method == "PATCH"
}

/// Checks that everything is in the inventory and that another apply writes nothing.
fn assert_settled(cluster: &TestCluster, project: &Project) {
    cluster.proxy.clear_faults();
    assert_eq!(inventory(cluster).len(), OBJECTS);
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
}

/// An API server is busy, then unavailable, then does what it is asked and reports an error. Everything exists in the
/// end, nothing is written too often, and there are not many more requests than usual.
fn a_busy_api_server_gets_fewer_requests(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let busy = || Fault::Respond(Reply::status(429, "TooManyRequests").header("retry-after", "1"));
    cluster.proxy.fault(RequestMatcher::matching(|seen| seen.method == "GET"), 2, busy());
    cluster.proxy.fault(RequestMatcher::matching(is_patch), 3, busy());
    let away = Fault::Respond(Reply::status(503, "ServiceUnavailable"));
    cluster.proxy.fault(RequestMatcher::matching(is_patch), 3, away);
    let late = Fault::RespondAfter(Reply::status(504, "Timeout"));
    cluster.proxy.fault(RequestMatcher::matching(|seen| seen.method != "GET"), 4, late);
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &["--retry-timeout", "10s", "-v"]);
    for logged in ["INFO retrying a request method=PATCH", "INFO the API server returns 429"] {
        assert!(run.stderr.contains(logged), "{logged} is not in {}", run.stderr);
    }
    let written = written_paths(cluster, mark);
    for path in &written {
        assert!(count_of(&written, path) <= 3, "{path}: {written:#?}");
    }
    assert!(cluster.proxy.seen().len() < 65, "{}", cluster.proxy.seen().len());
    assert_settled(cluster, &project);
}

/// Every fifth request loses its connection: before it arrives, before the response, or in the middle of the response.
fn broken_connections_are_retried(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    for (rest, fault) in [(0, Fault::Cut), (5, Fault::CutAfter), (10, Fault::CutBody)] {
        cluster.proxy.fault(
            RequestMatcher::matching(move |seen| seen.number % 15 == rest),
            usize::MAX,
            fault,
        );
    }
    project.apply_ok(cluster, &[]);
    assert!(cluster.proxy.seen().len() > 30);
    assert_settled(cluster, &project);
}

/// The API server is killed during requests and starts again.
fn an_api_server_restarts_during_an_apply(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.proxy.fault(
        RequestMatcher::matching(is_patch),
        usize::MAX,
        Fault::Delay(Duration::from_millis(100)),
    );
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(cluster, &["--retry-timeout", "40s", "--timeout", "60s"]));
        wait_until("a write", || cluster.proxy.seen().iter().any(is_patch));
        cluster.control_plane.kill();
        std::thread::sleep(Duration::from_millis(300));
        cluster.control_plane.restart();
        assert_code(&run.join().unwrap(), 0);
    });
    assert_settled(cluster, &project);
}

/// A CRD is established, but for two seconds its resource is not served.
fn a_crd_is_served_late(bed: &TestBed) {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let (cluster, project) = (&bed.guest, Project::new());
    let missing = Reply { code: 404, headers: vec![], body: "404 page not found\n".to_owned() };
    let early = |seen: &SeenRequest| {
        seen.path == "/apis/example.test/v1"
            && FIRST.get_or_init(Instant::now).elapsed() < Duration::from_secs(2)
    };
    cluster.proxy.fault(RequestMatcher::matching(early), usize::MAX, Fault::Respond(missing.clone()));
    let of_kind = |seen: &SeenRequest| is_patch(seen) && seen.path.starts_with(WIDGET);
    cluster.proxy.fault(RequestMatcher::matching(of_kind), 3, Fault::Respond(missing));
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(objects_with(&run, "failed"), Vec::<String>::new());
    assert_eq!(cluster.get(WIDGET).unwrap()["spec"]["size"], 1);
}

/// The API server cannot list a kind, for example because of a broken conversion webhook. Its objects are read one by
/// one.
fn a_kind_that_cannot_be_listed_is_read_one_by_one(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    let list = |seen: &SeenRequest| seen.method == "GET" && seen.path.starts_with("/api/v1/configmaps?");
    let broken = Fault::Respond(Reply::status(500, "InternalError"));
    cluster.proxy.fault(RequestMatcher::matching(list), usize::MAX, broken);
    let mark = cluster.audit.mark();
    let run = project.apply_ok(cluster, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 1 changed, 13 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written_paths(cluster, mark), [INVENTORY, map("settings").as_str(), INVENTORY]);
    assert_settled(cluster, &project);
}

/// One upgrade adds a field to a CRD and uses it. The API server still has the previous schema for a moment, and returns
/// the 500 that means an unknown field.
fn a_new_field_of_a_crd_can_be_used_in_the_same_run(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    let size = "size: {type: integer}\n";
    project.change("10_crd", size, &format!("{size}              color: {{type: string}}\n"));
    project.change("50_widget", "size: 1", "size: 1\n  color: red");
    let message = "failed to create typed patch object (/one; example.test/v1, Kind=Widget): .spec.color: field not declared in schema";
    let mut reply = Reply::status(500, "InternalError");
    reply.body = json!({"kind": "Status", "status": "Failure", "message": message, "code": 500}).to_string();
    let is_widget = |seen: &SeenRequest| is_patch(seen) && seen.path.contains("/widgets/");
    cluster.proxy.fault(RequestMatcher::matching(is_widget), 2, Fault::Respond(reply));
    project.apply_ok(cluster, &[]);
    assert_eq!(cluster.get(WIDGET).unwrap()["spec"]["color"], "red");
    assert_settled(cluster, &project);
}

/// The API server reads an apply as YAML, which folds or rejects some characters of JSON.
fn every_text_arrives_unchanged(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    for (escaped, text) in [
        (r"next\Nline", "next\u{85}line"),
        (r"a \Lb \Pc", "a \u{2028}b \u{2029}c"),
        (r"\x7F\x80\x9F\uFFFE", "\u{7f}\u{80}\u{9f}\u{fffe}"),
        (r"\U0001F600 ü", "😀 ü"),
    ] {
        project.write_manifest("20_settings", &config_map("settings", &format!("\"{escaped}\"")));
        project.apply_ok(cluster, &[]);
        assert_eq!(cluster.get(&map("settings")).unwrap()["data"]["mode"], text, "{escaped}");
        assert_settled(cluster, &project);
    }
}

/// A CRD of someone else does not have a field that we set. The API server returns 500, which is not retried in this
/// case.
fn an_unknown_field_is_not_retried(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    cluster.apply_yaml(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: gadgets.others.test\nspec:\n  \
         group: others.test\n  names: {kind: Gadget, plural: gadgets}\n  scope: Cluster\n  versions:\n  - name: v1\n    served: true\n    \
         storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            \
         type: object\n            properties:\n              size: {type: integer}\n",
    );
    wait_until("the kind", || cluster.get("/apis/others.test/v1/gadgets").is_some());
    project.write_manifest(
        "50_gadget",
        "apiVersion: others.test/v1\nkind: Gadget\nmetadata:\n  name: one\nspec:\n  sise: 1\n",
    );
    project.write(
        "profiles/checks.yaml",
        "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata:\n  name: checks\nkinds:\n  Gadget.others.test:\n    \
         servedBy: another operator\n    scope: Cluster\n",
    );
    let run = project.apply(cluster, &[]);
    assert_code(&run, 3);
    let why = message_of(&run, "failed", "Gadget.others.test/one").unwrap();
    assert!(why.contains("the API server returns 500: ") && why.contains(".spec.sise"), "{why}");
    let tries =
        cluster.proxy.seen().iter().filter(|seen| is_patch(seen) && seen.path.contains("/gadgets/")).count();
    assert_eq!(tries, 1);
}

/// The guest's API server is not running. The management cluster is applied, and the error is reported.
fn an_unreachable_guest_does_not_affect_the_management_cluster(bed: &TestBed) {
    let project = Project::new();
    bed.guest.proxy.refuse(true);
    let run = project.run_hosted(bed, "apply", &[]);
    assert_code(&run, 3);
    let lost = run.stderr.lines().find(|line| line.contains(" unreachable ")).unwrap();
    assert!(lost.starts_with("guest") && lost.contains("no response: "), "{lost}");
    assert!(
        run.stdout.starts_with(
            "management: 8 created, 0 changed, 1 unchanged, 0 pruned, 0 failed\nguest: 0 created"
        ),
        "{}",
        run.stdout
    );
    let deployment = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/op");
    assert!(bed.management.get(&deployment).is_some());
    bed.guest.proxy.refuse(false);
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    assert!(bed.guest.get(WIDGET).is_some());
}

/// The guest returns invalid data. The management cluster is applied in time.
fn invalid_responses_of_the_guest_do_no_harm(bed: &TestBed) {
    let list = |seen: &SeenRequest| seen.method == "GET" && seen.path.contains("labelSelector=");
    let first = |seen: &SeenRequest| seen.path == "/api";
    let body = |body: &str| Reply { body: body.to_owned(), ..Reply::status(200, "Nonsense") };
    let endless = r#"{"kind": "List", "items": [], "metadata": {"continue": "more"}}"#;
    let later = Reply::status(429, "TooManyRequests").header("retry-after", "18446744073709551615");
    let deployment = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/op");
    for (which, reply) in [
        (RequestMatcher::matching(list), body("[]")),
        (RequestMatcher::matching(list), body(r#"{"items": [1, "x", null, {"metadata": 7}]}"#)),
        (RequestMatcher::matching(list), body(endless)),
        (RequestMatcher::matching(first), body("{}")),
        (RequestMatcher::matching(first), later),
    ] {
        let project = Project::new();
        let what = format!("{reply:?}");
        bed.guest.proxy.fault(which, usize::MAX, Fault::Respond(reply));
        let began = Instant::now();
        let run = project.run_hosted(bed, "apply", &["--timeout", "6s"]);
        assert!(began.elapsed() < Duration::from_secs(40), "{what}");
        assert!([0, 3].contains(&run.code) && !run.stderr.contains("panicked"), "{what}: {}", run.stderr);
        assert!(
            run.stdout.starts_with("management: ") && !run.stdout.contains("1 failed\nguest"),
            "{what}: {}",
            run.stdout
        );
        assert!(bed.management.get(&deployment).is_some(), "{what}");
        bed.guest.proxy.clear_faults();
        assert_code(&project.run_hosted(bed, "delete", &[]), 0);
    }
}

/// The guest's API server starts after the management cluster was applied. With `--wait`, both are applied.
fn wait_applies_to_a_guest_that_starts_later(bed: &TestBed) {
    let project = Project::new();
    bed.guest.proxy.refuse(true);
    let deployment = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/op");
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.run_hosted(bed, "apply", &["--wait"]));
        wait_until("the management cluster's half", || bed.management.get(&deployment).is_some());
        // Longer than a request is retried.
        std::thread::sleep(Duration::from_secs(4));
        bed.guest.proxy.refuse(false);
        run.join().unwrap()
    });
    assert_code(&run, 0);
    assert!(bed.guest.get(WIDGET).is_some());
    let of_guest: Vec<&str> =
        run.stderr.lines().filter(|line| line.starts_with("guest ") && !line.contains('/')).collect();
    assert!(of_guest[0].contains(" waiting     no response: "), "{of_guest:?}");
    assert!(
        of_guest[1].ends_with(" ready       the cluster responds, and objects can be applied"),
        "{of_guest:?}"
    );
    assert_eq!(of_guest.len(), 2, "{of_guest:?}");
}

/// The guest's API server stops after the first write. The remaining objects are reported as blocked.
fn a_guest_that_stops_responding_blocks_its_objects(bed: &TestBed) {
    let project = Project::new();
    bed.guest.proxy.fault(
        RequestMatcher::matching(is_patch),
        usize::MAX,
        Fault::Delay(Duration::from_millis(200)),
    );
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.run_hosted(bed, "apply", &[]));
        wait_until("a write", || bed.guest.proxy.seen().iter().any(is_patch));
        bed.guest.proxy.refuse(true);
        run.join().unwrap()
    });
    assert_code(&run, 3);
    let why = message_of(&run, "blocked", "StorageClass.storage.k8s.io/fast").unwrap();
    assert!(why.starts_with("its cluster does not respond: no response: "), "{why}");
    assert!(
        run.stdout.starts_with("management: 8 created, 0 changed, 1 unchanged, 0 pruned, 0 failed\n"),
        "{}",
        run.stdout
    );
    bed.guest.proxy.refuse(false);
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    assert!(bed.guest.get(WIDGET).is_some());
}

/// The API server accepts requests and does not respond. All commands end soon after the timeout.
fn commands_end_soon_after_the_timeout(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    project.apply_ok(cluster, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    for command in [&["apply", "--wait"][..], &["delete"]] {
        cluster.proxy.reset();
        cluster.proxy.fault(
            RequestMatcher::matching(|seen| seen.method != "GET"),
            usize::MAX,
            Fault::Delay(Duration::from_secs(60)),
        );
        let begun = Instant::now();
        let more = [&command[1..], &["--timeout", "3s"]].concat();
        assert_code(&project.run(cluster, command[0], &more), 3);
        // The timeout of a single request would be longer.
        assert!(begun.elapsed() < Duration::from_secs(12), "{command:?}: {:?}", begun.elapsed());
    }
}

/// A guest that does not respond does not stop the deletion in the management cluster.
fn delete_continues_without_an_unreachable_guest(bed: &TestBed) {
    let project = Project::new();
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    bed.guest.proxy.refuse(true);
    let run = project.run_hosted(bed, "delete", &[]);
    assert_code(&run, 3);
    assert!(run.stdout.starts_with("management: "), "{}", run.stdout);
    assert!(run.stdout.contains(" 8 deleted"), "{}", run.stdout);
    let of_us = "?labelSelector=applyset.kubernetes.io%2Fpart-of";
    for kind in ["api/v1/namespaces/{}/configmaps", "apis/apps/v1/namespaces/{}/deployments"] {
        let path = kind.replace("{}", HOSTED);
        assert_eq!(bed.management.list(&format!("/{path}{of_us}")).len(), 0, "{path}");
    }
    let home = format!("/api/v1/namespaces/{HOSTED}/configmaps/transship-hypershift");
    assert!(bed.management.get(&home).is_none());
    assert!(bed.guest.get(WIDGET).is_some());
}
