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
    for change in changes {
        if change.value.value == Value::Null {
            map.remove(&change.key);
        } else if let Some(current) = map.get_mut(&change.key) {
            merge(current, &change.value);
        } else {
            // Merging into null removes the nulls inside a new value, as the RFC says.
            let mut new = Node { value: Value::Null, mark: change.value.mark };
            merge(&mut new, &change.value);
            map.insert(Entry { value: new, ..change.clone() });
        }
    }
}
