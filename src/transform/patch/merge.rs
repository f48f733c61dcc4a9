//! JSON merge patch (RFC 7386): maps merge, null removes a key, every other value replaces the old one.
//!
//! As in Kubernetes, maps inside of a list lose their nulls, unless the list replaces a map. RFC 7386 keeps all of them.

use crate::yaml::{Entry, Map, Node, Value};

/// Applies a merge patch.
pub fn merge(target: &mut Node, patch: &Node) {
    let Value::Map(changes) = &patch.value else {
        *target = if target.as_map().is_some() { patch.clone() } else { without_nulls(patch) };
        return;
    };
    if target.as_map().is_none() {
        *target = patch.with_value(Value::Map(Map::default()));
    }
    target.sensitivity = target.sensitivity.max(patch.sensitivity);
    let Value::Map(map) = &mut target.value else { return };
    remove_nulls(map, changes);
    // Adds all new keys at once, because each insertion moves the keys after it.
    let mut added = Vec::new();
    for change in changes {
        if change.value.value == Value::Null {
            continue;
        }
        if let Some(current) = map.get_mut(&change.key) {
            merge(current, &change.value);
        } else {
            added.push(Entry { value: without_nulls(&change.value), ..change.clone() });
        }
    }
    map.extend(added);
}

/// Removes the keys that a patch sets to null.
pub(super) fn remove_nulls(map: &mut Map, changes: &Map) {
    let is_null = |node: &Node| node.value == Value::Null;
    if changes.iter().any(|change| is_null(&change.value)) {
        map.retain(|entry| !changes.get(&entry.key).is_some_and(is_null));
    }
}

/// Returns a value whose maps have no keys that are null.
fn without_nulls(node: &Node) -> Node {
    let value = match &node.value {
        Value::Map(map) => {
            let kept = map.iter().filter(|entry| entry.value.value != Value::Null);
            Value::Map(
                kept.map(|entry| Entry { value: without_nulls(&entry.value), ..entry.clone() }).collect(),
            )
        }
        Value::List(items) => Value::List(items.iter().map(without_nulls).collect()),
        scalar => scalar.clone(),
    };
    node.with_value(value)
}
