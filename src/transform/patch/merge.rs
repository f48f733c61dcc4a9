//! JSON merge patch (RFC 7386): maps merge, null removes a key, every other value replaces the old one.

use crate::yaml::{Entry, Map, Node, Value};

/// Applies a merge patch.
pub fn merge(target: &mut Node, patch: &Node) {
    let Value::Map(changes) = &patch.value else {
        *target = patch.clone();
        return;
    };
    if target.as_map().is_none() {
        *target = Node { value: Value::Map(Map::default()), mark: patch.mark };
    }
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
            // Merging into null removes the nulls inside a new value, as the RFC says.
            let mut new = Node { value: Value::Null, mark: change.value.mark };
            merge(&mut new, &change.value);
            added.push(Entry { value: new, ..change.clone() });
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
