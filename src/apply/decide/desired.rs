//! What is sent for an object: what was rendered, with the label of its set, and without what others look after.

use std::collections::BTreeSet;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::apply::decide::inventory::{Home, PART_OF};
use crate::apply::decide::managed_fields as fields;
use crate::apply::{MANAGER, SEEDER};
use crate::language::{FieldRule, Marked, Profile};
use crate::object::path::{PathStep as Step, locations as places};
use crate::object::{Annotations, ISSUED, Object, ObjectId, is_tombstone};
use crate::order::Plan;
use crate::yaml;

/// An object as it is sent.
#[derive(Clone, Debug)]
pub(in crate::apply) struct Body {
    /// What is applied.
    pub(in crate::apply) applied: Value,
    /// What is given once, when the object is created, in another manager's name: so that it is nobody's afterwards.
    pub(in crate::apply) seed: Option<Value>,
    /// What a `ClusterOperator` is said to be about until its operator says so itself: for whoever looks into a cluster where
    /// that never comes up.
    pub(in crate::apply) first_status: Option<Value>,
    /// What is held of an object that is otherwise only created, whoever edits it.
    pub(in crate::apply) pinned: Option<Value>,
    /// A digest of what is applied.
    pub(in crate::apply) digest: String,
}

/// Which fields are left to others.
pub(in crate::apply) struct Policy<'a> {
    pub(in crate::apply) profile: &'a Profile,
    /// What an autoscaler of the same render scales.
    scaled: BTreeSet<(String, String, String)>,
    set: String,
}

impl<'a> Policy<'a> {
    pub(in crate::apply) fn of(profile: &'a Profile, objects: &[Object], set: String) -> Self {
        let scalers = objects.iter().filter(|object| object.id.kind == "HorizontalPodAutoscaler");
        let target = |object: &Object| {
            let target = object.root.get("spec")?.get("scaleTargetRef")?;
            let text = |key: &str| Some(target.get(key)?.as_str()?.to_owned());
            Some((text("kind")?, object.id.namespace.clone(), text("name")?))
        };
        Self { profile, scaled: scalers.filter_map(target).collect(), set }
    }

    /// What is sent for an object.
    pub(in crate::apply) fn body(&self, object: &Object) -> Body {
        let manifest = manifest(object);
        let [seeds, yields] = self.left(object, &object.root);
        let mut applied = manifest.clone();
        let seed = seed(&manifest, &seeds);
        for place in seeds.iter().chain(&yields) {
            remove(&mut applied, place);
        }
        // What a status says is its owner's, and null is nothing.
        if let Some(map) = applied.as_object_mut() {
            map.remove("status");
        }
        drop_nulls(&mut applied);
        encode(&mut applied);
        label(&mut applied, &self.set);
        let pinned = self.pinned(&object.id, &manifest);
        let digest = digest(&applied);
        let first_status = first_status(&object.id, &manifest);
        Body { applied, seed, first_status, pinned, digest }
    }

    /// Where an object, as it was rendered or as it is, has fields that are given once, and such that are left alone.
    fn left(&self, object: &Object, root: &yaml::Node) -> [Vec<Vec<Step>>; 2] {
        let is_issued = Annotations::of(&object.root).get(ISSUED).is_some();
        // Whoever issues a Secret fills it in, and an autoscaler changes what it scales.
        let seeded = is_issued.then_some("/data");
        let seeded = seeded.or(self.is_scaled(&object.id).then_some("/spec/replicas"));
        [
            places_of(&object.id, root, &self.profile.seeds, seeded),
            places_of(&object.id, root, &self.profile.unmanaged, None),
        ]
    }

    /// What an object has, as it is, in fields that are not ours to set and that we, or whoever we take it over from, have
    /// set: it stays, in the name of whoever gives things away, when we do not send it any more.
    pub(in crate::apply) fn given_away(&self, object: &Object, live: &Value, adopt: bool) -> Option<Value> {
        let (mut places, manifest) = (self.left(object, &node(live)?).concat(), manifest(object));
        let ours = |place: &Vec<Step>| {
            fields::owns(live, MANAGER, place) || adopt && fields::is_left_behind(live, place)
        };
        // What was made with its seeds is not told from them yet.
        if fields::is_planted(live) || !places.iter().any(ours) {
            return None;
        }
        places.retain(|place| ours(place) || fields::owns(live, SEEDER, place));
        places.retain(|place| has_items_of(&manifest, live, place));
        seed(live, &places)
    }

