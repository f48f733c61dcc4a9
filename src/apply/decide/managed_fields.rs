//! `metadata.managedFields`: the API server's record of who owns which fields.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::apply::decide::digest as digests;
use crate::apply::decide::inventory::PART_OF;
use crate::object::path::PathStep;

/// The field manager of everything that transship applies.
pub(crate) const MANAGER: &str = "transship";
/// The field manager of fields that are set once, at creation.
pub(crate) const SEED_MANAGER: &str = "transship-seed";

/// Field managers that create or update whole objects with Update requests. `--adopt` transfers their fields to
/// transship, so that fields which are not rendered are removed.
const PREVIOUS_MANAGERS: [&str; 19] = [
    "kubectl-client-side-apply",
    "kubectl-create",
    "kubectl-edit",
    "kubectl-expose",
    "kubectl-patch",
    "kubectl-replace",
    "kubectl-run",
    "kubectl-set",
    "kubectl",
    "oc",
    "helm",
    "before-first-apply",
    // HyperShift's operators set their user agent, which is the default field manager. The control plane operator is
    // `hypershift-controlplane-manager`; its other names are those of its binary.
    "hypershift-controlplane-manager",
    "hypershift-operator-manager",
    "control-plane-operator",
    "control-plane-operator-manager",
    "hosted-cluster-config-operator",
    "hosted-cluster-config-operator-manager",
    "cluster-version-operator",
];

/// The largest number of comparisons to find the items of one list. Lists of real objects need some hundred.
const MAX_COMPARISONS: usize = 1_000_000;

/// Returns the set of fields that transship applied.
pub(crate) fn ours(object: &Value) -> Option<&Value> {
    applied_by(object, MANAGER)
}

/// Returns when transship last changed a field of an object, in seconds since 1970.
pub(crate) fn applied_at(object: &Value) -> Option<i64> {
    let entry = entries(object).find(|entry| entry["manager"] == MANAGER && entry["operation"] == "Apply")?;
    let time: Timestamp = entry["time"].as_str()?.parse().ok()?;
    Some(time.as_second())
}

/// Returns the set of fields that a manager applied.
fn applied_by<'o>(object: &'o Value, manager: &str) -> Option<&'o Value> {
    let entry = entries(object).find(|entry| {
        entry["manager"] == manager && entry["operation"] == "Apply" && entry.get("subresource").is_none()
    })?;
    Some(&entry["fieldsV1"])
}

