//! `transship golden`

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostics;
use crate::language::Profiles;
use crate::parameter_sets::{EachParameterSet, GoldenFolder, GoldenReach};
use crate::payload::Payload;
use crate::printable;
use crate::{emit, show};
use clap::{Args, Subcommand, ValueEnum};

use super::{Inputs, Outcome, output};

/// Compare rendered objects with golden files, or update the golden files
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship golden check                  # exit code 1 and a diff if something differs
  transship golden update                 # then review the change with git diff")]
pub(super) struct Golden {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print a diff for each object that differs from its golden file
    Check {
        #[command(flatten)]
        options: Options,
        /// Format of the report
        #[arg(short = 'o', value_enum, default_value_t = Report::Text)]
        report: Report,
    },
    /// Write the golden files, and delete those that are no longer rendered
    Update {
        #[command(flatten)]
        options: Options,
    },
}

#[derive(Args)]
struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// Profile to render; without it, all of them
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// Folder of the golden files
    #[arg(long, value_name = "DIR", default_value = "golden")]
    golden: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Report {
    /// Text
    Text,
    /// Annotations for GitHub Actions
    Github,
}

const UPDATE: &str = "run `transship golden update` to update";

impl Golden {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        match self.action {
            Action::Check { options, report } => options.check(report),
            Action::Update { options } => options.update(),
        }
    }
}

impl Options {
    fn check(&self, report: Report) -> Result<Outcome, Diagnostics> {
        let (payload, profiles) = self.inputs.read()?;
        let mut outcome = Outcome::Done;
        for folder in self.render(&payload, &profiles)? {
            let differences = folder.compare()?;
            let path = line(&folder.path);
            output::result(&match report {
                Report::Text => show::report(&path, &differences, &folder.secrets, output::paint()),
                Report::Github => show::github(&path, &differences, &folder.secrets),
            })?;
            if !differences.is_empty() {
                outcome = Outcome::Found;
            }
            output::note(&match differences.len() {
                0 => format!("{path}: {} files are up to date", folder.expected.files.len()),
                1 => format!("{path}: 1 file differs; {UPDATE} it"),
                count => format!("{path}: {count} files differ; {UPDATE} them"),
            });
        }
        if self.has_other_reach(&payload, &profiles, report)? {
            outcome = Outcome::Found;
        }
        for path in self.each_parameter_set(&profiles).stale_golden_folders(&self.golden)? {
            let path = line(&path);
            output::result(&match report {
                Report::Text => show::stale_folder(&path),
                Report::Github => show::stale_folder_github(&path),
            })?;
            outcome = Outcome::Found;
        }
        Ok(outcome)
    }

    /// Compares the files that list how the clusters reach each other. Returns whether one differs.
    fn has_other_reach(
        &self,
        payload: &Payload,
        profiles: &Profiles,
        report: Report,
    ) -> Result<bool, Diagnostics> {
        let mut differs = false;
        for golden in self.reach(payload, profiles)? {
            let Some(difference) = golden.file.compare()? else { continue };
            let folder = line(&golden.file.folder);
            let file = format!("{folder}/{}", difference.path);
            output::result(&match report {
                Report::Text => show::report(&folder, &[difference], &golden.secrets, output::paint()),
                Report::Github => show::github(&folder, &[difference], &golden.secrets),
            })?;
            output::note(&format!("{file} differs; {UPDATE} it"));
            differs = true;
        }
        Ok(differs)
    }

    fn update(&self) -> Result<Outcome, Diagnostics> {
        let (payload, profiles) = self.inputs.read()?;
        for folder in self.render(&payload, &profiles)? {
            emit::update(&folder.expected, &folder.path)?;
            output::note(&format!("{}: {} files written", line(&folder.path), folder.expected.files.len()));
        }
        for golden in self.reach(&payload, &profiles)? {
            golden.file.write()?;
        }
        for path in self.each_parameter_set(&profiles).stale_golden_folders(&self.golden)? {
            emit::remove(&path)?;
            output::note(&format!("{}: deleted, no profile and parameter set renders it", line(&path)));
        }
        Ok(Outcome::Done)
    }

    fn render(&self, payload: &Payload, profiles: &Profiles) -> Result<Vec<GoldenFolder>, Diagnostics> {
        self.each_parameter_set(profiles)
            .golden_folders(&self.golden, |set| self.inputs.project(payload.clone(), profiles.clone(), set))
    }

    fn reach(&self, payload: &Payload, profiles: &Profiles) -> Result<Vec<GoldenReach>, Diagnostics> {
        self.each_parameter_set(profiles)
            .golden_reach(&self.golden, |set| self.inputs.project(payload.clone(), profiles.clone(), set))
    }

    fn each_parameter_set<'a>(&'a self, profiles: &'a Profiles) -> EachParameterSet<'a> {
        EachParameterSet { profiles, profile: self.profile.as_deref() }
    }
}

/// Returns a path for one line of output.
fn line(path: &Path) -> String {
    printable::line(&path.display().to_string()).into_owned()
}
