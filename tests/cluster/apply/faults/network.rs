//! The way to an API server, and the server itself.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::super::fixture::{HOSTED, INVENTORY, OBJECTS, Project, WIDGET, map};
use super::{assert_code, inventory, objects, times, told, until, written};
use crate::BedCase;
use crate::bed::Bed;
use crate::faults::{Fault, Reply, Seen, Which};
use crate::side::Side;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::faults::network::a_busy_server", a_busy_server),
    ("apply::faults::network::connections_that_break", connections_that_break),
    ("apply::faults::network::a_server_that_dies", a_server_that_dies),
    ("apply::faults::network::a_kind_that_is_served_late", a_kind_that_is_served_late),
    ("apply::faults::network::a_kind_that_cannot_be_listed", a_kind_that_cannot_be_listed),
    ("apply::faults::network::a_field_that_nobody_knows", a_field_that_nobody_knows),
    ("apply::faults::network::no_guest_at_all", no_guest_at_all),
    ("apply::faults::network::a_guest_that_talks_nonsense", a_guest_that_talks_nonsense),
    ("apply::faults::network::a_guest_that_comes_later", a_guest_that_comes_later),
    ("apply::faults::network::a_guest_that_goes_away", a_guest_that_goes_away),
    ("apply::faults::network::deleting_without_the_guest", deleting_without_the_guest),
    ("apply::faults::network::a_server_that_falls_silent", a_server_that_falls_silent),
];

fn is_patch(seen: &Seen) -> bool {
    seen.method == "PATCH"
}

/// Everything is in the inventory, and nothing is left to be done.
fn assert_settled(side: &Side, project: &Project) {
    side.proxy.clear_faults();
    assert_eq!(inventory(side).len(), OBJECTS);
    let mark = side.audit.mark();
    let run = project.applied(side, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 0 changed, 14 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written(side, mark), Vec::<String>::new());
}

/// An API server has too much to do, is then not there, and then does what it is asked and says that it did not: everything
/// is there in the end, nothing twice, and it was not asked much more than otherwise.
fn a_busy_server(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let busy = || Fault::Answer(Reply::status(429, "TooManyRequests").header("retry-after", "1"));
    side.proxy.fault(Which::matching(|seen| seen.method == "GET"), 2, busy());
    side.proxy.fault(Which::matching(is_patch), 3, busy());
    let away = Fault::Answer(Reply::status(503, "ServiceUnavailable"));
    side.proxy.fault(Which::matching(is_patch), 3, away);
    let late = Fault::AnswerAfter(Reply::status(504, "Timeout"));
    side.proxy.fault(Which::matching(|seen| seen.method != "GET"), 4, late);
    let mark = side.audit.mark();
    project.applied(side, &["--request-timeout", "10s"]);
    let written = written(side, mark);
    for path in &written {
        assert!(times(&written, path) <= 3, "{path}: {written:#?}");
    }
    assert!(side.proxy.seen().len() < 65, "{}", side.proxy.seen().len());
    assert_settled(side, &project);
}

/// Every fifth request loses its connection: before it arrives, before it is answered, or in the middle of the answer.
fn connections_that_break(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    for (rest, fault) in [(0, Fault::Cut), (5, Fault::CutAfter), (10, Fault::CutBody)] {
        side.proxy.fault(Which::matching(move |seen| seen.number % 15 == rest), usize::MAX, fault);
    }
    project.applied(side, &[]);
    assert!(side.proxy.seen().len() > 30);
    assert_settled(side, &project);
}

/// The API server is killed while it is being asked, and starts again.
fn a_server_that_dies(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.proxy.fault(Which::matching(is_patch), usize::MAX, Fault::Delay(Duration::from_millis(100)));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| project.apply(side, &["--request-timeout", "40s", "--timeout", "60s"]));
        until("a write", || side.proxy.seen().iter().any(is_patch));
        side.control_plane.kill();
        std::thread::sleep(Duration::from_millis(300));
        side.control_plane.restart();
        assert_code(&run.join().unwrap(), 0);
    });
    assert_settled(side, &project);
}

