//! `inventory move`: moves the inventories of a topology that was renamed, or of a hosted control plane whose namespace changed.
//!
//! The objects keep the label of the earlier `ApplySet` until the next `apply`, so the new inventory records the ID of that set.
//! The new inventory is written before the old one is deleted. Whatever interrupts the command, running it again completes the
//! move.

use std::sync::Arc;

use crate::apply::cluster::clock;
use crate::apply::cluster::contact::Contact;
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::inventory_store::InventoryStore;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::inventory::{Inventory, InventoryLocation};
use crate::apply::decide::run_record::{Outcome, RunRecord};
use crate::apply::run::contacts::{Patience, Topology};
use crate::diagnostic::Diagnostic;
use crate::language::Profile;

/// Where the inventories of a topology were.
#[derive(Clone, Debug, Default)]
pub(crate) struct MovedFrom {
    /// The earlier name of the topology; `None` if it did not change.
    pub(crate) topology: Option<String>,
    /// The earlier namespace of the hosted control plane; `None` if it did not change.
    pub(crate) namespace: Option<String>,
}

impl MovedFrom {
    /// Returns where the inventory of a profile was.
    fn location(&self, target: &TargetCluster<'_>) -> InventoryLocation {
        let mut profile: Profile = target.profile.clone();
        if let Some(topology) = &self.topology {
            profile.topology.clone_from(topology);
        }
        let now = InventoryLocation::of(target.profile, target.plan);
        let hosted = self.namespace.as_deref().or(target.plan.hosted_control_plane.as_deref());
        let namespace = match (&self.namespace, &target.plan.namespace) {
            (Some(namespace), Some(_)) => namespace.clone(),
            _ => now.namespace,
        };
        InventoryLocation { namespace, name: profile.inventory_name(hosted) }
    }
}

/// The outcome of a move in one cluster.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MoveOutcome {
    /// It was moved.
    Done { from: String, to: String, objects: usize },
    /// An earlier move did that already.
    AlreadyDone { to: String },
    /// There is no inventory in the old place.
    NotFound { from: String },
}

/// Moves the inventories of all clusters.
pub(crate) async fn move_inventories(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    from: &MovedFrom,
) -> Result<Vec<MoveOutcome>, Diagnostic> {
    // The inventories record the old place of the hosted control plane, which the user confirms by naming it.
    let topology = Topology::to_write(&targets, options, "inventory move");
    let contacts = topology.contact_all(Patience::Retry).await?;
    let mut moved = Vec::new();
    let mut result = Ok(());
    for (target, contact) in targets.iter().zip(contacts) {
        let one = async { move_inventory(&topology, target, contact?, from).await };
        match one.await {
            Ok(one) => moved.push(one),
            Err(error) => {
                let cluster = target.profile.cluster.name();
                result = Err(Diagnostic::error(format!("cannot move the inventory: {cluster}: {error}"))
                    .help("run the command again; it completes what is missing"));
                break;
            }
        }
    }
    if let Some(lock) = &topology.lock {
        lock.release().await;
    }
    result.map(|()| moved)
}

async fn move_inventory(
    topology: &Topology<'_, '_>,
    target: &TargetCluster<'_>,
    contact: Contact,
    from: &MovedFrom,
) -> Result<MoveOutcome, ClusterError> {
    let (options, old_location) = (topology.options, from.location(target));
    let new = contact.inventory;
    let to = new.location().to_string();
    let old = InventoryStore::load(
        Arc::clone(&contact.server),
        old_location.clone(),
        target.profile.cluster,
        options.part_size,
    )
    .await?;
    let old_set = old_location.apply_set_id();
    let is_moved = new.initial().previous_sets.contains(&old_set);
    if !old.exists() {
        let from = old_location.to_string();
        return Ok(if is_moved { MoveOutcome::AlreadyDone { to } } else { MoveOutcome::NotFound { from } });
    }
    if new.exists() && !is_moved {
        return Err(ClusterError::InventoryExists { location: new.location().clone() });
    }
    if let Some(lock) = &topology.lock {
        lock.hold().await?;
    }
    let objects = old.initial().entries.len();
    if !new.exists() {
        let mut previous_sets = old.initial().previous_sets.clone();
        previous_sets.push(old_set);
        new.set_history(old.initial().history.clone());
        new.set_run(record(options));
        new.save(&Inventory { previous_sets, ..old.initial().clone() }).await?;
    }
    old.delete().await?;
    Ok(MoveOutcome::Done { from: old_location.to_string(), to, objects })
}

fn record(options: &Options) -> RunRecord {
    RunRecord {
        id: options.run_id.clone(),
        command: "inventory move".to_owned(),
        started: clock::now(),
        ended: clock::now(),
        outcome: Outcome::Complete,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..RunRecord::default()
    }
}
