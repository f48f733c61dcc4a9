//! `transship render`

use std::path::{Path, PathBuf};

use clap::Args;
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::emit::{self, Folder};
use transship::language::Profile;
use transship::order::Plan;

use super::{Format, Inputs, Outcome, output};

/// Print the objects of a profile, in the order in which they are applied
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship render --profile standalone
  transship render --profile standalone --component csi-snapshot-controller -o json
  transship render --output out           # every profile, one file an object: out/standalone/…")]
pub(super) struct Render {
    #[command(flatten)]
    inputs: Inputs,
    /// The profile; without it, every profile, each into a folder of its own
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Only the objects of this component
    #[arg(long, value_name = "NAME")]
    component: Option<String>,
    /// The format of the stream
    #[arg(short = 'o', value_enum, default_value_t = Format::Yaml, conflicts_with = "output")]
    format: Format,
    /// Write one file an object into this folder, instead of a stream
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Do not check the result: to look at what is wrong with it
    #[arg(long)]
    no_check: bool,
    /// As an apply sends it: with the label of its set, and without fields that are left to others
    #[cfg(feature = "apply")]
    #[arg(long)]
    as_applied: bool,
}

impl Render {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let chosen = project.profiles.named(self.profile.as_deref())?;
        if let Some(component) = &self.component {
            project.payload.has_component(component)?;
        }
        if self.output.is_none() && chosen.len() > 1 {
            let names: Vec<&str> = chosen.iter().map(|profile| profile.name.as_str()).collect();
            return Err(Diagnostic::error("a stream can hold the objects of one profile only")
                .note("those of several clusters in one stream would all be applied to one of them")
                .help(format!(
                    "choose one with --profile ({}), or name a folder with --output",
                    names.join(", ")
                ))
                .into());
        }
        let render = if self.no_check { transship::render_unchecked } else { transship::render };
        #[cfg_attr(not(feature = "apply"), expect(unused_mut, reason = "only what is applied is changed"))]
        let mut rendered = render(&project.context(), &chosen)?;
        #[cfg(feature = "apply")]
        if self.as_applied {
            for (profile, plan) in chosen.iter().zip(&mut rendered) {
                transship::apply::as_applied(profile, plan);
            }
        }
        for plan in &rendered {
            output::warn(&plan.warnings);
        }
        let only = |plan: Plan| match &self.component {
            Some(component) => plan.only(component),
            None => plan,
        };
        let rendered: Vec<(&Profile, Plan)> =
            chosen.into_iter().zip(rendered).map(|(profile, plan)| (profile, only(plan))).collect();
        match &self.output {
            Some(folder) => self.write(folder, &rendered)?,
            None => self.print(&rendered)?,
        }
        // The process ends here; giving a hundred thousand nodes back one by one would only take time.
        std::mem::forget(rendered);
        std::mem::forget(project);
        Ok(Outcome::Done)
    }

    /// One profile is the folder itself, several are folders in it.
    fn write(&self, folder: &Path, rendered: &[(&Profile, Plan)]) -> Result<(), Diagnostics> {
        for (profile, plan) in rendered {
            let folder = if self.profile.is_some() { folder.to_owned() } else { folder.join(&profile.name) };
            Folder::of(plan).write(&folder)?;
            output::note(&format!("{} objects in {}", plan.objects.len(), folder.display()));
        }
        Ok(())
    }

    fn print(&self, rendered: &[(&Profile, Plan)]) -> Result<(), Diagnostics> {
        for (_, plan) in rendered {
            let pieces = match self.format {
                Format::Yaml => emit::stream(&plan.objects),
                Format::Json => emit::json_lines(&plan.objects),
            };
            for piece in pieces {
                output::result(&piece)?;
            }
        }
        Ok(())
    }
}
