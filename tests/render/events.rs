//! Events, summaries and the progress line.

use std::time::Duration;

use transship::apply::{Event, EventKind, ProgressLine, Stamp, Summary};
use transship::{Cluster, ObjectId};

use crate::support::repository;

/// An event about a Deployment, or about a cluster.
fn event(cluster: Cluster, level: &str, about: Option<&str>, kind: EventKind, message: &str) -> Event {
    let object = about.map(|name| ObjectId {
        group: "apps".to_owned(),
        kind: "Deployment".to_owned(),
        namespace: "ns".to_owned(),
        name: name.to_owned(),
    });
    Event { cluster, level: level.to_owned(), object, kind, message: message.to_owned() }
}

/// The stamp of an event of the documentation.
fn stamp() -> Stamp {
    Stamp {
        run: "7f3a9c21".to_owned(),
        time: "2026-05-04T03:02:01.500Z".to_owned(),
        elapsed: Duration::from_micros(12_345_678),
        dry_run: false,
    }
}

/// The fields of [`stamp`] in the JSON of an event or a summary.
const STAMPED: &str = r#""run":"7f3a9c21","time":"2026-05-04T03:02:01.500Z"}"#;

const ALL: [(EventKind, &str, bool); 14] = [
    (EventKind::Created, "created", false),
    (EventKind::Changed, "changed", false),
    (EventKind::Recreated, "recreated", false),
    (EventKind::Unchanged, "unchanged", false),
    (EventKind::Deleted, "deleted", false),
    (EventKind::Pruned, "pruned", false),
    (EventKind::Held, "held", false),
    (EventKind::Released, "released", false),
    (EventKind::Warning, "warning", false),
    (EventKind::Waiting, "waiting", false),
    (EventKind::Ready, "ready", false),
    (EventKind::Failed, "failed", true),
    (EventKind::Blocked, "blocked", true),
    (EventKind::Unreachable, "unreachable", true),
];

#[test]
fn text_and_json_use_the_same_word() {
    for (kind, word, problem) in ALL {
        assert_eq!((kind.word(), kind.is_problem()), (word, problem));
        let event = event(Cluster::Both, "10", Some("d"), kind, "");
        assert_eq!(event.is_news(), kind != EventKind::Unchanged);
        let json: serde_json::Value = serde_json::from_str(&event.json(&stamp())).unwrap();
        assert_eq!(json["event"], word);
    }
}

#[test]
fn the_documentation_lists_every_word() {
    let page = std::fs::read_to_string(repository().join("docs/apply.md")).unwrap();
    let (_, table) = page.split_once("| event | meaning |\n|---|---|\n").unwrap();
    let rows = table.lines().map_while(|line| line.strip_prefix("| `")?.split_once("` |"));
    let words: Vec<&str> = rows.map(|(word, _)| word).collect();
    assert_eq!(words, ALL.map(|(_, word, _)| word));
    let object = ObjectId {
        group: String::new(),
        kind: "ConfigMap".to_owned(),
        namespace: "openshift-op".to_owned(),
        name: "settings".to_owned(),
    };
    let event = Event { object: Some(object), ..event(Cluster::Guest, "50", None, EventKind::Created, "") };
    let mut summary = Summary::default();
    summary.count(&event);
    assert!(page.contains(&format!("```json\n{}\n{}\n```", event.json(&stamp()), summary.json(&stamp()))));
}

#[test]
fn text_has_columns() {
    let lines = [
        event(Cluster::Both, "50", Some("d"), EventKind::Created, "").line(),
        event(Cluster::Management, "50", Some("d"), EventKind::Waiting, "0 of 1 replicas are updated").line(),
        event(Cluster::Guest, "0000", Some("d"), EventKind::Released, "it existed before").line(),
        event(Cluster::Guest, "", Some("d"), EventKind::Held, "--prune deletes it").line(),
        event(Cluster::Management, "", None, EventKind::Unreachable, "no response").line(),
    ];
    assert_eq!(
        lines,
        [
            "cluster      50 created     Deployment.apps/d in ns",
            "management   50 waiting     Deployment.apps/d in ns: 0 of 1 replicas are updated",
            "guest      0000 released    Deployment.apps/d in ns: it existed before",
            "guest           held        Deployment.apps/d in ns: --prune deletes it",
            "management      unreachable no response",
        ]
    );
}

#[test]
fn json_has_the_same_fields_for_every_event() {
    assert_eq!(
        event(Cluster::Both, "50", Some("d"), EventKind::Changed, "").json(&stamp()),
        r#"{"cluster":"both","dryRun":false,"elapsedSeconds":12.346,"event":"changed","level":"50","message":"","object":{"group":"apps","kind":"Deployment","name":"d","namespace":"ns"},"#.to_owned() + STAMPED
    );
    assert_eq!(
        event(Cluster::Guest, "", None, EventKind::Unreachable, "say \"no\"\nagain").json(&stamp()),
        r#"{"cluster":"guest","dryRun":false,"elapsedSeconds":12.346,"event":"unreachable","level":"","message":"say \"no\"\nagain","object":null,"#.to_owned() + STAMPED
    );
}

/// Counts events.
fn summary(events: &[(Cluster, EventKind)]) -> Summary {
    let mut summary = Summary::default();
    for (cluster, kind) in events {
        summary.count(&event(*cluster, "10", Some("d"), *kind, ""));
    }
    summary
}

/// Returns the counts in the JSON of a summary.
fn counts(summary: &Summary) -> String {
    let json: serde_json::Value = serde_json::from_str(&summary.json(&stamp())).unwrap();
    assert_eq!((&json["run"], &json["dryRun"]), (&"7f3a9c21".into(), &false.into()));
    json["summary"].to_string()
}

