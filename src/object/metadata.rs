//! The metadata of an object: labels, annotations and other fields.

use super::DELETE;
use crate::yaml::{Map, Node, Value};

/// Returns a field of `metadata`.
pub(crate) fn metadata<'n>(root: &'n Node, field: &str) -> Option<&'n Node> {
    root.get("metadata")?.get(field)
}

/// Returns a field of `metadata` that is a string.
pub(crate) fn metadata_text<'n>(root: &'n Node, field: &str) -> Option<&'n str> {
    metadata(root, field)?.as_str()
}

/// Returns the value of an annotation.
pub(crate) fn annotation<'n>(root: &'n Node, key: &str) -> Option<&'n Node> {
    metadata(root, "annotations")?.get(key)
}

/// Returns the value of a label.
pub(crate) fn label<'n>(root: &'n Node, key: &str) -> Option<&'n Node> {
    metadata(root, "labels")?.get(key)
}

/// Removes an annotation, and `metadata.annotations` if it becomes empty.
pub(crate) fn remove_annotation(root: &mut Node, key: &str) {
    remove(root, "annotations", key);
}

/// Removes a label, and `metadata.labels` if it becomes empty.
pub(crate) fn remove_label(root: &mut Node, key: &str) {
    remove(root, "labels", key);
}

fn remove(root: &mut Node, field: &str, key: &str) {
    let Some(Value::Map(metadata)) = root.get_mut("metadata").map(|node| &mut node.value) else { return };
    let Some(Value::Map(map)) = metadata.get_mut(field).map(|node| &mut node.value) else { return };
    map.remove(key);
    if map.is_empty() {
        metadata.remove(field);
    }
}

/// Returns whether an object is a tombstone: it is to be deleted.
pub(crate) fn is_tombstone(root: &Node) -> bool {
    annotation(root, DELETE).and_then(Node::as_str) == Some("true")
}

/// Returns the value of a label or annotation as Kubernetes reads it: null is an empty string. Returns `None` for a value
/// that Kubernetes rejects.
pub(crate) fn label_text(value: &Node) -> Option<&str> {
    match &value.value {
        Value::Null => Some(""),
        _ => value.as_str(),
    }
}

/// The annotations of an object as the cluster-version-operator reads them: null is an empty string, and if one of them is
/// anything else than a string, it sees none.
pub(crate) struct Annotations<'a>(Option<&'a Node>);

impl<'a> Annotations<'a> {
    /// Returns the annotations of an object.
    pub(crate) fn of(root: &'a Node) -> Self {
        let annotations = metadata(root, "annotations");
        let all_strings = annotations
            .and_then(Node::as_map)
            .is_some_and(|map| map.iter().all(|entry| label_text(&entry.value).is_some()));
        Self(annotations.filter(|_| all_strings))
    }

    /// Returns whether the object has annotations. An empty map counts.
    pub(crate) fn exist(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the annotations whose keys start with a prefix: the rest of the key, and the value.
    pub(crate) fn with_prefix(
        &self,
        prefix: &'static str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let entries = self.0.and_then(Node::as_map).into_iter().flat_map(Map::iter);
        entries.filter_map(move |entry| Some((entry.key.strip_prefix(prefix)?, label_text(&entry.value)?)))
    }

    /// Returns the value of an annotation.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        label_text(self.0?.get(key)?)
    }
}
