//! `transship diff`

#[cfg(feature = "apply")]
use crate::apply::{self, Adoption, Event, Options};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::object::{Object, ObjectId};
use crate::order::Plan;
use crate::show::{self, ProfileObjects};
use clap::Args;

#[cfg(feature = "apply")]
use super::clusters::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// Show how two profiles differ, or what `apply` would change in live clusters
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship diff --profile standalone --profile hypershift-mc
  transship diff --profile standalone --profile hypershift-mc poddisruptionbudget/csi-snapshot-webhook-pdb
  transship diff --live --topology standalone
  transship diff --live --drift --topology standalone

The exit code is 1 if something differs, and larger if the comparison failed.")]
pub(super) struct Diff {
    /// Compare only this object, as kind/name
    object: Option<String>,
    #[command(flatten)]
    inputs: Inputs,
    /// Profile to compare; give it twice
    #[arg(long, value_name = "NAME")]
    profile: Vec<String>,
    /// Show what `apply` would change in live clusters, with dry-run requests
    #[cfg(feature = "apply")]
    #[arg(long, conflicts_with = "profile")]
    live: bool,
    /// Show what `apply --adopt` would change
    #[cfg(feature = "apply")]
    #[arg(long, requires = "live")]
    adopt: bool,
    /// Show what others changed in fields that matter for security, by whom and when; only reads
    #[cfg(feature = "apply")]
    #[arg(long, requires = "live", conflicts_with = "adopt")]
    drift: bool,
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
            return Err(Diagnostic::error("`diff` compares exactly two profiles")
                .help("pass --profile twice, for example --profile standalone --profile hypershift-mc")
                .into());
        };
        let project = self.inputs.load()?;
        let context = project.context();
        let (left, right) = (project.profiles.named(Some(left))?[0], project.profiles.named(Some(right))?[0]);
        let left_plan = crate::render_unchecked(&context, &[left])?.remove(0);
        let right_plan = crate::render_unchecked(&context, &[right])?.remove(0);
        let (left_objects, right_objects) = (self.wanted(&left_plan), self.wanted(&right_plan));
        if let Some(object) = &self.object
            && show::find(object, &right_plan, &context.view(right)).is_err()
        {
            show::find(object, &left_plan, &context.view(left))?;
        }
        let text = show::diff(
            ProfileObjects { profile: &left.name, objects: &left_objects },
            ProfileObjects { profile: &right.name, objects: &right_objects },
            output::paint(),
        );
        output::result(&text)?;
        Ok(if text.is_empty() { Outcome::Done } else { Outcome::Found })
    }

    /// Returns the objects of a plan that the user asked for.
    fn wanted<'p>(&self, plan: &'p Plan) -> Vec<&'p Object> {
        plan.objects.iter().filter(|object| self.is_wanted(&object.id)).collect()
    }

    fn is_wanted(&self, id: &ObjectId) -> bool {
        self.object.as_ref().is_none_or(|name| show::is_called(id, name))
    }

    #[cfg(feature = "apply")]
    fn run_live(&self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        let context = project.context();
        let plans = crate::render(&context, &profiles)?;
        block_on(async {
            let targets = self.clusters.targets("diff", &project, &profiles, &plans).await?;
            let mut failed = false;
            let adoption = if self.adopt { Adoption::On } else { Adoption::Off };
            let options = Options { adoption, ..self.clusters.options() };
            // The only events are about clusters that cannot be read, and about lines of an inventory that are ignored.
            let on_event = |event: &Event| {
                failed |= event.kind.is_problem();
                output::note(&event.line());
            };
            let mut changes = if self.drift {
                apply::drift_live(targets, &options, on_event).await?
            } else {
                apply::diff_live(targets, &options, on_event).await?
            };
            changes.retain(|change| self.is_wanted(&change.object));
            if let Some(name) = &self.object
                && changes.is_empty()
                && plans.iter().all(|plan| self.wanted(plan).is_empty())
            {
                show::find(name, &plans[0], &context.view(profiles[0]))?;
            }
            for change in &changes {
                failed |= change.is_failure();
                if self.clusters.is_json() {
                    output::json(&(change.json() + "\n"))?;
                } else {
                    output::result(&change.text())?;
                }
            }
            Ok(match (failed, changes.is_empty()) {
                (true, _) => Outcome::ClusterFailed,
                (false, true) => Outcome::Done,
                (false, false) => Outcome::Found,
            })
        })
    }
}
