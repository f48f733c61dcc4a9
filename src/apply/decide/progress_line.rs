//! Where a rollout is, in one line: for a terminal.

use std::collections::{BTreeMap, BTreeSet};

use crate::apply::decide::event::{Event, What, on_one_line};
use crate::object::{Cluster, ObjectId};

/// How far each cluster is, and what is waited for.
pub struct Board(BTreeMap<Cluster, Lane>);

#[derive(Default)]
struct Lane {
    total: usize,
    done: BTreeSet<ObjectId>,
    level: String,
    /// Why it does not answer, while it does not.
    silent: String,
    waiting: BTreeMap<ObjectId, String>,
}

impl Board {
    /// So many objects in each cluster.
    pub fn new(totals: impl IntoIterator<Item = (Cluster, usize)>) -> Self {
        let lane = |(cluster, total)| (cluster, Lane { total, ..Lane::default() });
        Self(totals.into_iter().map(lane).collect())
    }

    /// Something happened.
    pub fn see(&mut self, event: &Event) {
        let Some(lane) = self.0.get_mut(&event.cluster) else { return };
        lane.silent.clear();
        let Some(object) = &event.object else {
            if event.what == What::Waiting {
                lane.silent.clone_from(&event.message);
            }
            return;
        };
        match event.what {
            What::Waiting => _ = lane.waiting.insert(object.clone(), event.message.clone()),
            // It is one too many.
            What::Pruned | What::Held => return,
            _ => {
                lane.waiting.remove(object);
                lane.done.insert(object.clone());
            }
        }
        lane.level.clone_from(&event.level);
    }

    /// The line, no longer than this.
    pub fn line(&self, width: usize) -> String {
        let mut parts: Vec<String> = self.0.iter().map(|(cluster, lane)| lane.far(*cluster)).collect();
        let mut waiting = self.0.values().flat_map(|lane| &lane.waiting);
        if let Some((object, seen)) = waiting.next() {
            let more = match waiting.count() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            parts.push(format!("waiting for {object}: {seen}{more}"));
        }
        shortened(&on_one_line(&parts.join(" · ")), width)
    }
}

impl Lane {
    fn far(&self, cluster: Cluster) -> String {
        if !self.silent.is_empty() {
            return format!("{}: {}", crate::apply::decide::event::name(cluster), self.silent);
        }
        let level = if self.level.is_empty() { String::new() } else { format!(" at {}", self.level) };
        format!("{} {} of {}{level}", crate::apply::decide::event::name(cluster), self.done.len(), self.total)
    }
}

/// The end of a line is the least of it.
fn shortened(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    line.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}