/// Returns the entries of all managers.
pub(crate) fn entries(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

/// Describes the manager of an entry, and how it sets its fields.
pub(crate) fn field_owner(entry: &Value) -> String {
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    format!("{} ({})", text("manager"), text("operation"))
}

/// Returns the manager that the API server names in the message of a conflict, such as `conflict with "kubectl" using v1`.
pub(crate) fn conflicting_manager(message: &str) -> Option<String> {
    let quoted = message.strip_prefix("conflict with ")?;
    let mut quoted = serde_json::Deserializer::from_str(quoted).into_iter::<String>();
    quoted.next()?.ok()
}

/// Returns the names of all field managers of an object, each once.
pub(crate) fn managers(object: &Value) -> Vec<&str> {
    let mut managers = Vec::new();
    for manager in entries(object).filter_map(|entry| entry["manager"].as_str()) {
        if !managers.contains(&manager) {
            managers.push(manager);
        }
    }
    managers
}

/// Returns whether `transship-seed` still owns fields that are not seeds. It creates an object together with its seeds;
/// `split_seeds` then makes it give up the other fields.
pub(crate) fn has_unsplit_seeds(object: &Value) -> bool {
    let Some(fields) = applied_by(object, SEED_MANAGER) else { return false };
    fields["f:metadata"]["f:labels"].get(format!("f:{PART_OF}")).is_some()
}

/// Returns whether a manager applied a field, one of its parents or one of its children.
pub(crate) fn owns(object: &Value, manager: &str, path: &[PathStep]) -> bool {
    applied_by(object, manager).is_some_and(|fields| contains(fields, object, path))
}

/// Returns whether an entry of the managed fields contains a field of `object`, one of its parents or one of its children.
pub(crate) fn entry_owns(entry: &Value, object: &Value, path: &[PathStep]) -> bool {
    let fields = &entry["fieldsV1"];
    fields.as_object().is_some_and(|set| !set.is_empty()) && contains(fields, object, path)
}

/// Returns whether a field set contains the field at `path` of `value`, one of its parents or one of its children.
pub(crate) fn contains(fields: &Value, value: &Value, path: &[PathStep]) -> bool {
    let (Some(fields), Some((first, rest))) = (fields.as_object(), path.split_first()) else { return true };
    match first {
        _ if fields.is_empty() => true,
        PathStep::Key(key) => {
            fields.get(&format!("f:{key}")).is_some_and(|below| contains(below, &value[key.as_str()], rest))
        }
        // Nobody owns the items of a list that is too long to tell.
        PathStep::Index(_) if !can_find_items(value, fields) => false,
        PathStep::Index(index) => {
            let Some(item) = value.get(index) else { return false };
            fields.iter().any(|(step, below)| child(value, step) == Some(item) && contains(below, item, rest))
        }
    }
}

/// Returns whether the items of a list can be found by the steps of a field set in a reasonable time. Each step is compared
/// with each item, and the guest's administrator decides how many there are.
pub(crate) fn can_find_items(value: &Value, fields: &Map<String, Value>) -> bool {
    value.as_array().map_or(0, Vec::len).saturating_mul(fields.len()) <= MAX_COMPARISONS
}

/// Returns a digest of the values in the fields that transship applied. It changes if someone changes one of these
/// values or takes over one of these fields, and only then. `None` if transship applied nothing, or if a list is too long.
pub(crate) fn digest(object: &Value) -> Option<String> {
    let mut hash = Sha256::new();
    hash_fields(Some(object), ours(object)?.as_object()?, &mut hash)?;
    Some(digests::of_hash(hash))
}

fn hash_fields(value: Option<&Value>, fields: &Map<String, Value>, hash: &mut Sha256) -> Option<()> {
    if fields.is_empty() {
        hash.update(value.map(Value::to_string).unwrap_or_default());
    }
    if value.is_some_and(|value| !can_find_items(value, fields)) {
        return None;
    }
    for (step, below) in fields {
        hash.update(step);
        hash.update([0]);
        if step == "." {
            hash.update([u8::from(value.is_some())]);
        } else if let Some(below) = below.as_object() {
            hash_fields(value.and_then(|value| child(value, step)), below, hash)?;
        }
    }
    Some(())
}

/// Returns the value that a step of a field set leads to.
pub(crate) fn child<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match resolve_step(value, step)? {
        PathStep::Key(key) => value.get(key),
        PathStep::Index(index) => value.get(index),
    }
}

/// Returns the value that a step of a field set leads to, to change it.
pub(crate) fn child_mut<'v>(value: &'v mut Value, step: &str) -> Option<&'v mut Value> {
    match resolve_step(value, step)? {
        PathStep::Key(key) => value.get_mut(key),
        PathStep::Index(index) => value.get_mut(index),
    }
}

/// Resolves a step of a field set: `f:name`, `k:{"name":"x"}`, `v:"x"` or `i:0`.
pub(crate) fn resolve_step(value: &Value, step: &str) -> Option<PathStep> {
    let (kind, name) = step.split_once(':')?;
    match kind {
        "f" => Some(PathStep::Key(name.to_owned())),
        "k" => {
            let keys: Map<String, Value> = serde_json::from_str(name).ok()?;
            let has_keys = |item: &Value| keys.iter().all(|(key, wanted)| item.get(key) == Some(wanted));
            value.as_array()?.iter().position(has_keys).map(PathStep::Index)
        }
        "v" => {
            let wanted: Value = serde_json::from_str(name).ok()?;
            value.as_array()?.iter().position(|item| *item == wanted).map(PathStep::Index)
        }
        "i" => name.parse().ok().map(PathStep::Index),
        _ => None,
    }
}

/// Returns whether an entry belongs to a manager whose fields `--adopt` transfers.
pub(crate) fn is_previous_manager(entry: &Value) -> bool {
    let manager = entry["manager"].as_str().unwrap_or_default();
    entry["operation"] == "Update"
        && entry.get("subresource").is_none()
        && (PREVIOUS_MANAGERS.contains(&manager) || manager == MANAGER)
}

/// Returns whether transship created or applied an object, under either of its field managers.
pub(crate) fn is_written_by_us(object: &Value) -> bool {
    ours(object).is_some() || entries(object).any(|entry| entry["manager"] == SEED_MANAGER)
}

