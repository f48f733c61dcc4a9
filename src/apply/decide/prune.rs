//! Decides which objects may be pruned.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::apply::decide::inventory::{Inventory, InventoryEntry};
use crate::apply::decide::ownership::NotOurs;
use crate::object::{Cluster, ObjectId};

/// Without approval, transship prunes at most this many objects of a cluster with a small inventory.
pub(crate) const MAX_UNAPPROVED: usize = 2;
/// Without approval, transship prunes at most one in this many objects of a cluster with a larger inventory.
const UNAPPROVED_DIVISOR: usize = 5;

/// The objects that the user approved with `--approve-prune`. A number applies to each cluster separately, so the
/// guest's administrator cannot change what transship prunes in the management cluster by editing the guest's
/// inventory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Approval {
    /// Nothing. transship prunes only a few objects, and none whose deletion cascades.
    #[default]
    Harmless,
    /// Exactly this many objects in each cluster.
    Count(usize),
    /// Exactly this many objects in each of the two clusters; nothing if there is no number.
    Clusters {
        /// The number for the management cluster.
        management: Option<usize>,
        /// The number for the guest.
        guest: Option<usize>,
    },
    /// Everything.
    All,
}

impl Approval {
    /// Returns what is approved in one cluster.
    pub(crate) fn in_cluster(self, cluster: Cluster) -> Self {
        let Self::Clusters { management, guest } = self else { return self };
        let count = match cluster {
            Cluster::Management => management,
            Cluster::Guest => guest,
            Cluster::Both => None,
        };
        count.map_or(Self::Harmless, Self::Count)
    }
}

/// The inventory of a cluster and the objects that are rendered for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PruneCandidates<'a> {
    /// The cluster.
    pub(crate) cluster: Cluster,
    /// The inventory.
    pub(crate) inventory: &'a Inventory,
    /// The objects that are rendered.
    pub(crate) rendered: &'a HashSet<&'a ObjectId>,
    /// The rendered objects by their uid.
    pub(crate) uids: &'a HashMap<String, ObjectId>,
    /// The objects that transship only created, and that others changed since.
    pub(crate) changed: &'a HashSet<&'a ObjectId>,
}

/// Which objects of a cluster are pruned and which are held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PruneDecision {
    /// The objects to delete.
    pub(crate) prune: Vec<InventoryEntry>,
    /// The objects that stay until someone approves their deletion.
    pub(crate) held: Vec<HeldEntry>,
    /// The objects that leave the inventory and stay, because they are rendered under another name.
    pub(crate) released: Vec<(InventoryEntry, NotOurs)>,
}

/// An object that is not pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldEntry {
    /// The object.
    pub(crate) entry: InventoryEntry,
    /// Why it is not pruned.
    pub(crate) reason: HoldReason,
}

/// Why an object is not pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldReason {
    /// `--prune` was not given.
    NotRequested,
    /// The rollout is incomplete.
    RolloutIncomplete,
    /// The inventory was lost, and this run restored it.
    InventoryRestored,
    /// `--approve-prune` has another number.
    ApprovedOther {
        /// The approved number.
        approved: usize,
        /// The number of objects to prune in the cluster.
        pruned: usize,
    },
    /// Too many objects would be pruned at once.
    TooMany {
        /// The number of objects to prune in the cluster.
        pruned: usize,
        /// The number of objects in its inventory.
        total: usize,
    },
    /// Deleting the object deletes more than the object.
    Cascades(&'static str),
    /// Its last manifest says that it stays.
    Kept,
    /// transship only created the object, and others changed it since.
    ChangedSinceCreation,
}

impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRequested => f.write_str("--prune deletes it"),
            Self::RolloutIncomplete => f.write_str("the rollout is incomplete, so nothing is pruned"),
            Self::InventoryRestored => f.write_str(
                "the inventory was lost and is restored from labels, so nothing is pruned; check the object, then apply again with --prune",
            ),
            Self::ApprovedOther { approved, pruned } => {
                write!(
                    f,
                    "--approve-prune allows {approved}, but {pruned} objects of the cluster would be pruned"
                )
            }
            Self::TooMany { pruned, total } => {
                write!(f, "{pruned} of {total} objects would be pruned at once")
            }
            Self::Cascades(consequence) => f.write_str(consequence),
            Self::Kept => {
                f.write_str("the annotation transship.openshift.io/prune of its last manifest keeps it")
            }
            Self::ChangedSinceCreation => {
                f.write_str("transship only created it, and others changed it; --approve-prune deletes it")
            }
        }
    }
}

/// Decides about every object that is in the inventory of a cluster and no longer rendered for it.
pub(crate) fn decide_prune(candidates: &PruneCandidates<'_>, approval: Approval) -> PruneDecision {
    let mut decision = PruneDecision::default();
    let mut entries = candidates.not_rendered();
    entries.retain(|entry| match candidates.uids.get(&entry.uid) {
        Some(id) => {
            decision.released.push(((*entry).clone(), NotOurs::AppliedAs(id.clone())));
            false
        }
        None => true,
    });
    let (kept, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.keep);
    for entry in kept {
        decision.held.push(HeldEntry { entry: entry.clone(), reason: HoldReason::Kept });
    }
    let approval = approval.in_cluster(candidates.cluster);
    let (pruned, total) = (entries.len(), candidates.inventory.entries.len());
    let max_unapproved = MAX_UNAPPROVED.max(total / UNAPPROVED_DIVISOR);
    for entry in entries {
        let reason = match approval {
            Approval::All => None,
            Approval::Count(approved) if approved == pruned => None,
            Approval::Count(approved) => Some(HoldReason::ApprovedOther { approved, pruned }),
            Approval::Harmless | Approval::Clusters { .. } if pruned > max_unapproved => {
                Some(HoldReason::TooMany { pruned, total })
            }
            Approval::Harmless | Approval::Clusters { .. } => {
                let changed = candidates.changed.contains(&entry.id);
                let cascades = deletion_cascade(&entry.id.kind).map(HoldReason::Cascades);
                cascades.or(changed.then_some(HoldReason::ChangedSinceCreation))
            }
        };
        match reason {
            None => decision.prune.push(entry.clone()),
            Some(reason) => decision.held.push(HeldEntry { entry: entry.clone(), reason }),
        }
    }
    decision
}

impl<'a> PruneCandidates<'a> {
    fn not_rendered(&self) -> Vec<&'a InventoryEntry> {
        self.inventory.entries.iter().filter(|entry| !self.rendered.contains(&entry.id)).collect()
    }
}

/// Returns what else is deleted with an object of a kind whose deletion cascades.
pub(crate) fn deletion_cascade(kind: &str) -> Option<&'static str> {
    match kind {
        "Namespace" => Some("deleting it deletes everything in the namespace"),
        "CustomResourceDefinition" => Some("deleting it deletes every object of its kind"),
        "PersistentVolumeClaim" | "PersistentVolume" => Some("deleting it deletes its data"),
        _ => None,
    }
}
