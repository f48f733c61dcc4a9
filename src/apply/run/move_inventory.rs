//! `inventory move`: moves the inventories of a topology that was renamed, or of a hosted control plane whose namespace changed.
//!
//! The objects keep the label of the earlier `ApplySet` until the next `apply`, so the new inventory records the ID of that set.
//! The new inventory is written before the old one is deleted. Whatever interrupts the command, running it again completes the
//! move.

use crate::apply::cluster::clock;
use crate::apply::cluster::contact::Contact;
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::inventory_store::InventoryStore;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::binding::FoundIdentity;
use crate::apply::decide::inventory::{Inventory, InventoryEntry, InventoryLocation};
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

/// Moves the inventories of all clusters. Before the first write, transship checks all of them.
pub(crate) async fn move_inventories(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    from: &MovedFrom,
) -> Result<Vec<MoveOutcome>, Diagnostic> {
    let topology = Topology::to_write(&targets, options, "inventory move");
    let contacts = topology.contact_all(Patience::Retry).await?;
    let mut prepared = Vec::new();
    for (target, contact) in targets.iter().zip(contacts) {
        let one = async { Move::prepare(target, contact?, options, from).await };
        prepared.push(one.await.map_err(|error| failure(target, &error))?);
    }
    // The first contact found nothing in the new place. What the old place records must fit as well.
    let identities: Vec<FoundIdentity> = prepared.iter().map(|one| one.identity(from)).collect();
    topology.check_identities(&identities)?;
    let mut moved = Vec::new();
    let mut result = Ok(());
    for (target, one) in targets.iter().zip(prepared) {
        match one.run(&topology).await {
            Ok(one) => moved.push(one),
            Err(error) => {
                result =
                    Err(failure(target, &error).help("run the command again; it completes what is missing"));
                break;
            }
        }
    }
    if let Some(lock) = &topology.lock {
        lock.release().await;
    }
    result.map(|()| moved)
}

fn failure(target: &TargetCluster<'_>, error: &ClusterError) -> Diagnostic {
    Diagnostic::error(format!("cannot move the inventory: {}: {error}", target.profile.cluster.name()))
}

/// The inventory of one cluster in both places.
struct Move {
    /// The identity of the cluster, as it is at first contact.
    found: FoundIdentity,
    old: InventoryStore,
    new: InventoryStore,
}

impl Move {
    async fn prepare(
        target: &TargetCluster<'_>,
        contact: Contact,
        options: &Options,
        from: &MovedFrom,
    ) -> Result<Self, ClusterError> {
        let Contact { server, identity: found, inventory: new } = contact;
        let cluster = target.profile.cluster;
        let old = InventoryStore::load(server, from.location(target), cluster, options.part_size).await?;
        let it = Self { found, old, new };
        if it.old.exists() && it.new.exists() && !it.is_begun() {
            return Err(ClusterError::InventoryExists { location: it.new.location().clone() });
        }
        Ok(it)
    }

    /// Returns whether the new inventory continues the old one.
    fn is_begun(&self) -> bool {
        self.new.initial().previous_sets.contains(&self.old.location().apply_set_id())
    }

    /// Returns the identity of the cluster with the binding that the inventory records, wherever it is. If the hosted control
    /// plane has another namespace now, the user confirms that by naming the earlier one.
    fn identity(&self, from: &MovedFrom) -> FoundIdentity {
        let store = if self.old.exists() { &self.old } else { &self.new };
        let mut recorded = store.initial().binding.clone();
        if from.namespace.is_some() {
            recorded.hosted_control_plane = None;
        }
        FoundIdentity { recorded, other_hosted_control_plane: None, ..self.found.clone() }
    }

    async fn run(self, topology: &Topology<'_, '_>) -> Result<MoveOutcome, ClusterError> {
        let (old, new) = (&self.old, &self.new);
        let (from, to) = (old.location().to_string(), new.location().to_string());
        if !old.exists() {
            let is_begun = self.is_begun();
            return Ok(if is_begun {
                MoveOutcome::AlreadyDone { to }
            } else {
                MoveOutcome::NotFound { from }
            });
        }
        if let Some(lock) = &topology.lock {
            lock.hold().await?;
        }
        let mut moved = if new.exists() { new.initial().clone() } else { self.continued() };
        // A command that did not know of the move may have written the old inventory since.
        let later = old.initial().entries.iter().filter(|entry| moved.find(&entry.id).is_none());
        let later: Vec<InventoryEntry> = later.cloned().collect();
        if !new.exists() || !later.is_empty() {
            moved.entries.extend(later);
            new.set_run(record(topology.options));
            new.save(&moved).await?;
        }
        old.delete().await?;
        Ok(MoveOutcome::Done { from, to, objects: moved.entries.len() })
    }

    /// Returns the inventory for the new place, and continues the history and the binding.
    fn continued(&self) -> Inventory {
        let old = self.old.initial();
        let mut previous_sets = old.previous_sets.clone();
        previous_sets.push(self.old.location().apply_set_id());
        self.new.set_history(old.history.clone());
        self.new.complete_binding(&old.binding);
        Inventory { previous_sets, ..old.clone() }
    }
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
