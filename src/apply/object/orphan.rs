//! Leaves one object in its cluster: removes the label of the `ApplySet`, and gives the fields of transship back to the manager
//! that had them before, if there was one.

use kube::api::{Patch, PatchParams};

use crate::apply::cluster::error::object_error;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::managed_fields::MANAGER;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::NotOurs;
use crate::apply::decide::predecessors::leaving_patch;
use crate::apply::object::object_task::MAX_ATTEMPTS;
use crate::apply::wire::memory::HeldMemory;

/// The outcome of leaving the object of an inventory entry.
pub(crate) enum OrphanOutcome {
    /// The object no longer belongs to transship.
    Left,
    /// The object does not exist.
    Missing,
    /// The object was not transship's, so it stays as it is.
    NotOurs(NotOurs),
}

/// Leaves the object of an inventory entry in its cluster.
pub(crate) async fn orphan_entry(
    cluster: &LiveCluster<'_>,
    entry: &InventoryEntry,
) -> Result<OrphanOutcome, ObjectError> {
    let Some(path) = cluster.locate_entry(entry).await? else { return Ok(OrphanOutcome::Missing) };
    let memory = HeldMemory::default();
    let mut known = cluster.labelled(&entry.id);
    for _ in 0..MAX_ATTEMPTS {
        let live = match known.take() {
            Some(live) => Some(live),
            None => cluster.get(&path, &memory).await.map_err(|error| object_error(&error, &entry.id))?,
        };
        let Some(live) = live else { return Ok(OrphanOutcome::Missing) };
        match cluster.reason_not_to_delete(entry, &live) {
            // transship owns fields of an object that existed before, too.
            None => {}
            Some(NotOurs::ExistedBefore) if !cluster.is_in_other_apply_set(&live) => {}
            Some(reason) => return Ok(OrphanOutcome::NotOurs(reason)),
        }
        let change = leaving_patch(&live, entry.predecessor.as_ref());
        let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let request = path.patch(&params, &Patch::Merge(&change));
        let request = request.map_err(|error| object_error(&error, &entry.id))?;
        match cluster.write(&entry.id, request).await {
            Ok(_) => return Ok(OrphanOutcome::Left),
            Err(error) if error.is_not_found() => return Ok(OrphanOutcome::Missing),
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(object_error(&error, &entry.id)),
        }
    }
    Err(ObjectError::KeepsChanging { action: "leave it" })
}
