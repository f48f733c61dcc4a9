//! `delete`: deletes everything that the inventories list.

use tokio::time::Instant;

use crate::apply::cluster::clock;
use crate::apply::cluster::error::{ClusterError, LockError};
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::delete_approval::{DeleteCount, check_approval};
use crate::apply::decide::event::{Event, EventKind, Summary, cluster_name};
use crate::apply::decide::inventory::{Inventory, InventoryEntry};
use crate::apply::decide::prune::HoldReason;
use crate::apply::decide::run_record::Outcome;
use crate::apply::run::clusters::{
    ClusterRead, OnEvent, guest_first, read_clusters, report_unusable, share_of_deadline,
};
use crate::apply::run::contacts::Topology;
use crate::apply::run::orphan::{orphan_cluster, predict_orphans};
use crate::apply::run::phased_deletion::PhasedDeletion;
use crate::apply::run::run_start::{record_user, started_run};
use crate::diagnostic::Diagnostic;
use crate::object::Cluster;

/// How often to read the clusters again because another command wrote an inventory meanwhile.
const MAX_ATTEMPTS: usize = 3;
/// Marks the revision of an inventory while its objects are deleted.
const DELETING: &str = "deleting";

/// The outcome of `delete`.
#[derive(Debug)]
pub enum DeleteOutcome {
    /// No cluster has an inventory. The texts say where transship looked.
    NothingFound(Vec<String>),
    /// Inventories were found. The events and their number say what was done.
    Done(Summary),
}

/// Deletes everything that the inventories list. A cluster that does not respond does not affect the others. An error means
/// that nothing was written to any cluster.
pub async fn delete(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    on_event: impl FnMut(&Event) + Send,
) -> Result<DeleteOutcome, Diagnostic> {
    run(targets, options, Mode::Delete, on_event).await
}

/// Reports what [`delete`] would do.
pub(crate) async fn delete_dry_run(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    on_event: impl FnMut(&Event) + Send,
) -> Result<DeleteOutcome, Diagnostic> {
    run(targets, options, Mode::DryRun, on_event).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Delete,
    DryRun,
}

