//! Labels and annotations without an entry. Kubernetes reads null and an empty map as if the field was not there.

use crate::expand::View;
use crate::object::{Object, metadata, pod, pod_mut};
use crate::yaml::{Node, Value};

/// Removes `labels` and `annotations` that are null or empty from objects and pod templates. An empty map stays if the
/// manifest has it.
pub(super) fn remove(objects: &mut [Object], view: &View<'_>) {
    for object in objects {
        let manifest = object.manifest.map(|index| &view.payload.manifests[index].root);
        let kind = object.id.kind.clone();
        remove_from(&mut object.root, manifest);
        if let Some(template) = pod_mut(&mut object.root, &kind) {
            remove_from(template, manifest.and_then(|root| pod(root, &kind)));
        }
    }
}

fn remove_from(node: &mut Node, manifest: Option<&Node>) {
    for field in ["labels", "annotations"] {
        let is_written = |value: &Value| {
            manifest.and_then(|root| metadata(root, field)).is_some_and(|written| written.value == *value)
        };
        let is_empty = match metadata(node, field).map(|map| &map.value) {
            Some(Value::Null) => true,
            Some(value @ Value::Map(map)) => map.is_empty() && !is_written(value),
            _ => false,
        };
        if is_empty && let Some(Value::Map(metadata)) = node.get_mut("metadata").map(|node| &mut node.value) {
            metadata.remove(field);
        }
    }
}
