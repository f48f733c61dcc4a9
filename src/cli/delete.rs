//! `transship delete`

use crate::apply::{self, DeleteOutcome, Options};
use crate::diagnostic::Diagnostics;
use crate::object::Cluster;
use clap::Args;

use super::approved::Approved;
use super::clusters::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// Delete the objects that the inventories of a topology list, in order
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship delete --topology hypershift --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig --dry-run
  transship delete --topology hypershift … --approve-delete management=21,guest=51
  transship delete --topology hypershift … --orphan

Deleting a namespace deletes everything in it, and deleting a CRD deletes every object of its kind, including \
objects that others created.

If the guest does not respond, transship still deletes the objects in the management cluster. If the guest rejects the \
credentials, transship deletes nothing. If the guest no longer exists, use --without-guest.

With --orphan, transship gives up the objects but does not delete them: their predecessor, such as the cluster-version-operator, or \
another tool can own them. It deletes nothing but the inventories and needs no approval.

Exit code 1 means that there is no inventory.")]
pub(super) struct Delete {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// Delete only from the management cluster, because the guest no longer exists
    #[arg(long, conflicts_with_all = ["guest_kubeconfig", "guest_context"])]
    without_guest: bool,
    /// Leave the objects in the clusters: remove transship's label, give the fields of objects that were taken over back to the
    /// manager that had them, and delete the inventories
    #[arg(long, conflicts_with = "approved")]
    orphan: bool,
    /// Print what `delete` would do, in order, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Approve deleting exactly this many objects in each cluster, or `management=NUMBER,guest=NUMBER`; needed for more than
    /// two objects, and for namespaces, CRDs or volumes
    #[arg(long = "approve-delete", value_name = "NUMBER|all")]
    approved: Option<Approved>,
}

impl Delete {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let mut profiles = self.clusters.profiles(&project)?;
        profiles.retain(|profile| !(self.without_guest && profile.cluster == Cluster::Guest));
        let plans = crate::render_unchecked(&project.context(), &profiles)?;
        let approved = self.approved.unwrap_or_default();
        approved.check("--approve-delete", &profiles)?;
        block_on(async {
            let targets = self.clusters.targets("delete", &project, &profiles, &plans).await?;
            let options = Options { approval: approved.0, orphan: self.orphan, ..self.clusters.options() };
            let outcome = if self.dry_run {
                apply::delete_dry_run(targets, &options, |event| self.clusters.print(event)).await?
            } else {
                let mut progress = self.clusters.progress(&profiles, &plans);
                let outcome = apply::delete(targets, &options, |event| progress.report(event)).await;
                progress.clear();
                outcome?
            };
            match outcome {
                DeleteOutcome::Done(summary) if self.dry_run => self.clusters.finish_dry_run(&summary),
                DeleteOutcome::Done(summary) => self.clusters.finish(&summary),
                DeleteOutcome::NothingFound(looked_in) => {
                    output::note(&format!(
                        "there is nothing to delete: no inventory in {}",
                        looked_in.join(", ")
                    ));
                    Ok(Outcome::Found)
                }
            }
        })
    }
}