/// Returns whether transship only created an object, and others set fields of it since. A create request is not an apply,
/// so the entry of `transship-seed` says which of the two it was.
pub(crate) fn is_changed_since_creation(object: &Value) -> bool {
    let is_created =
        entries(object).any(|entry| entry["manager"] == SEED_MANAGER && entry["operation"] == "Update");
    let is_ours = |entry: &Value| entry["manager"] == SEED_MANAGER || entry["manager"] == MANAGER;
    is_created && entries(object).any(|entry| !is_ours(entry) && entry.get("subresource").is_none())
}

/// Returns the merge patch that rewrites managed-fields entries from one API version to another; `None` if no entry has
/// the old version. Needed if a CRD no longer serves the version in which a manager applied its fields.
pub(crate) fn api_version_patch(object: &Value, from: &str, to: &str) -> Option<Value> {
    let mut entries: Vec<Value> = entries(object).cloned().collect();
    let mut any = false;
    for entry in entries.iter_mut().filter(|entry| entry["apiVersion"] == from) {
        entry["apiVersion"] = json!(to);
        any = true;
    }
    any.then(|| replace_entries(object, &entries.iter().collect::<Vec<_>>()))
}

/// Returns the merge patch that replaces all managed-fields entries. The resource version makes the API server reject it
/// if someone wrote the object since it was read.
pub(crate) fn replace_entries(object: &Value, entries: &[&Value]) -> Value {
    json!({"metadata": {
        "managedFields": entries, "resourceVersion": object["metadata"]["resourceVersion"],
    }})
}

