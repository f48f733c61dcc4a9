//! `transship apply`

use std::str::FromStr;

use crate::apply::{self, Adoption, Approval, Options};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::{Profile, Selector};
use crate::object::Cluster;
use clap::Args;

use super::clusters::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// Apply the rendered objects to the clusters of a topology, in order
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship apply --topology standalone --wait
  transship apply --topology hypershift --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig
  transship apply --topology hypershift … --prune --approve-prune management=3,guest=11

Exit code 3 means that something failed in a cluster. Everything that does not depend on it was applied.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct Apply {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
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
}

/// A number, numbers for clusters, or `all`
#[derive(Clone, Copy)]
struct Approved(Approval);

impl FromStr for Approved {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = "write a number, management=NUMBER,guest=NUMBER or all";
        if text == "all" {
            return Ok(Self(Approval::All));
        }
        if let Ok(count) = text.parse() {
            return Ok(Self(Approval::Count(count)));
        }
        let (mut management, mut guest) = (None, None);
        for part in text.split(',') {
            let (cluster, count) = part.split_once('=').ok_or(invalid)?;
            let count = count.parse().map_err(|_| invalid)?;
            let previous = match cluster {
                "management" => management.replace(count),
                "guest" => guest.replace(count),
                _ => return Err(invalid),
            };
            if previous.is_some() {
                return Err("a cluster has two numbers");
            }
        }
        Ok(Self(Approval::Clusters { management, guest }))
    }
}

impl Apply {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        self.check_approval(&profiles)?;
        let plans = crate::render(&project.context(), &profiles)?;
        for plan in &plans {
            output::warn(&plan.warnings);
        }
        let options = Options {
            // The objects to prune may be needed until the new ones are ready.
            wait: self.wait || self.prune,
            adoption: if self.adopt { Adoption::On } else { Adoption::Off },
            recreate: self.recreate.clone(),
            prune: self.prune,
            approval: self.approve_prune.map_or_else(Approval::default, |approved| approved.0),
            ..self.clusters.options()
        };
        block_on(async {
            let targets = self.clusters.targets(&project, &profiles, &plans).await?;
            if self.dry_run {
                let summary = apply::dry_run(targets, &options, |event| self.clusters.print(event)).await?;
                return self.clusters.finish(&summary);
            }
            let mut progress = self.clusters.progress(&profiles, &plans);
            let summary = apply::apply(targets, &options, |event| progress.report(event)).await;
            progress.clear();
            self.clusters.finish(&summary?)
        })
    }

    /// Refuses numbers for clusters that the topology does not have.
    fn check_approval(&self, profiles: &[&Profile]) -> Result<(), Diagnostic> {
        let Some(Approved(Approval::Clusters { management, guest })) = self.approve_prune else {
            return Ok(());
        };
        for (cluster, count) in [(Cluster::Management, management), (Cluster::Guest, guest)] {
            if count.is_some() && profiles.iter().all(|profile| profile.cluster != cluster) {
                let name = cluster.name();
                return Err(Diagnostic::error(format!(
                    "--approve-prune names no cluster of this topology: {name}"
                ))
                .help("write only the number"));
            }
        }
        Ok(())
    }
}
