//! `transship diff`

use clap::Args;
#[cfg(feature = "apply")]
use transship::apply::{self, Adoption, Options};
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::object::Object;
#[cfg(feature = "apply")]
use transship::object::ObjectId;
use transship::show::{self, Side};

#[cfg(feature = "apply")]
use super::target::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// Show two profiles side by side, or what an apply would change in live clusters
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship diff --profile standalone --profile hypershift-mc
  transship diff --profile standalone --profile hypershift-mc poddisruptionbudget/csi-snapshot-webhook-pdb
  transship diff --live --topology standalone

Exit code 1 says that something differs.")]
pub(super) struct Diff {
    /// Only this object, as kind/name
    object: Option<String>,
    #[command(flatten)]
    inputs: Inputs,
    /// A profile; there must be two
    #[arg(long, value_name = "NAME")]
    profile: Vec<String>,
    /// Show what an apply would change in the live clusters
    #[cfg(feature = "apply")]
    #[arg(long, conflicts_with = "profile")]
    live: bool,
    /// Show the changes of an apply with --adopt
    #[cfg(feature = "apply")]
    #[arg(long, requires = "live")]
    adopt: bool,
    #[cfg(feature = "apply")]
    #[command(flatten)]
    clusters: Clusters,
}

impl Diff {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        #[cfg(feature = "apply")]
        if self.live {
            return self.run_live();
        }
        let [left, right] = &self.profile[..] else {
            return Err(Diagnostic::error("a difference is between two")
                .help("write --profile twice, such as --profile standalone --profile hypershift-mc")
                .into());
        };
        let project = self.inputs.load()?;
        let context = project.context();
        let mut sides = Vec::new();
        for name in [left, right] {
            let profile = project.profiles.named(Some(name))?[0];
            let plan = transship::render_unchecked(&context, &[profile])?.remove(0);
            sides.push((profile, plan));
        }
        if let Some(object) = &self.object
            && sides.iter().all(|(profile, plan)| show::find(object, plan, &context.view(profile)).is_err())
        {
            let (profile, plan) = &sides[0];
            show::find(object, plan, &context.view(profile))?;
        }
        let wanted =
            |object: &&Object| self.object.as_ref().is_none_or(|name| show::is_called(&object.id, name));
        let objects: Vec<Vec<&Object>> =
            sides.iter().map(|(_, plan)| plan.objects.iter().filter(wanted).collect()).collect();
        let side = |at: usize| Side { name: &sides[at].0.name, objects: &objects[at] };
        let text = show::diff(side(0), side(1), output::paint());
        output::result(&text)?;
        Ok(if text.is_empty() { Outcome::Done } else { Outcome::Found })
    }

    #[cfg(feature = "apply")]
    fn run_live(&self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        let context = project.context();
        let plans = transship::render(&context, &profiles)?;
        let is_wanted = |id: &ObjectId| self.object.as_ref().is_none_or(|name| show::is_called(id, name));
        if let Some(name) = &self.object
            && !plans.iter().flat_map(|plan| plan.objects.iter()).any(|object| is_wanted(&object.id))
        {
            show::find(name, &plans[0], &context.view(profiles[0]))?;
        }
        block_on(async {
            let targets = self.clusters.targets(&profiles, &plans).await?;
            let mut failed = false;
            let adoption = if self.adopt { Adoption::On } else { Adoption::Off };
            let options = Options { adoption, ..self.clusters.options() };
            // The only events are about clusters that cannot be read.
            let mut changes = apply::diff_live(targets, &options, |event| {
                failed = true;
                output::note(&event.line());
            })
            .await?;
            changes.retain(|change| is_wanted(&change.object));
            for change in &changes {
                let text = if self.clusters.is_json() { change.json() + "\n" } else { change.text() };
                output::result(&text)?;
            }
            Ok(match (failed, changes.is_empty()) {
                (true, _) => Outcome::ClusterFailed,
                (false, true) => Outcome::Done,
                (false, false) => Outcome::Found,
            })
        })
    }
}
