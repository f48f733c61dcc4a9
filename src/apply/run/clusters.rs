//! Helpers of all commands: reading the clusters of a topology, their order and deadlines, and reporting events.

use futures_util::future::join_all;
use tokio::time::{Instant, timeout_at};

use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::cluster::writer::Writer;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::InventoryLocation;
use crate::apply::decide::rollout::{ClusterId, ClusterPlan, Rollout};
use crate::apply::run::contacts::{Patience, Topology};
use crate::apply::wire::error::RequestError;
use crate::diagnostic::{Diagnostic, Location};
use crate::object::Cluster;

/// The message if a command stops because of another rollout.
pub(crate) const OTHER_ROLLOUT_STARTED: &str =
    "another command has started to write to the cluster, so this one stops";

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

/// A cluster that was read, or why it cannot be used.
pub(crate) type ClusterRead<'a> = Result<LiveCluster<'a>, ClusterError>;

/// Contacts and reads all clusters at once. Fails if they do not belong together.
pub(crate) async fn read_clusters<'a>(
    topology: &Topology<'_, 'a>,
) -> Result<Vec<ClusterRead<'a>>, Diagnostic> {
    let contacts = topology.contact_all(Patience::Retry).await?;
    let is_primary_usable = contacts[topology.primary()].is_ok();
    let reads = contacts.into_iter().zip(topology.targets).map(async |(contact, target)| {
        let read = async {
            let contact = contact?;
            if !is_primary_usable {
                return Err(ClusterError::WithoutManagement);
            }
            let writer = Writer::new(topology.lock.clone());
            LiveCluster::read(contact, target, writer, (topology.options.extent, &topology.authorities)).await
        };
        match timeout_at(topology.options.deadline(), read).await {
            Ok(result) => result,
            Err(_) => Err(RequestError::DeadlineExceeded.into()),
        }
    });
    Ok(join_all(reads).await)
}

/// Reads the values of issued objects. The signers are in the management cluster, and the guest trusts them, so it comes last.
pub(crate) async fn read_issued(reads: &[ClusterRead<'_>]) {
    let clusters = guest_first(reads.iter().map(|read| read.as_ref().ok()));
    for (_, cluster) in clusters.into_iter().rev() {
        cluster.read_issued(cluster.rendered_objects()).await;
    }
}

/// Reports the clusters that cannot be used, and the entries of inventories that transship ignores.
pub(crate) fn report_unusable(
    topology: &Topology<'_, '_>,
    reads: &[ClusterRead<'_>],
    on_event: &mut OnEvent<'_>,
) {
    for (target, read) in topology.targets.iter().zip(reads) {
        match read {
            Ok(cluster) => cluster.notices().for_each(&mut *on_event),
            Err(error) => on_event(unusable_event(target.profile.cluster, error)),
        }
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
