//! Masks sensitive values: those of secret parameters and of Secrets.
//!
//! [`Node::sensitivity`] marks these values. Only rendered objects show them. All other output masks them: `json::show`
//! masks a single value, [`text`] masks a string for a message, and [`mask`] masks two versions of an object for a
//! diff.

use super::path::{self, item_segments, named_segment};
use super::{ISSUED, is_secret};
use crate::yaml::json::HIDDEN;
use crate::yaml::{Map, Mark, Node, Sensitivity, Value};

/// The fields of a Secret that are not secret, besides `metadata`.
const PUBLIC_FIELDS: [&str; 4] = ["apiVersion", "immutable", "kind", "type"];

/// Returns whether messages must not show the value of a node.
pub(crate) fn is_sensitive(node: &Node) -> bool {
    node.sensitivity > Sensitivity::Public
}

/// Returns whether an object is a Secret, or has a sensitive value.
pub(crate) fn has_sensitive(root: &Node) -> bool {
    is_secret(root) || root.highest_sensitivity() > Sensitivity::Public
}

/// Returns the text of a node for a message, or a placeholder if it is sensitive.
pub(crate) fn text(node: &Node) -> &str {
    if is_sensitive(node) { HIDDEN } else { node.as_str().unwrap_or_default() }
}

/// Marks the values of a Secret as sensitive: everything but its type, its keys and its metadata. Also marks
/// annotations, because `kubectl apply` copies the data into one of them, except the annotation of an issued Secret.
/// Does not change other objects.
pub(crate) fn protect_secret(root: &mut Node) {
    if !is_secret(root) {
        return;
    }
    let Value::Map(fields) = &mut root.value else { return };
    for (field, node) in fields.entries_mut() {
        if field == "metadata" {
            protect_annotations(node);
        } else if !PUBLIC_FIELDS.contains(&field) {
            protect_values(node);
        }
    }
}

fn protect_annotations(metadata: &mut Node) {
    let Some(annotations) = metadata.get_mut("annotations") else { return };
    let Value::Map(map) = &mut annotations.value else { return protect_values(annotations) };
    for (key, node) in map.entries_mut() {
        if key != ISSUED {
            node.protect(Sensitivity::Masked);
        }
    }
}

/// Marks the values of a map as sensitive and leaves its keys public; any other value is sensitive itself.
fn protect_values(node: &mut Node) {
    match &mut node.value {
        Value::Map(map) => map.values_mut().for_each(|value| value.protect(Sensitivity::Masked)),
        _ => node.protect(Sensitivity::Masked),
    }
}

/// Marks each field of `other` as sensitive if the same field of `model` is. Both are versions of one object. `other`
/// comes from a file or an API server, so its list items may be in another order. An item of `model` without a name
/// therefore marks every item of the list.
pub(crate) fn protect_like(other: &mut Node, model: &Node) {
    if has_sensitive(model)
        && let Some(copy) = annotation_mut(other, LAST_APPLIED)
    {
        copy.protect(Sensitivity::Masked);
    }
    protect_secret(other);
    protect_same_fields(other, model);
}

/// The annotation in which `kubectl apply` keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn annotation_mut<'n>(root: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    root.get_mut("metadata")?.get_mut("annotations")?.get_mut(name)
}

fn protect_same_fields(other: &mut Node, model: &Node) {
    if is_sensitive(model) {
        other.protect(model.sensitivity);
        return;
    }
    match (&mut other.value, &model.value) {
        (Value::Map(other), Value::Map(model)) => {
            for (key, value) in other.entries_mut() {
                if let Some(model) = model.get(key) {
                    protect_same_fields(value, model);
                }
            }
        }
        (Value::List(items), Value::List(models)) => {
            let sensitive = |model: &&Node| model.highest_sensitivity() > Sensitivity::Public;
            for model in models.iter().filter(sensitive) {
                let name = named_segment(model);
                for item in items.iter_mut() {
                    if name.is_none() || named_segment(item) == name {
                        protect_same_fields(item, model);
                    }
                }
            }
        }
        _ => {}
    }
}