/// A definition is established, and for two seconds its kind is neither listed nor served.
fn a_kind_that_is_served_late(bed: &Bed) {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let (side, project) = (&bed.guest, Project::new());
    let missing = Reply { code: 404, headers: vec![], body: "404 page not found\n".to_owned() };
    let early = |seen: &Seen| {
        seen.path == "/apis/example.test/v1"
            && FIRST.get_or_init(Instant::now).elapsed() < Duration::from_secs(2)
    };
    side.proxy.fault(Which::matching(early), usize::MAX, Fault::Answer(missing.clone()));
    let of_kind = |seen: &Seen| is_patch(seen) && seen.path.starts_with(WIDGET);
    side.proxy.fault(Which::matching(of_kind), 3, Fault::Answer(missing));
    let run = project.applied(side, &[]);
    assert_eq!(objects(&run, "failed"), Vec::<String>::new());
    assert_eq!(side.get(WIDGET).unwrap()["spec"]["size"], 1);
}

/// The API server cannot list a kind, as where nobody converts its objects: they are asked for one after the other, and
/// nothing else suffers.
fn a_kind_that_cannot_be_listed(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    let list = |seen: &Seen| seen.method == "GET" && seen.path.starts_with("/api/v1/configmaps?");
    let broken = Fault::Answer(Reply::status(500, "InternalError"));
    side.proxy.fault(Which::matching(list), usize::MAX, broken);
    let mark = side.audit.mark();
    let run = project.applied(side, &[]);
    assert_eq!(run.stdout, "cluster: 0 created, 1 changed, 13 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(written(side, mark), [INVENTORY, map("settings").as_str(), INVENTORY]);
    assert_settled(side, &project);
}

/// A kind of others does not have a field that we would set. The API server answers that as if it had failed itself, and
/// would do so for ever: it is asked once.
fn a_field_that_nobody_knows(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    side.apply_yaml(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: gadgets.others.test\nspec:\n  \
         group: others.test\n  names: {kind: Gadget, plural: gadgets}\n  scope: Cluster\n  versions:\n  - name: v1\n    served: true\n    \
         storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            \
         type: object\n            properties:\n              size: {type: integer}\n",
    );
    until("the kind", || side.get("/apis/others.test/v1/gadgets").is_some());
    project.put(
        "50_gadget",
        "apiVersion: others.test/v1\nkind: Gadget\nmetadata:\n  name: one\nspec:\n  sise: 1\n",
    );
    project.write(
        "profiles/checks.yaml",
        "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata:\n  name: checks\nkinds:\n  Gadget.others.test:\n    \
         servedBy: somebody else\n    scope: Cluster\n",
    );
    let run = project.apply(side, &[]);
    assert_code(&run, 3);
    let why = told(&run, "failed", "Gadget.others.test/one").unwrap();
    assert!(why.contains("the API server answers 500: ") && why.contains(".spec.sise"), "{why}");
    let tries =
        side.proxy.seen().iter().filter(|seen| is_patch(seen) && seen.path.contains("/gadgets/")).count();
    assert_eq!(tries, 1);
}

/// The guest's API server is not there: the management cluster gets what is its, and it is told why the rest is not done.
fn no_guest_at_all(bed: &Bed) {
    let project = Project::new();
    bed.guest.proxy.refuse(true);
    let run = project.run_hosted(bed, "apply", &[]);
    assert_code(&run, 3);
    let lost = run.stderr.lines().find(|line| line.contains(" lost ")).unwrap();
    assert!(lost.starts_with("guest") && lost.contains("no answer: "), "{lost}");
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

/// Somebody in the guest answers whatever he likes: the management cluster gets what is its, in time, and nothing breaks.
fn a_guest_that_talks_nonsense(bed: &Bed) {
    let list = |seen: &Seen| seen.method == "GET" && seen.path.contains("labelSelector=");
    let first = |seen: &Seen| seen.path == "/api";
    let body = |body: &str| Reply { body: body.to_owned(), ..Reply::status(200, "Nonsense") };
    let endless = r#"{"kind": "List", "items": [], "metadata": {"continue": "more"}}"#;
    let later = Reply::status(429, "TooManyRequests").header("retry-after", "18446744073709551615");
    let deployment = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/op");
    for (which, reply) in [
        (Which::matching(list), body("[]")),
        (Which::matching(list), body(r#"{"items": [1, "x", null, {"metadata": 7}]}"#)),
        (Which::matching(list), body(endless)),
        (Which::matching(first), body("{}")),
        (Which::matching(first), later),
    ] {
        let project = Project::new();
        let what = format!("{reply:?}");
        bed.guest.proxy.fault(which, usize::MAX, Fault::Answer(reply));
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

/// The guest's API server comes up when the management cluster's half is there already, which does not wait for it. Who
/// waits has both.
fn a_guest_that_comes_later(bed: &Bed) {
    let project = Project::new();
    bed.guest.proxy.refuse(true);
    let deployment = format!("/apis/apps/v1/namespaces/{HOSTED}/deployments/op");
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.run_hosted(bed, "apply", &["--wait"]));
        until("the management cluster's half", || bed.management.get(&deployment).is_some());
        // As long as a request is tried, and longer.
        std::thread::sleep(Duration::from_secs(4));
        bed.guest.proxy.refuse(false);
        run.join().unwrap()
    });
    assert_code(&run, 0);
    assert!(bed.guest.get(WIDGET).is_some());
    let of_guest: Vec<&str> =
        run.stderr.lines().filter(|line| line.starts_with("guest ") && !line.contains('/')).collect();
    assert!(of_guest[0].contains(" waiting   no answer: "), "{of_guest:?}");
    assert!(of_guest[1].ends_with(" ready     objects can go there now"), "{of_guest:?}");
    assert_eq!(of_guest.len(), 2, "{of_guest:?}");
}

/// The guest's API server goes away after its first write: what is left for it is told as blocked, and why.
fn a_guest_that_goes_away(bed: &Bed) {
    let project = Project::new();
    bed.guest.proxy.fault(Which::matching(is_patch), usize::MAX, Fault::Delay(Duration::from_millis(200)));
    let run = std::thread::scope(|scope| {
        let run = scope.spawn(|| project.run_hosted(bed, "apply", &[]));
        until("a write", || bed.guest.proxy.seen().iter().any(is_patch));
        bed.guest.proxy.refuse(true);
        run.join().unwrap()
    });
    assert_code(&run, 3);
    let why = told(&run, "blocked", "StorageClass.storage.k8s.io/fast").unwrap();
    assert!(why.starts_with("its cluster does not answer: no answer: "), "{why}");
    assert!(
        run.stdout.starts_with("management: 8 created, 0 changed, 1 unchanged, 0 pruned, 0 failed\n"),
        "{}",
        run.stdout
    );
    bed.guest.proxy.refuse(false);
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    assert!(bed.guest.get(WIDGET).is_some());
}

/// The API server stops to answer, without a word: whatever was asked of it, all ends soon after the time is over.
fn a_server_that_falls_silent(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    project.applied(side, &[]);
    project.change("20_settings", "mode: one", "mode: two");
    for command in [&["apply", "--wait"][..], &["delete"]] {
        side.proxy.reset();
        side.proxy.fault(
            Which::matching(|seen| seen.method != "GET"),
            usize::MAX,
            Fault::Delay(Duration::from_secs(60)),
        );
        let begun = Instant::now();
        let more = [&command[1..], &["--timeout", "3s"]].concat();
        assert_code(&project.run(side, command[0], &more), 3);
        // One request alone would be waited for longer.
        assert!(begun.elapsed() < Duration::from_secs(12), "{command:?}: {:?}", begun.elapsed());
    }
}

/// A guest that does not answer holds nothing back in the management cluster, and is told.
fn deleting_without_the_guest(bed: &Bed) {
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
