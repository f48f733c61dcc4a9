//! `transship delete`

use crate::apply;
use crate::diagnostic::Diagnostics;
use crate::object::Cluster;
use clap::Args;

use super::clusters::{Clusters, block_on};
use super::{Inputs, Outcome};

/// Delete the objects that the inventories of a topology list, in order
#[derive(Args)]
#[command(after_help = "\
Example:
  transship delete --topology hypershift --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig

Deleting a namespace deletes everything in it, and deleting a CRD deletes every object of its kind, including \
objects that others created.

If the guest does not respond, transship still deletes the objects in the management cluster. If the guest no longer \
exists, use --without-guest.")]
pub(super) struct Delete {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// Delete only from the management cluster, because the guest no longer exists
    #[arg(long, conflicts_with_all = ["guest_kubeconfig", "guest_context"])]
    without_guest: bool,
}

impl Delete {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let mut profiles = self.clusters.profiles(&project)?;
        profiles.retain(|profile| !(self.without_guest && profile.cluster == Cluster::Guest));
        let plans = crate::render_unchecked(&project.context(), &profiles)?;
        block_on(async {
            let targets = self.clusters.targets("delete", &project, &profiles, &plans).await?;
            let mut progress = self.clusters.progress(&profiles, &plans);
            let options = self.clusters.options();
            let summary = apply::delete(targets, &options, |event| progress.report(event)).await;
            progress.clear();
            self.clusters.finish(&summary?)
        })
    }
}
