//! One live cluster during a command: what it serves, which of its objects belong to transship, and its inventory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use kube::Client;
use kube::api::ListParams;
use kube::core::GroupVersionKind;
use serde_json::Value;
use tracing::debug;

use crate::apply::cluster::applied_uids::AppliedUids;
use crate::apply::cluster::error::{ClusterError, object_error};
use crate::apply::cluster::installing_crds::InstallingCrds;
use crate::apply::cluster::inventory_store::InventoryStore;
use crate::apply::cluster::options::Options;
use crate::apply::decide::decision::DecisionContext;
use crate::apply::decide::desired::{Desired, FieldRules, version_of};
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::{InventoryEntry, InventoryLocation, PART_OF};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{NotOurs, apply_set_of, reason_not_to_delete};
use crate::apply::wire::api_server::{ApiServer, Response};
use crate::apply::wire::discovery::{self, ServedResource, ServedResources};
use crate::apply::wire::error::RequestError;
use crate::apply::wire::memory::HeldMemory;
use crate::apply::wire::request::{ApiRequest, CollectionPath, ObjectPath};
use crate::language::Profile;
use crate::object::{Cluster, Object, ObjectId, is_tombstone};
use crate::order::Plan;

/// The number of objects in one response to a list request.
const PAGE_SIZE: u32 = 500;
/// The maximum number of pages that transship reads. No payload has more objects of one kind, but users of the guest
/// can create more objects with the same label.
const MAX_PAGES: usize = 20;

/// A cluster to apply to, or to delete from.
pub struct TargetCluster<'a> {
    /// The client.
    pub client: Client,
    /// The profile.
    pub profile: &'a Profile,
    /// The objects that are rendered for the cluster.
    pub plan: &'a Plan,
    /// The digest of everything that the objects depend on, which the inventory records.
    pub render_digest: String,
}

/// A live cluster, as it was seen at the start of a command.
pub(crate) struct LiveCluster<'a> {
    pub(crate) cluster: Cluster,
    pub(crate) server: Arc<ApiServer>,
    pub(crate) inventory: InventoryStore,
    /// The digest of everything that the rendered objects depend on.
    pub(crate) render_digest: String,
    pub(crate) field_rules: FieldRules<'a>,
    /// The namespace of the inventory.
    namespace: String,
    /// The ID of the `ApplySet`.
    apply_set: String,
    served: Mutex<ServedResources>,
    /// The objects that carried the label of this or another `ApplySet` at the start.
    labelled: HashMap<ObjectId, Value>,
    /// Rendered objects without the label that exist or may exist. [`Self::find_existing`] fills it in.
    existing: HashSet<ObjectId>,
    /// Resources whose objects cannot be listed completely. They are read one by one.
    unlistable: HashSet<ServedResource>,
    /// The groups and kinds whose CRD this run created or changed.
    changed_crds: Mutex<HashSet<(String, String)>>,
    /// The CRDs that are installing.
    pub(crate) installing_crds: InstallingCrds,
    /// The uids of the objects that this run applied.
    pub(crate) applied_uids: AppliedUids,
    /// Messages about entries of the guest's inventory that transship ignores.
    notices: Vec<String>,
}

/// The labelled objects of a kind.
#[derive(Default)]
pub(crate) struct LabelledObjects {
    pub(crate) objects: BTreeMap<ObjectId, Value>,
    /// The memory that the objects need.
    pub(crate) memory: HeldMemory,
    /// Whether the list is complete. If it is not, transship reads the other objects one by one.
    complete: bool,
}

/// Whether all pages of a list were read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    Completely,
    Partly,
}