async fn run(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mode: Mode,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<DeleteOutcome, Diagnostic> {
    let mut summary = Summary::default();
    let mut on_event = |event: Event| {
        summary.count(&event);
        on_event(&event);
    };
    let topology = match mode {
        Mode::Delete => Topology::to_write(&targets, options, "delete"),
        Mode::DryRun => Topology::to_read(&targets, options),
    };
    for attempt in 1..=MAX_ATTEMPTS {
        let reads = read_clusters(&topology).await?;
        if let Some(outcome) = stop_early(&topology, &reads, &mut on_event) {
            return Ok(outcome.unwrap_or(DeleteOutcome::Done(summary)));
        }
        if mode == Mode::Delete && !options.orphan {
            check_approval(&counts(&reads), options.approval)?;
        }
        let clusters = guest_first(reads.iter().map(|read| read.as_ref().ok()));
        let clusters: Vec<&LiveCluster<'_>> = clusters.into_iter().map(|(_, cluster)| cluster).collect();
        if mode == Mode::DryRun {
            report_unusable(&topology, &reads, &mut on_event);
            predict(&clusters, options, &mut on_event).await;
            break;
        }
        match begin_all(&clusters, options).await {
            Ok(()) => {
                report_unusable(&topology, &reads, &mut on_event);
                delete_all(&topology, &clusters, &mut on_event).await;
                break;
            }
            Err((_, ClusterError::OtherRollout { .. })) if attempt < MAX_ATTEMPTS => {}
            Err((cluster, error)) => {
                on_event(Event::for_cluster(cluster, EventKind::Failed, error.to_string()));
                break;
            }
        }
    }
    if let Some(lock) = &topology.lock {
        lock.release().await;
    }
    Ok(DeleteOutcome::Done(summary))
}

/// Returns whether to stop before anything is deleted, with the outcome if it is not the summary of the events: a cluster
/// responds and cannot be used, or there is no inventory.
#[expect(clippy::option_option, reason = "whether to stop, and with which outcome")]
fn stop_early(
    topology: &Topology<'_, '_>,
    reads: &[ClusterRead<'_>],
    on_event: &mut OnEvent<'_>,
) -> Option<Option<DeleteOutcome>> {
    let is_refused = |read: &ClusterRead<'_>| {
        read.as_ref().is_err_and(|error| !error.is_unreachable() && !error.is_without_management())
    };
    if reads.iter().any(is_refused) {
        report_unusable(topology, reads, on_event);
        for cluster in reads.iter().filter_map(|read| read.as_ref().ok()) {
            let message = "nothing was deleted, because another cluster responds and cannot be used; if it is a \
                           guest that no longer exists, use --without-guest";
            on_event(Event::for_cluster(cluster.cluster, EventKind::Blocked, message));
        }
        return Some(None);
    }
    let mut looked_in = Vec::new();
    for cluster in reads.iter().filter_map(|read| read.as_ref().ok()) {
        if cluster.inventory.exists() {
            return None;
        }
        if cluster.is_restored {
            let message = format!(
                "the inventory does not exist, but {} objects have its label; run `transship apply` to write it \
                 again, then `transship delete`",
                cluster.inventory.initial().entries.len()
            );
            on_event(Event::for_cluster(cluster.cluster, EventKind::Failed, message));
            return Some(None);
        }
        looked_in.push(format!("{}: {}", cluster_name(cluster.cluster), cluster.inventory.location()));
    }
    if looked_in.is_empty() {
        report_unusable(topology, reads, on_event);
        return Some(None);
    }
    Some(Some(DeleteOutcome::NothingFound(looked_in)))
}

/// Returns how many objects would be deleted in each cluster.
fn counts(reads: &[ClusterRead<'_>]) -> Vec<DeleteCount> {
    let clusters = reads.iter().filter_map(|read| read.as_ref().ok());
    clusters.map(|cluster| DeleteCount::of(cluster.cluster, cluster.inventory.initial())).collect()
}

/// Makes sure that this command may write to all clusters, and marks their inventories. So another command notices that the
/// objects are being deleted.
async fn begin_all(clusters: &[&LiveCluster<'_>], options: &Options) -> Result<(), (Cluster, ClusterError)> {
    for cluster in clusters.iter().filter(|cluster| cluster.inventory.exists()) {
        cluster.inventory.set_run(started_run("delete", cluster, options));
        record_user(cluster).await;
        let revision = format!("{DELETING}-{}", options.run_id);
        cluster.writer.set_ahead(Inventory { revision, ..cluster.inventory.initial().clone() });
        let begun = cluster.writer.begin(&cluster.inventory).await;
        begun.map_err(|error| (cluster.cluster, error))?;
    }
    Ok(())
}

async fn delete_all(topology: &Topology<'_, '_>, clusters: &[&LiveCluster<'_>], on_event: &mut OnEvent<'_>) {
    let options = topology.options;
    let mut is_everything_gone = true;
    for (index, cluster) in clusters.iter().enumerate().filter(|(_, cluster)| cluster.inventory.exists()) {
        let deadline = share_of_deadline(options.deadline(), clusters.len() - index);
        let result = if options.orphan {
            orphan_cluster(cluster, on_event).await
        } else {
            delete_cluster(cluster, deadline, on_event).await
        };
        is_everything_gone &= matches!(result, Ok(true));
        if let Err(error) = result {
            on_event(Event::for_cluster(cluster.cluster, EventKind::Failed, error.to_string()));
        }
    }
    if let Some(lock) = topology.lock.as_ref().filter(|_| is_everything_gone) {
        lock.delete().await;
    }
}

/// Deletes the objects of one cluster. Returns whether nothing is left.
async fn delete_cluster(
    cluster: &LiveCluster<'_>,
    deadline: Instant,
    on_event: &mut OnEvent<'_>,
) -> Result<bool, ClusterError> {
    let (kept, entries) = hold_kept(cluster, on_event);
    let brings_namespace = entries.iter().any(|entry| cluster.is_inventory_namespace(&entry.id));
    let deletion = PhasedDeletion { cluster, kind: EventKind::Deleted, deadline, staying: &kept };
    let mut remaining = deletion.run(entries, on_event).await;
    // `remaining` is in the order of deletion. The inventory lists objects in the order in which they were applied.
    remaining.reverse();
    let is_incomplete = !remaining.is_empty();
    remaining.extend(kept);
    if !remaining.is_empty() {
        let ahead = cluster.writer.ahead().cloned().unwrap_or_default();
        let outcome = if is_incomplete { Outcome::Incomplete } else { Outcome::Complete };
        cluster.inventory.end_run(outcome, clock::now());
        cluster.inventory.save(&Inventory { entries: remaining.into(), ..ahead }).await?;
        return Ok(false);
    }
    match cluster.inventory.delete().await {
        // The inventory and the Lease were in a namespace that is gone.
        Err(ClusterError::InventoryNotDeleted(_) | ClusterError::Lock(LockError::Lost))
            if brings_namespace => {}
        result => result?,
    }
    Ok(true)
}

/// Reports the objects that their last manifest keeps as held. Returns them, and the objects to delete.
fn hold_kept(
    cluster: &LiveCluster<'_>,
    on_event: &mut OnEvent<'_>,
) -> (Vec<InventoryEntry>, Vec<InventoryEntry>) {
    let entries = cluster.inventory.initial().entries.to_vec();
    let (kept, entries): (Vec<InventoryEntry>, Vec<InventoryEntry>) =
        entries.into_iter().partition(|entry| entry.keep);
    for entry in &kept {
        let message = HoldReason::Kept.to_string();
        on_event(Event::for_object(cluster.cluster, &entry.id, EventKind::Held, message));
    }
    (kept, entries)
}

/// Reports what would be deleted.
async fn predict(clusters: &[&LiveCluster<'_>], options: &Options, on_event: &mut OnEvent<'_>) {
    for cluster in clusters {
        if options.orphan {
            predict_orphans(cluster, on_event).await;
            continue;
        }
        let (kept, entries) = hold_kept(cluster, on_event);
        let deadline = options.deadline();
        let deletion = PhasedDeletion { cluster, kind: EventKind::Deleted, deadline, staying: &kept };
        deletion.predict(entries, on_event).await;
    }
}
