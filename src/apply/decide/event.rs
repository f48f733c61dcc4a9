//! Events: the lines that report the progress of a rollout.

use std::collections::BTreeMap;
use std::fmt::Write;

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
        let mut details = self.object.as_ref().map(ToString::to_string).unwrap_or_default();
        if !details.is_empty() && !self.message.is_empty() {
            details.push_str(": ");
        }
        details.push_str(&self.message);
        let cluster = cluster_name(self.cluster);
        format!("{cluster:<10} {:>4} {:<11} {}", self.level, self.kind.word(), single_line(&details))
    }

    /// Formats the event as a line of JSON.
    pub fn json(&self) -> String {
        let object = self.object.as_ref().map(|ObjectId { group, kind, namespace, name }| {
            serde_json::json!({"group": group, "kind": kind, "namespace": namespace, "name": name})
        });
        serde_json::json!({
            "cluster": self.cluster.name(), "level": self.level, "event": self.kind, "object": object,
            "message": self.message,
        })
        .to_string()
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
        let mut text = String::new();
        for (cluster, counts) in &self.counts {
            let mut counts = counts.clone();
            for kind in Self::ALWAYS_SHOWN {
                counts.entry(kind).or_default();
            }
            let parts: Vec<String> =
                counts.iter().map(|(kind, count)| format!("{count} {}", kind.word())).collect();
            let _ = writeln!(text, "{}: {}", cluster_name(*cluster), parts.join(", "));
        }
        text
    }

    /// Formats the counts as a line of JSON.
    pub fn json(&self) -> String {
        let counts: BTreeMap<&str, &BTreeMap<EventKind, usize>> =
            self.counts.iter().map(|(cluster, counts)| (cluster.name(), counts)).collect();
        serde_json::json!({"summary": counts}).to_string()
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
