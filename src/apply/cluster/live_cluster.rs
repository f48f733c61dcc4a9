//! One live cluster during a command: what it serves, which of its objects belong to transship, and its inventory.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::future::join_all;
use kube::core::GroupVersionKind;
use serde_json::Value;
use tracing::debug;

use crate::apply::cluster::applied_uids::AppliedUids;
use crate::apply::cluster::authorities::{Authorities, SignerId, trusted_signer};
use crate::apply::cluster::contact::Contact;
use crate::apply::cluster::error::{ClusterError, object_error};
use crate::apply::cluster::installing_crds::InstallingCrds;
use crate::apply::cluster::inventory_store::InventoryStore;
use crate::apply::cluster::issuer::Issuer;
use crate::apply::cluster::labelled_object::LabelledObject;
use crate::apply::cluster::listing::{self, LabelledObjects};
use crate::apply::cluster::options::{Extent, Options};
use crate::apply::cluster::target::TargetCluster;
use crate::apply::cluster::writer::Writer;
use crate::apply::decide::binding::FoundIdentity;
use crate::apply::decide::decision::DecisionContext;
use crate::apply::decide::desired::{Desired, FieldRules, version_of};
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::lost_inventory::restored_entry;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{ApplySets, NotOurs, apply_set_of, reason_not_to_delete};
use crate::apply::decide::predecessors::Predecessors;
use crate::apply::wire::api_server::{ApiServer, Response};
use crate::apply::wire::discovery::{self, ServedResource, ServedResources};
use crate::apply::wire::error::RequestError;
use crate::apply::wire::memory::HeldMemory;
use crate::apply::wire::request::{ApiRequest, ObjectPath};
use crate::language::Profile;
use crate::object::{Cluster, Object, ObjectId, is_tombstone};
use crate::order::Plan;

/// A live cluster, as it was seen at the start of a command.
pub(crate) struct LiveCluster<'a> {
    pub(crate) cluster: Cluster,
    pub(crate) server: Arc<ApiServer>,
    pub(crate) identity: FoundIdentity,
    pub(crate) inventory: InventoryStore,
    pub(crate) writer: Writer,
    /// The digest of everything that the rendered objects depend on.
    pub(crate) render_digest: String,
    /// The version of the payload; empty if it has none.
    pub(crate) payload_version: String,
    pub(crate) field_rules: FieldRules<'a>,
    /// The namespace of the inventory.
    namespace: String,
    apply_sets: ApplySets,
    /// Whether the inventory was lost, so that its entries were restored from the labels of the objects.
    pub(crate) is_restored: bool,
    served: Mutex<ServedResources>,
    /// The objects that carried the label of this or another `ApplySet` at the start.
    labelled: HashMap<ObjectId, LabelledObject>,
    /// Rendered objects without the label that exist or may exist. [`Self::find_existing`] fills it in.
    existing: HashSet<ObjectId>,
    /// Resources whose objects cannot be listed completely. They are read one by one.
    unlistable: HashSet<ServedResource>,
    /// The groups and kinds whose CRD this run created or changed.
    changed_crds: Mutex<HashSet<(String, String)>>,
    /// The objects that are as desired, if nothing is to be written.
    unchanged: OnceLock<HashSet<ObjectId>>,
    /// Why the inventory cannot be written. Until it can, only objects that it lists already can be applied.
    held_back: Mutex<Option<ClusterError>>,
    /// The CRDs that are installing.
    pub(crate) installing_crds: InstallingCrds,
    /// The uids of the objects that this run applied.
    pub(crate) applied_uids: AppliedUids,
    /// Messages about entries of the guest's inventory that transship ignores.
    notices: Vec<String>,
    /// The issued objects.
    pub(crate) issuer: Issuer,
    plan: &'a Plan,
    profile: &'a Profile,
}

impl<'a> LiveCluster<'a> {
    /// Reads the state of a cluster after the first contact: two requests for discovery, and one list per kind.
    pub(crate) async fn read(
        contact: Contact,
        target: &TargetCluster<'a>,
        writer: Writer,
        (extent, authorities): (Extent, &Arc<Authorities>),
    ) -> Result<Self, ClusterError> {
        let TargetCluster { profile, plan, render_digest, payload_version, .. } = target;
        let Contact { server, identity, inventory } = contact;
        let location = inventory.location();
        let previous = inventory.initial().previous_sets.clone();
        let apply_sets = ApplySets { current: location.apply_set_id(), previous };
        let resources = ServedResources::discover(&server).await?;
        let mut cluster = Self {
            cluster: profile.cluster,
            server,
            identity,
            writer,
            render_digest: render_digest.clone(),
            payload_version: payload_version.clone(),
            field_rules: FieldRules::new(profile, &plan.objects, apply_sets.current.clone()),
            namespace: location.namespace.clone(),
            apply_sets,
            is_restored: false,
            inventory,
            served: Mutex::new(resources),
            labelled: HashMap::new(),
            existing: HashSet::new(),
            unlistable: HashSet::new(),
            changed_crds: Mutex::default(),
            unchanged: OnceLock::new(),
            held_back: Mutex::default(),
            installing_crds: InstallingCrds::default(),
            applied_uids: AppliedUids::default(),
            notices: Vec::new(),
            issuer: Issuer::new(Arc::clone(authorities)),
            plan,
            profile,
        };
        cluster.read_labelled(cluster.resources_to_list(&plan.objects)).await?;
        cluster.restore_lost_inventory().await?;
        if cluster.cluster == Cluster::Guest && extent == Extent::Whole {
            cluster.check_inventory(&plan.objects);
        }
        Ok(cluster)
    }

