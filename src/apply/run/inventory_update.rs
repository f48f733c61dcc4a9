//! Updates the inventory before and after a rollout, so that it always lists every object that exists.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::desired::version_of;
use crate::apply::decide::digest;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::{Inventory, InventoryEntry};
use crate::apply::decide::managed_fields::is_changed_since_creation;
use crate::apply::decide::ownership::NotOurs;
use crate::apply::decide::prune::{Approval, HoldReason, PruneCandidates, PruneDecision, decide_prune};
use crate::apply::decide::rollout::{Action, ClusterId, Rollout, StepId};
use crate::apply::run::clusters::OnEvent;
use crate::apply::run::delete::PhasedDeletion;
use crate::apply::run::rollout_result::RolloutResult;
use crate::object::{ObjectId, is_tombstone};
use crate::yaml;

/// Marks the revision of an inventory while objects are pruned.
const PRUNING: &str = "-pruning";

/// Adds all rendered objects to the inventory before the first one is created. So if something interrupts the rollout, the
/// next one knows every object that this one created. A running rollout of other objects notices the new revision and
/// stops.
pub(crate) async fn write_ahead(
    cluster: &LiveCluster<'_>,
    rollout: &Rollout<'_>,
    id: ClusterId,
) -> Result<(), ClusterError> {
    let mut ahead = Inventory { revision: revision(rollout, id), ..cluster.inventory.initial().clone() };
    for (_, step) in rollout.steps_of(id).filter(|(_, step)| step.action != Action::Delete) {
        if cluster.inventory.initial().find(&step.object.id).is_none() {
            ahead.entries.push(InventoryEntry::planned(&step.object.id, version_of(step.object)));
        }
    }
    ahead.record_render(&cluster.render_digest, cluster.inventory.initial());
    cluster.inventory.save_if_changed(&ahead).await
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

/// Decides what to prune in a cluster. Leaves out objects that a tombstone deleted already.
pub(crate) fn decide_prune_after(
    rollout: &Rollout<'_>,
    (id, cluster): (ClusterId, &LiveCluster<'_>),
    approval: Approval,
    is_done: impl Fn(StepId) -> bool,
) -> PruneDecision {
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
    let is_changed = |id: &&ObjectId| cluster.labelled(id).is_some_and(is_changed_since_creation);
    let changed = inventory.entries.iter().map(|entry| &entry.id).filter(is_changed).collect();
    let candidates = PruneCandidates {
        cluster: cluster.cluster,
        inventory: &inventory,
        rendered: &rendered,
        uids: &uids,
        changed: &changed,
    };
    decide_prune(&candidates, approval)
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
        let is_complete = self.result.is_complete();
        let mut inventory = Inventory {
            installed: cluster.inventory.initial().installed || is_complete,
            revision: revision(self.rollout, self.id),
            entries: self.entries().into(),
            ..Inventory::default()
        };
        for (entry, reason) in decision.released {
            on_event(released_event(cluster, &entry, &reason));
        }
        for held in decision.held {
            on_event(held_event(cluster, &held.entry, held.reason));
            inventory.entries.push(held.entry);
        }
        if self.options.prune && is_complete {
            if let Err(error) = announce_pruning(cluster, &inventory, &decision.prune).await {
                on_event(Event::for_cluster(cluster.cluster, EventKind::Failed, error.to_string()));
                return;
            }
            let deletion = PhasedDeletion { cluster, kind: EventKind::Pruned, deadline: self.deadline };
            inventory.entries.extend(deletion.run(decision.prune, on_event).await);
        } else {
            let reason =
                if self.options.prune { HoldReason::RolloutIncomplete } else { HoldReason::NotRequested };
            for entry in decision.prune {
                on_event(held_event(cluster, &entry, reason));
                inventory.entries.push(entry);
            }
        }
        inventory.record_render(&cluster.render_digest, cluster.inventory.initial());
        if let Err(error) = cluster.inventory.save_if_changed(&inventory).await {
            on_event(Event::for_cluster(cluster.cluster, EventKind::Failed, error.to_string()));
        }
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
            let planned = || InventoryEntry::planned(id, version_of(step.object));
            entries.push(known.cloned().unwrap_or_else(planned));
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
    if prune.is_empty() {
        return Ok(());
    }
    let mut announced = inventory.clone();
    announced.entries.extend(prune.iter().cloned());
    announced.revision.push_str(PRUNING);
    announced.record_render(&cluster.render_digest, cluster.inventory.initial());
    cluster.inventory.save(&announced).await
}

pub(crate) fn released_event(cluster: &LiveCluster<'_>, entry: &InventoryEntry, reason: &NotOurs) -> Event {
    Event::for_object(cluster.cluster, &entry.id, EventKind::Released, reason.to_string())
}

fn held_event(cluster: &LiveCluster<'_>, entry: &InventoryEntry, reason: HoldReason) -> Event {
    Event::for_object(cluster.cluster, &entry.id, EventKind::Held, reason.to_string())
}
