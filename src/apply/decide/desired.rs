//! The desired state of an object: what was rendered, with the label of its `ApplySet`, and without fields that belong to
//! others.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::apply::decide::inventory::{InventoryLocation, PART_OF};
use crate::apply::decide::issue_state::IssueState;
use crate::apply::decide::json_fields::{self, FieldPath, identity, merge, select};
use crate::apply::decide::managed_fields::{MANAGER, SEED_MANAGER};
use crate::apply::decide::null_values::NullableFields;
use crate::apply::decide::predecessors::Predecessors;
use crate::apply::decide::{digest, managed_fields};
use crate::language::{FieldRule, Marked, Profile};
use crate::object::path::locations;
use crate::object::{CA_BUNDLE, ISSUED, Object, ObjectId, is_tombstone, mask};
use crate::order::Plan;
use crate::yaml::Node;

/// The desired state of an object.
#[derive(Clone, Debug)]
pub(crate) struct Desired {
    /// The fields that transship applies and owns.
    pub(crate) applied: Value,
    /// Fields applied once at creation under the manager `transship-seed`, so the main apply never owns them.
    pub(crate) seed: Option<Value>,
    /// The first status of a `ClusterOperator`, until its operator writes one. It names the objects to inspect if the
    /// operator never starts.
    pub(crate) initial_status: Option<Value>,
    /// Fields that are enforced on an object that transship otherwise only creates.
    pub(crate) pinned: Option<Value>,
    /// Whether it has everything that is known only in the cluster.
    pub(crate) issue: IssueState,
    /// The digest of `applied`, without the values of an issued object.
    pub(crate) digest: String,
}

impl Desired {
    /// Returns everything that is sent to create the object.
    pub(crate) fn with_seed(&self) -> Value {
        let mut all = self.applied.clone();
        if let Some(seed) = &self.seed {
            merge(&mut all, seed);
        }
        all
    }
}

/// The rules of a profile about fields that belong to others: its seeds, its unmanaged fields and its pins.
pub(crate) struct FieldRules<'a> {
    profile: &'a Profile,
    /// Kind, namespace and name of each workload that an autoscaler of the same plan scales.
    autoscaled: BTreeSet<(String, String, String)>,
    /// The ID of the `ApplySet`.
    apply_set: String,
    /// The fields of custom resources in which a null is a value.
    nullable: NullableFields,
}

/// The fields of an object that belong to others.
struct OthersFields {
    /// Fields that are set once, at creation.
    seeds: Vec<FieldPath>,
    /// Fields that transship never sends.
    unmanaged: Vec<FieldPath>,
}

impl OthersFields {
    fn all(self) -> Vec<FieldPath> {
        let mut all = self.seeds;
        all.extend(self.unmanaged);
        all
    }
}

impl<'a> FieldRules<'a> {
    pub(crate) fn new(profile: &'a Profile, objects: &[Object], apply_set: String) -> Self {
        let autoscaled = objects.iter().filter_map(scale_target).collect();
        Self { profile, autoscaled, apply_set, nullable: NullableFields::new(objects) }
    }

    /// Returns the managers that transship succeeds.
    pub(crate) fn succeeded_managers(&self) -> &[String] {
        &self.profile.adopts
    }

    /// Returns the desired state of an object.
    pub(crate) fn desired(&self, object: &Object) -> Desired {
        let rendered = rendered(object);
        let others = self.others_fields(object, &object.root);
        let mut applied = rendered.clone();
        let seed = select(&rendered, &others.seeds);
        for path in others.seeds.iter().chain(&others.unmanaged) {
            json_fields::remove(&mut applied, path);
        }
        // The status belongs to a controller.
        if let Some(map) = applied.as_object_mut() {
            map.remove("status");
        }
        self.nullable.remove_other_nulls(&mut applied);
        encode_string_data(&mut applied);
        add_apply_set_label(&mut applied, &self.apply_set);
        let digest = digest::of_value(&applied);
        let pinned = self.pinned(&object.id, &rendered);
        let initial_status = initial_status(&object.id, &rendered);
        Desired { applied, seed, initial_status, pinned, issue: IssueState::Complete, digest }
    }

