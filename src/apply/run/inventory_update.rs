//! Updates the inventory before and after a rollout, so that it always lists every object that exists.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::apply::cluster::clock;
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::{Extent, Options};
use crate::apply::decide::desired::version_of;
use crate::apply::decide::digest;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::{Inventory, InventoryEntry};
use crate::apply::decide::managed_fields::is_changed_since_creation;
use crate::apply::decide::ownership::NotOurs;
use crate::apply::decide::prune::{HoldReason, PruneCandidates, PruneDecision, decide_prune};
use crate::apply::decide::rollout::{Action, ClusterId, Rollout, Step, StepId};
use crate::apply::decide::run_record::Outcome;
use crate::apply::run::clusters::OnEvent;
use crate::apply::run::phased_deletion::PhasedDeletion;
use crate::apply::run::rollout_result::RolloutResult;
use crate::object::{Object, ObjectId, is_tombstone};
use crate::yaml;

/// Marks the revision of an inventory while objects are pruned.
const PRUNING: &str = "-pruning";

/// Returns the inventory to write before the first object is created: with all rendered objects. So if something interrupts
/// the rollout, the next one knows every object that this one created. A running rollout of other objects notices the new
/// revision and stops.
pub(crate) fn inventory_ahead(
    cluster: &LiveCluster<'_>,
    rollout: &Rollout<'_>,
    id: ClusterId,
    extent: Extent,
) -> Inventory {
    let initial = cluster.inventory.initial();
    let mut ahead = initial.clone();
    if extent == Extent::Whole {
        ahead.revision = revision(rollout, id);
        ahead.render_digest.clone_from(&cluster.render_digest);
        ahead.payload_version.clone_from(&cluster.payload_version);
    }
    for (_, step) in rollout.steps_of(id).filter(|(_, step)| step.action != Action::Delete) {
        if initial.find(&step.object.id).is_none() {
            ahead.entries.push(planned(step.object));
        }
    }
    ahead
}

/// Returns the entry of an object that will be applied.
fn planned(object: &Object) -> InventoryEntry {
    InventoryEntry { keep: object.is_kept(), ..InventoryEntry::planned(&object.id, version_of(object)) }
}

/// Returns a digest of all objects that are rendered for a cluster.
fn revision(rollout: &Rollout<'_>, cluster: ClusterId) -> String {
    let mut hash = Sha256::new();
    for (_, step) in rollout.steps_of(cluster) {
        hash.update(yaml::json::write(&step.object.root));
        hash.update([0]);
    }
    digest::of_hash(hash)
}

