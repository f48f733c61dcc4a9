//! What goes wrong on the way, what others do meanwhile, and what is not meant: each ends well or says what is wrong, and
//! nothing else suffers.

pub(crate) mod changing;
pub(crate) mod early;
pub(crate) mod found;
pub(crate) mod leaving;
pub(crate) mod network;
pub(crate) mod others;
pub(crate) mod rights;
pub(crate) mod secrets;
pub(crate) mod seeds;
pub(crate) mod waiting;

use std::time::{Duration, Instant};

use serde_json::Value;

use super::Run;
use super::fixture::INVENTORY;
use crate::audit::{self, Mark};
use crate::call::Answer;
use crate::side::Side;

/// What a line tells in a word, behind the cluster and the run-level.
fn about<'r>(line: &'r str, word: &str) -> Option<&'r str> {
    let (head, about) = line.split_at_checked(26)?;
    (head[16..].trim_end() == word).then_some(about)
}

/// What was told in a word about an object: the message behind it.
pub(super) fn told(run: &Run, word: &str, object: &str) -> Option<String> {
    run.stderr.lines().find_map(|line| {
        let about = about(line, word)?.strip_prefix(object)?;
        if about.is_empty() { Some(String::new()) } else { about.strip_prefix(": ").map(str::to_owned) }
    })
}

/// The objects of which something was told in a word, in the order of the alphabet.
pub(super) fn objects(run: &Run, word: &str) -> Vec<String> {
    let about = run.stderr.lines().filter_map(|line| about(line, word));
    let mut all: Vec<String> = about.map(|about| about.split(": ").next().unwrap().to_owned()).collect();
    all.sort();
    all
}

pub(super) fn assert_code(run: &Run, code: i32) {
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
}

/// Where the program wrote something since a mark, by what the API server says, in order.
pub(super) fn written(side: &Side, mark: Mark) -> Vec<String> {
    let entries = side.audit.since(mark);
    let done = audit::writes(&entries).into_iter().filter(|one| one.code < 300);
    done.map(|one| one.uri.split('?').next().unwrap().to_owned()).collect()
}

/// How often something stands in a list.
fn times(all: &[String], one: &str) -> usize {
    all.iter().filter(|other| *other == one).count()
}

/// Waits until something is so.
pub(super) fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} never happens");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The lines of the inventory of one cluster; none without one.
fn inventory(side: &Side) -> Vec<String> {
    let live = side.get(INVENTORY).unwrap_or_default();
    live["data"]["objects"].as_str().unwrap_or_default().lines().map(str::to_owned).collect()
}

fn is_in_inventory(side: &Side, kind: &str, name: &str) -> bool {
    inventory(side).iter().any(|line| {
        let parts: Vec<&str> = line.split(' ').collect();
        (parts[1], parts[3]) == (kind, name)
    })
}

/// Somebody changes an object, in his own name and without asking whose it is.
pub(super) fn edit(side: &Side, manager: &str, path: &str, change: &Value) -> Value {
    let path = format!("{path}?fieldManager={manager}");
    side.patch(&path, "application/merge-patch+json", &change.to_string())
}

/// Somebody makes an object, in his own name.
pub(super) fn make(side: &Side, manager: &str, collection: &str, object: &Value) -> Answer {
    side.call(
        "POST",
        &format!("{collection}?fieldManager={manager}"),
        "application/json",
        &object.to_string(),
    )
}