    /// Finds the fields that belong to others in `root`, which is the rendered or the live object.
    fn others_fields(&self, object: &Object, root: &Node) -> OthersFields {
        let mut seeds = field_paths(&object.id, root, &self.profile.seeds);
        seeds.extend(self.built_in_seed(object).into_iter().flat_map(|path| locations(root, path)));
        let mut unmanaged = field_paths(&object.id, root, &self.profile.unmanaged);
        unmanaged.extend(built_in_unmanaged(object).into_iter().flat_map(|path| locations(root, path)));
        OthersFields { seeds, unmanaged }
    }

    /// Returns the field that is a seed in every profile.
    fn built_in_seed(&self, object: &Object) -> Option<&'static str> {
        if self.is_autoscaled(&object.id) {
            Some("/spec/replicas")
        } else if is_kind(&object.id, "", "ServiceAccount") {
            // Controllers and users add pull secrets. The list is atomic, so an apply would remove theirs.
            Some("/imagePullSecrets")
        } else {
            None
        }
    }

    /// Returns the fields of a live object that belong to others: seeds and unmanaged fields.
    pub(crate) fn fields_of_others(&self, object: &Object, live: &Value) -> Vec<FieldPath> {
        self.others_fields(object, &Node::from(live)).all()
    }

    /// Returns the live values of fields that belong to others but that transship or one of its predecessors still owns.
    /// transship applies them as `transship-seed`, so that they keep their values
    /// when transship stops sending them.
    pub(crate) fn fields_to_release(
        &self,
        object: &Object,
        live: &Value,
        predecessors: Predecessors<'_>,
    ) -> Option<Value> {
        let is_owned =
            |path: &FieldPath| managed_fields::owns(live, MANAGER, path) || predecessors.own(live, path);
        let mut paths = self.others_fields(object, &Node::from(live)).all();
        // `split_seeds` comes first: until then, `transship-seed` owns all fields of the object.
        if managed_fields::has_unsplit_seeds(live) || !paths.iter().any(is_owned) {
            return None;
        }
        let rendered = rendered(object);
        // This includes the fields that `transship-seed` already owns: server-side apply removes a field that is not
        // sent.
        paths.retain(|path| is_owned(path) || managed_fields::owns(live, SEED_MANAGER, path));
        // The next apply must be able to remove a list item that is no longer rendered, so `transship-seed` must not
        // own a field of it.
        paths.retain(|path| json_fields::has_items_on_path(&rendered, live, path));
        select(live, &paths)
    }

    /// Returns the live values of the fields that belong to others, for an object that is recreated; `None` if it has
    /// none.
    pub(crate) fn fields_to_keep(&self, object: &Object, live: &Value) -> Option<Value> {
        let rendered = rendered(object);
        let mut paths = self.others_fields(object, &Node::from(live)).all();
        paths.retain(|path| json_fields::has_items_on_path(&rendered, live, path));
        select(live, &paths)
    }

    /// Returns the seeds of a live object that `transship-seed` still owns.
    pub(crate) fn remaining_seeds(&self, object: &Object, live: &Value) -> Value {
        let mut paths = self.others_fields(object, &Node::from(live)).all();
        paths.retain(|path| managed_fields::owns(live, SEED_MANAGER, path));
        select(live, &paths).unwrap_or_else(|| identity(live))
    }

    /// Returns the rendered values of the fields that the profile pins; `None` if it pins none.
    fn pinned(&self, id: &ObjectId, rendered: &Value) -> Option<Value> {
        let mut pinned: Option<Value> = None;
        for (_, fields) in self.profile.pins.0.iter().filter(|(selector, _)| selector.value.matches(id)) {
            let shape = Value::from(fields);
            let values = json_fields::values_in_shape(rendered, &shape);
            match &mut pinned {
                Some(pinned) => merge(pinned, &values),
                None => pinned = Some(values),
            }
        }
        let mut pinned = pinned?;
        merge(&mut pinned, &identity(rendered));
        Some(pinned)
    }

    fn is_autoscaled(&self, id: &ObjectId) -> bool {
        self.autoscaled.contains(&(id.kind.clone(), id.namespace.clone(), id.name.clone()))
    }
}

fn is_kind(id: &ObjectId, group: &str, kind: &str) -> bool {
    (id.group.as_str(), id.kind.as_str()) == (group, kind)
}

