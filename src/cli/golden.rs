//! `transship golden`

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use transship::diagnostic::Diagnostics;
use transship::emit::{self, Folder};
use transship::language::{ParameterSet, Profile, Profiles};
use transship::payload::Payload;
use transship::show;

use super::{Inputs, Outcome, output};

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

/// What a profile's folder should hold, and what must not be shown of it.
struct Rendered {
    folder: PathBuf,
    expected: Folder,
    secrets: Vec<String>,
}

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
        for Rendered { folder, expected, secrets } in self.render()? {
            let differences = emit::compare(&expected, &folder)?;
            let differences: Vec<_> =
                differences.into_iter().map(|difference| difference.without(&secrets)).collect();
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
                outcome = Outcome::Found;
            }
        }
        for stranger in self.strangers()? {
            let folder = stranger.display();
            output::result(&match report {
                Report::Text => format!("{folder} is stale: there is no such profile or set any more\n"),
                Report::Github => {
                    format!("::error file={folder}::stale: there is no such profile or set any more\n")
                }
            })?;
            outcome = Outcome::Found;
        }
        Ok(outcome)
    }

    fn update(&self) -> Result<Outcome, Diagnostics> {
        for Rendered { folder, expected, .. } in self.render()? {
            expected.write(&folder)?;
            output::note(&format!("{}: {} files written", folder.display(), expected.files.len()));
        }
        for stranger in self.strangers()? {
            emit::remove(&stranger)?;
            output::note(&format!(
                "{}: removed, there is no such profile or set any more",
                stranger.display()
            ));
        }
        Ok(Outcome::Done)
    }

    /// Every profile's folder in every set, and what it should hold.
    fn render(&self) -> Result<Vec<Rendered>, Diagnostics> {
        let (payload, profiles) = self.inputs.read()?;
        let mut rendered = Vec::new();
        let mut errors = Diagnostics::default();
        for (name, set) in &profiles.sets {
            match self.render_set(name, set, &payload, &profiles) {
                Ok(folders) => rendered.extend(folders),
                Err(found) => errors.0.extend(found.0),
            }
        }
        errors.or(rendered)
    }

    fn render_set(
        &self,
        name: &str,
        set: &ParameterSet,
        payload: &Payload,
        profiles: &Profiles,
    ) -> Result<Vec<Rendered>, Diagnostics> {
        let project = self.inputs.project(payload.clone(), profiles.clone(), set)?;
        let mut chosen = project.profiles.named(self.profile.as_deref())?;
        chosen.retain(|profile| set.concerns(profile));
        let plans = transship::render(&project.context(), &chosen)?;
        let folder = |profile: &Profile| self.golden.join(name).join(&profile.name);
        let secrets: Vec<String> = project.parameters.secrets().map(str::to_owned).collect();
        let rendered = chosen.iter().zip(&plans).map(|(profile, plan)| Rendered {
            folder: folder(profile),
            expected: Folder::of(plan),
            secrets: secrets.clone(),
        });
        Ok(rendered.collect())
    }

    /// Folders of sets and profiles that are gone; asked for one profile, nobody looks at the others.
    fn strangers(&self) -> Result<Vec<PathBuf>, Diagnostics> {
        if self.profile.is_some() {
            return Ok(Vec::new());
        }
        let profiles = Profiles::load(&self.inputs.profiles)?;
        let known = |set: &str, profile: &str| {
            let concerned = |set: &ParameterSet| {
                profiles.iter().any(|other| other.name == profile && set.concerns(other))
            };
            profiles.sets.get(set).is_some_and(concerned)
        };
        Ok(emit::strangers(&self.golden, known)?)
    }
}
