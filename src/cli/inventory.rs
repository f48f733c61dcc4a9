//! `transship inventory`

use crate::apply::{self, MoveOutcome, MovedFrom, Options, Rebinding};
use crate::diagnostic::{Diagnostic, Diagnostics};
use clap::{Args, Subcommand};

use super::clusters::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// Change the inventories, in which `apply` lists the objects that it applied
#[derive(Args)]
pub(super) struct InventoryCommand {
    #[command(subcommand)]
    command: InventoryCommands,
}

#[derive(Subcommand)]
enum InventoryCommands {
    Move(Move),
}

/// Move the inventories of a topology that was renamed, or whose hosted control plane has another namespace now
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship inventory move --topology hypershift --from-topology hosted …
  transship inventory move --topology hypershift --from-namespace clusters-old --set hcp.namespace=clusters-new …

The objects stay as they are. The next `apply` gives them the label of the new ApplySet. If something interrupts the \
command, run it again.")]
struct Move {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
    /// The earlier name of the topology
    #[arg(long, value_name = "NAME")]
    from_topology: Option<String>,
    /// The earlier namespace of the hosted control plane
    #[arg(long, value_name = "NAMESPACE")]
    from_namespace: Option<String>,
}

impl InventoryCommand {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        match self.command {
            InventoryCommands::Move(command) => command.run(),
        }
    }
}

impl Move {
    fn run(self) -> Result<Outcome, Diagnostics> {
        if self.from_topology.is_none() && self.from_namespace.is_none() {
            return Err(Diagnostic::error("nothing says where the inventories were")
                .help("pass --from-topology, --from-namespace or both")
                .into());
        }
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        let plans = crate::render_unchecked(&project.context(), &profiles)?;
        let from = MovedFrom { topology: self.from_topology.clone(), namespace: self.from_namespace.clone() };
        block_on(async {
            let targets = self.clusters.targets("inventory move", &project, &profiles, &plans).await?;
            let options = Options { rebinding: Rebinding::On, ..self.clusters.options() };
            let moved = apply::move_inventories(targets, &options, &from).await?;
            for one in &moved {
                output::result(&(describe(one) + "\n"))?;
            }
            let is_found = |moved: &MoveOutcome| !matches!(moved, MoveOutcome::NotFound { .. });
            Ok(if moved.iter().any(is_found) { Outcome::Done } else { Outcome::Found })
        })
    }
}

fn describe(moved: &MoveOutcome) -> String {
    match moved {
        MoveOutcome::Done { from, to, objects } => format!("moved {objects} objects from {from} to {to}"),
        MoveOutcome::AlreadyDone { to } => format!("already moved to {to}"),
        MoveOutcome::NotFound { from } => format!("there is no inventory: {from}"),
    }
}