/// Returns the field that transship never sends: a controller fills in the rules of an aggregated `ClusterRole`, and an
/// apply of other rules would revoke rights until the controller adds them again.
fn built_in_unmanaged(object: &Object) -> Option<&'static str> {
    let is_aggregated = object.root.get("aggregationRule").and_then(Node::as_map).is_some();
    (is_aggregated && is_kind(&object.id, "rbac.authorization.k8s.io", "ClusterRole")).then_some("/rules")
}

/// Returns kind, namespace and name of the workload that a `HorizontalPodAutoscaler` scales.
fn scale_target(object: &Object) -> Option<(String, String, String)> {
    if object.id.kind != "HorizontalPodAutoscaler" {
        return None;
    }
    let target = object.root.get("spec")?.get("scaleTargetRef")?;
    let kind = target.get("kind")?.as_str()?.to_owned();
    let name = target.get("name")?.as_str()?.to_owned();
    Some((kind, object.id.namespace.clone(), name))
}

/// Replaces the rendered objects of a profile by what `apply` sends to create them: with the label of the `ApplySet`, and
/// without fields that transship never sends.
pub(crate) fn as_applied(profile: &Profile, plan: &mut Plan) {
    let field_rules =
        FieldRules::new(profile, &plan.objects, InventoryLocation::of(profile, plan).apply_set_id());
    for object in plan.objects.iter_mut().filter(|object| !is_tombstone(&object.root)) {
        let mut root = Node::from(&field_rules.desired(object).with_seed());
        mask::protect_like(&mut root, &object.root);
        object.root = root;
    }
}

/// Returns the applied fields without the label of the `ApplySet`.
pub(crate) fn without_apply_set_label(applied: &Value) -> Value {
    let mut applied = applied.clone();
    let metadata = &mut applied["metadata"];
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.remove(PART_OF);
        if labels.is_empty() {
            metadata.as_object_mut().map(|metadata| metadata.remove("labels"));
        }
    }
    applied
}

/// Returns a rendered object as JSON, with its status, and without annotations that are only for transship.
pub(crate) fn rendered(object: &Object) -> Value {
    let mut root = Value::from(&object.root);
    let metadata = root.get_mut("metadata").and_then(Value::as_object_mut);
    let Some(metadata) = metadata else { return root };
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        let was_empty = annotations.is_empty();
        annotations.remove(ISSUED);
        annotations.remove(CA_BUNDLE);
        if annotations.is_empty() && !was_empty {
            metadata.remove("annotations");
        }
    }
    root
}

/// Returns the `version` part of the object's `apiVersion`.
pub(crate) fn version_of(object: &Object) -> &str {
    let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    api_version.rsplit('/').next().unwrap_or_default()
}

/// Returns the paths of the fields in `root` that match the rules of a profile.
fn field_paths(id: &ObjectId, root: &Node, rules: &[Marked<FieldRule>]) -> Vec<FieldPath> {
    let matching = rules.iter().filter(|rule| rule.value.target.matches(id));
    matching.flat_map(|rule| locations(root, rule.value.path.value.as_str())).collect()
}

fn add_apply_set_label(object: &mut Value, apply_set: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(PART_OF.to_owned(), json!(apply_set));
    }
}

/// Moves the `stringData` of a Secret to `data`, as the API server does. If transship applied `stringData`, the managed
/// fields would record fields that the stored Secret does not have. transship would then not notice changes of these
/// values, and would not remove keys.
fn encode_string_data(object: &mut Value) {
    if object["kind"] != "Secret" || object["apiVersion"] != "v1" {
        return;
    }
    let Some(map) = object.as_object_mut() else { return };
    let Some(texts) = map.get("stringData").and_then(Value::as_object).cloned() else { return };
    // The API server rejects values that are not strings.
    if !texts.values().all(Value::is_string) {
        return;
    }
    if let Some(data) = map.entry("data").or_insert_with(|| json!({})).as_object_mut() {
        for (key, text) in texts {
            data.insert(key, json!(STANDARD.encode(text.as_str().unwrap_or_default())));
        }
        map.remove("stringData");
    }
}

/// Returns the first status of a `ClusterOperator`; `None` for other kinds.
fn initial_status(id: &ObjectId, rendered: &Value) -> Option<Value> {
    if !is_kind(id, "config.openshift.io", "ClusterOperator") {
        return None;
    }
    let mut object = identity(rendered);
    object["status"]["relatedObjects"] = rendered["status"].get("relatedObjects")?.clone();
    Some(object)
}

#[cfg(test)]
mod tests;
