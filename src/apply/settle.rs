//! What the inventory says before a rollout and after it: nothing is ever there that it does not name.

use tokio::time::Instant;

use super::event::{Event, What};
use super::inventory::{Entry, Inventory};
use super::rollout::{Action, Rollout, Step};
use super::run::Ended;
use super::side::{Side, version_of};
use super::{Options, leaving, remove};
use crate::object::{ObjectId, is_tombstone};

/// Everything that will be there is in the inventory before it is: whatever cuts us off, nothing is forgotten.
pub(super) async fn write_ahead(side: &Side<'_>, rollout: &Rollout<'_>, half: usize) -> Result<(), String> {
    let mut ahead = side.known.clone();
    for step in rollout.steps.iter().filter(|step| step.half == half && step.action != Action::Delete) {
        if ahead.find(&step.object.id).is_none() {
            ahead.entries.push(Entry::ahead(&step.object.id, version_of(step.object)));
        }
    }
    if ahead == side.known { Ok(()) } else { side.write_inventory(&ahead).await }
}

/// The end of a rollout.
pub(super) struct Ending<'e, 'a> {
    pub(super) rollout: &'e Rollout<'a>,
    pub(super) ended: &'e Ended,
    pub(super) options: &'e Options,
}

impl Ending<'_, '_> {
    /// Takes away what left, if all went well, and says in the inventory what is there now.
    pub(super) async fn settle(
        &self,
        side: &Side<'_>,
        half: usize,
        deadline: Instant,
        tell: &mut dyn FnMut(Event),
    ) {
        let all_done = self.ended.done.iter().all(|done| *done);
        let mut now =
            Inventory { installed: side.known.installed || all_done, entries: self.there(side, half) };
        let wanted: Vec<ObjectId> = now.entries.iter().map(|entry| entry.id.clone()).collect();
        let leaving = leaving(&side.known, &wanted, self.options.approval);
        for (entry, why) in leaving.held {
            tell(held(side, &entry, &why));
            now.entries.push(entry);
        }
        if self.options.prune && all_done {
            // Whoever has written the inventory since we read it wants what we would take away.
            let mut still_ours = now.clone();
            still_ours.entries.extend(leaving.go.iter().cloned());
            if !leaving.go.is_empty()
                && let Err(why) = side.write_inventory(&still_ours).await
            {
                return tell(Event::of_cluster(side.cluster, What::Failed, why));
            }
            now.entries.extend(remove::remove(side, leaving.go, What::Pruned, deadline, tell).await);
        } else {
            let why =
                if self.options.prune { "not everything else is done" } else { "--prune takes it away" };
            leaving.go.iter().for_each(|entry| tell(held(side, entry, why)));
            now.entries.extend(leaving.go);
        }
        if now != side.known
            && let Err(why) = side.write_inventory(&now).await
        {
            tell(Event::of_cluster(side.cluster, What::Failed, why));
        }
    }

    /// What the inventory says from now on of the objects that are rendered for a cluster.
    fn there(&self, side: &Side<'_>, half: usize) -> Vec<Entry> {
        let steps = self.rollout.steps.iter().enumerate().filter(|(_, step)| step.half == half);
        let alive = steps.filter(|(_, step)| !is_tombstone(&step.object.root));
        let entry = |(at, step): (usize, &Step<'_>)| {
            let id = &step.object.id;
            let known = self.ended.entries.get(&at).or_else(|| side.known.find(id));
            known.cloned().unwrap_or_else(|| Entry::ahead(id, version_of(step.object)))
        };
        alive.map(entry).collect()
    }
}

fn held(side: &Side<'_>, entry: &Entry, why: &str) -> Event {
    Event::of_object(side.cluster, &entry.id, What::Held, why)
}