/// Decides what to prune in a cluster. Leaves out objects that a tombstone deleted already. A partial rollout prunes
/// nothing: it does not know what is rendered.
pub(crate) fn decide_prune_after(
    rollout: &Rollout<'_>,
    (id, cluster): (ClusterId, &LiveCluster<'_>),
    options: &Options,
    is_done: impl Fn(StepId) -> bool,
) -> PruneDecision {
    if options.extent == Extent::Partial {
        return PruneDecision::default();
    }
    let (mut rendered, mut deleted) = (HashSet::new(), HashSet::new());
    for (step_id, step) in rollout.steps_of(id) {
        let id = &step.object.id;
        match step.action {
            Action::Delete if is_done(step_id) => _ = deleted.insert(id),
            Action::Delete => {}
            Action::Apply | Action::Create => _ = rendered.insert(id),
        }
    }
    let mut inventory = cluster.inventory.initial().clone();
    inventory.entries.retain(|entry| !deleted.contains(&entry.id));
    let uids = rendered_uids(cluster, &rendered);
    let mut changed = HashSet::new();
    for entry in inventory.entries.iter().filter(|entry| !rendered.contains(&entry.id)) {
        if cluster.labelled(&entry.id).as_ref().is_some_and(is_changed_since_creation) {
            changed.insert(&entry.id);
        }
    }
    let candidates = PruneCandidates {
        cluster: cluster.cluster,
        inventory: &inventory,
        rendered: &rendered,
        uids: &uids,
        changed: &changed,
    };
    decide_prune(&candidates, options.approval)
}

/// Returns the rendered objects of a cluster by their uid.
fn rendered_uids(cluster: &LiveCluster<'_>, rendered: &HashSet<&ObjectId>) -> HashMap<String, ObjectId> {
    let mut uids = cluster.applied_uids.all();
    for id in rendered {
        if let Some(uid) = cluster.initial_uid(id).filter(|uid| !uid.is_empty()) {
            uids.insert(uid.to_owned(), (*id).clone());
        }
    }
    uids
}

/// Finishes a rollout in one cluster: prunes, and writes the inventory.
pub(crate) struct RolloutEnd<'e, 'a> {
    pub(crate) rollout: &'e Rollout<'a>,
    pub(crate) result: &'e RolloutResult<'a>,
    pub(crate) options: &'e Options,
    pub(crate) id: ClusterId,
    pub(crate) cluster: &'e LiveCluster<'a>,
    /// When pruning in this cluster must end.
    pub(crate) deadline: Instant,
}

impl RolloutEnd<'_, '_> {
    /// Prunes the cluster if the rollout is complete, and writes its inventory.
    pub(crate) async fn finish(&self, decision: PruneDecision, on_event: &mut OnEvent<'_>) {
        let cluster = self.cluster;
        let mut inventory = match self.options.extent {
            Extent::Whole => self.inventory(),
            Extent::Partial => self.partial_inventory(),
        };
        for (entry, reason) in decision.released {
            on_event(released_event(cluster, &entry, &reason));
        }
        let mut staying = Vec::new();
        for held in decision.held {
            on_event(held_event(cluster, &held.entry, held.reason));
            staying.push(held.entry);
        }
        inventory.entries.extend(staying.iter().cloned());
        match self.reason_to_hold() {
            None if decision.prune.is_empty() => {}
            None => {
                if let Err(error) = announce_pruning(cluster, &inventory, &decision.prune).await {
                    on_event(Event::for_cluster(cluster.cluster, EventKind::Failed, error.to_string()));
                    return;
                }
                let (kind, deadline) = (EventKind::Pruned, self.deadline);
                let deletion = PhasedDeletion { cluster, kind, deadline, staying: &staying };
                inventory.entries.extend(deletion.run(decision.prune, on_event).await);
            }
            Some(reason) => {
                for entry in decision.prune {
                    on_event(held_event(cluster, &entry, reason));
                    inventory.entries.push(entry);
                }
            }
        }
        if let Err(error) = self.save(&inventory).await {
            on_event(Event::for_cluster(cluster.cluster, EventKind::Failed, error.to_string()));
        }
    }

    /// Returns why nothing is pruned; `None` if objects may be pruned.
    fn reason_to_hold(&self) -> Option<HoldReason> {
        if self.cluster.is_restored {
            Some(HoldReason::InventoryRestored)
        } else if !self.options.prune {
            Some(HoldReason::NotRequested)
        } else {
            (!self.result.is_complete()).then_some(HoldReason::RolloutIncomplete)
        }
    }

    /// Returns the inventory after the rollout, without objects to prune.
    fn inventory(&self) -> Inventory {
        let initial = self.cluster.inventory.initial();
        let is_complete = self.result.is_complete();
        // Every object carries the label of this set now.
        let previous_sets = if is_complete { Vec::new() } else { initial.previous_sets.clone() };
        Inventory {
            installed: initial.installed || is_complete,
            revision: revision(self.rollout, self.id),
            render_digest: self.cluster.render_digest.clone(),
            payload_version: self.cluster.payload_version.clone(),
            previous_sets,
            entries: self.entries().into(),
            ..Inventory::default()
        }
    }

    /// Returns the inventory after a partial rollout: replaces only the entries of the objects that were given.
    fn partial_inventory(&self) -> Inventory {
        let initial = self.cluster.inventory.initial();
        let is_deleted =
            |(id, step): &(StepId, &Step<'_>)| step.action == Action::Delete && self.result.is_done(*id);
        let deleted = self.rollout.steps_of(self.id).filter(is_deleted);
        let deleted: HashSet<&ObjectId> = deleted.map(|(_, step)| &step.object.id).collect();
        let (known, new): (Vec<InventoryEntry>, Vec<InventoryEntry>) =
            self.entries().into_iter().partition(|entry| initial.find(&entry.id).is_some());
        let known: HashMap<&ObjectId, &InventoryEntry> =
            known.iter().map(|entry| (&entry.id, entry)).collect();
        let mut inventory = initial.clone();
        inventory.entries.retain(|entry| !deleted.contains(&entry.id));
        let kept = inventory.entries.iter().map(|entry| (*known.get(&entry.id).unwrap_or(&entry)).clone());
        inventory.entries = kept.chain(new).collect();
        inventory
    }

    /// Writes the inventory, if this command wrote anything or the inventory differs.
    async fn save(&self, inventory: &Inventory) -> Result<(), ClusterError> {
        let cluster = self.cluster;
        if !cluster.writer.has_begun().await && !cluster.inventory.needs_write(inventory) {
            return Ok(());
        }
        let outcome = match (self.result.is_complete(), self.options.extent) {
            (false, _) => Outcome::Incomplete,
            (true, Extent::Whole) => Outcome::Complete,
            (true, Extent::Partial) => Outcome::Partial,
        };
        cluster.writer.begin(&cluster.inventory).await?;
        cluster.inventory.end_run(outcome, clock::now());
        cluster.inventory.save(inventory).await
    }

    /// Returns the new entries of the objects that are rendered for the cluster.
    fn entries(&self) -> Vec<InventoryEntry> {
        let initial = self.cluster.inventory.initial();
        let mut entries = Vec::new();
        for (step_id, step) in self.rollout.steps_of(self.id) {
            let id = &step.object.id;
            if is_tombstone(&step.object.root) {
                continue;
            }
            let known = self.result.entries.get(&step_id).or_else(|| initial.find(id));
            entries.push(known.cloned().unwrap_or_else(|| planned(step.object)));
        }
        entries
    }
}

/// Writes the inventory before transship prunes objects. The write fails if another rollout wrote the inventory in the
/// meantime, because that rollout may have applied these objects. In the same way, this write stops a rollout that
/// starts now. The mark in the revision makes sure that the write changes the inventory.
async fn announce_pruning(
    cluster: &LiveCluster<'_>,
    inventory: &Inventory,
    prune: &[InventoryEntry],
) -> Result<(), ClusterError> {
    let mut announced = inventory.clone();
    announced.entries.extend(prune.iter().cloned());
    announced.revision.push_str(PRUNING);
    cluster.writer.begin(&cluster.inventory).await?;
    cluster.inventory.save(&announced).await
}

pub(crate) fn released_event(cluster: &LiveCluster<'_>, entry: &InventoryEntry, reason: &NotOurs) -> Event {
    Event::for_object(cluster.cluster, &entry.id, EventKind::Released, reason.to_string())
}

fn held_event(cluster: &LiveCluster<'_>, entry: &InventoryEntry, reason: HoldReason) -> Event {
    Event::for_object(cluster.cluster, &entry.id, EventKind::Held, reason.to_string())
}