#[test]
fn a_dry_run_reads_as_one() {
    let lines = ALL.map(|(kind, _, _)| event(Cluster::Both, "50", Some("d"), kind, "").dry_run_line());
    let words = [
        "would create",
        "would change",
        "would recreate",
        "unchanged",
        "would delete",
        "would prune",
        "would hold",
        "released",
        "warning",
        "waiting",
        "ready",
        "would fail",
        "blocked",
        "unreachable",
    ];
    assert_eq!(lines, words.map(|word| format!("cluster      50 {word:<14} Deployment.apps/d in ns")));
    assert_eq!(
        summary(&[(Cluster::Both, EventKind::Created), (Cluster::Both, EventKind::Held)]).dry_run_lines(),
        "cluster: 1 would be created, 0 would be changed, 0 unchanged, 0 would be pruned, 1 would be held, 0 would fail\n"
    );
    let failed = event(Cluster::Both, "", None, EventKind::Failed, "it cannot be read");
    assert_eq!(failed.dry_run_line(), failed.line(), "the cluster has failed");
    let dry = Stamp { dry_run: true, ..stamp() };
    let json = event(Cluster::Both, "50", Some("d"), EventKind::Created, "").json(&dry);
    assert!(json.contains(r#""dryRun":true"#) && json.contains(r#""event":"created""#), "{json}");
}

#[test]
fn an_empty_summary_has_no_lines() {
    let summary = Summary::default();
    assert_eq!((summary.lines(), counts(&summary)), (String::new(), "{}".to_owned()));
    assert!(!summary.has_problems());
    assert_eq!(summary.of(Cluster::Both, EventKind::Created), 0);
}

#[test]
fn a_summary_has_a_line_per_cluster() {
    let summary = summary(&[
        (Cluster::Guest, EventKind::Unchanged),
        (Cluster::Management, EventKind::Created),
        (Cluster::Management, EventKind::Waiting),
        (Cluster::Management, EventKind::Ready),
        (Cluster::Management, EventKind::Created),
        (Cluster::Guest, EventKind::Held),
        (Cluster::Guest, EventKind::Recreated),
        (Cluster::Guest, EventKind::Blocked),
    ]);
    assert_eq!(
        summary.lines(),
        "management: 2 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n\
         guest: 0 created, 0 changed, 1 recreated, 1 unchanged, 0 pruned, 1 held, 0 failed, 1 blocked\n"
    );
    assert_eq!(
        counts(&summary),
        r#"{"guest":{"blocked":1,"held":1,"recreated":1,"unchanged":1},"management":{"created":2}}"#
    );
    assert_eq!(summary.of(Cluster::Management, EventKind::Created), 2);
    assert_eq!(summary.of(Cluster::Guest, EventKind::Created), 0);
    assert_eq!(summary.of(Cluster::Both, EventKind::Created), 0);
}

#[test]
fn waiting_and_ready_are_not_counted() {
    let summary = summary(&[(Cluster::Both, EventKind::Waiting), (Cluster::Both, EventKind::Ready)]);
    assert_eq!(summary.lines(), "cluster: 0 created, 0 changed, 0 unchanged, 0 pruned, 0 failed\n");
    assert_eq!(counts(&summary), r#"{"both":{}}"#);
}

#[test]
fn a_summary_has_problems_if_an_event_is_one() {
    for (kind, _, problem) in ALL {
        let summary = summary(&[(Cluster::Both, EventKind::Created), (Cluster::Guest, kind)]);
        assert_eq!(summary.has_problems(), problem, "{kind:?}");
    }
}

#[test]
fn the_progress_line_shows_each_cluster_and_what_it_waits_for() {
    let mut line = ProgressLine::new([(Cluster::Management, 3), (Cluster::Guest, 2)]);
    assert_eq!(line.line(200), "management 0 of 3 · guest 0 of 2");
    line.update(&event(Cluster::Guest, "", None, EventKind::Waiting, "no response: Connection refused"));
    assert_eq!(line.line(200), "management 0 of 3 · guest: no response: Connection refused");
    line.update(&event(Cluster::Guest, "", None, EventKind::Ready, "it responds"));
    assert_eq!(line.line(200), "management 0 of 3 · guest 0 of 2");
    line.update(&event(Cluster::Management, "50", Some("a"), EventKind::Created, ""));
    line.update(&event(
        Cluster::Management,
        "50",
        Some("a"),
        EventKind::Waiting,
        "0 of 1 replicas are available",
    ));
    line.update(&event(Cluster::Guest, "10", Some("g"), EventKind::Unchanged, ""));
    let expected = "management 1 of 3 at 50 · guest 1 of 2 at 10 · waiting for Deployment.apps/a in ns: 0 of 1 replicas are available";
    assert_eq!(line.line(200), expected);
    line.update(&event(Cluster::Management, "60", Some("b"), EventKind::Changed, ""));
    line.update(&event(
        Cluster::Management,
        "60",
        Some("b"),
        EventKind::Waiting,
        "0 of 2 replicas are updated",
    ));
    assert_eq!(line.line(200), format!("{}, and 1 more", expected.replace("1 of 3 at 50", "2 of 3 at 60")));
    assert_eq!(line.line(30), "management 2 of 3 at 60 · gue…");
    line.update(&event(Cluster::Management, "50", Some("a"), EventKind::Ready, ""));
    line.update(&event(Cluster::Management, "60", Some("b"), EventKind::Failed, "it is not ready after 5 s"));
    line.update(&event(Cluster::Management, "", Some("old"), EventKind::Pruned, ""));
    line.update(&event(Cluster::Guest, "", None, EventKind::Unreachable, "no response"));
    assert_eq!(line.line(200), "management 2 of 3 at 60 · guest 1 of 2 at 10");
}
