//! Removes annotations that no cluster needs.

use crate::glob;
use crate::language::Marked;
use crate::object::{Cause, ISSUED, Object, metadata, remove_annotation};
use crate::yaml::{Node, Text};

/// Removes the annotations that match a pattern, and those for transship itself.
pub(super) fn apply(objects: &mut [Object], patterns: &[Marked<String>]) {
    for object in objects {
        let annotations = metadata(&object.root, "annotations").and_then(Node::as_map);
        let stripped: Vec<Text> = annotations
            .into_iter()
            .flatten()
            .map(|entry| &entry.key)
            .filter(|key| is_stripped(key, patterns))
            .cloned()
            .collect();
        if stripped.is_empty() {
            continue;
        }
        for key in stripped {
            remove_annotation(&mut object.root, &key);
        }
        object.history.record(&object.root, || Cause::Strip);
    }
}

fn is_stripped(key: &str, patterns: &[Marked<String>]) -> bool {
    let for_transship = key.starts_with("transship.openshift.io/") && key != ISSUED;
    for_transship || patterns.iter().any(|pattern| glob::matches(&pattern.value, key))
}
