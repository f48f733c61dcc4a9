//! What happens while objects are applied, as it is told.

use transship::apply::{Board, Event, Summary, What};
use transship::object::{Cluster, ObjectId};

use crate::support::repository;

/// Something that happened to a Deployment, or to a cluster.
fn event(cluster: Cluster, level: &str, about: Option<&str>, what: What, message: &str) -> Event {
    let [group, kind, namespace] = ["apps", "Deployment", "ns"].map(str::to_owned);
    let object = about.map(|name| ObjectId { group, kind, namespace, name: name.to_owned() });
    Event { cluster, level: level.to_owned(), object, what, message: message.to_owned() }
}

const ALL: [(What, &str, bool); 13] = [
    (What::Created, "created", false),
    (What::Changed, "changed", false),
    (What::Recreated, "recreated", false),
    (What::Unchanged, "unchanged", false),
    (What::Deleted, "deleted", false),
    (What::Pruned, "pruned", false),
    (What::Held, "held", false),
    (What::Forgotten, "forgotten", false),
    (What::Waiting, "waiting", false),
    (What::Ready, "ready", false),
    (What::Failed, "failed", true),
    (What::Blocked, "blocked", true),
    (What::Lost, "lost", true),
];

#[test]
fn every_event_has_a_word_and_the_same_one_in_json() {
    for (what, word, problem) in ALL {
        assert_eq!((what.word(), what.is_problem()), (word, problem));
        let event = event(Cluster::Both, "10", Some("d"), what, "");
        assert_eq!(event.is_news(), what != What::Unchanged);
        let json: serde_json::Value = serde_json::from_str(&event.json()).unwrap();
        assert_eq!(json["event"], word);
    }
}

#[test]
fn the_page_for_operators_has_every_word() {
    let page = std::fs::read_to_string(repository().join("docs/apply.md")).unwrap();
    let (_, table) = page.split_once("| word | meaning |\n|---|---|\n").unwrap();
    let rows = table.lines().map_while(|line| line.strip_prefix("| `")?.split_once("` |"));
    let words: Vec<&str> = rows.map(|(word, _)| word).collect();
    assert_eq!(words, ALL.map(|(_, word, _)| word));
    let object = ObjectId {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: "openshift-op".to_owned(),
        name: "settings".to_owned(),
    };
    let event = Event { object: Some(object), ..event(Cluster::Guest, "50", None, What::Created, "") };
    let mut summary = Summary::default();
    summary.count(&event);
    assert!(page.contains(&format!("```json\n{}\n{}\n```", event.json(), summary.json())));
}

#[test]
fn lines_are_columns() {
    let lines = [
        event(Cluster::Both, "50", Some("d"), What::Created, "").line(),
        event(Cluster::Management, "50", Some("d"), What::Waiting, "0 of 1 replicas are updated").line(),
        event(Cluster::Guest, "0000", Some("d"), What::Forgotten, "it is not ours").line(),
        event(Cluster::Guest, "", Some("d"), What::Held, "--prune takes it away").line(),
        event(Cluster::Management, "", None, What::Lost, "no answer").line(),
    ];
    assert_eq!(
        lines,
        [
            "cluster      50 created   Deployment.apps/d in ns",
            "management   50 waiting   Deployment.apps/d in ns: 0 of 1 replicas are updated",
            "guest      0000 forgotten Deployment.apps/d in ns: it is not ours",
            "guest           held      Deployment.apps/d in ns: --prune takes it away",
            "management      lost      no answer",
        ]
    );
}

#[test]
fn json_has_every_field_in_every_event() {
    assert_eq!(
        event(Cluster::Both, "50", Some("d"), What::Changed, "").json(),
        r#"{"cluster":"both","event":"changed","level":"50","message":"","object":{"group":"apps","kind":"Deployment","name":"d","namespace":"ns"}}"#
    );
    assert_eq!(
        event(Cluster::Guest, "", None, What::Lost, "say \"no\"\nagain").json(),
        r#"{"cluster":"guest","event":"lost","level":"","message":"say \"no\"\nagain","object":null}"#
    );
}

/// Counts these events.
fn summary(events: &[(Cluster, What)]) -> Summary {
    let mut summary = Summary::default();
    for (cluster, what) in events {
        summary.count(&event(*cluster, "10", Some("d"), *what, ""));
    }
    summary
}

