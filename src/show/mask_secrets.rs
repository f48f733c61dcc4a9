//! Hides the values of Secrets: a diff only shows whether they differ.

use std::collections::BTreeSet;

use crate::yaml::{Node, Value};

/// The annotation in which `kubectl apply` keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Hides the values of two versions of an object if one of them is a Secret. Returns whether that is so.
pub(super) fn mask(before: &mut Node, after: &mut Node) -> bool {
    if !is_secret(before) && !is_secret(after) {
        return false;
    }
    for field in ["data", "stringData"] {
        mask_map(before.get_mut(field), after.get_mut(field));
    }
    mask_value(annotation(before, LAST_APPLIED), annotation(after, LAST_APPLIED));
    true
}

/// Returns whether an object is a Secret of any API version.
fn is_secret(root: &Node) -> bool {
    root.get("kind").and_then(Node::as_str) == Some("Secret")
}

fn annotation<'n>(root: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    root.get_mut("metadata")?.get_mut("annotations")?.get_mut(name)
}

fn mask_map(before: Option<&mut Node>, after: Option<&mut Node>) {
    match (before, after) {
        (Some(Node { value: Value::Map(old), .. }), Some(Node { value: Value::Map(new), .. })) => {
            let keys: BTreeSet<_> = old.iter().chain(&*new).map(|entry| entry.key.clone()).collect();
            for key in keys {
                mask_value(old.get_mut(&key), new.get_mut(&key));
            }
        }
        (before, after) => mask_value(before, after),
    }
}

fn mask_value(before: Option<&mut Node>, after: Option<&mut Node>) {
    let is_same = before.as_deref() == after.as_deref();
    for (node, version) in [(before, "before"), (after, "after")] {
        if let Some(node) = node {
            let text = if is_same { "<hidden>".to_owned() } else { format!("<hidden, {version}>") };
            node.value = Value::String(text.into());
        }
    }
}
