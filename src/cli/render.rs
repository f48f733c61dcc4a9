//! `transship render`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::emit::{self, Folder};
use transship::order::{self, Plan};
use transship::payload::Payload;
use transship::profile::Profile;

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
    /// The profile; without it, every profile
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
}

impl Render {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let (payload, profiles) = self.inputs.load()?;
        let chosen = profiles.named(self.profile.as_deref())?;
        let mut rendered = Vec::new();
        for profile in chosen {
            rendered.push((profile, self.plan(&payload, profile)?));
        }
        match &self.output {
            Some(folder) => {
                for (profile, plan) in &rendered {
                    // One profile is the folder itself, several are folders in it.
                    let folder =
                        if self.profile.is_some() { folder.clone() } else { folder.join(&profile.name) };
                    Folder::of(plan).write(&folder)?;
                    output::note(&format!("{} objects in {}", plan.objects.len(), folder.display()));
                }
            }
            None => output::result(&self.stream(&rendered))?,
        }
        // The process ends here; giving a hundred thousand nodes back one by one would only take time.
        std::mem::forget((payload, rendered));
        Ok(Outcome::Done)
    }

    fn plan(&self, payload: &Payload, profile: &Profile) -> Result<Plan, Diagnostics> {
        let plan = transship::render(payload, profile)?;
        let Some(component) = &self.component else { return Ok(plan) };
        let components: BTreeSet<&str> = payload.files.iter().map(|file| file.component.as_str()).collect();
        if !components.contains(component.as_str()) {
            let known: Vec<_> = components.into_iter().collect();
            return Err(Diagnostic::error(format!("there is no component `{component}`"))
                .help(format!("there are {}", known.join(", ")))
                .into());
        }
        Ok(order::plan(plan.objects.into_iter().filter(|object| object.component == *component).collect()))
    }

    fn stream(&self, rendered: &[(&Profile, Plan)]) -> String {
        let documents = |plan: &Plan| match self.format {
            Format::Yaml => emit::stream(&plan.objects),
            Format::Json => emit::json_lines(&plan.objects),
        };
        let streams: Vec<String> =
            rendered.iter().map(|(_, plan)| documents(plan)).filter(|text| !text.is_empty()).collect();
        streams.join(match self.format {
            Format::Yaml => "---\n",
            Format::Json => "",
        })
    }
}
