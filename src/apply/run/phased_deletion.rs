//! Deletes objects of the inventory in phases, for `delete` and for pruning.

use futures_util::future::join_all;
use tokio::time::Instant;
use tracing::info;

use crate::apply::cluster::crd::CRD;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::object::delete::{EntryOutcome, delete_entry, predict_entry};
use crate::apply::run::clusters::{OTHER_ROLLOUT_STARTED, OnEvent};
use crate::object::{ObjectId, Scopes};

const DEADLINE_PASSED: &str = "the timeout ended before it could be deleted";

/// The deletion of several objects of one cluster.
pub(crate) struct PhasedDeletion<'d> {
    pub(crate) cluster: &'d LiveCluster<'d>,
    /// The event of an object that was deleted.
    pub(crate) kind: EventKind,
    pub(crate) deadline: Instant,
    /// Objects that stay. The namespaces and CRDs that they need stay too.
    pub(crate) staying: &'d [InventoryEntry],
}

impl PhasedDeletion<'_> {
    /// Deletes objects, and returns those that still exist.
    pub(crate) async fn run(
        &self,
        entries: Vec<InventoryEntry>,
        on_event: &mut OnEvent<'_>,
    ) -> Vec<InventoryEntry> {
        let mut remaining = Vec::new();
        // The reason why nothing more can be deleted in this cluster.
        let mut stopped: Option<String> = None;
        for phase in phases(entries).into_iter().filter(|phase| !phase.is_empty()) {
            if stopped.is_none() && self.cluster.inventory.is_changed_by_others().await {
                stopped = Some(OTHER_ROLLOUT_STARTED.to_owned());
            }
            let (ready, blocked) = self.split_blocked(phase, &remaining, stopped.as_deref());
            for (entry, reason) in blocked {
                on_event(self.event(&entry.id, EventKind::Blocked, reason));
                remaining.push(entry);
            }
            info!(cluster = self.cluster.cluster.name(), objects = ready.len(), "deleting objects");
            let deletions = ready.iter().map(|entry| delete_entry(self.cluster, entry, self.deadline));
            let results = join_all(deletions).await;
            for (entry, result) in ready.into_iter().zip(results) {
                match result {
                    Ok(deleted) => on_event(self.deleted_event(&entry.id, &deleted)),
                    Err(error) => {
                        if stopped.is_none() {
                            stopped = self.reason_to_stop(&error).await;
                        }
                        on_event(self.event(&entry.id, EventKind::Failed, error.to_string()));
                        remaining.push(entry);
                    }
                }
            }
        }
        remaining
    }

    /// Reports what [`Self::run`] would do.
    pub(crate) async fn predict(&self, entries: Vec<InventoryEntry>, on_event: &mut OnEvent<'_>) {
        for entry in phases(entries).into_iter().flatten() {
            if let Some(reason) = reason_to_keep(&entry.id, self.staying.iter()) {
                on_event(self.event(&entry.id, EventKind::Blocked, reason));
                continue;
            }
            match predict_entry(self.cluster, &entry).await {
                Ok(outcome) => on_event(self.deleted_event(&entry.id, &outcome)),
                Err(error) => on_event(self.event(&entry.id, EventKind::Failed, error.to_string())),
            }
        }
    }

    /// Splits the objects of a phase into those that can be deleted now and those that cannot, with the reason.
    fn split_blocked(
        &self,
        phase: Vec<InventoryEntry>,
        remaining: &[InventoryEntry],
        stopped: Option<&str>,
    ) -> (Vec<InventoryEntry>, Vec<(InventoryEntry, String)>) {
        // After the deadline, transship deletes nothing more: a later phase may contain the controller that has to remove
        // a finalizer of an object that still exists.
        let deadline_passed = Instant::now() >= self.deadline;
        let (mut ready, mut blocked) = (Vec::new(), Vec::new());
        for entry in phase {
            let reason = stopped
                .map(str::to_owned)
                .or_else(|| reason_to_keep(&entry.id, remaining.iter().chain(self.staying)))
                .or_else(|| deadline_passed.then(|| DEADLINE_PASSED.to_owned()));
            match reason {
                Some(reason) => blocked.push((entry, reason)),
                None => ready.push(entry),
            }
        }
        (ready, blocked)
    }

    async fn reason_to_stop(&self, error: &ObjectError) -> Option<String> {
        let is_unreachable = error.is_cluster_unreachable() && !self.cluster.is_responding().await;
        is_unreachable.then(|| format!("its cluster does not respond: {error}"))
    }

    fn deleted_event(&self, id: &ObjectId, deleted: &EntryOutcome) -> Event {
        match deleted {
            EntryOutcome::Deleted => self.event(id, self.kind, String::new()),
            EntryOutcome::Missing => self.event(id, EventKind::Released, "it was already deleted".to_owned()),
            EntryOutcome::Released(reason, _) => self.event(id, EventKind::Released, reason.to_string()),
        }
    }

    fn event(&self, id: &ObjectId, kind: EventKind, message: String) -> Event {
        Event::for_object(self.cluster.cluster, id, kind, message)
    }
}

/// Returns why a namespace or CRD must not be deleted yet: that would delete an object that still exists.
fn reason_to_keep<'e>(
    id: &ObjectId,
    mut existing: impl Iterator<Item = &'e InventoryEntry>,
) -> Option<String> {
    let is_inside = |other: &&InventoryEntry| match id.kind.as_str() {
        "Namespace" => other.id.namespace == id.name,
        // The name of a CRD is `<plural>.<group>`.
        CRD => id.name.split_once('.').is_some_and(|(_, group)| other.id.group == group),
        _ => false,
    };
    let other = existing.find(is_inside)?;
    Some(format!("deleting it would delete {}, which still exists", other.id))
}

/// Returns the objects in the order of their deletion: webhooks first, then custom resources while their controllers run and
/// their kinds are served, then API services, whose servers run until then, then everything else, then CRDs and namespaces.
/// The objects of a phase are deleted at once.
fn phases(entries: Vec<InventoryEntry>) -> [Vec<InventoryEntry>; 6] {
    let scopes = Scopes::default();
    let mut phases: [Vec<InventoryEntry>; 6] = Default::default();
    for entry in entries.into_iter().rev() {
        let phase = match entry.id.kind.as_str() {
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => 0,
            "APIService" => 2,
            CRD => 4,
            "Namespace" => 5,
            kind if scopes.of(&entry.id.group, kind).is_none() => 1,
            _ => 3,
        };
        phases[phase].push(entry);
    }
    phases
}