#[test]
fn a_summary_of_nothing_has_no_line() {
    let summary = Summary::default();
    assert_eq!((summary.lines().as_str(), summary.json().as_str()), ("", r#"{"summary":{}}"#));
    assert!(!summary.has_problems());
    assert_eq!(summary.of(Cluster::Both, What::Created), 0);
}

#[test]
fn a_summary_has_a_line_for_every_cluster() {
    let summary = summary(&[
        (Cluster::Guest, What::Unchanged),
        (Cluster::Management, What::Created),
        (Cluster::Management, What::Waiting),
        (Cluster::Management, What::Ready),
        (Cluster::Management, What::Created),
        (Cluster::Guest, What::Held),
        (Cluster::Guest, What::Recreated),
        (Cluster::Guest, What::Blocked),
    ]);
    assert_eq!(
        summary.lines(),
        "management: 2 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n\
         guest: 0 created, 0 changed, 1 recreated, 1 unchanged, 0 pruned, 1 held, 0 failed, 1 blocked\n"
    );
    assert_eq!(
        summary.json(),
        r#"{"summary":{"guest":{"blocked":1,"held":1,"recreated":1,"unchanged":1},"management":{"created":2}}}"#
    );
    assert_eq!(summary.of(Cluster::Management, What::Created), 2);
    assert_eq!(summary.of(Cluster::Guest, What::Created), 0);
    assert_eq!(summary.of(Cluster::Both, What::Created), 0);
}

#[test]
fn what_is_only_waited_for_is_a_line_of_noughts() {
    let summary = summary(&[(Cluster::Both, What::Waiting), (Cluster::Both, What::Ready)]);
    assert_eq!(summary.lines(), "cluster: 0 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(summary.json(), r#"{"summary":{"both":{}}}"#);
}

#[test]
fn only_what_is_left_to_do_is_a_problem() {
    for (what, _, problem) in ALL {
        let summary = summary(&[(Cluster::Both, What::Created), (Cluster::Guest, what)]);
        assert_eq!(summary.has_problems(), problem, "{what:?}");
    }
}

#[test]
fn a_line_says_how_far_each_cluster_is_and_what_is_waited_for() {
    let mut board = Board::new([(Cluster::Management, 3), (Cluster::Guest, 2)]);
    assert_eq!(board.line(200), "management 0 of 3 · guest 0 of 2");
    board.see(&event(Cluster::Guest, "", None, What::Waiting, "no answer: Connection refused"));
    assert_eq!(board.line(200), "management 0 of 3 · guest: no answer: Connection refused");
    board.see(&event(Cluster::Guest, "", None, What::Ready, "it answers"));
    assert_eq!(board.line(200), "management 0 of 3 · guest 0 of 2");
    board.see(&event(Cluster::Management, "50", Some("a"), What::Created, ""));
    board.see(&event(Cluster::Management, "50", Some("a"), What::Waiting, "0 of 1 replicas are available"));
    board.see(&event(Cluster::Guest, "10", Some("g"), What::Unchanged, ""));
    let expected = "management 1 of 3 at 50 · guest 1 of 2 at 10 · waiting for Deployment.apps/a in ns: 0 of 1 replicas are available";
    assert_eq!(board.line(200), expected);
    board.see(&event(Cluster::Management, "60", Some("b"), What::Changed, ""));
    board.see(&event(Cluster::Management, "60", Some("b"), What::Waiting, "0 of 2 replicas are updated"));
    assert_eq!(board.line(200), format!("{}, and 1 more", expected.replace("1 of 3 at 50", "2 of 3 at 60")));
    assert_eq!(board.line(30), "management 2 of 3 at 60 · gue…");
    board.see(&event(Cluster::Management, "50", Some("a"), What::Ready, ""));
    board.see(&event(Cluster::Management, "60", Some("b"), What::Failed, "it is not ready after 5 s"));
    board.see(&event(Cluster::Management, "", Some("old"), What::Pruned, ""));
    board.see(&event(Cluster::Guest, "", None, What::Lost, "no answer"));
    assert_eq!(board.line(200), "management 2 of 3 at 60 · guest 1 of 2 at 10");
}
