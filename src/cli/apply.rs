//! `transship apply`

use std::str::FromStr;

use clap::Args;
use transship::apply::{self, Approval, Options};
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::language::Selector;

use super::target::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// Make clusters what is rendered for them, in order, and say what was done
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship apply --topology standalone --wait
  transship apply --topology hypershift --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig
  transship apply --topology hypershift … --prune --approve-prune 14

Exit code 3 says that a cluster did not do all that it was asked; what did not depend on that is done.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct Apply {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// Only say what would be done, and in which order
    #[arg(long)]
    dry_run: bool,
    /// Wait until everything is ready, and for what others must bring before that
    #[arg(long)]
    wait: bool,
    /// Take away what an earlier rollout brought and this one does not, as soon as everything is ready: it waits for that
    #[arg(long)]
    prune: bool,
    /// Approve that this many go, though they are many, or namespaces, definitions or claims
    #[arg(long, value_name = "NUMBER|all", requires = "prune")]
    approve_prune: Option<Approved>,
    /// Take over objects that others made
    #[arg(long)]
    adopt: bool,
    /// What may be taken away and made again where it cannot be changed; repeatable. Jobs always may
    #[arg(long, value_name = "KIND[/NAME]")]
    recreate: Vec<Selector>,
}

/// A number, or `all`
#[derive(Clone, Copy)]
struct Approved(Approval);

impl FromStr for Approved {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.parse()) {
            ("all", _) => Ok(Self(Approval::All)),
            (_, Ok(count)) => Ok(Self(Approval::Count(count))),
            _ => Err("write how many may go, or all".to_owned()),
        }
    }
}

impl Apply {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        let plans = transship::render(&project.context(), &profiles)?;
        for plan in &plans {
            output::warn(&plan.warnings);
        }
        let options = Options {
            // What was there before may be all that works until what is new does.
            wait: self.wait || self.prune,
            adopt: self.adopt,
            recreate: self.recreate.clone(),
            prune: self.prune,
            approval: self.approve_prune.map_or_else(Approval::default, |approved| approved.0),
            ..self.clusters.options()
        };
        block_on(async {
            let targets = self.clusters.targets(&profiles, &plans).await?;
            if self.dry_run {
                let summary = apply::preview(targets, &options, |event| self.clusters.show(event)).await;
                return self.clusters.end(&summary.map_err(Diagnostic::error)?);
            }
            let mut progress = self.clusters.progress(&profiles, &plans);
            let summary = apply::apply(targets, &options, |event| progress.tell(event)).await;
            progress.clear();
            self.clusters.end(&summary.map_err(Diagnostic::error)?)
        })
    }
}
