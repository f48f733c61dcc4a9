//! `transship apply`

use crate::apply::{self, Adoption, Downgrade, Extent, Options, Rebinding};
use crate::diagnostic::Diagnostics;
use crate::language::Selector;
use clap::Args;

use super::approved::Approved;
use super::clusters::{Clusters, block_on};
use super::object_filter::ObjectFilter;
use super::paused::refuse_paused;
use super::{Inputs, Outcome, output};

/// Apply the rendered objects to the clusters of a topology, in order
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship apply --topology standalone --wait
  transship apply --topology hypershift --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig
  transship apply --topology hypershift … --prune --approve-prune management=3,guest=11
  transship apply --topology standalone --component csi-snapshot-controller --object Deployment

Exit code 3 means that something failed in a cluster. Everything that does not depend on it was applied.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct Apply {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    #[command(flatten)]
    filter: ObjectFilter,
    /// Print what `apply` would do, in order, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Wait until every object is ready, and for namespaces and kinds that others create
    #[arg(long)]
    wait: bool,
    /// Delete objects that are no longer rendered, once every object is ready; implies --wait
    #[arg(long)]
    prune: bool,
    /// Approve pruning exactly this many objects in each cluster, or `management=NUMBER,guest=NUMBER`; needed for many
    /// objects, and for namespaces, CRDs or volumes
    #[arg(long, value_name = "NUMBER|all", requires = "prune")]
    approve_prune: Option<Approved>,
    /// Take over objects that others created
    #[arg(long)]
    adopt: bool,
    /// Recreate these objects if the API server rejects their change; repeatable. Jobs are always recreated
    #[arg(long, value_name = "KIND[/NAME]")]
    recreate: Vec<Selector>,
    /// Bind the hosted control plane to these clusters, although the inventories record others
    #[arg(long)]
    rebind: bool,
    /// Apply a payload that is older than the one that was applied last
    #[arg(long)]
    allow_downgrade: bool,
}

impl Apply {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        if !self.dry_run {
            refuse_paused(&project, &profiles)?;
        }
        self.approve_prune.unwrap_or_default().check("--approve-prune", &profiles)?;
        let plans = self.filter.apply(crate::render(&project.context(), &profiles)?)?;
        for plan in &plans {
            output::warn(&plan.warnings);
        }
        let options = Options {
            // The objects to prune may be needed until the new ones are ready.
            wait: self.wait || self.prune,
            adoption: if self.adopt { Adoption::On } else { Adoption::Off },
            recreate: self.recreate.clone(),
            prune: self.prune,
            approval: self.approve_prune.unwrap_or_default().0,
            rebinding: if self.rebind { Rebinding::On } else { Rebinding::Off },
            downgrade: if self.allow_downgrade { Downgrade::Allow } else { Downgrade::Refuse },
            extent: if self.filter.is_partial() { Extent::Partial } else { Extent::Whole },
            ..self.clusters.options()
        };
        block_on(async {
            let targets = self.clusters.targets("apply", &project, &profiles, &plans).await?;
            if self.dry_run {
                let summary = apply::dry_run(targets, &options, |event| self.clusters.print(event)).await?;
                return self.clusters.finish_dry_run(&summary);
            }
            let mut progress = self.clusters.progress(&profiles, &plans);
            let summary = apply::apply(targets, &options, |event| progress.report(event)).await;
            progress.clear();
            self.clusters.finish(&summary?)
        })
    }
}
