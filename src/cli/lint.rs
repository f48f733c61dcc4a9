//! `transship lint`

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use transship::check::{Checked, Finding};
use transship::diagnostic::Diagnostics;
use transship::language::{ParameterSet, Profiles};
use transship::payload::Payload;
use transship::show;
use transship::yaml::Sources;

use super::{Inputs, Outcome, output};

/// Check every profile with every parameter set, and print what is wrong
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship lint                          # exit code 1 if anything is found
  transship lint --profile hypershift-guest -o json
  transship lint -o sarif > lint.sarif    # for tools that show it beside the code")]
pub(super) struct Lint {
    #[command(flatten)]
    inputs: Inputs,
    /// The profile; without it, every profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The format
    #[arg(short = 'o', value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// JSON, one finding a line
    Json,
    /// The Static Analysis Results Interchange Format
    Sarif,
}

impl Lint {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let (payload, profiles) = self.inputs.read()?;
        let sources = payload.sources.and(&profiles.sources);
        let sets = profiles.sets.values().map(|set| self.of_set(set, &payload, &profiles));
        let sets = Diagnostics::gather(sets).map_err(Diagnostics::once)?;
        let mut found = show::merge(of_all(sets.into_iter().flatten().collect()));
        // What a manifest allows, profiles that are not looked at may need.
        found.retain(|finding| self.profile.is_none() || !finding.profiles.is_empty());
        output::result(&self.shown(&found, &sources))?;
        output::note(&match found.len() {
            0 => "nothing is wrong".to_owned(),
            1 => "1 finding".to_owned(),
            many => format!("{many} findings"),
        });
        Ok(if found.is_empty() { Outcome::Done } else { Outcome::Found })
    }

    fn of_set(
        &self,
        set: &ParameterSet,
        payload: &Payload,
        profiles: &Profiles,
    ) -> Result<Vec<Checked>, Diagnostics> {
        let project = self.inputs.project(payload.clone(), profiles.clone(), set)?;
        let mut chosen = project.profiles.named(self.profile.as_deref())?;
        chosen.retain(|profile| set.concerns(profile));
        transship::lint(&project.context(), &chosen)
    }

    fn shown(&self, found: &[Finding], sources: &Sources) -> String {
        match self.format {
            Format::Text => show::text(found, sources),
            Format::Json => show::json(found, sources),
            Format::Sarif => show::sarif(found, sources),
        }
    }
}

/// What is declared and needed in one parameter set is needed: of what does nothing, only what does nothing in all.
fn of_all(sets: Vec<Checked>) -> Vec<Finding> {
    let used: BTreeSet<_> = sets.iter().flat_map(|checked| &checked.used).cloned().collect();
    let is_idle = |finding: &Finding| {
        !finding.check.is_about_declarations()
            || !used.contains(&(finding.mark, finding.profiles.first().cloned()))
    };
    sets.into_iter().flat_map(|checked| checked.findings).filter(is_idle).collect()
}
