//! Annotations that have done their work.

use crate::glob;
use crate::language::Marked;
use crate::object::{Cause, ISSUED, Object};
use crate::yaml::{Node, Text, Value};

/// Removes annotations by pattern; ours, which no cluster should see, always.
pub(super) fn apply(objects: &mut [Object], patterns: &[Marked<String>]) {
    let ours = |key: &str| glob::matches("transship.openshift.io/*", key) && key != ISSUED;
    let goes = |key: &str| ours(key) || patterns.iter().any(|pattern| glob::matches(&pattern.value, key));
    for object in objects {
        let annotations = object.root.get("metadata").and_then(|metadata| metadata.get("annotations"));
        let keys = annotations.and_then(Node::as_map).into_iter().flatten().map(|entry| entry.key.clone());
        let gone: Vec<Text> = keys.filter(|key| goes(key)).collect();
        if !gone.is_empty() {
            remove(&mut object.root, &gone);
            object.history.note(&object.root, || Cause::Strip);
        }
    }
}

fn remove(root: &mut Node, gone: &[Text]) {
    let Some(metadata) = root.get_mut("metadata") else { return };
    let Some(Value::Map(annotations)) = metadata.get_mut("annotations").map(|node| &mut node.value) else {
        return;
    };
    for key in gone {
        annotations.remove(key);
    }
    let empty = annotations.is_empty();
    if let (true, Value::Map(metadata)) = (empty, &mut metadata.value) {
        metadata.remove("annotations");
    }
}