/// Adds the fields of one field set to another.
pub(crate) fn merge_field_sets(into: &mut Value, other: &Value) {
    if let (Some(into), Some(other)) = (into.as_object_mut(), other.as_object()) {
        for (step, below) in other {
            merge_field_sets(into.entry(step.clone()).or_insert_with(|| json!({})), below);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        MANAGER, SEED_MANAGER, api_version_patch, digest, has_unsplit_seeds, is_changed_since_creation,
        is_previous_manager, is_written_by_us, owns, resolve_step,
    };
    use crate::apply::decide::inventory::PART_OF;
    use crate::object::path::PathStep::{Index, Key};

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
    fn digest_depends_on_our_fields_only() {
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
    fn a_list_with_very_many_steps_has_no_digest_and_no_owner() {
        // Comparing each step with each item would take 10^10 steps.
        let steps = |name: &str| -> serde_json::Map<String, serde_json::Value> {
            (0..100_000).map(|number| (format!("v:\"{name}{number}\""), json!({}))).collect()
        };
        let items: Vec<String> = (0..100_000).map(|number| format!("item{number}")).collect();
        let object = |steps| {
            json!({"args": items, "metadata": {"managedFields": [
                {"manager": MANAGER, "operation": "Apply", "fieldsV1": {"f:args": steps}},
            ]}})
        };
        assert_eq!(digest(&object(steps("step"))), None);
        assert!(!owns(&object(steps("item")), MANAGER, &[Key("args".to_owned()), Index(99_999)]));
        assert!(digest(&object(steps("step").into_iter().take(10).collect())).is_some());
    }

    #[test]
    fn the_message_of_a_conflict_names_the_manager() {
        for (message, expected) in [
            (r#"conflict with "cluster-version-operator""#, Some("cluster-version-operator")),
            (r#"conflict with "kubectl-edit" using apps/v1"#, Some("kubectl-edit")),
            (r#"conflict with "a \"b\"" with subresource "scale" using v1"#, Some(r#"a "b""#)),
            ("conflict with ", None),
            ("something else", None),
        ] {
            assert_eq!(super::conflicting_manager(message).as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn owns_finds_fields_above_and_below() {
        let object = object(1, "i", "o");
        let key = |key: &str| Key(key.to_owned());
        for (path, expected) in [
            (vec![key("spec")], true),
            (vec![key("spec"), key("replicas")], true),
            (vec![key("spec"), key("replicas"), key("below")], true),
            (vec![key("spec"), key("other")], false),
            (vec![key("spec"), key("containers"), Index(1), key("image")], true),
            (vec![key("spec"), key("containers"), Index(1), key("pull")], false),
            (vec![key("spec"), key("containers"), Index(0), key("image")], false),
            (vec![key("spec"), key("containers"), Index(7), key("image")], false),
        ] {
            assert_eq!(owns(&object, MANAGER, &path), expected, "{path:?}");
            assert!(!owns(&object, "nobody", &path));
        }
    }

    #[test]
    fn api_version_patch_rewrites_entries_of_the_old_version() {
        let mut old = object(1, "i", "o");
        old["metadata"]["managedFields"][0]["apiVersion"] = json!("example.test/v1beta1");
        old["metadata"]["managedFields"][1]["apiVersion"] = json!("example.test/v1");
        assert_eq!(api_version_patch(&old, "example.test/v1alpha1", "example.test/v1"), None);
        let patch = api_version_patch(&old, "example.test/v1beta1", "example.test/v1").unwrap();
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let entries = patch["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.len(), 2);
        assert!(entries.iter().all(|entry| entry["apiVersion"] == "example.test/v1"));
        assert_eq!(entries[0]["fieldsV1"], old["metadata"]["managedFields"][0]["fieldsV1"]);
    }

    #[test]
    fn a_step_is_resolved_by_name_keys_value_or_index() {
        let items = json!([{"name": "a", "port": 1}, {"name": "a", "port": 2}, "x"]);
        for (step, expected) in [
            ("f:spec", Some(Key("spec".to_owned()))),
            ("k:{\"name\":\"a\",\"port\":2}", Some(Index(1))),
            ("k:{\"name\":\"b\"}", None),
            ("v:\"x\"", Some(Index(2))),
            ("v:\"y\"", None),
            ("i:1", Some(Index(1))),
            ("i:x", None),
            ("z:1", None),
            (".", None),
        ] {
            assert_eq!(resolve_step(&items, step), expected, "{step}");
        }
    }

    #[test]
    fn a_created_object_is_changed_if_others_own_fields() {
        let object = |entries: serde_json::Value| json!({"metadata": {"managedFields": entries}});
        let created = json!({"manager": SEED_MANAGER, "operation": "Update"});
        let applied = json!({"manager": SEED_MANAGER, "operation": "Apply"});
        let pinned = json!({"manager": MANAGER, "operation": "Apply"});
        let user = json!({"manager": "kubectl-edit", "operation": "Update"});
        let status = json!({"manager": "controller", "operation": "Update", "subresource": "status"});
        for (entries, expected) in [
            (json!([created, pinned, user]), true),
            (json!([created, pinned, status]), false),
            (json!([created]), false),
            (json!([applied, user]), false),
            (json!([pinned, user]), false),
        ] {
            assert_eq!(is_changed_since_creation(&object(entries.clone())), expected, "{entries}");
        }
    }

    #[test]
    fn operators_of_hypershift_and_tools_for_manifests_are_previous_managers() {
        for manager in [
            "hypershift-controlplane-manager",
            "hypershift-operator-manager",
            "hosted-cluster-config-operator-manager",
            "cluster-version-operator",
            "helm",
            "oc",
        ] {
            let entry = |operation: &str| json!({"manager": manager, "operation": operation});
            assert!(is_previous_manager(&entry("Update")), "{manager}");
            assert!(!is_previous_manager(&entry("Apply")), "{manager}");
        }
        assert!(!is_previous_manager(&json!({"manager": "kube-controller-manager", "operation": "Update"})));
    }

    #[test]
    fn an_object_is_written_by_us_under_either_manager() {
        let mut object = object(1, "i", "o");
        assert!(is_written_by_us(&object));
        object["metadata"]["managedFields"][0]["manager"] = json!("another");
        assert!(!is_written_by_us(&object));
        object["metadata"]["managedFields"][1]["manager"] = json!(SEED_MANAGER);
        assert!(is_written_by_us(&object));
    }

    #[test]
    fn seeds_are_unsplit_while_the_seed_manager_owns_the_label_of_the_set() {
        let mut object = object(1, "i", "o");
        object["metadata"]["managedFields"][1] = json!({
            "manager": SEED_MANAGER, "operation": "Apply",
            "fieldsV1": {"f:metadata": {"f:labels": {format!("f:{PART_OF}"): {}}}},
        });
        assert!(has_unsplit_seeds(&object));
        object["metadata"]["managedFields"][1]["fieldsV1"] = json!({"f:spec": {"f:replicas": {}}});
        assert!(!has_unsplit_seeds(&object));
    }
}