    /// Restores the entries of an inventory that someone deleted or emptied, from the labels and the managed fields of the
    /// objects. Lists all kinds for that, because an object may have left the payload since.
    async fn restore_lost_inventory(&mut self) -> Result<(), ClusterError> {
        let is_lost = !self.inventory.exists() || self.inventory.is_emptied();
        if !is_lost || self.count_in_apply_set() == 0 {
            return Ok(());
        }
        let listed: HashSet<(String, String)> =
            self.labelled.keys().map(|id| (id.group.clone(), id.kind.clone())).collect();
        let is_listed = |resource: &ServedResource| {
            listed.contains(&(resource.resource.group.clone(), resource.resource.kind.clone()))
        };
        let others = self.served().all_kinds().filter(|resource| !is_listed(resource)).cloned().collect();
        self.read_labelled(others).await?;
        let mut entries = Vec::new();
        for live in self.labelled.values().filter(|live| self.apply_sets.has(&live.apply_set)) {
            entries.extend(live.parse().as_ref().and_then(restored_entry));
        }
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        self.inventory.restore_entries(entries);
        self.is_restored = true;
        Ok(())
    }

    /// Removes entries of the guest's inventory that transship ignores.
    fn check_inventory(&mut self, objects: &[Object]) {
        let rendered: HashSet<&ObjectId> = objects.iter().map(|object| &object.id).collect();
        let mut unknown_kinds = HashSet::new();
        for ServedResource { resource, .. } in &self.unlistable {
            unknown_kinds.insert((resource.group.as_str(), resource.kind.as_str()));
        }
        let (labelled, apply_sets) = (&self.labelled, &self.apply_sets);
        let is_labelled =
            |id: &ObjectId| labelled.get(id).is_some_and(|live| apply_sets.has(&live.apply_set));
        let may_be_ours =
            |id: &ObjectId| is_labelled(id) || unknown_kinds.contains(&(id.group.as_str(), id.kind.as_str()));
        self.notices = self.inventory.check_guest_entries(|id| rendered.contains(id), may_be_ours);
    }

    /// Returns events about entries of the guest's inventory that transship ignores.
    pub(crate) fn notices(&self) -> impl Iterator<Item = Event> {
        self.notices.iter().map(|notice| Event::for_cluster(self.cluster, EventKind::Released, notice))
    }

