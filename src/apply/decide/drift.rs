//! Drift: fields that matter for security and that others added, changed or removed, with the manager that did it. A pure
//! function of the live object and the desired one, so it needs no right to write.
//!
//! Everyone can choose the name of a field manager. So the name never decides whether a field is reported; only the field
//! does. [`watched_fields`] lists the fields.

mod watched_fields;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde_json::{Value, json};

use crate::apply::decide::json_fields::FieldPath;
use crate::apply::decide::managed_fields::{
    MANAGER, SEED_MANAGER, can_find_items, entry_owns, is_written_by_us, resolve_step,
};
use crate::object::path::{self, ITEM_KEYS, PathStep};
use crate::object::{ObjectId, SensitiveTexts, mask};
use crate::printable;
use crate::yaml::Node;
use crate::yaml::json::show;

use watched_fields::{has_defaults, is_ignored, watched};

/// The largest number of fields of one object that are compared. The guest's administrator decides how many differ.
const MAX_FIELDS: usize = 100;

/// An object and its desired state.
pub(crate) struct DriftInput<'a> {
    pub(crate) id: &'a ObjectId,
    /// The rendered object, which says which values are sensitive.
    pub(crate) rendered: &'a Node,
    /// Everything that transship sends to create the object.
    pub(crate) desired: &'a Value,
    pub(crate) live: &'a Value,
    /// The fields of the live object that belong to others by the profile: seeds and unmanaged fields.
    pub(crate) of_others: &'a [FieldPath],
    /// Whether transship applied exactly this desired state. If not, a difference may be the next change of transship.
    pub(crate) is_applied: bool,
}

/// A field that has drifted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DriftedField {
    path: String,
    change: DriftChange,
    /// The live value without sensitive parts; `None` if the field was removed.
    value: Option<Node>,
    /// The desired value without sensitive parts; `None` if the field was added.
    desired: Option<Node>,
    /// `None` if the API server has not recorded who it was.
    owner: Option<FieldOwner>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DriftChange {
    Added,
    Changed,
    Removed,
}

/// The field manager that owns a field.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldOwner {
    manager: String,
    operation: String,
    /// When the manager last changed one of its fields.
    time: Option<String>,
}

/// A field in which the live and the desired object differ.
struct Candidate<'v> {
    path: String,
    /// The location in the live object; in the desired one if the live one does not have it.
    location: FieldPath,
    live: Option<&'v Value>,
    desired: Option<&'v Value>,
}

/// Returns the fields that have drifted, and how many more were not compared.
pub(crate) fn find_drift(input: &DriftInput<'_>) -> (Vec<DriftedField>, usize) {
    let mut drifted = Vec::new();
    if input.is_applied && !is_written_by_us(input.live) {
        drifted.push(DriftedField {
            path: "/metadata/managedFields".to_owned(),
            change: DriftChange::Removed,
            value: None,
            desired: None,
            owner: None,
        });
    }
    let mut candidates = Candidates::default();
    for keys in watched(input.id, [input.live, input.desired]) {
        let at = |root| keys.iter().try_fold(root, |value: &Value, key| value.get(key));
        let pointer = keys.iter().fold(String::new(), |pointer, key| path::field(&pointer, key));
        let location = keys.iter().cloned().map(PathStep::Key).collect();
        candidates.compare(at(input.live), at(input.desired), pointer, location);
    }
    let values = MaskedValues::new(input);
    for candidate in candidates.found {
        drifted.extend(input.judge(&candidate, &values));
    }
    (drifted, candidates.left_out)
}

