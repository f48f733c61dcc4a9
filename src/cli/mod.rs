//! The command line: one file per command. The commands parse flags, call the library and print the result.

#[cfg(feature = "apply")]
mod apply;
#[cfg(feature = "apply")]
mod approved;
#[cfg(feature = "apply")]
mod clusters;
#[cfg(feature = "apply")]
mod command_run;
mod credentials;
#[cfg(feature = "apply")]
mod delete;
mod diff;
mod explain;
mod fmt;
mod golden;
#[cfg(feature = "apply")]
mod history;
#[cfg(feature = "apply")]
mod inventory;
mod lint;
mod list;
mod logging;
#[cfg(feature = "apply")]
mod object_filter;
mod output;
mod patch;
#[cfg(feature = "apply")]
mod paused;
#[cfg(feature = "apply")]
mod progress;
mod render;
mod rights;
mod schema;
mod topology;
#[cfg(feature = "apply")]
mod wait_for;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use crate::Project;
use crate::diagnostic::Diagnostics;
use crate::language::{DEFAULT_SET, ParameterObject, ParameterSet, Profiles, ValueSources};
use crate::object::Cluster;
use crate::payload::Payload;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Render an OpenShift release payload for each cluster of a topology, check it and apply it.
#[derive(Parser)]
#[command(version, max_term_width = 110, after_help = EXIT_CODES)]
struct Cli {
    #[command(flatten)]
    logging: logging::Logging,
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  differences, findings or missing objects
  2  invalid input or command line
  3  a request to a cluster failed or timed out

Results go to stdout, everything else to stderr.";

#[derive(Subcommand)]
enum Command {
    Render(render::Render),
    List(list::List),
    Fmt(fmt::Fmt),
    Golden(golden::Golden),
    Lint(lint::Lint),
    Explain(explain::Explain),
    Diff(diff::Diff),
    Patch(patch::Patch),
    Schema(schema::Schema),
    Rights(rights::Rights),
    Credentials(credentials::Credentials),
    #[cfg(feature = "apply")]
    Apply(apply::Apply),
    #[cfg(feature = "apply")]
    Delete(delete::Delete),
    #[cfg(feature = "apply")]
    History(history::History),
    #[cfg(feature = "apply")]
    Inventory(inventory::InventoryCommand),
    #[cfg(feature = "apply")]
    WaitFor(wait_for::WaitFor),
}

/// Flags for the payload, the profiles and the values of parameters.
#[derive(Args, Clone)]
struct Inputs {
    /// Folder of the payload
    #[arg(long, value_name = "DIR", default_value = "payload")]
    payload: PathBuf,
    /// Folder of the profiles
    #[arg(long, value_name = "DIR", default_value = "profiles")]
    profiles: PathBuf,
    /// File with values of parameters; repeatable, later files override earlier ones
    #[arg(long, value_name = "FILE")]
    params: Vec<PathBuf>,
    /// Value of one parameter; repeatable, overrides files
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// File with the `HostedControlPlane`, from which transship reads parameters
    #[arg(long, value_name = "FILE")]
    hosted_control_plane: Option<PathBuf>,
    /// File with the Infrastructure of the guest, from which transship reads parameters
    #[arg(long, value_name = "FILE")]
    infrastructure: Option<PathBuf>,
    /// File with the `ClusterCSIDriver` of the guest, from which transship reads parameters
    #[arg(long, value_name = "FILE")]
    cluster_csi_driver: Option<PathBuf>,
    /// File with objects of the cluster, such as its `FeatureGate` and `ClusterVersion`, from which transship reads
    /// parameters; repeatable
    #[arg(long, value_name = "FILE")]
    cluster_objects: Vec<PathBuf>,
    /// Images of another release than the payload's for the hosted control plane or the guest, as an image-references file;
    /// repeatable
    #[arg(long, value_name = "control-plane=FILE|guest=FILE")]
    release_images: Vec<ReleaseImages>,
}

/// `control-plane=FILE` or `guest=FILE`
#[derive(Clone)]
struct ReleaseImages {
    cluster: Cluster,
    file: PathBuf,
}

impl FromStr for ReleaseImages {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (release, file) = text.split_once('=').unwrap_or((text, ""));
        let cluster = match release {
            "control-plane" => Cluster::Management,
            "guest" => Cluster::Guest,
            _ => return Err("write control-plane=FILE or guest=FILE".to_owned()),
        };
        Ok(Self { cluster, file: file.into() })
    }
}

