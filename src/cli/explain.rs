//! `transship explain`

use clap::Args;
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::expand::Context;
use transship::show;

use super::{Inputs, Outcome, output};

/// Say where each field of an object came from: the line that wrote it, why, and what it replaced
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship explain deployment/csi-snapshot-controller-operator --profile hypershift-mc
  transship explain deployment/csi-snapshot-controller-operator --profile hypershift-mc \\
      --path /spec/template/spec/containers/[name=csi-snapshot-controller-operator]/args")]
pub(super) struct Explain {
    /// The object, as kind/name
    object: String,
    #[command(flatten)]
    inputs: Inputs,
    /// The profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Only the fields below this path: a JSON pointer, with `[name=x]` for an item of a list
    #[arg(long, value_name = "POINTER", default_value = "")]
    path: String,
}

impl Explain {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let [profile] = project.profiles.named(self.profile.as_deref())?[..] else {
            let names: Vec<&str> = project.profiles.iter().map(|profile| profile.name.as_str()).collect();
            return Err(Diagnostic::error("which profile?")
                .help(format!("choose one with --profile: {}", names.join(", ")))
                .into());
        };
        let context = Context { recording: true, ..project.context() };
        let view = context.view(profile);
        for plan in transship::render_unchecked(&context, &[profile])? {
            let object = show::find(&self.object, &plan, &view)?;
            output::result(&show::explain(object, &self.path, &view)?)?;
        }
        Ok(Outcome::Done)
    }
}