impl DriftInput<'_> {
    /// Returns the drift of a field that differs: once for each manager that owns it.
    fn judge(&self, candidate: &Candidate<'_>, values: &MaskedValues) -> Vec<DriftedField> {
        let location = &candidate.location;
        if self.of_others.iter().any(|path| location.starts_with(path)) {
            return Vec::new();
        }
        let change = match (candidate.live, candidate.desired) {
            (Some(_), None) => DriftChange::Added,
            (Some(_), Some(_)) => DriftChange::Changed,
            (None, _) => DriftChange::Removed,
        };
        let root = if change == DriftChange::Removed { self.desired } else { self.live };
        if self.entries().any(|entry| is_ours(entry) && contains(&entry["fieldsV1"], root, location)) {
            // transship will change it, or the API server writes the value in another way.
            return Vec::new();
        }
        let owners = if change == DriftChange::Removed { Vec::new() } else { self.owners(location) };
        let drifted = |owner: Option<FieldOwner>| DriftedField {
            path: values.texts.mask(&candidate.path),
            change,
            value: candidate.live.and_then(|_| values.live(location)),
            desired: candidate.desired.and_then(|_| values.desired(&candidate.path)),
            owner,
        };
        if !owners.is_empty() {
            return owners.into_iter().map(|owner| drifted(Some(owner))).collect();
        }
        let is_certain = match change {
            // An item of a list or a whole setting of a pod is never a default. A field of an item may be one.
            DriftChange::Added => self.is_never_default(location),
            DriftChange::Changed | DriftChange::Removed => self.is_applied,
        };
        if is_certain { vec![drifted(None)] } else { Vec::new() }
    }

    fn is_never_default(&self, location: &[PathStep]) -> bool {
        if has_defaults(self.id, location) {
            return false;
        }
        match location.last() {
            Some(PathStep::Index(_)) => true,
            Some(PathStep::Key(_)) => watched(self.id, [self.live, self.desired]).any(|keys| {
                keys.len() == location.len()
                    && keys.iter().zip(location).all(|(key, step)| *step == PathStep::Key(key.clone()))
            }),
            None => false,
        }
    }

    fn entries(&self) -> impl Iterator<Item = &Value> {
        self.live["metadata"]["managedFields"].as_array().into_iter().flatten()
    }

    /// Returns all managers but transship that own a field, one of its parents or one of its children.
    fn owners(&self, location: &[PathStep]) -> Vec<FieldOwner> {
        let mut owners = Vec::new();
        for entry in self.entries() {
            if !is_ours(entry) && entry_owns(entry, self.live, location) {
                let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
                owners.push(FieldOwner {
                    manager: text("manager"),
                    operation: text("operation"),
                    time: entry["time"].as_str().map(str::to_owned),
                });
            }
        }
        owners
    }
}

/// Returns whether an entry of the managed fields is what transship applied. It never updates a field.
fn is_ours(entry: &Value) -> bool {
    entry["operation"] == "Apply" && (entry["manager"] == MANAGER || entry["manager"] == SEED_MANAGER)
}

/// Returns whether a field set contains the field at `path` of `value`, one of its children, or an atomic list that
/// contains it. Who applied an empty map does not own what others put into it.
fn contains(fields: &Value, value: &Value, path: &[PathStep]) -> bool {
    let Some((first, rest)) = path.split_first() else { return true };
    let Some(fields) = fields.as_object() else { return false };
    match first {
        _ if fields.is_empty() => value.is_array(),
        PathStep::Key(key) => {
            fields.get(&format!("f:{key}")).is_some_and(|below| contains(below, &value[key.as_str()], rest))
        }
        PathStep::Index(_) if !can_find_items(value, fields) => false,
        PathStep::Index(index) => fields.iter().any(|(step, below)| {
            resolve_step(value, step).as_ref() == Some(first) && contains(below, &value[*index], rest)
        }),
    }
}

/// Both objects with their sensitive values marked.
struct MaskedValues {
    live: Node,
    desired: Node,
    texts: SensitiveTexts,
}

impl MaskedValues {
    fn new(input: &DriftInput<'_>) -> Self {
        let texts = SensitiveTexts::of([input.rendered]);
        let protected = |object: &Value| {
            let mut node = Node::from(object);
            mask::protect_like(&mut node, input.rendered);
            texts.protect(&mut node);
            node
        };
        Self { live: protected(input.live), desired: protected(input.desired), texts }
    }

    fn live(&self, location: &[PathStep]) -> Option<Node> {
        path::node_at(&self.live, location).map(mask::masked)
    }

    fn desired(&self, path: &str) -> Option<Node> {
        let found = path::resolve(&self.desired, path).ok()?;
        found.first().map(|node| mask::masked(node))
    }
}

/// Collects the fields that differ.
#[derive(Default)]
struct Candidates<'v> {
    found: Vec<Candidate<'v>>,
    left_out: usize,
}

