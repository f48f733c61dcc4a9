//! Who owns which fields: `managedFields` as the API server keeps them.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::apply::decide::inventory::PART_OF;
use crate::apply::{MANAGER, SEEDER};
use crate::object::path::PathStep as Step;

/// Our entry of an object's `managedFields`: the fields that we have applied.
pub(in crate::apply) fn ours(object: &Value) -> Option<&Value> {
    applied_by(object, MANAGER)
}

/// The fields that somebody has applied.
fn applied_by<'o>(object: &'o Value, manager: &str) -> Option<&'o Value> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let own = |entry: &&Value| {
        entry["manager"] == manager && entry["operation"] == "Apply" && entry.get("subresource").is_none()
    };
    entries.iter().find(own).map(|entry| &entry["fieldsV1"])
}

/// Whether an object was made with its seeds, and these not told from the rest of it yet.
pub(in crate::apply) fn is_planted(object: &Value) -> bool {
    let labels = applied_by(object, SEEDER).map(|fields| &fields["f:metadata"]["f:labels"]);
    labels.is_some_and(|labels| labels.get(format!("f:{PART_OF}")).is_some())
}

/// Whether somebody has applied what is at a place, or something above or below it.
pub(in crate::apply) fn owns(object: &Value, manager: &str, place: &[Step]) -> bool {
    applied_by(object, manager).is_some_and(|fields| holds(fields, object, place))
}

fn holds(fields: &Value, value: &Value, place: &[Step]) -> bool {
    let (Some(fields), Some((first, rest))) = (fields.as_object(), place.split_first()) else { return true };
    match first {
        _ if fields.is_empty() => true,
        Step::Key(key) => {
            fields.get(&format!("f:{key}")).is_some_and(|below| holds(below, &value[key.as_str()], rest))
        }
        Step::Index(index) => {
            let item = value.get(index);
            let is_it = |step: &str| item.is_some() && child(Some(value), step) == item;
            fields.iter().any(|(step, below)| is_it(step) && holds(below, &value[*index], rest))
        }
    }
}

/// A digest of the values that an object has in our fields. Whoever changes one of them, or takes one over, changes it;
/// nobody else does.
pub(in crate::apply) fn digest(object: &Value) -> Option<String> {
    let mut hash = Sha256::new();
    project(Some(object), ours(object)?.as_object()?, &mut hash);
    Some(crate::apply::decide::desired::hex(&hash.finalize()))
}

fn project(value: Option<&Value>, fields: &Map<String, Value>, hash: &mut Sha256) {
    if fields.is_empty() {
        hash.update(value.map(Value::to_string).unwrap_or_default());
    }
    for (key, below) in fields {
        hash.update(key);
        hash.update([0]);
        let below = below.as_object();
        match (child(value, key), below) {
            (_, _) if key == "." => hash.update([u8::from(value.is_some())]),
            (child, Some(below)) => project(child, below, hash),
            (_, None) => {}
        }
    }
}

/// What a step of a field set leads to.
fn child<'v>(value: Option<&'v Value>, step: &str) -> Option<&'v Value> {
    let value = value?;
    match position(value, step)? {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    }
}

/// Where a step of a field set leads to: `f:name`, `k:{"name":"x"}`, `v:"x"`, `i:0`.
pub(in crate::apply) fn position(value: &Value, step: &str) -> Option<Step> {
    let (kind, name) = step.split_once(':')?;
    let item = |fits: &dyn Fn(&Value) -> bool| value.as_array()?.iter().position(fits).map(Step::Index);
    match kind {
        "f" => Some(Step::Key(name.to_owned())),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(name).ok()?;
            item(&|item| keys.iter().all(|(key, wanted)| item.get(key) == Some(wanted)))
        }
        "v" => {
            let wanted: Value = serde_json::from_str(name).ok()?;
            item(&|item| *item == wanted)
        }
        "i" => name.parse().ok().map(Step::Index),
        _ => None,
    }
}

/// Managers that wrote whole objects before us, with Update requests: their fields become ours when an object is taken
/// over, so that what we do not want leaves it.
const BEFORE_US: [&str; 14] = [
    "kubectl-client-side-apply",
    "kubectl-create",
    "kubectl-edit",
    "kubectl-expose",
    "kubectl-patch",
    "kubectl-replace",
    "kubectl-run",
    "kubectl-set",
    "kubectl",
    "before-first-apply",
    "control-plane-operator",
    "control-plane-operator-manager",
    "hosted-cluster-config-operator-manager",
    "cluster-version-operator",
];

/// Whether an entry is of somebody who wrote whole objects before us.
pub(in crate::apply) fn is_earlier(entry: &Value) -> bool {
    let manager = entry["manager"].as_str().unwrap_or_default();
    entry["operation"] == "Update"
        && entry.get("subresource").is_none()
        && (BEFORE_US.contains(&manager) || manager == MANAGER)
}

/// Whether somebody before us has set what is at a place.
pub(in crate::apply) fn is_left_behind(object: &Value, place: &[Step]) -> bool {
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries.filter(|entry| is_earlier(entry)).any(|entry| holds(&entry["fieldsV1"], object, place))
}

/// Whether we made an object, or have applied it.
pub(in crate::apply) fn is_by_us(object: &Value) -> bool {
    let mut entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    ours(object).is_some() || entries.any(|entry| entry["manager"] == SEEDER)
}

