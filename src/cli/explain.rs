//! `transship explain`

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expand::Context;
use crate::show;
use clap::Args;

use super::{Inputs, Outcome, output};

/// Show where each field of an object comes from: the line that set it, why, and its earlier values
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship explain deployment/csi-snapshot-controller-operator --profile hypershift-mc
  transship explain deployment/csi-snapshot-controller-operator --profile hypershift-mc \\
      --path /spec/template/spec/containers/[name=csi-snapshot-controller-operator]/args")]
pub(super) struct Explain {
    /// Object to explain, as kind/name
    object: String,
    #[command(flatten)]
    inputs: Inputs,
    /// Profile of the object
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Explain only the fields below this path: a JSON pointer, with `[name=x]` for an item of a list
    #[arg(long, value_name = "POINTER", default_value = "")]
    path: String,
}

impl Explain {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let [profile] = project.profiles.named(self.profile.as_deref())?[..] else {
            let names: Vec<&str> = project.profiles.iter().map(|profile| profile.name.as_str()).collect();
            return Err(Diagnostic::error("`explain` needs one profile")
                .help(format!("choose one with --profile: {}", names.join(", ")))
                .into());
        };
        let context = Context { recording: true, ..project.context() };
        let view = context.view(profile);
        for plan in crate::render_unchecked(&context, &[profile])? {
            let object = show::find(&self.object, &plan, &view).or_else(|not_found| {
                let selected = crate::select(&context, profile)?;
                let excluded = show::excluded(&self.object, &selected, &project.sources);
                Err(Diagnostics::from(excluded.unwrap_or(not_found)))
            })?;
            output::result(&show::explain(object, &self.path, &view)?)?;
        }
        Ok(Outcome::Done)
    }
}
