//! Reads and writes the inventory of a cluster. The resource version of each write makes sure that no other command wrote
//! the inventory meanwhile.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::try_join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::core::ApiResource;
use kube::discovery::Scope;
use serde_json::{Value, json};
use tracing::{debug, info};

use crate::apply::cluster::error::ClusterError;
use crate::apply::decide::binding::Binding;
use crate::apply::decide::guest_inventory::{GuestEntries, check_entries};
use crate::apply::decide::inventory::{
    InvalidLines, Inventory, InventoryEntry, InventoryLocation, InventoryTooLarge, ParsedInventory,
};
use crate::apply::decide::inventory_entries::InventoryEntries;
use crate::apply::decide::inventory_shards::ShardNames;
use crate::apply::decide::managed_fields::MANAGER;
use crate::apply::decide::run_record::{History, Outcome, RunRecord};
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::discovery::ServedResource;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::request::ObjectPath;
use crate::object::{Cluster, ObjectId};

/// How often to try to read or write the inventory if someone else changes it.
const MAX_ATTEMPTS: usize = 5;

/// Reads and writes the inventory of a cluster.
pub(crate) struct InventoryStore {
    files: InventoryFiles,
    /// The inventory as it was at the start.
    initial: Inventory,
    /// The inventory as it was last read or written.
    stored: Mutex<StoredInventory>,
    /// The part of every write beside the objects.
    header: Mutex<Header>,
    /// Only one write at a time.
    writing: tokio::sync::Mutex<()>,
    /// An inventory with an earlier name, which the next write replaces.
    replaced: Option<Box<Self>>,
}

/// The part of every write of a command beside the objects.
#[derive(Clone, Default)]
struct Header {
    binding: Binding,
    /// The runs before this command.
    history: History,
    /// The running command, once it writes.
    run: Option<RunRecord>,
}

/// The objects in the cluster that store an inventory.
struct InventoryFiles {
    server: Arc<ApiServer>,
    location: InventoryLocation,
    /// The largest size of the list of objects in one of them.
    part_size: usize,
}

#[derive(Clone, Default)]
struct StoredInventory {
    inventory: Inventory,
    /// The lines that do not name an object. Only the guest's inventory can have any.
    invalid: Option<InvalidLines>,
    /// The names of its shards.
    shards: Vec<String>,
    /// Whether it has an older format.
    is_old: bool,
    /// `None` if there is no inventory in the cluster.
    resource_version: Option<String>,
}

impl StoredInventory {
    /// Returns whether a rollout of the same objects wrote this inventory and `other`. Two rollouts of the same objects
    /// may run at once, if they may not use a Lease.
    fn is_for_same_objects(&self, other: &Inventory) -> bool {
        self.inventory.has_same_objects(other)
            || !other.revision.is_empty() && self.inventory.revision == other.revision
    }
}

impl InventoryStore {
    /// Reads the inventory of a cluster. In the guest, ignores lines that do not name an object: its administrator can edit
    /// the inventory. Elsewhere they are an error.
    pub(crate) async fn load(
        server: Arc<ApiServer>,
        location: InventoryLocation,
        cluster: Cluster,
        part_size: usize,
    ) -> Result<Self, ClusterError> {
        let files = InventoryFiles { server, location, part_size };
        let stored = files.read().await?;
        if let Some(InvalidLines { first, .. }) = stored.invalid.filter(|_| cluster != Cluster::Guest) {
            return Err(ClusterError::InvalidInventory { location: files.location, line: first });
        }
        let initial = stored.inventory.clone();
        let header = Mutex::new(Header {
            binding: initial.binding.clone(),
            history: initial.history.clone(),
            run: None,
        });
        Ok(Self {
            files,
            initial,
            stored: Mutex::new(stored),
            header,
            writing: tokio::sync::Mutex::default(),
            replaced: None,
        })
    }

    /// Takes over an inventory with an earlier name. The objects keep the label of its set until the next apply.
    pub(crate) fn replace(mut self, earlier: Self) -> Self {
        if !earlier.exists() {
            return self;
        }
        if !self.exists() {
            let previous_sets = vec![earlier.location().apply_set_id()];
            self.initial = Inventory { previous_sets, ..earlier.initial.clone() };
            self.header().history.clone_from(&earlier.initial.history);
        }
        self.replaced = Some(Box::new(earlier));
        self
    }

    /// Returns the inventory as it was at the start.
    pub(crate) fn initial(&self) -> &Inventory {
        &self.initial
    }

    pub(crate) fn location(&self) -> &InventoryLocation {
        &self.files.location
    }

