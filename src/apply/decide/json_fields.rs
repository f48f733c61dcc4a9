//! Reading, copying and removing single fields of a JSON object.

use serde_json::{Map, Value, json};

use crate::object::path::PathStep;

/// The path of a field inside an object.
pub(crate) type FieldPath = Vec<PathStep>;

/// Removes every key whose value is null.
pub(crate) fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// Removes a field, and the maps around it that become empty. If transship applied an empty map, it would own
/// everything that others put into the map.
pub(crate) fn remove(value: &mut Value, path: &[PathStep]) {
    let Some((first, rest)) = path.split_first() else { return };
    match (first, value) {
        (PathStep::Key(key), Value::Object(map)) if rest.is_empty() => {
            map.remove(key);
        }
        (PathStep::Key(key), Value::Object(map)) => {
            let Some(below) = map.get_mut(key) else { return };
            remove(below, rest);
            if below.as_object().is_some_and(Map::is_empty) {
                map.remove(key);
            }
        }
        (PathStep::Index(index), Value::Array(items)) => {
            if let Some(item) = items.get_mut(*index) {
                remove(item, rest);
            }
        }
        _ => {}
    }
}

/// Copies a field into another object. List items on the path are matched by name, and created with only their name.
pub(crate) fn copy(from: &Value, to: &mut Value, path: &[PathStep]) -> Option<()> {
    let Some((first, rest)) = path.split_first() else {
        *to = from.clone();
        return Some(());
    };
    match first {
        PathStep::Key(key) => {
            let empty = match rest.first() {
                Some(PathStep::Index(_)) => json!([]),
                _ => json!({}),
            };
            let entry = to.as_object_mut()?.entry(key.clone());
            copy(from.get(key)?, entry.or_insert(empty), rest)
        }
        PathStep::Index(index) => {
            let item = from.get(index)?;
            let items = to.as_array_mut()?;
            let position = items.iter().position(|other| other["name"] == item["name"]);
            let position = position.unwrap_or_else(|| {
                items.push(json!({"name": item["name"]}));
                items.len() - 1
            });
            copy(item, &mut items[position], rest)
        }
    }
}

/// Merges one object into another. List items with the same name are merged.
pub(crate) fn merge(into: &mut Value, other: &Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (key, value) in other {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(other)) => {
            for item in other {
                match into.iter_mut().find(|existing| existing["name"] == item["name"]) {
                    Some(existing) => merge(existing, item),
                    None => into.push(item.clone()),
                }
            }
        }
        (into, other) => *into = other.clone(),
    }
}

/// Returns an object with only its identity: `apiVersion`, `kind`, name and namespace.
pub(crate) fn identity(object: &Value) -> Value {
    let metadata = &object["metadata"];
    let mut identity = json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": {"name": metadata["name"]},
    });
    if let Some(namespace) = metadata.get("namespace") {
        identity["metadata"]["namespace"] = namespace.clone();
    }
    identity
}

/// Returns an object with only its identity and the fields at `paths`; `None` if it has none of them.
pub(crate) fn select(object: &Value, paths: &[FieldPath]) -> Option<Value> {
    let mut selected = identity(object);
    let mut any = false;
    for path in paths {
        any |= copy(object, &mut selected, path).is_some();
    }
    any.then_some(selected)
}

/// Returns the part of an object that has the same keys as `shape`. The values of `shape` do not matter.
pub(crate) fn values_in_shape(object: &Value, shape: &Value) -> Value {
    let (Some(map), Some(shape)) = (object.as_object(), shape.as_object()) else { return object.clone() };
    let mut fields = Map::new();
    for (key, below) in shape {
        if let Some(value) = map.get(key) {
            fields.insert(key.clone(), values_in_shape(value, below));
        }
    }
    Value::Object(fields)
}

/// Returns whether every list item on `path` in `object` also exists in `other`, by name.
pub(crate) fn has_items_on_path(other: &Value, object: &Value, path: &[PathStep]) -> bool {
    match path.split_first() {
        None => true,
        Some((PathStep::Key(key), rest)) => {
            has_items_on_path(&other[key.as_str()], &object[key.as_str()], rest)
        }
        Some((PathStep::Index(index), rest)) => {
            let item = &object[*index];
            let mut items = other.as_array().into_iter().flatten();
            items
                .find(|candidate| candidate["name"] == item["name"])
                .is_some_and(|same| has_items_on_path(same, item, rest))
        }
    }
}

/// Returns an object without its status and without the metadata that the API server sets.
pub(crate) fn without_server_fields(mut object: Value) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"] {
            metadata.remove(field);
        }
    }
    object
}

