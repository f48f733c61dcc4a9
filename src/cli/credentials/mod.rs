//! `transship credentials`

#[cfg(feature = "apply")]
mod list;
mod policy;
#[cfg(feature = "apply")]
mod rotate;

use crate::diagnostic::Diagnostics;
use clap::{Args, Subcommand};

use super::Outcome;

/// List and renew the credentials of workloads, and print what their cloud roles need
#[derive(Args)]
pub(super) struct Credentials {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "apply")]
    List(list::List),
    #[cfg(feature = "apply")]
    Rotate(rotate::Rotate),
    Policy(policy::RolePolicy),
}

impl Credentials {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        match self.command {
            #[cfg(feature = "apply")]
            Command::List(command) => command.run(),
            #[cfg(feature = "apply")]
            Command::Rotate(command) => command.run(),
            Command::Policy(command) => command.run(),
        }
    }
}
