//! `history`: lists the runs that changed something, as the inventories record them.

use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::event::Event;
use crate::apply::decide::run_record::RunRecord;
use crate::apply::run::clusters::unusable_event;
use crate::apply::run::contacts::{Patience, Topology};
use crate::diagnostic::Diagnostic;
use crate::object::Cluster;

/// The history of one cluster.
pub(crate) struct ClusterHistory {
    pub(crate) cluster: Cluster,
    /// The runs, the latest last.
    pub(crate) runs: Vec<RunRecord>,
}

/// Reads the history of all clusters. Events report clusters that cannot be read.
pub(crate) async fn history(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<Vec<ClusterHistory>, Diagnostic> {
    let topology = Topology::to_read(&targets, options);
    let contacts = topology.contact_all(Patience::Retry).await?;
    let mut histories = Vec::new();
    for (target, contact) in targets.iter().zip(contacts) {
        let cluster = target.profile.cluster;
        match contact {
            Ok(contact) => {
                let runs = contact.inventory.initial().history.clone().into_runs();
                histories.push(ClusterHistory { cluster, runs });
            }
            Err(error) => on_event(&unusable_event(cluster, &error)),
        }
    }
    Ok(histories)
}
