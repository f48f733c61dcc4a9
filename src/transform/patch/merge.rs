//! Merge patch, RFC 7386: maps merge, null removes, everything else takes the place of what was there.

use crate::yaml::{Map, Node, Value};

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
            let mut fresh = Node { value: Value::Null, mark: change.value.mark };
            merge(&mut fresh, &change.value);
            map.insert(crate::yaml::Entry { value: fresh, ..change.clone() });
        }
    }
}
