//! Failures, other writers and mistakes: each command ends with a clear message, and nothing else is affected.

pub(crate) mod co_owned_fields;
pub(crate) mod existing_objects;
pub(crate) mod hostile_guest;
pub(crate) mod identity;
pub(crate) mod immutable_fields;
pub(crate) mod inventories;
pub(crate) mod missing_prerequisites;
pub(crate) mod missing_rights;
pub(crate) mod network_failures;
pub(crate) mod other_writers;
pub(crate) mod prune_and_delete;
pub(crate) mod same_object;
pub(crate) mod secret_values;
pub(crate) mod seeds;
pub(crate) mod tombstones;
pub(crate) mod unavailable_apis;
pub(crate) mod waiting;
pub(crate) mod write_lock;

use std::time::{Duration, Instant};

use serde_json::Value;

use super::Run;
use super::fixture::INVENTORY;
use crate::audit::{self, Mark};
use crate::requests::Response;
use crate::test_cluster::TestCluster;

/// Returns the part of a line after the event word, if the word matches.
fn about<'r>(line: &'r str, word: &str) -> Option<&'r str> {
    let (head, about) = line.split_at_checked(28)?;
    (head[16..].trim_end() == word).then_some(about)
}

/// Returns the output of a dry run as if it were that of `apply`.
pub(super) fn as_apply(run: Run) -> Run {
    let mut lines = Vec::new();
    for line in run.stdout.lines() {
        let words = [
            ("would create", "created"),
            ("would change", "changed"),
            ("would delete", "deleted"),
            ("would prune", "pruned"),
            ("would hold", "held"),
            ("would fail", "failed"),
            ("unchanged", "unchanged"),
        ];
        let word = words.iter().find(|(word, _)| line.get(16..30).is_some_and(|it| it.trim_end() == *word));
        match word {
            Some((_, word)) => lines.push(format!("{}{word:<11} {}", &line[..16], &line[31..])),
            None => lines.push(line.to_owned()),
        }
    }
    Run { stderr: lines.join("\n"), stdout: run.stderr, code: run.code }
}

/// Returns the message of an event about an object.
pub(super) fn message_of(run: &Run, word: &str, object: &str) -> Option<String> {
    run.stderr.lines().find_map(|line| {
        let about = about(line, word)?.strip_prefix(object)?;
        if about.is_empty() { Some(String::new()) } else { about.strip_prefix(": ").map(str::to_owned) }
    })
}

/// Returns the objects with an event, sorted.
pub(super) fn objects_with(run: &Run, word: &str) -> Vec<String> {
    let about = run.stderr.lines().filter_map(|line| about(line, word));
    let mut all: Vec<String> = about.map(|about| about.split(": ").next().unwrap().to_owned()).collect();
    all.sort();
    all
}

pub(super) fn assert_code(run: &Run, code: i32) {
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
}

/// Returns the paths that transship wrote since a mark, in order, according to the audit log.
pub(super) fn written_paths(cluster: &TestCluster, mark: Mark) -> Vec<String> {
    let entries = cluster.audit.since(mark);
    let done = audit::writes(&entries).into_iter().filter(|one| one.code < 300);
    done.map(|one| one.uri.split('?').next().unwrap().to_owned()).collect()
}

/// Counts how often a text is in a list.
fn count_of(all: &[String], one: &str) -> usize {
    all.iter().filter(|other| *other == one).count()
}

/// Waits until a condition holds.
pub(super) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} never happens");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the lines of the inventory; none without an inventory.
pub(super) fn inventory(cluster: &TestCluster) -> Vec<String> {
    let live = cluster.get(INVENTORY).unwrap_or_default();
    live["data"]["objects"].as_str().unwrap_or_default().lines().map(str::to_owned).collect()
}

fn is_in_inventory(cluster: &TestCluster, kind: &str, name: &str) -> bool {
    inventory(cluster).iter().any(|line| {
        let parts: Vec<&str> = line.split(' ').collect();
        (parts[1], parts[3]) == (kind, name)
    })
}

/// Changes an object under another field manager.
pub(super) fn patch_as(cluster: &TestCluster, manager: &str, path: &str, change: &Value) -> Value {
    let path = format!("{path}?fieldManager={manager}");
    cluster.patch(&path, "application/merge-patch+json", &change.to_string())
}

/// Creates an object under another field manager.
pub(super) fn create(cluster: &TestCluster, manager: &str, collection: &str, object: &Value) -> Response {
    cluster.call(
        "POST",
        &format!("{collection}?fieldManager={manager}"),
        "application/json",
        &object.to_string(),
    )
}