    /// What an object still has of what it was given once.
    pub(in crate::apply) fn still_given(&self, object: &Object, live: &Value) -> Value {
        let mut places = node(live).map(|root| self.left(object, &root).concat()).unwrap_or_default();
        places.retain(|place| fields::owns(live, SEEDER, place));
        seed(live, &places).unwrap_or_else(|| identity(live))
    }

    fn pinned(&self, id: &ObjectId, manifest: &Value) -> Option<Value> {
        let pins = self.profile.pins.0.iter().filter(|(selector, _)| selector.value.matches(id));
        let mut pinned = pins.map(|(_, fields)| {
            let fields: Value = serde_json::from_str(&yaml::json::write(fields)).unwrap_or_default();
            same_fields(manifest, &fields)
        });
        let mut all = pinned.next()?;
        pinned.for_each(|more| merge(&mut all, &more));
        merge(&mut all, &identity(manifest));
        Some(all)
    }

    fn is_scaled(&self, id: &ObjectId) -> bool {
        self.scaled.contains(&(id.kind.clone(), id.namespace.clone(), id.name.clone()))
    }
}

impl Body {
    /// All of it, as it is sent to make the object.
    pub(in crate::apply) fn whole(&self) -> Value {
        let mut whole = self.applied.clone();
        if let Some(seed) = &self.seed {
            merge(&mut whole, seed);
        }
        whole
    }
}

/// What is sent, but for the mark that it is ours.
pub(in crate::apply) fn unlabelled(applied: &Value) -> Value {
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

/// An object as it was rendered, with what it says about its status.
pub(in crate::apply) fn manifest(object: &Object) -> Value {
    serde_json::from_str(&yaml::json::write(&object.root)).unwrap_or_default()
}

/// The same value as what is rendered is made of.
pub(in crate::apply) fn node(value: &Value) -> Option<yaml::Node> {
    let mut documents = yaml::read(&value.to_string(), yaml::SourceId::default()).ok()?;
    documents.pop().map(|document| document.root)
}

/// What tells one version of an object from another.
pub(in crate::apply) fn digest(value: &Value) -> String {
    hex(&Sha256::digest(value.to_string()))
}

/// Makes what was rendered for a profile what an apply sends to create it: with the label of the set, and without the fields
/// that are left to others from the beginning.
pub fn as_applied(profile: &Profile, plan: &mut Plan) {
    let policy = Policy::of(profile, &plan.objects, Home::of(profile, plan).set());
    for object in plan.objects.iter_mut().filter(|object| !is_tombstone(&object.root)) {
        if let Some(root) = node(&policy.body(object).whole()) {
            object.root = root;
        }
    }
}

/// Where an object has fields that are left to others.
fn places_of(
    id: &ObjectId,
    root: &yaml::Node,
    left: &[Marked<FieldRule>],
    also: Option<&str>,
) -> Vec<Vec<Step>> {
    let meant = left.iter().filter(|left| left.value.target.matches(id));
    let paths = meant.map(|left| left.value.path.value.as_str()).chain(also);
    paths.flat_map(|path| places(root, path)).collect()
}

/// Whether the items of lists on the way to a place of an object are in another one as well.
fn has_items_of(other: &Value, object: &Value, place: &[Step]) -> bool {
    match place.split_first() {
        None => true,
        Some((Step::Key(key), rest)) => has_items_of(&other[key.as_str()], &object[key.as_str()], rest),
        Some((Step::Index(index), rest)) => {
            let item = &object[*index];
            let mut same = other.as_array().into_iter().flatten().filter(|one| one["name"] == item["name"]);
            same.next().is_some_and(|one| has_items_of(one, item, rest))
        }
    }
}

/// Puts the label of the set on an object.
fn label(object: &mut Value, set: &str) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    let labels = metadata.map(|metadata| metadata.entry("labels").or_insert_with(|| json!({})));
    if let Some(labels) = labels.and_then(Value::as_object_mut) {
        labels.insert(PART_OF.to_owned(), json!(set));
    }
}