/// The patch that makes the fields of earlier managers ours, guarded by the version that was read. Nothing where there
/// are none.
pub(in crate::apply) fn migration(object: &Value) -> Option<Value> {
    let entries = object["metadata"]["managedFields"].as_array()?;
    let (theirs, mut rest): (Vec<&Value>, Vec<&Value>) = entries.iter().partition(|entry| is_earlier(entry));
    let first = theirs.first()?;
    let own = |entry: &Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
    let mine = rest.iter().position(|entry| own(entry)).map(|at| rest.remove(at));
    let mut fields = mine.map_or_else(|| json!({}), |mine| mine["fieldsV1"].clone());
    for entry in &theirs {
        unite(&mut fields, &entry["fieldsV1"]);
    }
    let united = json!({
        "manager": MANAGER, "operation": "Apply", "apiVersion": first["apiVersion"],
        "fieldsType": "FieldsV1", "fieldsV1": fields,
    });
    Some(replace(object, &rest.into_iter().chain([&united]).collect::<Vec<_>>()))
}

/// The patch that records everybody's fields in the version that we apply, where they are in one that is not served any
/// more. Nothing where there are none.
pub(in crate::apply) fn in_version(object: &Value, gone: &str, now: &str) -> Option<Value> {
    let mut entries = object["metadata"]["managedFields"].as_array()?.clone();
    let mut any = false;
    for entry in entries.iter_mut().filter(|entry| entry["apiVersion"] == gone) {
        entry["apiVersion"] = json!(now);
        any = true;
    }
    any.then(|| replace(object, &entries.iter().collect::<Vec<_>>()))
}

/// The patch that replaces what is kept of everybody's fields, if nobody has written the object since it was read.
fn replace(object: &Value, entries: &[&Value]) -> Value {
    json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": object["metadata"]["resourceVersion"]},
    ])
}

pub(in crate::apply) fn unite(into: &mut Value, other: &Value) {
    if let (Some(into), Some(other)) = (into.as_object_mut(), other.as_object()) {
        for (key, value) in other {
            unite(into.entry(key.clone()).or_insert_with(|| json!({})), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MANAGER, digest, in_version, migration, owns};

    fn object(replicas: u64, image: &str, other: &str) -> serde_json::Value {
        json!({
            "metadata": {"resourceVersion": "7", "managedFields": [
                {"manager": MANAGER, "operation": "Apply", "fieldsV1": {"f:spec": {
                    "f:replicas": {}, "f:args": {"v:\"a\"": {}},
                    "f:containers": {"k:{\"name\":\"c\"}": {".": {}, "f:image": {}}}}}},
                {"manager": "other", "operation": "Update", "fieldsV1": {"f:spec": {"f:other": {}}}},
            ]},
            "spec": {"replicas": replicas, "other": other, "args": ["a", "b"],
                "containers": [{"name": "d", "image": "x"}, {"name": "c", "image": image, "pull": other}]},
        })
    }

    #[test]
    fn only_our_fields_count() {
        let first = digest(&object(1, "i", "o"));
        assert!(first.is_some());
        assert_eq!(digest(&object(1, "i", "another")), first);
        assert_ne!(digest(&object(2, "i", "o")), first);
        assert_ne!(digest(&object(1, "j", "o")), first);
        let mut taken = object(1, "i", "o");
        taken["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
            .as_object_mut()
            .map(|s| s.remove("f:replicas"));
        assert_ne!(digest(&taken), first);
        assert_eq!(digest(&json!({"metadata": {}})), None);
    }

    #[test]
    fn fields_of_earlier_managers_become_ours() {
        let mut old = object(1, "i", "o");
        assert_eq!(migration(&old), None, "others keep theirs");
        old["metadata"]["managedFields"][1]["manager"] = json!("kubectl-client-side-apply");
        let patch = migration(&old).unwrap();
        assert_eq!(patch[1], json!({"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}));
        let entries = patch[0]["value"].as_array().unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!((&entries[0]["manager"], &entries[0]["operation"]), (&json!(MANAGER), &json!("Apply")));
        assert_eq!(entries[0]["fieldsV1"]["f:spec"]["f:other"], json!({}));
        assert_eq!(entries[0]["fieldsV1"]["f:spec"]["f:replicas"], json!({}));
    }

    #[test]
    fn a_place_is_somebodys() {
        use crate::object::path::PathStep::{Index, Key};
        let object = object(1, "i", "o");
        let key = |key: &str| Key(key.to_owned());
        for (place, expected) in [
            (vec![key("spec")], true),
            (vec![key("spec"), key("replicas")], true),
            (vec![key("spec"), key("replicas"), key("below")], true),
            (vec![key("spec"), key("other")], false),
            (vec![key("spec"), key("containers"), Index(1), key("image")], true),
            (vec![key("spec"), key("containers"), Index(1), key("pull")], false),
            (vec![key("spec"), key("containers"), Index(0), key("image")], false),
            (vec![key("spec"), key("containers"), Index(7), key("image")], false),
        ] {
            assert_eq!(owns(&object, MANAGER, &place), expected, "{place:?}");
            assert!(!owns(&object, "nobody", &place));
        }
    }

    #[test]
    fn fields_of_a_version_that_is_gone_are_recorded_in_another() {
        let mut old = object(1, "i", "o");
        old["metadata"]["managedFields"][0]["apiVersion"] = json!("example.test/v1beta1");
        old["metadata"]["managedFields"][1]["apiVersion"] = json!("example.test/v1");
        assert_eq!(in_version(&old, "example.test/v1alpha1", "example.test/v1"), None);
        let patch = in_version(&old, "example.test/v1beta1", "example.test/v1").unwrap();
        assert_eq!(patch[1]["value"], "7");
        let entries = patch[0]["value"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        assert!(entries.iter().all(|entry| entry["apiVersion"] == "example.test/v1"));
        assert_eq!(entries[0]["fieldsV1"], old["metadata"]["managedFields"][0]["fieldsV1"]);
    }
}
