//! Objects of the inventory that are no longer rendered, and what `apply --prune` would do with them.

use futures_util::future::join_all;
use serde_json::Value;

use crate::apply::cluster::error::object_error;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::prune::HoldReason;
use crate::apply::decide::rollout::{ClusterId, Rollout};
use crate::apply::run::clusters::ClusterRead;
use crate::apply::run::inventory_update::decide_prune_after;
use crate::apply::run::live_change::{Difference, LiveChange, NotRendered};
use crate::apply::wire::memory::HeldMemory;

/// Returns the objects that are no longer rendered, without those that a tombstone deletes. Only reads.
pub(crate) async fn not_rendered(
    rollout: &Rollout<'_>,
    clusters: &[ClusterRead<'_>],
    options: &Options,
) -> Vec<LiveChange> {
    let mut changes = Vec::new();
    for (index, cluster) in clusters.iter().enumerate() {
        let Ok(cluster) = cluster else { continue };
        let decision = decide_prune_after(rollout, (ClusterId(index), cluster), options, |_| true);
        let pruned = decision.prune.into_iter().map(|entry| (entry, None));
        let held = decision.held.into_iter().map(|held| (held.entry, Some(held.reason)));
        let entries = pruned.chain(held).map(|(entry, reason)| find_change(cluster, entry, reason));
        changes.extend(join_all(entries).await);
    }
    changes
}

async fn find_change(
    cluster: &LiveCluster<'_>,
    entry: InventoryEntry,
    reason: Option<HoldReason>,
) -> LiveChange {
    let difference = match find(cluster, &entry).await {
        Err(error) => Difference::Unreadable(error.to_string()),
        Ok(None) => Difference::NotRendered(NotRendered::Released("it no longer exists".to_owned())),
        Ok(Some(live)) => {
            let not_ours = cluster.reason_not_to_delete(&entry, &live);
            Difference::NotRendered(match (not_ours, reason) {
                (Some(not_ours), _) => NotRendered::Released(not_ours.to_string()),
                (None, Some(reason)) => NotRendered::Held(reason.to_string()),
                (None, None) => NotRendered::Pruned,
            })
        }
    };
    LiveChange { cluster: cluster.cluster, object: entry.id, difference }
}

/// Returns an object of the inventory; `None` if it does not exist.
async fn find(cluster: &LiveCluster<'_>, entry: &InventoryEntry) -> Result<Option<Value>, ObjectError> {
    if let Some(live) = cluster.labelled(&entry.id) {
        return Ok(Some(live));
    }
    let Some(path) = cluster.locate_entry(entry).await? else { return Ok(None) };
    let live = cluster.get(&path, &HeldMemory::default()).await;
    live.map_err(|error| object_error(&error, &entry.id))
}
