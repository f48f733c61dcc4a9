//! Reads and writes the inventory of a cluster. The resource version of each write makes sure that no other rollout wrote
//! the inventory meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::core::ApiResource;
use kube::discovery::Scope;
use serde_json::Value;
use tracing::{debug, info};

use crate::apply::cluster::error::ClusterError;
use crate::apply::decide::guest_inventory::{GuestEntries, check_entries};
use crate::apply::decide::inventory::{InvalidLines, Inventory, InventoryLocation, ParsedInventory};
use crate::apply::decide::managed_fields::MANAGER;
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::discovery::ServedResource;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::request::ObjectPath;
use crate::object::{Cluster, ObjectId};

/// How often to try to write the inventory if someone else changes its metadata.
const MAX_ATTEMPTS: usize = 5;

/// Reads and writes the inventory of a cluster.
pub(crate) struct InventoryStore {
    server: Arc<ApiServer>,
    location: InventoryLocation,
    path: ObjectPath,
    /// The inventory as it was at the start.
    initial: Inventory,
    /// The inventory as it was last read or written.
    stored: Mutex<StoredInventory>,
}

#[derive(Clone)]
struct StoredInventory {
    inventory: Inventory,
    /// The lines that do not name an object. Only the guest's inventory can have any.
    invalid: Option<InvalidLines>,
    /// `None` if there is no inventory in the cluster.
    resource_version: Option<String>,
}

impl StoredInventory {
    /// Returns whether a rollout of the same objects wrote this inventory and `other`. Two rollouts of the same objects
    /// may run at once.
    fn is_for_same_objects(&self, other: &Inventory) -> bool {
        self.inventory == *other || !other.revision.is_empty() && self.inventory.revision == other.revision
    }
}

impl InventoryStore {
    /// Reads the inventory of a cluster. In the guest, ignores lines that do not name an object: its administrator can edit
    /// the inventory. Elsewhere they are an error.
    pub(crate) async fn load(
        server: Arc<ApiServer>,
        location: InventoryLocation,
        cluster: Cluster,
    ) -> Result<Self, ClusterError> {
        let config_maps =
            ServedResource { resource: ApiResource::erase::<ConfigMap>(&()), scope: Scope::Namespaced };
        let path = config_maps.object(&location.namespace, &location.name);
        let stored = read(&server, &path, &location).await?;
        if let Some(InvalidLines { first, .. }) = stored.invalid.filter(|_| cluster != Cluster::Guest) {
            return Err(ClusterError::InvalidInventory { location, line: first });
        }
        let initial = stored.inventory.clone();
        Ok(Self { server, location, path, initial, stored: Mutex::new(stored) })
    }

    /// Returns the inventory as it was at the start.
    pub(crate) fn initial(&self) -> &Inventory {
        &self.initial
    }

    /// Removes entries of the guest's inventory that transship ignores, as if they had never been there. Returns a
    /// message for each reason.
    pub(crate) fn check_guest_entries(
        &mut self,
        is_rendered: impl Fn(&ObjectId) -> bool,
        may_be_ours: impl Fn(&ObjectId) -> bool,
    ) -> Vec<String> {
        let location = &self.location;
        let ignores = |count: usize, (one, many): (&str, &str), reason: String| {
            let what = if count == 1 { one } else { many };
            format!("transship ignores {count} {what} of the inventory, {location}, {reason}")
        };
        let entry = ("entry", "entries");
        let mut notices = Vec::new();
        if let Some(InvalidLines { first, count }) = self.stored().invalid {
            let reason = format!("that it cannot read; the first is line {first}");
            notices.push(ignores(count, ("line", "lines"), reason));
        }
        let entries = std::mem::take(&mut self.initial.entries);
        let GuestEntries { kept, ghosts, surplus } =
            check_entries(entries.into_vec(), is_rendered, may_be_ours);
        if let Some(first) = ghosts.first() {
            let reason = format!(
                "whose object is not rendered and does not exist with transship's label; the first is {first}"
            );
            notices.push(ignores(ghosts.len(), entry, reason));
        }
        if surplus > 0 {
            notices.push(ignores(surplus, entry, "because the inventory is too large".to_owned()));
        }
        self.initial.entries = kept.into();
        notices
    }

    /// Returns whether the cluster has an inventory.
    pub(crate) fn exists(&self) -> bool {
        self.stored().resource_version.is_some()
    }

