//! Annotations that have done their work.

use super::issued;
use crate::glob;
use crate::object::Object;
use crate::profile::Marked;
use crate::yaml::{Text, Value};

/// Removes annotations by pattern; ours, which no cluster should see, always.
pub(super) fn apply(objects: &mut [Object], patterns: &[Marked<String>]) {
    let ours = |key: &str| glob::matches("transship.openshift.io/*", key) && key != issued::ORIGIN;
    let goes = |key: &str| ours(key) || patterns.iter().any(|pattern| glob::matches(&pattern.value, key));
    for object in objects {
        let Some(metadata) = object.root.get_mut("metadata") else { continue };
        let Some(Value::Map(annotations)) = metadata.get_mut("annotations").map(|node| &mut node.value)
        else {
            continue;
        };
        let gone: Vec<Text> =
            annotations.iter().map(|entry| entry.key.clone()).filter(|key| goes(key)).collect();
        for key in &gone {
            annotations.remove(key);
        }
        let empty = annotations.is_empty() && !gone.is_empty();
        if let (true, Value::Map(metadata)) = (empty, &mut metadata.value) {
            metadata.remove("annotations");
        }
    }
}
