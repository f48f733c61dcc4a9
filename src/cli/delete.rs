//! `transship delete`

use clap::Args;
use transship::apply;
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::object::Cluster;

use super::target::{Clusters, block_on};
use super::{Inputs, Outcome};

/// Take away what was rolled out: only what the inventories say is ours, in order
#[derive(Args)]
#[command(after_help = "\
Example:
  transship delete --topology hypershift --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig

With a namespace goes all that is in it, and with a definition every object of its kind, whoever made them.

A guest that does not answer does not hold back what is in the management cluster. One of which not even the
kubeconfig is left is left out with --without-guest.")]
pub(super) struct Delete {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// The guest is gone: clear the management cluster alone
    #[arg(long, conflicts_with_all = ["guest_kubeconfig", "guest_context"])]
    without_guest: bool,
}

impl Delete {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let mut profiles = self.clusters.profiles(&project)?;
        profiles.retain(|profile| !(self.without_guest && profile.cluster == Cluster::Guest));
        let plans = transship::render_unchecked(&project.context(), &profiles)?;
        block_on(async {
            let targets = self.clusters.targets(&profiles, &plans).await?;
            let mut progress = self.clusters.progress(&profiles, &plans);
            let options = self.clusters.options();
            let summary = apply::delete(targets, &options, |event| progress.tell(event)).await;
            progress.clear();
            self.clusters.end(&summary.map_err(Diagnostic::error)?)
        })
    }
}
