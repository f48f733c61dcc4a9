//! The command line: one file a command, none of them with logic of its own.

mod explain;
mod fmt;
mod golden;
mod list;
mod output;
mod patch;
mod render;
mod schema;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use transship::diagnostic::Diagnostics;
use transship::order::Plan;
use transship::payload::Payload;
use transship::profile::{Parameters, Profile, Profiles};
use transship::select::{self, Reason};
use transship::transform::Context;
use transship::yaml::Sources;

/// One release payload, every topology, the right cluster.
#[derive(Parser)]
#[command(version, max_term_width = 110, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, nothing differs · 1 it ran and found something · 2 bad input or usage
Results go to stdout, everything else to stderr.";

#[derive(Subcommand)]
enum Command {
    Render(render::Render),
    List(list::List),
    Fmt(fmt::Fmt),
    Golden(golden::Golden),
    Explain(explain::Explain),
    Patch(patch::Patch),
    Schema(schema::Schema),
}

/// Where the input is.
#[derive(Args)]
struct Inputs {
    /// The folder of the payload
    #[arg(long, value_name = "DIR", default_value = "payload")]
    payload: PathBuf,
    /// The folder of the profiles
    #[arg(long, value_name = "DIR", default_value = "profiles")]
    profiles: PathBuf,
    /// A file with values of parameters; repeatable, later ones win
    #[arg(long, value_name = "FILE")]
    params: Vec<PathBuf>,
    /// The value of one parameter; repeatable, stronger than files
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// What there is to work with, all of it loaded.
struct Project {
    payload: Payload,
    profiles: Profiles,
    parameters: Parameters,
    sources: Sources,
}

impl Inputs {
    /// Loads all of it; if several parts are wrong, says so at once.
    fn load(&self) -> Result<Project, Diagnostics> {
        self.load_with(&[])
    }

    /// Loads all of it, with values of parameters that are weaker than the user's.
    fn load_with(&self, weaker: &[PathBuf]) -> Result<Project, Diagnostics> {
        let files = [weaker, &self.params].concat();
        let profiles = Profiles::load(&self.profiles).and_then(|mut profiles| {
            let parameters = profiles.bind(&files, &self.set)?;
            Ok((profiles, parameters))
        });
        match (Payload::load(&self.payload), profiles) {
            (Ok(payload), Ok((profiles, parameters))) => {
                output::warn(&payload.warnings);
                let sources = payload.sources.and(&profiles.sources);
                Ok(Project { payload, profiles, parameters, sources })
            }
            (payload, profiles) => {
                let errors = payload.err().into_iter().chain(profiles.err()).flat_map(|errors| errors.0);
                Err(Diagnostics(errors.collect()))
            }
        }
    }
}

impl Project {
    /// Does something with every one of these profiles; what is wrong with any of them is said at once.
    fn each<'p, T>(
        &self,
        profiles: &[&'p Profile],
        action: impl Fn(&Self, &Profile) -> Result<T, Diagnostics>,
    ) -> Result<Vec<(&'p Profile, T)>, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut results = Vec::new();
        for profile in profiles {
            match action(self, profile) {
                Ok(result) => results.push((*profile, result)),
                Err(found) => errors.0.extend(found.0),
            }
        }
        errors.or(results)
    }

    fn render(&self, profile: &Profile) -> Result<Plan, Diagnostics> {
        transship::render(&self.context(profile))
    }

    fn context<'a>(&'a self, profile: &'a Profile) -> Context<'a> {
        Context {
            payload: &self.payload,
            profile,
            parameters: &self.parameters,
            fragments: &self.profiles.fragments,
            sources: &self.sources,
        }
    }

    fn decide(&self, profile: &Profile) -> Result<Vec<Option<Reason>>, Diagnostics> {
        select::decide(&self.payload, profile, &self.parameters, &self.sources)
    }
}

/// How documents are written.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Canonical YAML, as a stream of documents
    Yaml,
    /// JSON, one document a line
    Json,
}

/// What a command found, when nothing went wrong.
#[derive(Clone, Copy)]
enum Outcome {
    Done,
    Differs,
}

pub(crate) fn run() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Render(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Fmt(command) => command.run(),
        Command::Golden(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Patch(command) => command.run(),
        Command::Schema(command) => command.run(),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Differs) => ExitCode::from(1),
        Err(errors) => {
            output::fail(&errors);
            ExitCode::from(2)
        }
    }
}