impl Inputs {
    /// Loads the project with the default parameter set. Reports the errors of the payload and the profiles together.
    fn load(&self) -> Result<Project, Diagnostics> {
        let (payload, profiles) = self.read()?;
        let set = profiles.sets.get(DEFAULT_SET).cloned().unwrap_or_default();
        self.project(payload, profiles, &set)
    }

    /// Returns the same flags with another payload.
    fn with_payload(&self, payload: &Path) -> Self {
        Self { payload: payload.to_owned(), ..self.clone() }
    }

    /// Loads the payload and the profiles.
    fn read(&self) -> Result<(Payload, Profiles), Diagnostics> {
        let (payload, profiles) = Project::fit(self.payload(), Profiles::load(&self.profiles))?;
        output::warn(&payload.warnings);
        Ok((payload, profiles))
    }

    fn payload(&self) -> Result<Payload, Diagnostics> {
        let mut payload = Payload::load(&self.payload)?;
        for images in &self.release_images {
            payload.use_images(images.cluster, &images.file)?;
        }
        Ok(payload)
    }

    /// Creates the project with the values of a parameter set and of the flags.
    fn project(
        &self,
        payload: Payload,
        profiles: Profiles,
        set: &ParameterSet,
    ) -> Result<Project, Diagnostics> {
        let readable = |kind, path: &Option<PathBuf>| path.clone().map(|path| (kind, path));
        let objects: Vec<(ParameterObject, PathBuf)> = [
            readable(ParameterObject::HostedControlPlane, &self.hosted_control_plane),
            readable(ParameterObject::Infrastructure, &self.infrastructure),
            readable(ParameterObject::ClusterCsiDriver, &self.cluster_csi_driver),
        ]
        .into_iter()
        .flatten()
        .collect();
        let given = ValueSources {
            files: &self.params,
            settings: &self.set,
            objects: &objects,
            cluster_objects: &self.cluster_objects,
        };
        Project::new(payload, profiles, set, given)
    }
}

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// The format of documents.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Canonical YAML, as a stream of documents
    Yaml,
    /// JSON, one document per line
    Json,
}

/// The outcome of a command that ran to its end; decides the exit code.
#[derive(Clone, Copy)]
enum Outcome {
    Done,
    /// There are differences, findings or missing objects.
    Found,
    /// Something failed in a cluster.
    #[cfg(feature = "apply")]
    ClusterFailed,
}

/// Runs the command with the arguments of this process, and returns its exit code.
pub fn run() -> ExitCode {
    let Cli { logging, command } = Cli::parse();
    logging.start();
    let result = match command {
        Command::Render(command) => command.run(),
        Command::List(command) => command.run(),
        Command::Fmt(command) => command.run(),
        Command::Golden(command) => command.run(),
        Command::Lint(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Diff(command) => command.run(),
        Command::Patch(command) => command.run(),
        Command::Schema(command) => command.run(),
        Command::Rights(command) => command.run(),
        Command::Credentials(command) => command.run(),
        #[cfg(feature = "apply")]
        Command::Apply(command) => command.run(),
        #[cfg(feature = "apply")]
        Command::Delete(command) => command.run(),
        #[cfg(feature = "apply")]
        Command::History(command) => command.run(),
        #[cfg(feature = "apply")]
        Command::Inventory(command) => command.run(),
        #[cfg(feature = "apply")]
        Command::WaitFor(command) => command.run(),
    };
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(1),
        #[cfg(feature = "apply")]
        Ok(Outcome::ClusterFailed) => ExitCode::from(3),
        Err(errors) => {
            output::fail(&errors);
            ExitCode::from(2)
        }
    }
}
