//! Secrets stay secret: of their values only is shown whether they differ.

use crate::yaml::{Node, Value};

/// Whether an object may hold secrets, whatever version it claims.
pub(super) fn is_secret(root: &Node) -> bool {
    root.get("kind").and_then(Node::as_str) == Some("Secret")
}

/// Hides the values of two versions of one Secret from each other's readers.
pub(super) fn secrets(before: &mut Node, after: &mut Node) {
    for field in ["data", "stringData"] {
        hide(before.get_mut(field), after.get_mut(field));
    }
    // kubectl keeps a copy of the whole object here.
    let copy = "kubectl.kubernetes.io/last-applied-configuration";
    hide_values(annotation(before, copy), annotation(after, copy));
}

fn annotation<'n>(root: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    root.get_mut("metadata")?.get_mut("annotations")?.get_mut(name)
}

fn hide(before: Option<&mut Node>, after: Option<&mut Node>) {
    match (before, after) {
        (Some(Node { value: Value::Map(old), .. }), Some(Node { value: Value::Map(new), .. })) => {
            let keys: Vec<_> = old.iter().chain(&*new).map(|entry| entry.key.clone()).collect();
            for key in keys {
                hide_values(old.get_mut(&key), new.get_mut(&key));
            }
        }
        (before, after) => hide_values(before, after),
    }
}

fn hide_values(before: Option<&mut Node>, after: Option<&mut Node>) {
    let same = before.as_deref() == after.as_deref();
    for (node, which) in [(before, "before"), (after, "after")] {
        if let Some(node) = node {
            let text = if same { "<hidden>".to_owned() } else { format!("<hidden, {which}>") };
            node.value = Value::String(text.into());
        }
    }
}