/// A Secret keeps its texts as bytes. Texts that are sent as such are recorded as fields that it does not have afterwards, so
/// nobody could see that one was changed, and none would ever leave it.
fn encode(object: &mut Value) {
    if object["kind"] != "Secret" || object["apiVersion"] != "v1" {
        return;
    }
    // What is no text is for the API server to refuse.
    let texts = object["stringData"].as_object().filter(|texts| texts.values().all(Value::is_string));
    let (Some(texts), Some(map)) = (texts.cloned(), object.as_object_mut()) else { return };
    if let Some(data) = map.entry("data").or_insert_with(|| json!({})).as_object_mut() {
        let encoded = |text: &Value| json!(STANDARD.encode(text.as_str().unwrap_or_default()));
        data.extend(texts.into_iter().map(|(key, text)| (key, encoded(&text))));
        map.remove("stringData");
    }
}

/// The first half of a digest in hexadecimal digits: enough to tell one version of an object from another.
pub(in crate::apply) fn hex(digest: &[u8]) -> String {
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Takes a field away, and maps that are empty without it: an empty map would be ours, with all that others put into it.
fn remove(value: &mut Value, place: &[Step]) {
    let Some((first, rest)) = place.split_first() else { return };
    match (first, value) {
        (Step::Key(key), Value::Object(map)) if rest.is_empty() => {
            map.remove(key);
        }
        (Step::Key(key), Value::Object(map)) => {
            let Some(below) = map.get_mut(key) else { return };
            remove(below, rest);
            if below.as_object().is_some_and(Map::is_empty) {
                map.remove(key);
            }
        }
        (Step::Index(index), Value::Array(items)) => {
            if let Some(item) = items.get_mut(*index) {
                remove(item, rest);
            }
        }
        _ => {}
    }
}

/// An object with nothing but its identity and these places. Nothing where there are none.
fn seed(manifest: &Value, places: &[Vec<Step>]) -> Option<Value> {
    let mut seed = identity(manifest);
    let mut any = false;
    for place in places {
        any |= copy(manifest, &mut seed, place).is_some();
    }
    any.then_some(seed)
}

fn first_status(id: &ObjectId, manifest: &Value) -> Option<Value> {
    if (id.group.as_str(), id.kind.as_str()) != ("config.openshift.io", "ClusterOperator") {
        return None;
    }
    let mut first = identity(manifest);
    first["status"]["relatedObjects"] = manifest["status"].get("relatedObjects")?.clone();
    Some(first)
}

/// An object with nothing but what says which one it is.
fn identity(manifest: &Value) -> Value {
    let metadata = &manifest["metadata"];
    let mut identity = json!({
        "apiVersion": manifest["apiVersion"], "kind": manifest["kind"], "metadata": {"name": metadata["name"]},
    });
    if let Some(namespace) = metadata.get("namespace") {
        identity["metadata"]["namespace"] = namespace.clone();
    }
    identity
}

/// The values that an object has in these fields.
fn same_fields(object: &Value, fields: &Value) -> Value {
    let (Some(map), Some(fields)) = (object.as_object(), fields.as_object()) else { return object.clone() };
    let kept =
        fields.iter().filter_map(|(key, below)| Some((key.clone(), same_fields(map.get(key)?, below))));
    Value::Object(kept.collect())
}

/// Lays one object over another; items of lists are the same by their names.
pub(in crate::apply) fn merge(into: &mut Value, other: &Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (key, value) in other {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(other)) => {
            for item in other {
                match into.iter_mut().find(|one| one["name"] == item["name"]) {
                    Some(one) => merge(one, item),
                    None => into.push(item.clone()),
                }
            }
        }
        (into, other) => *into = other.clone(),
    }
}

/// Copies what is at a place, with the names of the list items on the way there.
fn copy(from: &Value, to: &mut Value, place: &[Step]) -> Option<()> {
    let Some((first, rest)) = place.split_first() else {
        *to = from.clone();
        return Some(());
    };
    match first {
        Step::Key(key) => {
            let to = to.as_object_mut()?.entry(key.clone());
            let empty = match rest.first() {
                Some(Step::Index(_)) => json!([]),
                _ => Value::Object(Map::new()),
            };
            copy(from.get(key)?, to.or_insert(empty), rest)
        }
        Step::Index(index) => {
            let item = from.get(index)?;
            let items = to.as_array_mut()?;
            let at = items.iter().position(|one| one["name"] == item["name"]);
            let at = at.unwrap_or_else(|| {
                items.push(json!({"name": item["name"]}));
                items.len() - 1
            });
            copy(item, &mut items[at], rest)
        }
    }
}