/// Returns the JSON merge patch (RFC 7386) that turns one object into another.
pub(crate) fn merge_patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for (key, value) in to {
        match from.get(key) {
            Some(before) if before == value => {}
            Some(before) => _ = patch.insert(key.clone(), merge_patch(before, value)),
            None => _ = patch.insert(key.clone(), value.clone()),
        }
    }
    for key in from.keys().filter(|key| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{
        FieldPath, copy, has_items_on_path, merge, merge_patch, remove, remove_nulls, select, values_in_shape,
    };
    use crate::object::path::locations;
    use crate::yaml::Node;

    /// Returns the only location of a path in an object.
    fn location(object: &Value, path: &str) -> FieldPath {
        let mut locations = locations(&Node::from(object), path);
        assert_eq!(locations.len(), 1, "{path} in {object}");
        locations.remove(0)
    }

    fn pod() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns", "labels": {"a": "b"}},
            "spec": {"containers": [
                {"name": "c", "image": "i", "resources": {"limits": {"cpu": 1}}},
                {"name": "d", "image": "j"},
            ]},
        })
    }

    #[test]
    fn a_removed_field_leaves_no_empty_maps_but_keeps_list_items() {
        let mut pod = pod();
        let cpu = location(&pod, "/spec/containers/[name=c]/resources/limits/cpu");
        let image = location(&pod, "/spec/containers/[name=d]/image");
        remove(&mut pod, &cpu);
        remove(&mut pod, &image);
        assert_eq!(pod["spec"], json!({"containers": [{"name": "c", "image": "i"}, {"name": "d"}]}));
        remove(&mut pod, &cpu);
        assert_eq!(pod["spec"], json!({"containers": [{"name": "c", "image": "i"}, {"name": "d"}]}));
    }

    #[test]
    fn nulls_are_removed_at_every_depth() {
        let mut object = json!({"a": null, "b": {"c": null, "d": 1}, "l": [{"e": null, "f": 2}, null]});
        remove_nulls(&mut object);
        assert_eq!(object, json!({"b": {"d": 1}, "l": [{"f": 2}, null]}));
    }

    #[test]
    fn selected_fields_keep_their_list_items_by_name() {
        let pod = pod();
        let paths = [
            location(&pod, "/spec/containers/[name=d]/image"),
            location(&pod, "/spec/containers/[name=c]/image"),
            location(&pod, "/spec/containers/[name=c]/resources"),
            location(&pod, "/spec/containers/[name=d]/image"),
        ];
        let identity =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ns"}});
        let mut expected = identity.clone();
        expected["spec"] = json!({"containers": [
            {"name": "d", "image": "j"},
            {"name": "c", "image": "i", "resources": {"limits": {"cpu": 1}}},
        ]});
        assert_eq!(select(&pod, &paths), Some(expected));
        let without_containers = identity.clone();
        assert_eq!(select(&without_containers, &paths), None);
    }

    #[test]
    fn fields_that_do_not_exist_are_not_selected() {
        let pod = pod();
        let label = location(&pod, "/metadata/labels/a");
        let mut other = pod.clone();
        other["metadata"]["labels"] = json!({"c": "d"});
        let other_label = location(&other, "/metadata/labels/c");
        let selected = select(&pod, &[label.clone(), other_label.clone()]).unwrap();
        assert_eq!(selected["metadata"]["labels"], json!({"a": "b"}));
        assert_eq!(select(&pod, std::slice::from_ref(&other_label)), None);
        let mut target = json!({});
        assert_eq!(copy(&pod, &mut target, &other_label), None);
        assert_eq!(copy(&pod, &mut target, &label), Some(()));
        assert_eq!(target, json!({"metadata": {"labels": {"a": "b"}}}));
    }

    #[test]
    fn merge_combines_items_with_the_same_name() {
        let mut into = json!({"a": 1, "b": {"c": 1}, "l": [{"name": "x", "p": 1}, {"name": "y"}]});
        merge(&mut into, &json!({"a": 2, "b": {"d": 2}, "l": [{"name": "y", "q": 2}, {"name": "z"}]}));
        assert_eq!(
            into,
            json!({"a": 2, "b": {"c": 1, "d": 2},
                "l": [{"name": "x", "p": 1}, {"name": "y", "q": 2}, {"name": "z"}]})
        );
    }

    #[test]
    fn values_in_shape_has_the_keys_of_the_shape_and_the_values_of_the_object() {
        let object = json!({"spec": {"a": 1, "b": {"c": 2, "d": 3}, "l": [1, 2]}, "data": {}});
        let shape = json!({"spec": {"b": {"c": 9}, "l": [9], "missing": 9}});
        assert_eq!(values_in_shape(&object, &shape), json!({"spec": {"b": {"c": 2}, "l": [1, 2]}}));
    }

    #[test]
    fn items_on_a_path_are_found_by_name() {
        let live = pod();
        let rendered = json!({"spec": {"containers": [{"name": "d"}]}});
        for (path, expected) in [
            ("/spec/containers/[name=d]/image", true),
            ("/spec/containers/[name=c]/image", false),
            ("/metadata/labels/a", true),
        ] {
            assert_eq!(has_items_on_path(&rendered, &live, &location(&live, path)), expected, "{path}");
        }
    }

    #[test]
    fn merge_patch_contains_only_differences() {
        let from = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2], "m": {"x": 1}});
        let to = json!({"a": 1, "b": {"c": 3}, "l": [2], "m": "text", "n": {"o": 1}});
        assert_eq!(
            merge_patch(&from, &to),
            json!({"b": {"c": 3, "d": null}, "l": [2], "m": "text", "n": {"o": 1}})
        );
        assert_eq!(merge_patch(&to, &to), json!({}));
    }
}
