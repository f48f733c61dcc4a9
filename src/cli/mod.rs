//! The command line: one file a command, none of them with logic of its own.

mod fmt;
mod golden;
mod list;
mod output;
mod patch;
mod render;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use transship::diagnostic::Diagnostics;
use transship::order::Plan;
use transship::payload::Payload;
use transship::profile::{Profile, Profiles};

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
    Patch(patch::Patch),
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
}

impl Inputs {
    /// Loads both; if both are wrong, says so at once.
    fn load(&self) -> Result<(Payload, Profiles), Diagnostics> {
        match (Payload::load(&self.payload), Profiles::load(&self.profiles)) {
            (Ok(payload), Ok(profiles)) => {
                output::warn(&payload.warnings);
                Ok((payload, profiles))
            }
            (payload, profiles) => {
                let errors = payload.err().into_iter().chain(profiles.err()).flat_map(|errors| errors.0);
                Err(Diagnostics(errors.collect()))
            }
        }
    }
}

/// Renders every one of these profiles; what is wrong with any of them is said at once.
fn render_each<'p>(
    payload: &Payload,
    profiles: &[&'p Profile],
) -> Result<Vec<(&'p Profile, Plan)>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut rendered = Vec::new();
    for profile in profiles {
        match transship::render(payload, profile) {
            Ok(plan) => rendered.push((*profile, plan)),
            Err(found) => errors.0.extend(found.0),
        }
    }
    errors.or(rendered)
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
        Command::Patch(command) => command.run(),
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
