//! `transship credentials list`

use crate::apply;
use crate::cli::clusters::{Clusters, block_on};
use crate::cli::{Inputs, Outcome, output};
use crate::diagnostic::Diagnostics;
use crate::show;
use clap::Args;

/// List every credential of a topology: who uses it, for which identity, and who issues it
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship credentials list --topology hypershift
  transship credentials list --topology hypershift --live --management-kubeconfig mc.kubeconfig --guest-kubeconfig guest.kubeconfig")]
pub(in crate::cli) struct List {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// Read from the clusters how long each credential is valid, and when it is renewed
    #[arg(long)]
    live: bool,
}

impl List {
    pub(in crate::cli) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        let plans = crate::render(&project.context(), &profiles)?;
        let paths = crate::reach(&project.context(), &profiles)?;
        let clusters: Vec<_> = profiles.iter().map(|profile| profile.cluster).zip(&plans).collect();
        let credentials = show::credentials(&clusters, &paths);
        let mut failed = false;
        let states = if self.live {
            let states = block_on(async {
                let targets = self.clusters.targets("credentials list", &project, &profiles, &plans).await?;
                let report = |event: &apply::Event| {
                    failed = true;
                    output::note(&event.line());
                };
                Ok(apply::live_credentials(targets, &self.clusters.options(), report).await?)
            })?;
            Some(states)
        } else {
            None
        };
        if self.clusters.is_json() {
            output::json(&show::credentials_json(&credentials, states.as_ref()))?;
        } else {
            output::result(&show::credentials_table(&credentials, states.as_ref()))?;
        }
        Ok(if failed { Outcome::ClusterFailed } else { Outcome::Done })
    }
}
