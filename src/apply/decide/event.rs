//! Events: the lines that report the progress of a rollout.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;

use crate::object::{Cluster, ObjectId};
use crate::printable;

/// One line of progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The cluster.
    pub cluster: Cluster,
    /// The run level of the object; empty if it has none.
    pub level: String,
    /// The object; `None` if the event is about the cluster.
    pub object: Option<ObjectId>,
    /// The kind of event.
    pub kind: EventKind,
    /// The reason or details; may be empty.
    pub message: String,
}

/// The run that an event belongs to, and when the event happened. Whoever prints events knows the time; events do not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The id of the run.
    pub run: String,
    /// The time in UTC, as RFC 3339 writes it.
    pub time: String,
    /// The time since the start of the run.
    pub elapsed: Duration,
    /// Whether the run only reports what it would do.
    pub dry_run: bool,
}

impl Stamp {
    /// Adds the fields of the stamp to a line of JSON.
    fn add_to(&self, line: &mut serde_json::Value) {
        line["run"] = self.run.as_str().into();
        line["time"] = self.time.as_str().into();
        let milliseconds = (self.elapsed.as_secs_f64() * 1000.0).round();
        line["elapsedSeconds"] = (milliseconds / 1000.0).into();
        line["dryRun"] = self.dry_run.into();
    }
}

/// The kind of an event of an object or a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// The object was created.
    Created,
    /// The object existed and was changed.
    Changed,
    /// The object was deleted and created again, because a field is immutable.
    Recreated,
    /// The object was already as desired.
    Unchanged,
    /// The object was deleted, because a tombstone or `delete` asks for it.
    Deleted,
    /// The object is no longer rendered and was deleted.
    Pruned,
    /// The object is no longer rendered and stays until someone approves its deletion.
    Held,
    /// The object left the inventory without being deleted: it belongs to someone else, or it no longer existed.
    Released,
    /// The API server accepted the object, but warns about it.
    Warning,
    /// transship waits for the object or the cluster.
    Waiting,
    /// The object or the cluster is ready.
    Ready,
    /// The object could not be applied or deleted.
    Failed,
    /// The object was not applied, because something that it needs failed.
    Blocked,
    /// The cluster does not respond.
    Unreachable,
}

impl EventKind {
    /// Returns the word for text and JSON output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Recreated => "recreated",
            Self::Unchanged => "unchanged",
            Self::Deleted => "deleted",
            Self::Pruned => "pruned",
            Self::Held => "held",
            Self::Released => "released",
            Self::Warning => "warning",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Unreachable => "unreachable",
        }
    }

    /// Returns the words of a dry run for one object and for a number of objects.
    fn dry_run_words(self) -> (&'static str, &'static str) {
        match self {
            Self::Created => ("would create", "would be created"),
            Self::Changed => ("would change", "would be changed"),
            Self::Recreated => ("would recreate", "would be recreated"),
            Self::Deleted => ("would delete", "would be deleted"),
            Self::Pruned => ("would prune", "would be pruned"),
            Self::Held => ("would hold", "would be held"),
            Self::Failed => ("would fail", "would fail"),
            Self::Unchanged
            | Self::Released
            | Self::Warning
            | Self::Waiting
            | Self::Ready
            | Self::Blocked
            | Self::Unreachable => (self.word(), self.word()),
        }
    }

    /// Returns whether the rollout is incomplete because of it.
    pub fn is_problem(self) -> bool {
        matches!(self, Self::Failed | Self::Blocked | Self::Unreachable)
    }
}

impl Event {
    /// Creates an event about a cluster.
    pub(crate) fn for_cluster(cluster: Cluster, kind: EventKind, message: impl Into<String>) -> Self {
        Self { cluster, level: String::new(), object: None, kind, message: message.into() }
    }

    /// Creates an event about an object without a run level.
    pub(crate) fn for_object(
        cluster: Cluster,
        id: &ObjectId,
        kind: EventKind,
        message: impl Into<String>,
    ) -> Self {
        Self { object: Some(id.clone()), ..Self::for_cluster(cluster, kind, message) }
    }

    /// Returns whether text output has a line for it. Unchanged objects are only counted.
    pub fn is_news(&self) -> bool {
        self.kind != EventKind::Unchanged
    }

    /// Formats the event as a line of text.
    pub fn line(&self) -> String {
        format!("{} {:<11} {}", self.place(), self.kind.word(), self.details())
    }

    /// Formats the event of a dry run as a line of text. An event about a cluster has really happened.
    pub fn dry_run_line(&self) -> String {
        if self.object.is_none() {
            return self.line();
        }
        format!("{} {:<14} {}", self.place(), self.kind.dry_run_words().0, self.details())
    }

