//! The progress of a rollout in one line, for a terminal.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply::decide::event::{Event, EventKind, cluster_name, single_line};
use crate::object::{Cluster, ObjectId};

/// The progress of each cluster, and what transship waits for.
pub struct ProgressLine(BTreeMap<Cluster, ClusterProgress>);

#[derive(Default)]
struct ClusterProgress {
    total: usize,
    done: BTreeSet<ObjectId>,
    level: String,
    /// Why the cluster does not respond; empty if it does.
    unreachable: String,
    waiting: BTreeMap<ObjectId, String>,
}

impl ProgressLine {
    /// Starts with the number of objects of each cluster.
    pub fn new(totals: impl IntoIterator<Item = (Cluster, usize)>) -> Self {
        let progress = |(cluster, total)| (cluster, ClusterProgress { total, ..ClusterProgress::default() });
        Self(totals.into_iter().map(progress).collect())
    }

    /// Updates the progress with an event.
    pub fn update(&mut self, event: &Event) {
        let Some(progress) = self.0.get_mut(&event.cluster) else { return };
        progress.unreachable.clear();
        match &event.object {
            Some(object) => progress.update(object, event),
            None if event.kind == EventKind::Waiting => progress.unreachable.clone_from(&event.message),
            None => {}
        }
    }

    /// Formats the line with at most `width` characters.
    pub fn line(&self, width: usize) -> String {
        let mut parts: Vec<String> =
            self.0.iter().map(|(cluster, progress)| progress.describe(*cluster)).collect();
        let mut waiting = self.0.values().flat_map(|progress| &progress.waiting);
        if let Some((object, seen)) = waiting.next() {
            let more = match waiting.count() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            parts.push(format!("waiting for {object}: {seen}{more}"));
        }
        shorten(&single_line(&parts.join(" · ")), width)
    }
}

impl ClusterProgress {
    fn update(&mut self, object: &ObjectId, event: &Event) {
        match event.kind {
            // Objects that are no longer rendered are not part of the total.
            EventKind::Pruned | EventKind::Held => return,
            EventKind::Waiting => {
                self.waiting.insert(object.clone(), event.message.clone());
            }
            _ => {
                self.waiting.remove(object);
                self.done.insert(object.clone());
            }
        }
        self.level.clone_from(&event.level);
    }

    fn describe(&self, cluster: Cluster) -> String {
        let name = cluster_name(cluster);
        if !self.unreachable.is_empty() {
            return format!("{name}: {}", self.unreachable);
        }
        let level = if self.level.is_empty() { String::new() } else { format!(" at {}", self.level) };
        format!("{name} {} of {}{level}", self.done.len(), self.total)
    }
}

fn shorten(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