    /// Removes entries of the guest's inventory that transship ignores, as if they had never been there. Returns a
    /// message for each reason.
    pub(crate) fn check_guest_entries(
        &mut self,
        is_rendered: impl Fn(&ObjectId) -> bool,
        may_be_ours: impl Fn(&ObjectId) -> bool,
    ) -> Vec<String> {
        let location = &self.files.location;
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

    /// Adds entries of objects that a lost inventory listed.
    pub(crate) fn restore_entries(&mut self, entries: Vec<InventoryEntry>) {
        self.initial.entries.extend(entries);
    }

    /// Returns whether the cluster has an inventory.
    pub(crate) fn exists(&self) -> bool {
        self.stored().resource_version.is_some()
    }

    /// Returns whether the inventory lists nothing, although it has been written once.
    pub(crate) fn is_emptied(&self) -> bool {
        let stored = self.stored();
        stored.resource_version.is_some() && stored.inventory.entries.is_empty()
    }

    /// Returns whether an inventory differs from the one in the cluster: in its objects, its binding or its format, or
    /// because that one has lines that transship cannot read.
    pub(crate) fn needs_write(&self, inventory: &Inventory) -> bool {
        let stored = self.stored();
        stored.resource_version.is_none()
            || stored.is_old
            || stored.invalid.is_some()
            || stored.inventory.binding.differs_from(&self.header().binding)
            || !stored.inventory.has_same_objects(inventory)
    }

    fn stored(&self) -> MutexGuard<'_, StoredInventory> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn header(&self) -> MutexGuard<'_, Header> {
        self.header.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the clusters that belong together with the next write.
    pub(crate) fn set_binding(&self, binding: Binding) {
        self.header().binding = binding;
    }

    /// Records what another inventory knows about the clusters, where this command could not find it out.
    pub(crate) fn complete_binding(&self, known: &Binding) {
        let mut header = self.header();
        header.binding = header.binding.clone().or_recorded(known);
    }

    /// Records the state of the running command with the next write.
    pub(crate) fn set_run(&self, run: RunRecord) {
        self.header().run = Some(run);
    }

    /// Continues the history of another inventory.
    pub(crate) fn set_history(&self, history: History) {
        self.header().history = history;
    }

    /// Records the user of the running command with the next write.
    pub(crate) fn set_user(&self, user: String) {
        if let Some(run) = &mut self.header().run {
            run.user = user;
        }
    }

    /// Records the end of the running command with the next write.
    pub(crate) fn end_run(&self, outcome: Outcome, ended: String) {
        if let Some(run) = &mut self.header().run {
            run.outcome = outcome;
            run.ended = ended;
        }
    }

    /// Returns whether the inventory in the cluster records the guest.
    pub(crate) fn records_guest(&self) -> bool {
        let stored = self.stored();
        stored.inventory.binding.guest.is_some()
            && stored.inventory.binding.guest == self.header().binding.guest
    }

    /// Returns whether a rollout of other objects started since this one.
    pub(crate) async fn is_taken_over(&self) -> bool {
        let Ok(now) = self.files.read().await else { return false };
        now.resource_version.is_some() && !now.is_for_same_objects(&self.stored().inventory)
    }

    /// Returns whether another command wrote the inventory, even one for the same objects.
    pub(crate) async fn is_changed_by_others(&self) -> bool {
        let Ok(now) = self.files.read().await else { return false };
        now.resource_version.is_some() && now.inventory != self.stored().inventory
    }

    /// Fails if another command wrote the inventory for other objects, or deleted it, since this one read or wrote it.
    pub(crate) async fn check_unchanged(&self) -> Result<(), ClusterError> {
        let now = self.files.read().await?;
        let mut stored = self.stored();
        let is_same = now.resource_version.is_some() == stored.resource_version.is_some()
            && (now.inventory == stored.inventory || now.is_for_same_objects(&stored.inventory));
        if !is_same {
            return Err(self.other_rollout());
        }
        self.header().history.clone_from(&now.inventory.history);
        *stored = now;
        Ok(())
    }

    /// Checks that the inventory can store these objects.
    pub(crate) fn check_size(&self, inventory: &Inventory) -> Result<(), ClusterError> {
        inventory.check_size(self.files.part_size).map_err(too_large)
    }

    /// Writes the inventory as it was last read or written, with the binding of the clusters.
    pub(crate) async fn save_binding(&self) -> Result<(), ClusterError> {
        let inventory = self.stored().inventory.clone();
        self.save(&inventory).await
    }

    /// Writes the inventory. Fails if another command wrote it since it was read: two commands at once would prune each
    /// other's objects.
    pub(crate) async fn save(&self, inventory: &Inventory) -> Result<(), ClusterError> {
        let _writing = self.writing.lock().await;
        let inventory = self.with_header(inventory);
        for _ in 0..MAX_ATTEMPTS {
            let before = self.stored().clone();
            match self.files.write(&inventory, &before).await {
                Ok(stored) => {
                    *self.stored() = stored;
                    self.files.delete_shards(&before.shards).await;
                    self.delete_replaced().await;
                    return Ok(());
                }
                Err(ClusterError::Request(conflict)) if conflict.is_conflict() => {
                    self.reload_after_conflict(&inventory).await?;
                }
                Err(error) => return Err(error),
            }
            if self.stored().inventory == inventory {
                return Ok(());
            }
        }
        Err(ClusterError::InventoryKeepsChanging)
    }

    /// Deletes the inventory with the earlier name. If that fails, the next write tries again.
    async fn delete_replaced(&self) {
        if let Some(replaced) = &self.replaced
            && let Err(error) = Box::pin(replaced.delete()).await
        {
            info!(inventory = %replaced.files.location, %error, "cannot delete the inventory with the earlier name");
        }
    }

    /// Returns the inventory with the binding, and with the running command in its history.
    fn with_header(&self, inventory: &Inventory) -> Inventory {
        let Header { binding, mut history, run } = self.header().clone();
        if let Some(run) = run {
            history.record(run);
        }
        Inventory { binding, history, ..inventory.clone() }
    }

    /// Reads the inventory again after a conflict. The conflict is harmless in two cases: the API server stored an
    /// earlier attempt and only its response was lost, or someone changed only the metadata of the `ConfigMap`.
    async fn reload_after_conflict(&self, wanted: &Inventory) -> Result<(), ClusterError> {
        let now = self.files.read().await?;
        let mut stored = self.stored();
        if !now.is_for_same_objects(wanted) && now.inventory != stored.inventory {
            return Err(self.other_rollout());
        }
        self.header().history.clone_from(&now.inventory.history);
        *stored = now;
        Ok(())
    }

    fn other_rollout(&self) -> ClusterError {
        ClusterError::OtherRollout { location: self.files.location.clone() }
    }

    /// Deletes the inventory, if it is still the version that was last read or written.
    pub(crate) async fn delete(&self) -> Result<(), ClusterError> {
        let _writing = self.writing.lock().await;
        if self.stored().resource_version.is_none() {
            return Ok(());
        }
        self.delete_all_shards().await?;
        let Some(resource_version) = self.stored().resource_version.clone() else { return Ok(()) };
        let unchanged = Preconditions { resource_version: Some(resource_version), uid: None };
        let path = self.files.path(&self.files.location.name);
        let request = path.delete(&DeleteParams::default().preconditions(unchanged))?;
        match self.files.server.send(request).await {
            Ok(_) => info!(inventory = %self.files.location, "deleted the inventory"),
            Err(error) if error.is_not_found() => {}
            Err(error) if error.is_conflict() => return Err(self.other_rollout()),
            Err(error) => return Err(ClusterError::InventoryNotDeleted(error)),
        }
        Ok(())
    }

    /// Empties an inventory with shards, and deletes them. Only its `ConfigMap` tells that there may be shards, so it is
    /// deleted after them. An inventory that is empty already may have shards of a command that was interrupted here.
    async fn delete_all_shards(&self) -> Result<(), ClusterError> {
        let stored = self.stored().clone();
        if !stored.shards.is_empty() {
            let empty = Inventory { entries: InventoryEntries::default(), ..stored.inventory.clone() };
            match self.files.write(&empty, &stored).await {
                Ok(emptied) => *self.stored() = emptied,
                Err(ClusterError::Request(error)) if error.is_conflict() => return Err(self.other_rollout()),
                // It is gone, perhaps with its namespace.
                Err(ClusterError::OtherRollout { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        if self.stored().inventory.entries.is_empty() {
            self.files.delete_shards(&ShardNames::of(&self.files.location.name).unused(&[])).await;
        }
        Ok(())
    }
}

fn too_large(InventoryTooLarge { objects }: InventoryTooLarge) -> ClusterError {
    ClusterError::InventoryTooLarge { objects }
}

impl InventoryFiles {
    fn path(&self, name: &str) -> ObjectPath {
        let config_maps =
            ServedResource { resource: ApiResource::erase::<ConfigMap>(&()), scope: Scope::Namespaced };
        config_maps.object(&self.location.namespace, name)
    }

    /// Reads a `ConfigMap`; null if it does not exist.
    async fn get(&self, name: &str) -> Result<Value, RequestError> {
        let response = self.server.get(self.path(name).get()?).await?;
        Ok(response.map(|response| response.value).unwrap_or_default())
    }

    /// Reads the inventory with its shards. If someone replaces it meanwhile, reads it again.
    async fn read(&self) -> Result<StoredInventory, ClusterError> {
        for _ in 0..MAX_ATTEMPTS {
            let config_map = self.get(&self.location.name).await?;
            self.check_is_inventory(&config_map)?;
            let mut parsed = ParsedInventory::read(&config_map, &self.location);
            let shards = try_join_all(parsed.shards.iter().map(|name| self.get(name))).await?;
            if shards.iter().any(Value::is_null) {
                continue;
            }
            for shard in &shards {
                parsed.add_shard(shard);
            }
            let ParsedInventory { inventory, invalid, shards, is_old, .. } = parsed;
            debug!(inventory = %self.location, objects = inventory.entries.len(), "read the inventory");
            let resource_version = resource_version(&config_map);
            return Ok(StoredInventory { inventory, invalid, shards, is_old, resource_version });
        }
        Err(ClusterError::InventoryKeepsChanging)
    }

    /// Refuses a `ConfigMap` that someone else created: transship would overwrite it, and later delete it.
    fn check_is_inventory(&self, config_map: &Value) -> Result<(), ClusterError> {
        let is_inventory = config_map["metadata"]["labels"]["applyset.kubernetes.io/id"].is_string();
        if resource_version(config_map).is_some() && !is_inventory {
            return Err(ClusterError::NotAnInventory { location: self.location.clone() });
        }
        Ok(())
    }

    /// Writes an inventory in place of `before`: first its shards, then the `ConfigMap` that names them.
    async fn write(
        &self,
        inventory: &Inventory,
        before: &StoredInventory,
    ) -> Result<StoredInventory, ClusterError> {
        let mut parts = inventory.parts(&self.location, &before.shards, self.part_size).map_err(too_large)?;
        try_join_all(parts.shards.iter().map(|shard| self.write_shard(shard))).await?;
        if let Some(version) = &before.resource_version {
            parts.main["metadata"]["resourceVersion"] = json!(version);
        }
        let path = self.path(&self.location.name);
        let request = match before.resource_version {
            Some(_) => path.replace(&params(), &parts.main)?,
            None => path.create(&params(), &parts.main)?,
        };
        let response = self.server.send(request).await.map_err(|error| self.write_error(error))?;
        info!(inventory = %self.location, objects = inventory.entries.len(), "wrote the inventory");
        let names = parts.shards.iter().filter_map(|shard| shard["metadata"]["name"].as_str());
        Ok(StoredInventory {
            inventory: inventory.clone(),
            shards: names.map(str::to_owned).collect(),
            resource_version: resource_version(&response.value),
            ..StoredInventory::default()
        })
    }

    fn write_error(&self, error: RequestError) -> ClusterError {
        match error {
            error if error.is_transient() || error.is_conflict() || error.may_not_write() => error.into(),
            RequestError::Api(error) if error.is_namespace_missing() => {
                ClusterError::InventoryNamespaceMissing { namespace: self.location.namespace.clone() }
            }
            // Another command deleted the inventory since it was read.
            error if error.is_not_found() => ClusterError::OtherRollout { location: self.location.clone() },
            error => ClusterError::InventoryNotWritten(error),
        }
    }

    /// Creates a shard, or replaces one that an interrupted command left.
    async fn write_shard(&self, shard: &Value) -> Result<(), ClusterError> {
        let path = self.path(shard["metadata"]["name"].as_str().unwrap_or_default());
        match self.server.send(path.create(&params(), shard)?).await {
            Err(error) if error.is_conflict() => {
                let replaced = self.server.send(path.replace(&params(), shard)?).await;
                replaced.map(|_| ()).map_err(|error| self.write_error(error))
            }
            result => result.map(|_| ()).map_err(|error| self.write_error(error)),
        }
    }

    /// Deletes shards that no inventory names any more. If that fails, a later write replaces them.
    async fn delete_shards(&self, names: &[String]) {
        for name in names {
            if let Ok(request) = self.path(name).delete(&DeleteParams::default())
                && let Err(error) = self.server.send(request).await
                && !error.is_not_found()
            {
                info!(shard = name, %error, "cannot delete a shard of the inventory");
            }
        }
    }
}

fn params() -> PostParams {
    PostParams { dry_run: false, field_manager: Some(MANAGER.to_owned()) }
}

fn resource_version(live: &Value) -> Option<String> {
    live["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}
