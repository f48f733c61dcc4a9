//! `transship render`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::emit::{self, Folder};
use crate::language::Profile;
use crate::order::Plan;
use crate::printable;
use crate::{Project, show};
use clap::Args;

use super::{Format, Inputs, Outcome, output};

/// Render the objects of a profile, in the order in which `apply` applies them
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship render --output rendered      # every profile into its own folder
  transship render --profile standalone   # one profile as a stream of YAML documents
  transship render --profile standalone --component csi-snapshot-controller -o json")]
pub(super) struct Render {
    #[command(flatten)]
    inputs: Inputs,
    /// Profile to render; without it, all of them (needs --output)
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Render only the objects of this component
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
    /// Format of the stream
    #[arg(short = 'o', value_enum, default_value_t = Format::Yaml, conflicts_with = "output")]
    format: Format,
    /// Write one file per object into this folder, and print a table instead of the objects
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Skip the checks, to look at objects that fail them
    #[arg(long)]
    no_check: bool,
    /// Render the objects as `apply` creates them: with the label of the `ApplySet` and without unmanaged fields
    #[cfg(feature = "apply")]
    #[arg(long)]
    as_applied: bool,
}

impl Render {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.profiles(&project)?;
        let mut plans = if self.no_check {
            crate::render_unchecked(&project.context(), &profiles)?
        } else {
            crate::render(&project.context(), &profiles)?
        };
        #[cfg(feature = "apply")]
        if self.as_applied {
            for (profile, plan) in profiles.iter().zip(&mut plans) {
                crate::apply::as_applied(profile, plan);
            }
        }
        if let Some(component) = &self.component {
            plans = plans.into_iter().map(|plan| plan.only(component)).collect();
            if plans.iter().all(|plan| plan.objects.is_empty()) {
                output::warn(&nothing_rendered(component, &project, &profiles)?);
            }
        }
        for plan in &plans {
            output::warn(&plan.warnings);
        }
        match &self.output {
            Some(folder) => self.write(folder, &plans)?,
            None => self.print(&plans)?,
        }
        // The process ends here, so nothing needs the memory. Freeing it takes 2 % of the instructions of a render of 2,000
        // objects.
        std::mem::forget(plans);
        std::mem::forget(project);
        Ok(Outcome::Done)
    }

    /// Returns the profiles to render.
    fn profiles<'p>(&self, project: &'p Project) -> Result<Vec<&'p Profile>, Diagnostics> {
        if let Some(component) = &self.component {
            project.payload.has_component(component)?;
        }
        let profiles = project.profiles.named(self.profile.as_deref())?;
        if self.output.is_some() || profiles.len() == 1 {
            return Ok(profiles);
        }
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        Err(Diagnostic::error("a stream can contain the objects of only one profile")
            .note("`kubectl apply` would apply the objects of all clusters to one of them")
            .help(format!(
                "choose one with --profile ({}), or write all of them to a folder with --output",
                names.join(", ")
            ))
            .into())
    }

    /// Writes one profile into the folder itself, several into folders below it.
    fn write(&self, folder: &Path, plans: &[Plan]) -> Result<(), Diagnostics> {
        for plan in plans {
            let folder = if self.profile.is_some() { folder.to_owned() } else { folder.join(&plan.profile) };
            Folder::of(plan).write(&folder)?;
            output::result(&format!("wrote {}\n", printable::line(&folder.display().to_string())))?;
        }
        output::result(&show::rendered(plans))
    }

    fn print(&self, plans: &[Plan]) -> Result<(), Diagnostics> {
        for plan in plans {
            let pieces = match self.format {
                Format::Yaml => emit::stream(&plan.objects),
                Format::Json => emit::json_lines(&plan.objects),
            };
            for piece in pieces {
                match self.format {
                    Format::Yaml => output::yaml(&piece)?,
                    Format::Json => output::json(&piece)?,
                }
            }
        }
        Ok(())
    }
}

/// Returns for each profile why it renders nothing of a component.
fn nothing_rendered(
    component: &str,
    project: &Project,
    profiles: &[&Profile],
) -> Result<Vec<Diagnostic>, Diagnostics> {
    let mut warnings = Vec::new();
    for profile in profiles {
        let selected = crate::select(&project.context(), profile)?;
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for (index, _) in selected.payload().of_component(component) {
            if let Some(exclusion) = &selected.selection.exclusions[index] {
                *reasons.entry(exclusion.to_string()).or_default() += 1;
            }
        }
        let message = format!("the profile `{}` has no object of the component `{component}`", profile.name);
        let mut warning = Diagnostic::warning(message);
        for (reason, count) in reasons {
            let manifests = if count == 1 { "manifest" } else { "manifests" };
            warning = warning.note(format!("it excludes {count} {manifests}: {reason}"));
        }
        warnings.push(warning);
    }
    Ok(warnings)
}