    /// Reads the labelled objects of these resources.
    async fn read_labelled(&mut self, resources: Vec<ServedResource>) -> Result<(), ClusterError> {
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

    /// Lists all objects of a resource that carry the label of an `ApplySet`. In the management cluster, reads only the
    /// namespace of the hosted control plane.
    pub(crate) async fn list_labelled(
        &self,
        resource: &ServedResource,
    ) -> Result<LabelledObjects, RequestError> {
        let namespace = if self.cluster == Cluster::Management { self.namespace.as_str() } else { "" };
        listing::list_labelled(&self.server, &resource.collection(namespace)).await
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
            listing::filter_existing(&self.server, &resource.collection(namespace), ids).await
        });
        join_all(lists).await.into_iter().flatten().collect()
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
        self.apply_sets.contain(live)
    }

    /// Returns whether an object carries the label of another `ApplySet`.
    pub(crate) fn is_in_other_apply_set(&self, live: &Value) -> bool {
        apply_set_of(live).is_some_and(|set| !self.apply_sets.has(set))
    }

    /// Returns why transship must not delete the object of an entry; `None` if it may.
    pub(crate) fn reason_not_to_delete(&self, entry: &InventoryEntry, live: &Value) -> Option<NotOurs> {
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
        match self.applied_uids.other_name(uid, &entry.id) {
            Some(id) => Some(NotOurs::AppliedAs(id)),
            None => reason_not_to_delete(Some(entry), live, &self.apply_sets),
        }
    }

    /// Returns the uid that an object had at the start, by its label or the inventory.
    pub(crate) fn initial_uid(&self, id: &ObjectId) -> Option<&str> {
        match self.labelled.get(id) {
            Some(live) => Some(&live.uid),
            None => Some(&self.inventory.initial().find(id)?.uid),
        }
    }

    /// Returns the number of objects that carried the label of this `ApplySet` at the start.
    pub(crate) fn count_in_apply_set(&self) -> usize {
        self.labelled.values().filter(|live| self.apply_sets.has(&live.apply_set)).count()
    }

    /// Returns a labelled object as it was at the start.
    pub(crate) fn labelled(&self, id: &ObjectId) -> Option<Value> {
        self.labelled.get(id)?.parse()
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
            return Ok(Some(live));
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

    /// Records that nothing is to be written, and which objects are as desired.
    pub(crate) fn set_unchanged(&self, unchanged: HashSet<ObjectId>) {
        _ = self.unchanged.set(unchanged);
    }

    /// Returns the entry of an object that is known to be as desired.
    pub(crate) fn known_unchanged(&self, id: &ObjectId) -> Option<&InventoryEntry> {
        self.unchanged.get()?.get(id)?;
        self.inventory.initial().find(id)
    }

    /// Records why the inventory cannot be written.
    pub(crate) fn set_held_back(&self, error: ClusterError) {
        *self.held_back() = Some(error);
    }

    fn held_back(&self) -> MutexGuard<'_, Option<ClusterError>> {
        self.held_back.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the inventory cannot be written.
    pub(crate) fn is_held_back(&self) -> bool {
        self.held_back().is_some()
    }

    /// Tries to write the inventory that could not be written.
    pub(crate) async fn retry_inventory(&self) -> Result<(), ClusterError> {
        self.writer.begin(&self.inventory).await?;
        *self.held_back() = None;
        Ok(())
    }

    /// Returns whether an object can be applied before the inventory is written: the inventory lists it already, or it is the
    /// namespace of the inventory.
    pub(crate) fn may_precede_inventory(&self, id: &ObjectId) -> bool {
        self.is_inventory_namespace(id) || self.inventory.initial().find(id).is_some()
    }

    /// Returns whether an object is the namespace of the inventory.
    pub(crate) fn is_inventory_namespace(&self, id: &ObjectId) -> bool {
        id.kind == "Namespace" && id.group.is_empty() && id.name == self.namespace
    }

    /// Sends a request that writes an object, if this command may write. Writes the inventory first.
    pub(crate) async fn write(&self, id: &ObjectId, request: ApiRequest) -> Result<Response, RequestError> {
        let may_write = if self.is_held_back() && self.may_precede_inventory(id) {
            match self.writer.hold().await {
                Err(error) if error.is_namespace_missing() => Ok(()),
                result => result,
            }
        } else {
            self.writer.begin(&self.inventory).await
        };
        may_write.map_err(not_allowed)?;
        self.server.send(request).await
    }

    /// Fails if another command wrote the inventory: it may also have written an object that this command read before.
    pub(crate) async fn check_no_other_command(&self) -> Result<(), RequestError> {
        self.inventory.check_unchanged().await.map_err(not_allowed)
    }

    /// Returns the desired state of an object, with what is known only in the cluster.
    pub(crate) fn desired(&self, object: &Object) -> Desired {
        let mut desired = self.field_rules.desired(object);
        self.issuer.fill(object, self.trusted_signer(object).as_ref(), &mut desired);
        desired
    }

    /// Returns the signer whose authorities go into the `caBundle` of an object.
    pub(crate) fn trusted_signer(&self, object: &Object) -> Option<SignerId> {
        trusted_signer(&object.root, self.plan)
    }

    /// Returns the rendered objects.
    pub(crate) fn rendered_objects(&self) -> &'a [Object] {
        &self.plan.objects
    }

    /// Returns the ConfigMap with the authorities of a signer, if the profile declares one.
    pub(crate) fn bundle_of(&self, signer: &str) -> Option<&'a str> {
        let bundle = self.profile.signers.get(signer)?.value.bundle.as_ref()?;
        Some(&bundle.value.0)
    }

    /// Returns the objects that carried this label at the start, besides that of the `ApplySet`.
    pub(crate) fn labelled_with<'s>(&'s self, label: &'s str) -> impl Iterator<Item = Value> + 's {
        let objects = self.labelled.values().filter_map(LabelledObject::parse);
        objects.filter(move |live| live["metadata"]["labels"].get(label).is_some())
    }

    /// Returns the state of the cluster that decisions depend on.
    pub(crate) fn decision_context(&self, options: &Options) -> DecisionContext<'_> {
        DecisionContext {
            inventory: self.inventory.initial(),
            apply_sets: &self.apply_sets,
            predecessors: self.predecessors(options),
        }
    }

    /// Returns the managers whose fields transship takes over.
    pub(crate) fn predecessors(&self, options: &Options) -> Predecessors<'_> {
        Predecessors { named: self.field_rules.succeeded_managers(), adoption: options.adoption }
    }
}

/// Returns the error of a write that is not sent.
fn not_allowed(error: ClusterError) -> RequestError {
    match error {
        ClusterError::Request(error) => error,
        error => RequestError::MayNotWrite(error.to_string()),
    }
}

fn gvk_of(object: &Object) -> GroupVersionKind {
    GroupVersionKind::gvk(&object.id.group, version_of(object), &object.id.kind)
}