impl<'a> LiveCluster<'a> {
    /// Reads the state of a cluster: two requests for discovery, one for the inventory, and one list per kind.
    pub(crate) async fn read(target: &TargetCluster<'a>, options: &Options) -> Result<Self, ClusterError> {
        let TargetCluster { client, profile, plan, render_digest } = target;
        let location = InventoryLocation::of(profile, plan);
        let (apply_set, namespace) = (location.apply_set_id(), location.namespace.clone());
        let server = ApiServer::new(client.clone(), options.retry_timeout, options.deadline());
        let server = Arc::new(server);
        let resources = ServedResources::discover(&server).await?;
        let mut cluster = Self {
            cluster: profile.cluster,
            inventory: InventoryStore::load(Arc::clone(&server), location, profile.cluster).await?,
            server,
            render_digest: render_digest.clone(),
            field_rules: FieldRules::new(profile, &plan.objects, apply_set.clone()),
            namespace,
            apply_set,
            served: Mutex::new(resources),
            labelled: HashMap::new(),
            existing: HashSet::new(),
            unlistable: HashSet::new(),
            changed_crds: Mutex::default(),
            installing_crds: InstallingCrds::default(),
            applied_uids: AppliedUids::default(),
            notices: Vec::new(),
        };
        cluster.read_labelled(&plan.objects).await?;
        if cluster.cluster == Cluster::Guest {
            cluster.check_inventory(&plan.objects);
        }
        Ok(cluster)
    }

    /// Removes entries of the guest's inventory that transship ignores.
    fn check_inventory(&mut self, objects: &[Object]) {
        let rendered: HashSet<&ObjectId> = objects.iter().map(|object| &object.id).collect();
        let mut unknown_kinds = HashSet::new();
        for ServedResource { resource, .. } in &self.unlistable {
            unknown_kinds.insert((resource.group.as_str(), resource.kind.as_str()));
        }
        let is_labelled = |id: &ObjectId| {
            self.labelled.get(id).is_some_and(|live| apply_set_of(live) == Some(self.apply_set.as_str()))
        };
        let may_be_ours =
            |id: &ObjectId| is_labelled(id) || unknown_kinds.contains(&(id.group.as_str(), id.kind.as_str()));
        self.notices = self.inventory.check_guest_entries(|id| rendered.contains(id), may_be_ours);
    }

    /// Returns events about entries of the guest's inventory that transship ignores.
    pub(crate) fn notices(&self) -> impl Iterator<Item = Event> {
        self.notices.iter().map(|notice| Event::for_cluster(self.cluster, EventKind::Released, notice))
    }

    /// Reads the labelled objects of every kind that the inventory or the plan contains.
    async fn read_labelled(&mut self, objects: &[Object]) -> Result<(), ClusterError> {
        let resources = self.resources_to_list(objects);
        let lists = join_all(resources.iter().map(|resource| self.list_labelled(resource))).await;
        for (resource, list) in resources.into_iter().zip(lists) {
            match list {
                Ok(list) => {
                    self.labelled.extend(list.objects);
                    list.memory.keep();
                    if !list.complete {
                        self.unlistable.insert(resource);
                    }
                }
                Err(error) => {
                    let is_unusable = error.is_unreachable() && !self.is_responding().await;
                    if is_unusable || error.is_too_large() {
                        return Err(error.into());
                    }
                    // The right is missing, or a conversion webhook is broken.
                    let reason = error.message_without_values();
                    debug!(resource = resource.resource.plural, reason, "cannot list objects");
                    self.unlistable.insert(resource);
                }
            }
        }
        Ok(())
    }

    /// Returns the resources to list, each in one version: the version of the plan if possible, because the managed
    /// fields of transship are recorded in that version.
    fn resources_to_list(&self, objects: &[Object]) -> Vec<ServedResource> {
        let served = self.served();
        let mut resources: BTreeMap<(&str, &str), &ServedResource> = BTreeMap::new();
        let in_inventory = self.inventory.initial().entries.iter();
        let in_inventory =
            in_inventory.filter_map(|entry| served.find_any_version(&entry.id.group, &entry.id.kind));
        let rendered = objects.iter().filter_map(|object| served.find(&gvk_of(object)));
        for resource in in_inventory.chain(rendered) {
            let key = (resource.resource.group.as_str(), resource.resource.plural.as_str());
            resources.insert(key, resource);
        }
        resources.into_values().cloned().collect()
    }

