//! `transship lint`

use crate::check::ReachPath;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::ParameterSet;
use crate::parameter_sets::EachParameterSet;
use crate::show;
use clap::{Args, ValueEnum};

use super::{Inputs, Outcome, output};

/// Check all profiles with all parameter sets, or list how their clusters reach each other
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship lint                          # exit code 1 if there are findings
  transship lint --profile hypershift-guest -o json
  transship lint -o sarif > lint.sarif    # for tools that show findings next to the code
  transship lint --report reach           # which credentials of one cluster reach the other")]
pub(super) struct Lint {
    #[command(flatten)]
    inputs: Inputs,
    /// Profile to check; without it, all of them
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// What to report
    #[arg(long, value_enum, default_value_t = Report::Findings)]
    report: Report,
    /// Format of the report
    #[arg(short = 'o', value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Report {
    /// Findings of the checks
    Findings,
    /// Paths on which one cluster of a topology reaches the other
    Reach,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Text
    Text,
    /// JSON, one finding or path per line
    Json,
    /// Static Analysis Results Interchange Format (SARIF)
    Sarif,
}

impl Lint {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let result = self.lint();
        // A tool that reads the output gets valid output for invalid input as well.
        if let Err(errors) = &result {
            output::result(&match self.format {
                Format::Text => String::new(),
                Format::Json => show::errors_json(errors),
                Format::Sarif => show::errors_sarif(errors),
            })?;
        }
        result
    }

    fn lint(&self) -> Result<Outcome, Diagnostics> {
        let (payload, profiles) = self.inputs.read()?;
        let sources = payload.sources.and(&profiles.sources);
        let each_parameter_set = EachParameterSet { profiles: &profiles, profile: self.profile.as_deref() };
        let load = |set: &ParameterSet| self.inputs.project(payload.clone(), profiles.clone(), set);
        if self.report == Report::Reach {
            return self.report_reach(&each_parameter_set.reach(load)?);
        }
        let findings = each_parameter_set.lint(load)?;
        match self.format {
            Format::Text => output::result(&show::text(&findings, &sources)),
            Format::Json => output::json(&show::json(&findings, &sources)),
            Format::Sarif => output::json(&show::sarif(&findings, &sources)),
        }?;
        output::note(&match findings.len() {
            0 => "no findings".to_owned(),
            1 => "1 finding".to_owned(),
            count => format!("{count} findings"),
        });
        Ok(if findings.is_empty() { Outcome::Done } else { Outcome::Found })
    }

    fn report_reach(&self, paths: &[ReachPath]) -> Result<Outcome, Diagnostics> {
        match self.format {
            Format::Text => output::result(&show::reach_text(paths)),
            Format::Json => output::json(&show::reach_json(paths)),
            Format::Sarif => {
                let error = Diagnostic::error("`--report reach` has no output in SARIF");
                return Err(error.note("SARIF describes findings").help("use `-o text` or `-o json`").into());
            }
        }?;
        output::note(&match paths.len() {
            0 => "no paths".to_owned(),
            1 => "1 path".to_owned(),
            count => format!("{count} paths"),
        });
        Ok(Outcome::Done)
    }
}
