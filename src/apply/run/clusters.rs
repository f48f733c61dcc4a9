//! Helpers of all commands: reading the clusters of a topology, their order and deadlines, and reporting events.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::info;

use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::{LiveCluster, TargetCluster};
use crate::apply::cluster::options::Options;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::InventoryLocation;
use crate::apply::decide::rollout::{ClusterId, ClusterPlan, Rollout};
use crate::apply::wire::error::RequestError;
use crate::diagnostic::{Diagnostic, Location};
use crate::object::Cluster;

/// The delay before a cluster that does not respond is read again.
pub(crate) const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The message if a command stops because of another rollout.
pub(crate) const OTHER_ROLLOUT_STARTED: &str =
    "another rollout has started in the cluster, so this one stops";

/// Receives events.
pub(crate) type OnEvent<'e> = dyn FnMut(Event) + Send + 'e;

/// Orders the objects of all clusters. Fails before any request if they cannot be applied.
pub(crate) fn plan_rollout<'a>(targets: &[TargetCluster<'a>]) -> Result<Rollout<'a>, Diagnostic> {
    targets.iter().try_for_each(check_inventory_name)?;
    let plans: Vec<ClusterPlan<'_>> = targets
        .iter()
        .map(|target| ClusterPlan { cluster: target.profile.cluster, plan: target.plan })
        .collect();
    Rollout::new(&plans).map_err(|cycle| {
        Diagnostic::error(cycle.to_string())
            .note("none of them can be applied first")
            .help("move one of them to another run level, or remove one of the references")
    })
}

/// Refuses an object with the identity of the inventory, even if the check `reserved-name` is allowed: transship would
/// overwrite one with the other.
fn check_inventory_name(target: &TargetCluster<'_>) -> Result<(), Diagnostic> {
    let location = InventoryLocation::of(target.profile, target.plan);
    let Some(object) = target.plan.objects.iter().find(|object| location.is_of(&object.id)) else {
        return Ok(());
    };
    Err(Diagnostic::error("a rendered object has the name of the inventory")
        .at(Location::file(&object.file))
        .object(&object.id)
        .note("transship lists the objects that it applied in this ConfigMap, so it must belong to transship alone")
        .help("rename the ConfigMap"))
}

/// Reads all clusters at once. A cluster that cannot be read is reported and left out.
pub(crate) async fn read_clusters<'a>(
    targets: &[TargetCluster<'a>],
    options: &Options,
    on_event: &mut OnEvent<'_>,
) -> Vec<Option<LiveCluster<'a>>> {
    let results = join_all(targets.iter().map(|target| read_cluster(target, options))).await;
    let mut clusters = Vec::new();
    for (target, result) in targets.iter().zip(results) {
        match result {
            Ok(cluster) => {
                cluster.notices().for_each(&mut *on_event);
                clusters.push(Some(cluster));
            }
            Err(error) => {
                on_event(unusable_event(target.profile.cluster, &error));
                clusters.push(None);
            }
        }
    }
    clusters
}

async fn read_cluster<'a>(
    target: &TargetCluster<'a>,
    options: &Options,
) -> Result<LiveCluster<'a>, ClusterError> {
    let read = async {
        loop {
            match LiveCluster::read(target, options).await {
                Err(error) if error.is_transient() && options.started.elapsed() < options.retry_timeout => {
                    let delay = error.retry_after().unwrap_or(RETRY_DELAY);
                    info!(cluster = target.profile.cluster.name(), %error, ?delay, "reading the cluster again");
                    sleep(delay).await;
                }
                result => return result,
            }
        }
    };
    match timeout_at(options.deadline(), read).await {
        Ok(result) => result,
        Err(_) => Err(RequestError::DeadlineExceeded.into()),
    }
}

/// Creates the event for a cluster that cannot be used.
pub(crate) fn unusable_event(cluster: Cluster, error: &ClusterError) -> Event {
    let kind = if error.is_unreachable() { EventKind::Unreachable } else { EventKind::Failed };
    Event::for_cluster(cluster, kind, error.to_string())
}

/// Returns the clusters in the order in which objects are deleted: the guest first, because controllers in the
/// management cluster may have to remove finalizers.
pub(crate) fn guest_first<'c, 'a>(
    clusters: impl Iterator<Item = Option<&'c LiveCluster<'a>>>,
) -> Vec<(ClusterId, &'c LiveCluster<'a>)> {
    let mut ordered = Vec::new();
    for (index, cluster) in clusters.enumerate() {
        if let Some(cluster) = cluster {
            ordered.push((ClusterId(index), cluster));
        }
    }
    ordered.sort_by_key(|(_, cluster)| cluster.cluster != Cluster::Guest);
    ordered
}

/// Returns the deadline for one of several clusters that transship processes one after the other. Each cluster except
/// the last gets half of the remaining time, so that an object that waits for its finalizers does not use up the time
/// of the next cluster.
pub(crate) fn share_of_deadline(deadline: Instant, clusters_left: usize) -> Instant {
    if clusters_left <= 1 {
        return deadline;
    }
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) / 2
}