    /// Lists all objects of a resource that carry the label of an `ApplySet`.
    pub(crate) async fn list_labelled(
        &self,
        resource: &ServedResource,
    ) -> Result<LabelledObjects, RequestError> {
        // In the management cluster, transship reads only the namespace of the hosted control plane.
        let namespace = if self.cluster == Cluster::Management { self.namespace.as_str() } else { "" };
        let params = ListParams::default().labels(PART_OF);
        let (path, mut objects, memory) =
            (resource.collection(namespace), BTreeMap::new(), HeldMemory::default());
        let read_page = |page: Response| {
            take_items(page.value, |item| _ = objects.insert(id_of(&item), item));
            memory.add(page.memory);
        };
        let listed = self.list_pages(|params| path.list(params), params, read_page).await?;
        Ok(LabelledObjects { objects, memory, complete: listed == Listed::Completely })
    }

    /// Reads at most [`MAX_PAGES`] pages of a list. `request` builds the request for a page.
    async fn list_pages(
        &self,
        request: impl Fn(&ListParams) -> Result<ApiRequest, RequestError>,
        params: ListParams,
        mut read_page: impl FnMut(Response),
    ) -> Result<Listed, RequestError> {
        let mut params = params.limit(PAGE_SIZE);
        for _ in 0..MAX_PAGES {
            // The response is 404 if the kind is no longer served.
            let Some(page) = self.server.get(request(&params)?).await? else { return Ok(Listed::Completely) };
            if !page.value.is_object() {
                return Ok(Listed::Partly);
            }
            let token = page.value["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
            read_page(page);
            if token.is_empty() {
                return Ok(Listed::Completely);
            }
            params = params.continue_token(&token);
        }
        Ok(Listed::Partly)
    }

    /// Finds out which rendered objects exist although transship has not applied them.
    pub(crate) async fn find_existing(&mut self, objects: &[Object]) {
        self.existing = self.list_existing(objects).await;
    }

    /// Lists the names of existing objects, once for every kind and namespace of a rendered object that is new. An object
    /// that could not be listed counts as existing.
    async fn list_existing(&self, objects: &[Object]) -> HashSet<ObjectId> {
        let mut ids_by_collection: HashMap<(ServedResource, &str), Vec<&ObjectId>> = HashMap::new();
        for object in objects.iter().filter(|object| self.is_new(object)) {
            let resource = self.resource(object);
            if let Some(resource) = resource.filter(|resource| !self.unlistable.contains(resource)) {
                ids_by_collection
                    .entry((resource, object.id.namespace.as_str()))
                    .or_default()
                    .push(&object.id);
            }
        }
        let collections: Vec<_> = ids_by_collection.into_iter().collect();
        let lists = collections.iter().map(|((resource, namespace), ids)| async move {
            self.filter_existing(&resource.collection(namespace), ids).await
        });
        join_all(lists).await.into_iter().flatten().collect()
    }

    /// Returns the objects of a collection that exist, or all of them if the list is incomplete. Keeps no page in
    /// memory.
    async fn filter_existing(&self, path: &CollectionPath, ids: &[&ObjectId]) -> Vec<ObjectId> {
        let mut existing = Vec::new();
        let read_page = |page: Response| {
            take_items(page.value, |item| {
                let name = item["metadata"]["name"].as_str();
                existing.extend(ids.iter().find(|id| Some(id.name.as_str()) == name).map(|id| (*id).clone()));
            });
        };
        match self.list_pages(|params| path.list_metadata(params), ListParams::default(), read_page).await {
            Ok(Listed::Completely) => existing,
            // The list failed or is incomplete, so each of the objects may exist.
            _ => ids.iter().map(|id| (*id).clone()).collect(),
        }
    }

    /// Returns whether transship has not applied a rendered object yet.
    fn is_new(&self, object: &Object) -> bool {
        !self.was_applied(&object.id)
            && !is_tombstone(&object.root)
            && !self.labelled.contains_key(&object.id)
    }

    /// Returns whether the inventory says that an object was applied.
    pub(crate) fn was_applied(&self, id: &ObjectId) -> bool {
        self.inventory.initial().find(id).is_some_and(InventoryEntry::was_applied)
    }

    /// Returns whether a rendered object without the label was missing at the start. Someone may have created it since.
    pub(crate) fn is_probably_missing(&self, object: &Object) -> bool {
        let is_listable = self.resource(object).is_none_or(|resource| !self.unlistable.contains(&resource));
        is_listable && !self.existing.contains(&object.id)
    }

    /// Asks the API server whether it responds at all.
    pub(crate) async fn is_responding(&self) -> bool {
        discovery::is_responding(&self.server).await
    }

    /// Checks an error that says that the cluster is unreachable: if the API server responds to another request, returns a
    /// transient error instead.
    pub(crate) async fn reclassify(&self, error: ObjectError) -> ObjectError {
        if error.is_cluster_unreachable() && self.is_responding().await {
            return error.into_transient();
        }
        error
    }

    /// Returns whether an object carries the label of this `ApplySet`.
    pub(crate) fn is_in_apply_set(&self, live: &Value) -> bool {
        apply_set_of(live) == Some(self.apply_set.as_str())
    }

    /// Returns why transship must not delete the object of an entry; `None` if it may.
    pub(crate) fn reason_not_to_delete(&self, entry: &InventoryEntry, live: &Value) -> Option<NotOurs> {
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
        match self.applied_uids.other_name(uid, &entry.id) {
            Some(id) => Some(NotOurs::AppliedAs(id)),
            None => reason_not_to_delete(Some(entry), live, &self.apply_set),
        }
    }

    /// Returns the uid that an object had at the start, by its label or the inventory.
    pub(crate) fn initial_uid(&self, id: &ObjectId) -> Option<&str> {
        let in_inventory = || Some(self.inventory.initial().find(id)?.uid.as_str());
        self.labelled(id).and_then(|live| live["metadata"]["uid"].as_str()).or_else(in_inventory)
    }

    /// Returns the number of objects that carried the label of this `ApplySet` at the start.
    pub(crate) fn count_in_apply_set(&self) -> usize {
        self.labelled.values().filter(|live| self.is_in_apply_set(live)).count()
    }

    /// Returns a labelled object as it was at the start.
    pub(crate) fn labelled(&self, id: &ObjectId) -> Option<&Value> {
        self.labelled.get(id)
    }

    fn served(&self) -> MutexGuard<'_, ServedResources> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether discovery knows a kind.
    pub(crate) fn is_known(&self, gvk: &GroupVersionKind) -> bool {
        self.served().find(gvk).is_some()
    }

    /// Records that this run created or changed a CRD.
    pub(crate) fn record_changed_crd(&self, crd: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let defined = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["kind"]));
        self.changed_crds.lock().unwrap_or_else(PoisonError::into_inner).insert(defined);
    }

    /// Returns whether this run created or changed the CRD of an object's kind.
    pub(crate) fn has_changed_crd(&self, id: &ObjectId) -> bool {
        let defined = (id.group.clone(), id.kind.clone());
        self.changed_crds.lock().unwrap_or_else(PoisonError::into_inner).contains(&defined)
    }

    /// Adds a resource that is served since discovery ran.
    pub(crate) fn add_resource(&self, resource: ServedResource) {
        self.served().add(resource);
    }

    /// Returns the resource of an object's kind; `None` if it is not served.
    pub(crate) fn resource(&self, object: &Object) -> Option<ServedResource> {
        self.served().find(&gvk_of(object)).cloned()
    }

    /// Returns the path of an object; `None` if discovery does not know its kind.
    pub(crate) fn path(&self, object: &Object) -> Option<ObjectPath> {
        Some(self.resource(object)?.object(&object.id.namespace, &object.id.name))
    }

    /// Returns the path of an object. Asks the API server if discovery does not know its kind.
    pub(crate) async fn locate(&self, object: &Object) -> Result<Option<ObjectPath>, ObjectError> {
        match self.path(object) {
            Some(path) => Ok(Some(path)),
            None => self.discover_path(&object.id, version_of(object)).await,
        }
    }

    /// Returns the path of an object of the inventory, in the version in which it was applied or in any other. Asks the
    /// API server if discovery does not know its kind.
    pub(crate) async fn locate_entry(
        &self,
        entry: &InventoryEntry,
    ) -> Result<Option<ObjectPath>, ObjectError> {
        let id = &entry.id;
        let served = {
            let served = self.served();
            let same_version = served.find(&GroupVersionKind::gvk(&id.group, &entry.version, &id.kind));
            same_version.or_else(|| served.find_any_version(&id.group, &id.kind)).cloned()
        };
        match served {
            Some(served) => Ok(Some(served.object(&id.namespace, &id.name))),
            None => self.discover_path(id, &entry.version).await,
        }
    }

    async fn discover_path(&self, id: &ObjectId, version: &str) -> Result<Option<ObjectPath>, ObjectError> {
        let gvk = GroupVersionKind::gvk(&id.group, version, &id.kind);
        let found = discovery::discover_kind(&self.server, &gvk).await;
        let Some(served) = found.map_err(|error| object_error(&error, id))? else { return Ok(None) };
        let path = served.object(&id.namespace, &id.name);
        self.add_resource(served);
        Ok(Some(path))
    }

    /// Returns an object as it was at the start, or as it is now if it had no label; `None` if it does not exist. Its memory
    /// counts until the end of the command.
    pub(crate) async fn find(&self, object: &Object) -> Result<Option<Value>, RequestError> {
        if let Some(live) = self.labelled(&object.id) {
            return Ok(Some(live.clone()));
        }
        let Some(path) = self.path(object) else { return Ok(None) };
        let held = HeldMemory::default();
        let live = self.get(&path, &held).await?;
        held.keep();
        Ok(live)
    }

    /// Reads an object; `None` if it does not exist. `held` gets the memory that it needs.
    pub(crate) async fn get(
        &self,
        path: &ObjectPath,
        held: &HeldMemory,
    ) -> Result<Option<Value>, RequestError> {
        let response = self.server.get(path.get()?).await?;
        Ok(response.map(|response| {
            held.add(response.memory);
            response.value
        }))
    }

    pub(crate) fn desired(&self, object: &Object) -> Desired {
        self.field_rules.desired(object)
    }

    /// Returns the state of the cluster that decisions depend on.
    pub(crate) fn decision_context(&self, options: &Options) -> DecisionContext<'_> {
        DecisionContext {
            inventory: self.inventory.initial(),
            apply_set: &self.apply_set,
            adoption: options.adoption,
        }
    }
}

/// Takes the items of a page. The items of a list have no `kind` and `apiVersion`, so they are added.
pub(crate) fn take_items(mut page: Value, mut take: impl FnMut(Value)) {
    let kind = page["kind"].as_str().unwrap_or_default().trim_end_matches("List").to_owned();
    // An index would panic if the response is a text or a list.
    let api_version = page.get_mut("apiVersion").map(Value::take).unwrap_or_default();
    let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) else { return };
    for mut item in items {
        let Some(map) = item.as_object_mut() else { continue };
        map.entry("kind").or_insert_with(|| Value::from(kind.clone()));
        map.entry("apiVersion").or_insert_with(|| api_version.clone());
        take(item);
    }
}

fn gvk_of(object: &Object) -> GroupVersionKind {
    GroupVersionKind::gvk(&object.id.group, version_of(object), &object.id.kind)
}

/// Returns the identity of a live object.
pub(crate) fn id_of(live: &Value) -> ObjectId {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let api_version = live["apiVersion"].as_str().unwrap_or_default();
    let metadata = &live["metadata"];
    ObjectId {
        group: api_version.split_once('/').map_or("", |(group, _)| group).to_owned(),
        kind: text(&live["kind"]),
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"]),
    }
}