    /// Returns the columns for the cluster and the run level.
    fn place(&self) -> String {
        format!("{:<10} {:>4}", cluster_name(self.cluster), self.level)
    }

    fn details(&self) -> String {
        let mut details = self.object.as_ref().map(ToString::to_string).unwrap_or_default();
        if !details.is_empty() && !self.message.is_empty() {
            details.push_str(": ");
        }
        details.push_str(&self.message);
        single_line(&details)
    }

    /// Formats the event as a line of JSON.
    pub fn json(&self, stamp: &Stamp) -> String {
        let object = self.object.as_ref().map(|ObjectId { group, kind, namespace, name }| {
            serde_json::json!({"group": group, "kind": kind, "namespace": namespace, "name": name})
        });
        let mut line = serde_json::json!({
            "cluster": self.cluster.name(), "level": self.level, "event": self.kind, "object": object,
            "message": self.message,
        });
        stamp.add_to(&mut line);
        line.to_string()
    }
}

/// The number of events of each kind, per cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The counts.
    pub counts: BTreeMap<Cluster, BTreeMap<EventKind, usize>>,
}

impl Summary {
    /// The kinds that every line of text output counts, even if there are none.
    const ALWAYS_SHOWN: [EventKind; 5] =
        [EventKind::Created, EventKind::Changed, EventKind::Unchanged, EventKind::Pruned, EventKind::Failed];

    /// Counts an event.
    pub fn count(&mut self, event: &Event) {
        let counts = self.counts.entry(event.cluster).or_default();
        if !matches!(event.kind, EventKind::Warning | EventKind::Waiting | EventKind::Ready) {
            *counts.entry(event.kind).or_default() += 1;
        }
    }

    /// Returns the number of events of a kind in a cluster.
    pub fn of(&self, cluster: Cluster, kind: EventKind) -> usize {
        self.counts.get(&cluster).and_then(|counts| counts.get(&kind)).copied().unwrap_or_default()
    }

    /// Returns whether the rollout is incomplete.
    pub fn has_problems(&self) -> bool {
        self.counts.values().flat_map(BTreeMap::keys).any(|kind| kind.is_problem())
    }

    /// Formats the counts as one line of text per cluster.
    pub fn lines(&self) -> String {
        self.lines_with(EventKind::word)
    }

    /// Formats the counts of a dry run as one line of text per cluster.
    pub fn dry_run_lines(&self) -> String {
        self.lines_with(|kind| kind.dry_run_words().1)
    }

    fn lines_with(&self, word: impl Fn(EventKind) -> &'static str) -> String {
        let mut text = String::new();
        for (cluster, counts) in &self.counts {
            let mut counts = counts.clone();
            for kind in Self::ALWAYS_SHOWN {
                counts.entry(kind).or_default();
            }
            let parts: Vec<String> =
                counts.iter().map(|(kind, count)| format!("{count} {}", word(*kind))).collect();
            let _ = writeln!(text, "{}: {}", cluster_name(*cluster), parts.join(", "));
        }
        text
    }

    /// Formats the counts as a line of JSON.
    pub fn json(&self, stamp: &Stamp) -> String {
        let counts: BTreeMap<&str, &BTreeMap<EventKind, usize>> =
            self.counts.iter().map(|(cluster, counts)| (cluster.name(), counts)).collect();
        let mut line = serde_json::json!({"summary": counts});
        stamp.add_to(&mut line);
        line.to_string()
    }
}

/// Replaces line breaks and other control characters, and escapes invisible ones. Messages quote API servers and users of
/// the guest, who must not be able to forge a line of output.
pub(crate) fn single_line(text: &str) -> String {
    let line: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    printable::line(&line).into_owned()
}

/// Returns the name of a cluster in text output. Users of a standalone topology know only one cluster.
pub(crate) fn cluster_name(cluster: Cluster) -> &'static str {
    if cluster == Cluster::Both { "cluster" } else { cluster.name() }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventKind};
    use crate::object::{Cluster, ObjectId};

    #[test]
    fn an_event_is_about_an_object_or_a_cluster() {
        let id = ObjectId {
            group: String::new(),
            kind: "ConfigMap".to_owned(),
            namespace: "ns".to_owned(),
            name: "c".to_owned(),
        };
        let about_object = Event::for_object(Cluster::Guest, &id, EventKind::Pruned, "gone");
        assert_eq!(about_object.line(), "guest           pruned      ConfigMap/c in ns: gone");
        let about_cluster = Event::for_cluster(Cluster::Guest, EventKind::Unreachable, "no response");
        assert_eq!(about_cluster.line(), "guest           unreachable no response");
    }
}