    fn stored(&self) -> MutexGuard<'_, StoredInventory> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(&self) -> Result<StoredInventory, ClusterError> {
        read(&self.server, &self.path, &self.location).await
    }

    /// Returns whether a rollout of other objects started since this one.
    pub(crate) async fn is_taken_over(&self) -> bool {
        let Ok(now) = self.read().await else { return false };
        now.resource_version.is_some() && !now.is_for_same_objects(&self.stored().inventory)
    }

    /// Returns whether another rollout wrote the inventory, even one of the same objects.
    pub(crate) async fn is_changed_by_others(&self) -> bool {
        let Ok(now) = self.read().await else { return false };
        now.resource_version.is_some() && now.inventory != self.stored().inventory
    }

    /// Writes the inventory if it differs from what is in the cluster.
    pub(crate) async fn save_if_changed(&self, inventory: &Inventory) -> Result<(), ClusterError> {
        let is_same = {
            let stored = self.stored();
            stored.inventory == *inventory && stored.invalid.is_none()
        };
        if is_same { Ok(()) } else { self.save(inventory).await }
    }

    /// Writes the inventory. Fails if another rollout wrote it since it was read: two rollouts at once would prune each
    /// other's objects.
    pub(crate) async fn save(&self, inventory: &Inventory) -> Result<(), ClusterError> {
        for _ in 0..MAX_ATTEMPTS {
            match self.try_save(inventory).await {
                Err(ClusterError::Request(conflict)) if conflict.is_conflict() => {
                    self.reload_after_conflict(inventory, conflict).await?;
                }
                result => return result,
            }
            if self.stored().inventory == *inventory {
                return Ok(());
            }
        }
        Err(ClusterError::InventoryKeepsChanging)
    }

    async fn try_save(&self, inventory: &Inventory) -> Result<(), ClusterError> {
        let before = self.stored().resource_version.clone();
        let config_map = inventory
            .to_config_map(&self.location, before.as_deref())
            .map_err(|too_large| ClusterError::InventoryTooLarge(too_large.0))?;
        let params = PostParams { dry_run: false, field_manager: Some(MANAGER.to_owned()) };
        let request = match before {
            Some(_) => self.path.replace(&params, &config_map)?,
            None => self.path.create(&params, &config_map)?,
        };
        match self.server.send(request).await {
            Ok(response) => {
                info!(inventory = %self.location, objects = inventory.entries.len(), "wrote the inventory");
                let resource_version = resource_version(&response.value);
                *self.stored() =
                    StoredInventory { inventory: inventory.clone(), invalid: None, resource_version };
                Ok(())
            }
            Err(error) if error.is_transient() || error.is_conflict() => Err(error.into()),
            Err(RequestError::Api(error)) if error.is_namespace_missing() => {
                let namespace = self.location.namespace.clone();
                Err(ClusterError::InventoryNamespaceMissing { namespace })
            }
            Err(error) => Err(ClusterError::InventoryNotWritten(error)),
        }
    }

    /// Reads the inventory again after a conflict. The conflict is harmless in two cases: the API server stored an
    /// earlier attempt and only its response was lost, or someone changed only the metadata of the `ConfigMap`.
    async fn reload_after_conflict(
        &self,
        wanted: &Inventory,
        conflict: RequestError,
    ) -> Result<(), ClusterError> {
        let now = self.read().await?;
        let mut stored = self.stored();
        if !now.is_for_same_objects(wanted) && now.inventory != stored.inventory {
            return Err(self.other_rollout(conflict));
        }
        *stored = now;
        Ok(())
    }

    fn other_rollout(&self, conflict: RequestError) -> ClusterError {
        ClusterError::OtherRollout { location: self.location.clone(), conflict }
    }

    /// Deletes the inventory, if it is still the version that was last read or written.
    pub(crate) async fn delete(&self) -> Result<(), ClusterError> {
        let Some(resource_version) = self.stored().resource_version.clone() else { return Ok(()) };
        let unchanged = Preconditions { resource_version: Some(resource_version), uid: None };
        let request = self.path.delete(&DeleteParams::default().preconditions(unchanged))?;
        match self.server.send(request).await {
            Ok(_) => {
                info!(inventory = %self.location, "deleted the inventory");
                Ok(())
            }
            Err(error) if error.is_not_found() => Ok(()),
            Err(error) if error.is_conflict() => Err(self.other_rollout(error)),
            Err(error) => Err(ClusterError::InventoryNotDeleted(error)),
        }
    }
}

async fn read(
    server: &ApiServer,
    path: &ObjectPath,
    location: &InventoryLocation,
) -> Result<StoredInventory, ClusterError> {
    let config_map = server.get(path.get()?).await?.map(|response| response.value).unwrap_or_default();
    let ParsedInventory { inventory, invalid } = Inventory::from_config_map(&config_map);
    debug!(inventory = %location, objects = inventory.entries.len(), "read the inventory");
    Ok(StoredInventory { inventory, invalid, resource_version: resource_version(&config_map) })
}

fn resource_version(live: &Value) -> Option<String> {
    live["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}
