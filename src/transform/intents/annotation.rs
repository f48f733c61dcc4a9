//! Annotations that ask for something.

use crate::yaml::{Node, Value};

/// An annotation of an object.
pub(super) fn get<'n>(root: &'n Node, key: &str) -> Option<&'n Node> {
    root.get("metadata")?.get("annotations")?.get(key)
}

/// The names in an annotation that lists them with commas.
pub(super) fn names(list: &Node) -> impl Iterator<Item = &str> {
    list.as_str().unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Removes an annotation, and the map if nothing is left of it.
pub(super) fn remove(root: &mut Node, key: &str) {
    remove_from(root, "annotations", key);
}

/// Removes a label, and the map if nothing is left of it.
pub(super) fn remove_label(root: &mut Node, key: &str) {
    remove_from(root, "labels", key);
}

fn remove_from(root: &mut Node, field: &str, key: &str) {
    let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) else { return };
    let Some(Value::Map(map)) = metadata.get_mut(field).map(|node| &mut node.value) else { return };
    map.remove(key);
    if map.is_empty() {
        metadata.remove(field);
    }
}
