//! `transship golden`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use transship::diagnostic::Diagnostics;
use transship::emit::{self, Folder};
use transship::profile::{Profile, Profiles};
use transship::show;

use super::{Inputs, Outcome, Project, output};

/// Compare what is rendered with the files in golden/, or rewrite them
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship golden check                  # exit code 1 and a diff where something differs
  transship golden update                 # then look at the change with git diff")]
pub(super) struct Golden {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print a diff for every object that differs; exit with 1 if any does
    Check {
        #[command(flatten)]
        options: Options,
        /// How differences are reported
        #[arg(short = 'o', value_enum, default_value_t = Report::Text)]
        report: Report,
    },
    /// Rewrite the files; what is no longer rendered goes away
    Update {
        #[command(flatten)]
        options: Options,
    },
}

#[derive(Args)]
struct Options {
    #[command(flatten)]
    inputs: Inputs,
    /// The profile; without it, every profile
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The folder of the golden files
    #[arg(long, value_name = "DIR", default_value = "golden")]
    golden: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Report {
    /// A diff for people
    Text,
    /// Annotations that GitHub shows beside the file
    Github,
}

/// The parameter set whose golden files these are; its values are in `profiles/sets/`.
const SET: &str = "default";

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
        let mut outcome = Outcome::Done;
        for (folder, expected) in self.render()? {
            let differences = emit::compare(&expected, &folder)?;
            let shown = folder.display().to_string();
            output::result(&match report {
                Report::Text => show::report(&shown, &differences, output::paint()),
                Report::Github => show::github(&shown, &differences),
            })?;
            if differences.is_empty() {
                output::note(&format!("{shown}: {} files as they should be", expected.files.len()));
            } else {
                let count = differences.len();
                output::note(&format!(
                    "{shown}: {count} files differ; `transship golden update` rewrites them"
                ));
                outcome = Outcome::Differs;
            }
        }
        for stranger in self.strangers()? {
            let folder = stranger.display();
            output::result(&match report {
                Report::Text => format!("{folder} is stale: there is no such profile any more\n"),
                Report::Github => {
                    format!("::error file={folder}::stale: there is no such profile any more\n")
                }
            })?;
            outcome = Outcome::Differs;
        }
        Ok(outcome)
    }

    fn update(&self) -> Result<Outcome, Diagnostics> {
        for (folder, expected) in self.render()? {
            expected.write(&folder)?;
            output::note(&format!("{}: {} files written", folder.display(), expected.files.len()));
        }
        for stranger in self.strangers()? {
            emit::remove(&stranger)?;
            output::note(&format!("{}: removed, there is no such profile any more", stranger.display()));
        }
        Ok(Outcome::Done)
    }

    /// Every profile's folder and what it should hold.
    fn render(&self) -> Result<Vec<(PathBuf, Folder)>, Diagnostics> {
        let project = self.inputs.load_with(&self.set_file())?;
        let chosen = project.profiles.named(self.profile.as_deref())?;
        let rendered = project.each(&chosen, Project::render)?;
        let folder = |profile: &Profile| self.golden.join(SET).join(&profile.name);
        Ok(rendered.iter().map(|(profile, plan)| (folder(profile), Folder::of(plan))).collect())
    }

    /// The values of the set, where it has a file.
    fn set_file(&self) -> Vec<PathBuf> {
        let file = self.inputs.profiles.join("sets").join(format!("{SET}.yaml"));
        if file.is_file() { vec![file] } else { Vec::new() }
    }

    /// Folders of profiles that are gone; asked for one profile, nobody looks at the others.
    fn strangers(&self) -> Result<Vec<PathBuf>, Diagnostics> {
        if self.profile.is_some() {
            return Ok(Vec::new());
        }
        let profiles = Profiles::load(&self.inputs.profiles)?;
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        Ok(emit::strangers(&self.golden.join(SET), &names)?)
    }
}