impl<'v> Candidates<'v> {
    fn compare(
        &mut self,
        live: Option<&'v Value>,
        desired: Option<&'v Value>,
        path: String,
        location: FieldPath,
    ) {
        match (live, desired) {
            (live, desired) if live == desired => {}
            (Some(Value::Object(live)), Some(Value::Object(desired))) => {
                let keys: BTreeSet<&String> = live.keys().chain(desired.keys()).collect();
                for key in keys.into_iter().filter(|key| !is_ignored(key)) {
                    let below = step_to(&location, PathStep::Key(key.clone()));
                    self.compare(live.get(key), desired.get(key), path::field(&path, key), below);
                }
            }
            (Some(Value::Array(live)), Some(Value::Array(desired))) if has_names(live, desired) => {
                self.compare_items(live, desired, &path, &location);
            }
            // The API server does not store empty values.
            (Some(value), None) | (None, Some(value)) if is_empty(value) => {}
            _ if self.found.len() == MAX_FIELDS => self.left_out += 1,
            (Some(Value::Array(items)), None) => {
                for (index, item) in items.iter().enumerate() {
                    let below = step_to(&location, PathStep::Index(index));
                    let segment = segment(item).unwrap_or_else(|| index.to_string());
                    self.compare(Some(item), None, format!("{path}/{segment}"), below);
                }
            }
            (live, desired) => self.found.push(Candidate { path, location, live, desired }),
        }
    }

    /// Compares items with the same name.
    fn compare_items(&mut self, live: &'v [Value], desired: &'v [Value], path: &str, location: &[PathStep]) {
        let named = |items: &'v [Value]| -> HashMap<String, usize> {
            let segments = items.iter().enumerate().filter_map(|(index, item)| Some((segment(item)?, index)));
            segments.collect()
        };
        let (in_live, in_desired) = (named(live), named(desired));
        let segments: BTreeSet<&String> = in_live.keys().chain(in_desired.keys()).collect();
        for segment in segments {
            let (position, wanted) = (in_live.get(segment).copied(), in_desired.get(segment).copied());
            let below = step_to(location, PathStep::Index(position.or(wanted).unwrap_or_default()));
            let item = |items: &'v [Value], index: Option<usize>| index.and_then(|index| items.get(index));
            self.compare(item(live, position), item(desired, wanted), format!("{path}/{segment}"), below);
        }
    }
}

fn step_to(location: &[PathStep], step: PathStep) -> FieldPath {
    let mut below = location.to_vec();
    below.push(step);
    below
}

/// Returns the segment that identifies an item of a list, such as `[name=x]`.
fn segment(item: &Value) -> Option<String> {
    let key = ITEM_KEYS.iter().find(|key| item.get(key).is_some_and(Value::is_string))?;
    Some(format!("[{key}={}]", path::escape(item[key].as_str()?)))
}

/// Returns whether each item of two lists has a name of its own.
fn has_names(live: &[Value], desired: &[Value]) -> bool {
    let have_names = |items: &[Value]| {
        let segments: BTreeSet<Option<String>> = items.iter().map(segment).collect();
        segments.len() == items.len() && !segments.contains(&None)
    };
    have_names(live) && have_names(desired)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(bool) => !bool,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(_) => false,
    }
}

impl DriftChange {
    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

impl DriftedField {
    /// Returns the field for programs.
    pub(crate) fn to_json(&self) -> Value {
        let owner = self.owner.as_ref();
        let mut field = json!({
            "path": self.path, "change": self.change.word(),
            "manager": owner.map(|owner| &owner.manager),
            "operation": owner.map(|owner| &owner.operation),
            "time": owner.and_then(|owner| owner.time.as_ref()),
        });
        if let Some(value) = &self.value {
            field["value"] = Value::from(value);
        }
        if let Some(desired) = &self.desired {
            field["rendered"] = Value::from(desired);
        }
        field
    }
}

impl fmt::Display for DriftedField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", printable::line(&self.path))?;
        match (&self.value, &self.desired) {
            (Some(value), Some(desired)) => write!(f, "{} instead of {} ", show(value), show(desired))?,
            (Some(value), None) | (None, Some(value)) => write!(f, "{} ", show(value))?,
            (None, None) => {}
        }
        write!(f, "({} by {})", self.change.word(), self.author())
    }
}

impl DriftedField {
    fn author(&self) -> String {
        let Some(FieldOwner { manager, operation, time }) = &self.owner else {
            return "an unknown manager".to_owned();
        };
        let since = time.as_ref().map(|time| format!(", {time}")).unwrap_or_default();
        format!("{manager}, {operation}{since}")
    }
}
