//! What happens while objects are applied, as it is told.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::object::{Cluster, ObjectId};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// In which cluster.
    pub cluster: Cluster,
    /// At which run-level, where there is one.
    pub level: String,
    /// To which object; none where it is about the cluster.
    pub object: Option<ObjectId>,
    /// What.
    pub what: What,
    /// More about it, where there is more to say.
    pub message: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    /// It was made.
    Created,
    /// It was there, and was changed.
    Changed,
    /// It was taken away and made again, since it could not be changed.
    Recreated,
    /// It was as it should be.
    Unchanged,
    /// The payload asks for it to be gone, and it went.
    Deleted,
    /// It left the payload, and was taken away.
    Pruned,
    /// It left the payload, and stays until somebody approves.
    Held,
    /// It left the payload, and is not ours any more.
    Forgotten,
    /// It is waited for.
    Waiting,
    /// It is what it says.
    Ready,
    /// It could not be done.
    Failed,
    /// Something else that it needs is not there.
    Blocked,
    /// The cluster does not answer.
    Lost,
}

impl What {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Recreated => "recreated",
            Self::Unchanged => "unchanged",
            Self::Deleted => "deleted",
            Self::Pruned => "pruned",
            Self::Held => "held",
            Self::Forgotten => "forgotten",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
            Self::Lost => "lost",
        }
    }

    /// Whether something is left to do.
    pub fn is_problem(self) -> bool {
        matches!(self, Self::Failed | Self::Blocked | Self::Lost)
    }
}

impl Event {
    /// About a cluster as a whole.
    pub(in crate::apply) fn of_cluster(cluster: Cluster, what: What, message: String) -> Self {
        Self { cluster, level: String::new(), object: None, what, message }
    }

    /// About an object that left the payload, and so is at no level.
    pub(in crate::apply) fn of_object(
        cluster: Cluster,
        id: &ObjectId,
        what: What,
        message: impl Into<String>,
    ) -> Self {
        Self { object: Some(id.clone()), ..Self::of_cluster(cluster, what, message.into()) }
    }
}

/// What all of it comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How often what happened, by cluster.
    pub counts: BTreeMap<Cluster, BTreeMap<What, usize>>,
}

impl Summary {
    /// Counts one more.
    pub fn count(&mut self, event: &Event) {
        let counts = self.counts.entry(event.cluster).or_default();
        if !matches!(event.what, What::Waiting | What::Ready) {
            *counts.entry(event.what).or_default() += 1;
        }
    }

    /// How often something happened in a cluster.
    pub fn of(&self, cluster: Cluster, what: What) -> usize {
        self.counts.get(&cluster).and_then(|counts| counts.get(&what)).copied().unwrap_or_default()
    }

    /// Whether something is left to do.
    pub fn has_problems(&self) -> bool {
        self.counts.values().flat_map(BTreeMap::keys).any(|what| what.is_problem())
    }
}

impl Event {
    /// Whether it is worth a line: what is as it should be is only counted.
    pub fn is_news(&self) -> bool {
        self.what != What::Unchanged
    }

    /// The event as a line for people.
    pub fn line(&self) -> String {
        let object = self.object.as_ref().map(ToString::to_string).unwrap_or_default();
        let about = [object.as_str(), self.message.as_str()];
        let about: Vec<&str> = about.into_iter().filter(|part| !part.is_empty()).collect();
        let about = on_one_line(&about.join(": "));
        format!("{:<10} {:>4} {:<9} {about}", name(self.cluster), self.level, self.what.word())
    }

    /// The event as a line of JSON.
    pub fn json(&self) -> String {
        let object = self.object.as_ref().map(|ObjectId { group, kind, namespace, name }| {
            serde_json::json!({"group": group, "kind": kind, "namespace": namespace, "name": name})
        });
        let cluster = self.cluster.name();
        let (event, level, message) = (self.what, &self.level, &self.message);
        serde_json::json!({"cluster": cluster, "level": level, "event": event, "object": object, "message": message})
            .to_string()
    }
}

/// What others say, the guest's users among them, stays on its line and changes nothing around it.
pub(in crate::apply) fn on_one_line(text: &str) -> String {
    text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect()
}

/// A standalone cluster is both at once, which says nothing to anybody who has only one.
pub(in crate::apply) fn name(cluster: Cluster) -> &'static str {
    if cluster == Cluster::Both { "cluster" } else { cluster.name() }
}

impl Summary {
    /// A line for every cluster: what happened how often.
    pub fn lines(&self) -> String {
        let line = |(cluster, counts): (&Cluster, &BTreeMap<What, usize>)| {
            let always = [What::Created, What::Changed, What::Unchanged, What::Pruned, What::Failed];
            let mut counts = counts.clone();
            for what in always {
                counts.entry(what).or_default();
            }
            let parts: Vec<String> =
                counts.iter().map(|(what, count)| format!("{count} {}", what.word())).collect();
            format!("{}: {}\n", name(*cluster), parts.join(", "))
        };
        self.counts.iter().map(line).collect()
    }

    /// The counts as a line of JSON.
    pub fn json(&self) -> String {
        let counts: BTreeMap<&str, &BTreeMap<What, usize>> =
            self.counts.iter().map(|(cluster, counts)| (cluster.name(), counts)).collect();
        serde_json::json!({"summary": counts}).to_string()
    }
}
