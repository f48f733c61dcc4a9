//! `delete --orphan`: transship leaves, and all objects stay.

use futures_util::future::join_all;

use crate::apply::cluster::clock;
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::{Inventory, InventoryEntry};
use crate::apply::decide::ownership::NotOurs;
use crate::apply::decide::run_record::Outcome;
use crate::apply::object::delete::{EntryOutcome, predict_entry};
use crate::apply::object::orphan::{OrphanOutcome, orphan_entry};
use crate::apply::run::clusters::OnEvent;

const MISSING: &str = "it was already deleted";

/// Leaves all objects of one cluster, then deletes its inventory. Returns whether nothing of transship is left.
pub(crate) async fn orphan_cluster(
    cluster: &LiveCluster<'_>,
    on_event: &mut OnEvent<'_>,
) -> Result<bool, ClusterError> {
    let entries = cluster.inventory.initial().entries.to_vec();
    let results = join_all(entries.iter().map(|entry| orphan_entry(cluster, entry))).await;
    let mut remaining = Vec::new();
    for (entry, result) in entries.into_iter().zip(results) {
        let (kind, message) = match result {
            Ok(OrphanOutcome::Left) => (EventKind::Released, left(&entry)),
            Ok(OrphanOutcome::Missing) => (EventKind::Released, MISSING.to_owned()),
            Ok(OrphanOutcome::NotOurs(reason)) => (EventKind::Released, reason.to_string()),
            Err(error) => (EventKind::Failed, error.to_string()),
        };
        on_event(Event::for_object(cluster.cluster, &entry.id, kind, message));
        if kind == EventKind::Failed {
            remaining.push(entry);
        }
    }
    if remaining.is_empty() {
        cluster.inventory.delete().await?;
        return Ok(true);
    }
    let ahead = cluster.writer.ahead().cloned().unwrap_or_default();
    cluster.inventory.end_run(Outcome::Incomplete, clock::now());
    cluster.inventory.save(&Inventory { entries: remaining.into(), ..ahead }).await?;
    Ok(false)
}

/// Reports what [`orphan_cluster`] would do.
pub(crate) async fn predict_orphans(cluster: &LiveCluster<'_>, on_event: &mut OnEvent<'_>) {
    for entry in cluster.inventory.initial().entries.iter() {
        let (kind, message) = match predict_entry(cluster, entry).await {
            Ok(EntryOutcome::Deleted | EntryOutcome::Released(NotOurs::ExistedBefore, _)) => {
                (EventKind::Released, left(entry))
            }
            Ok(EntryOutcome::Missing) => (EventKind::Released, MISSING.to_owned()),
            Ok(EntryOutcome::Released(reason, _)) => (EventKind::Released, reason.to_string()),
            Err(error) => (EventKind::Failed, error.to_string()),
        };
        on_event(Event::for_object(cluster.cluster, &entry.id, kind, message));
    }
}

/// Describes who owns an object after transship left it.
fn left(entry: &InventoryEntry) -> String {
    match &entry.predecessor {
        Some(predecessor) => format!("given back to {}", predecessor.manager),
        None => "it stays in the cluster".to_owned(),
    }
}
