//! What the inventory says before a rollout and after it: nothing is ever there that it does not name.

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::apply::Options;
use crate::apply::cluster::live_cluster::{Side, version_of};
use crate::apply::decide::desired::hex;
use crate::apply::decide::event::{Event, What};
use crate::apply::decide::inventory::{Entry, Inventory};
use crate::apply::decide::prune::{Approval, Leaving, leaving};
use crate::apply::decide::rollout::{Action, Rollout, Step};
use crate::apply::object::delete_objects as remove;
use crate::apply::run::rollout_run::Ended;
use crate::apply::wire::error::Failure;
use crate::object::is_tombstone;
use crate::yaml;

/// Everything that will be there is in the inventory before it is: whatever cuts us off, nothing is forgotten. And whoever
/// is on the way with something else sees that he is not the last one.
pub(in crate::apply) async fn write_ahead(
    side: &Side<'_>,
    rollout: &Rollout<'_>,
    half: usize,
) -> Result<(), Failure> {
    let mut ahead = Inventory { revision: revision(rollout, half), ..side.known.clone() };
    for step in rollout.steps.iter().filter(|step| step.half == half && step.action != Action::Delete) {
        if ahead.find(&step.object.id).is_none() {
            ahead.entries.push(Entry::ahead(&step.object.id, version_of(step.object)));
        }
    }
    side.keep(&ahead).await
}

/// What tells one render for a cluster from another.
fn revision(rollout: &Rollout<'_>, half: usize) -> String {
    let mut hash = Sha256::new();
    for step in rollout.steps.iter().filter(|step| step.half == half) {
        hash.update(yaml::json::write(&step.object.root));
        hash.update([0]);
    }
    hex(&hash.finalize())
}

/// What left the payload, in each cluster. What the payload itself has taken away is not there to leave.
pub(in crate::apply) fn what_leaves(
    rollout: &Rollout<'_>,
    sides: &[(usize, &Side<'_>)],
    approval: Approval,
    is_done: impl Fn(usize) -> bool,
) -> Vec<Leaving> {
    let mut sets = Vec::new();
    for (half, side) in sides {
        let (mut known, mut wanted) = (side.known.clone(), Vec::new());
        for (at, step) in rollout.steps.iter().enumerate().filter(|(_, step)| step.half == *half) {
            let id = &step.object.id;
            match step.action {
                Action::Delete if is_done(at) => known.entries.retain(|entry| entry.id != *id),
                Action::Delete => {}
                Action::Apply | Action::Create => wanted.push(id.clone()),
            }
        }
        sets.push((known, wanted));
    }
    let sets: Vec<_> = sets.iter().map(|(known, wanted)| (known, wanted.as_slice())).collect();
    leaving(&sets, approval)
}

/// The end of a rollout.
pub(in crate::apply) struct Ending<'e, 'a> {
    pub(in crate::apply) rollout: &'e Rollout<'a>,
    pub(in crate::apply) ended: &'e Ended,
    pub(in crate::apply) options: &'e Options,
}

impl Ending<'_, '_> {
    fn all_done(&self) -> bool {
        self.ended.done.iter().all(|done| *done)
    }

    /// Takes away what left, if all went well, and says in the inventory what is there now.
    pub(in crate::apply) async fn settle(
        &self,
        (half, side): (usize, &Side<'_>),
        leaving: Leaving,
        deadline: Instant,
        tell: &mut dyn FnMut(Event),
    ) {
        let mut now = Inventory {
            installed: side.known.installed || self.all_done(),
            revision: revision(self.rollout, half),
            entries: self.there(side, half),
        };
        for (entry, why) in leaving.held {
            tell(held(side, &entry, &why));
            now.entries.push(entry);
        }
        if self.options.prune && self.all_done() {
            // Whoever has written the inventory since we read it wants what we would take away, and whoever reads it now
            // sees that we do.
            let mut still_ours = now.clone();
            still_ours.entries.extend(leaving.go.iter().cloned());
            // A write that changes nothing is seen by nobody.
            still_ours.revision.push_str("-pruning");
            if !leaving.go.is_empty()
                && let Err(failure) = side.write(&still_ours).await
            {
                return tell(Event::of_cluster(side.cluster, What::Failed, failure.words(false)));
            }
            now.entries.extend(remove::remove(side, leaving.go, What::Pruned, deadline, tell).await);
        } else {
            let why =
                if self.options.prune { "not everything else is done" } else { "--prune takes it away" };
            leaving.go.iter().for_each(|entry| tell(held(side, entry, why)));
            now.entries.extend(leaving.go);
        }
        if let Err(failure) = side.keep(&now).await {
            tell(Event::of_cluster(side.cluster, What::Failed, failure.words(false)));
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
