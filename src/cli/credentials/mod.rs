//! `transship credentials`

mod policy;

use crate::diagnostic::Diagnostics;
use clap::{Args, Subcommand};

use super::Outcome;

/// Print what the credentials of workloads need
#[derive(Args)]
pub(super) struct Credentials {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Policy(policy::RolePolicy),
}

impl Credentials {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        match self.command {
            Command::Policy(command) => command.run(),
        }
    }
}