/// Returns the paths and positions of the fields that no file in a repository may contain.
pub(crate) fn secret_fields(root: &Node) -> Vec<(String, Mark)> {
    let mut found = Vec::new();
    collect_secret_fields(root, String::new(), &mut found);
    found
}

fn collect_secret_fields(node: &Node, path: String, found: &mut Vec<(String, Mark)>) {
    match &node.value {
        _ if node.sensitivity == Sensitivity::Secret => found.push((path, node.mark)),
        Value::Map(map) => {
            for entry in map {
                collect_secret_fields(&entry.value, path::field(&path, &entry.key), found);
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}/{}", path::item_segment(item, index));
                collect_secret_fields(item, path, found);
            }
        }
        _ => {}
    }
}

/// Masks the sensitive values of two versions of an object. A comparison of the masked versions still finds the values
/// that differ, but does not show them. Returns whether anything was masked.
pub(crate) fn mask(before: &mut Node, after: &mut Node) -> bool {
    mask_both(Some(before), Some(after))
}

/// Returns a value with a placeholder for each sensitive part.
pub(crate) fn masked(node: &Node) -> Node {
    let mut masked = node.clone();
    mask_one(&mut masked, HIDDEN);
    masked
}

fn mask_both(before: Option<&mut Node>, after: Option<&mut Node>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            if is_sensitive(before) || is_sensitive(after) {
                let is_same = before == after;
                hide(before, if is_same { HIDDEN } else { HIDDEN_BEFORE });
                hide(after, if is_same { HIDDEN } else { HIDDEN_AFTER });
                return true;
            }
            match (&mut before.value, &mut after.value) {
                (Value::Map(before), Value::Map(after)) => mask_maps(before, after),
                (Value::List(before), Value::List(after)) => mask_lists(before, after),
                _ => mask_one(before, HIDDEN_BEFORE) | mask_one(after, HIDDEN_AFTER),
            }
        }
        (Some(before), None) => mask_one(before, HIDDEN_BEFORE),
        (None, Some(after)) => mask_one(after, HIDDEN_AFTER),
        (None, None) => false,
    }
}

const HIDDEN_BEFORE: &str = "<hidden, before>";
const HIDDEN_AFTER: &str = "<hidden, after>";

fn hide(node: &mut Node, text: &str) {
    // The placeholder is public.
    *node = Node::new(Value::String(text.into()), node.mark);
}

fn mask_maps(before: &mut Map, after: &mut Map) -> bool {
    let mut masked = false;
    for (key, old) in before.entries_mut() {
        masked |= mask_both(Some(old), after.get_mut(key));
    }
    for (key, new) in after.entries_mut() {
        if before.get(key).is_none() {
            masked |= mask_one(new, HIDDEN_AFTER);
        }
    }
    masked
}

/// Masks two lists: items with the same name belong together, or else those with the same index.
fn mask_lists(before: &mut [Node], after: &mut [Node]) -> bool {
    let counterpart = |item: &Node, index: usize, others: &[Node], by_name: bool| {
        let Some(segment) = named_segment(item).filter(|_| by_name) else { return Some(index) };
        others.iter().position(|other| named_segment(other).as_ref() == Some(&segment))
    };
    let by_name = item_segments(before).is_some() && item_segments(after).is_some();
    let counterparts: Vec<Option<usize>> =
        before.iter().enumerate().map(|(index, item)| counterpart(item, index, after, by_name)).collect();
    let mut masked = false;
    for (old, index) in before.iter_mut().zip(&counterparts) {
        masked |= mask_both(Some(old), index.and_then(|index| after.get_mut(index)));
    }
    for (index, new) in after.iter_mut().enumerate() {
        if !counterparts.contains(&Some(index)) {
            masked |= mask_one(new, HIDDEN_AFTER);
        }
    }
    masked
}

fn mask_one(node: &mut Node, text: &str) -> bool {
    if is_sensitive(node) {
        hide(node, text);
        return true;
    }
    match &mut node.value {
        Value::Map(map) => map.values_mut().fold(false, |masked, value| mask_one(value, text) | masked),
        Value::List(items) => items.iter_mut().fold(false, |masked, item| mask_one(item, text) | masked),
        _ => false,
    }
}
