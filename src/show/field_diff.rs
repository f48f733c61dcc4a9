//! Differences between two values, field by field.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use crate::object::path;
use crate::printable;
use crate::yaml::{Node, Value, json};

/// A field that differs. At least one of `before` and `after` is set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// The path: a JSON pointer, with `[name=x]` for items that have a name.
    pub(crate) path: String,
    /// The old value as JSON, or nothing if the field was added.
    pub(crate) before: Option<String>,
    /// The new value as JSON, or nothing if the field was removed.
    pub(crate) after: Option<String>,
}

/// Returns all fields that differ.
pub(crate) fn changes(before: &Node, after: &Node) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(Some(before), Some(after), String::new(), &mut changes);
    changes
}

fn compare(before: Option<&Node>, after: Option<&Node>, path: String, changes: &mut Vec<Change>) {
    match (before.map(|node| &node.value), after.map(|node| &node.value)) {
        (Some(Value::Map(old)), Some(Value::Map(new))) => {
            let keys: BTreeSet<&str> = old.iter().chain(new).map(|entry| entry.key.as_str()).collect();
            for key in keys {
                compare(old.get(key), new.get(key), path::field(&path, key), changes);
            }
        }
        (Some(Value::List(old)), Some(Value::List(new))) => compare_lists(old, new, &path, changes),
        (old, new) if old == new => {}
        _ => changes.push(Change { path, before: before.map(json::show), after: after.map(json::show) }),
    }
}

/// Compares items by their segments, as `explain` names them, if these identify each item, and by index otherwise. For
/// items with segments, another order is a difference too.
fn compare_lists(old: &[Node], new: &[Node], path: &str, changes: &mut Vec<Change>) {
    let (Some(old_segments), Some(new_segments)) = (path::item_segments(old), path::item_segments(new))
    else {
        for index in 0..old.len().max(new.len()) {
            compare(old.get(index), new.get(index), format!("{path}/{index}"), changes);
        }
        return;
    };
    let old_items: HashMap<&String, &Node> = old_segments.iter().zip(old).collect();
    let new_items: HashMap<&String, &Node> = new_segments.iter().zip(new).collect();
    let added = new_segments.iter().filter(|segment| !old_items.contains_key(segment));
    for segment in old_segments.iter().chain(added) {
        let (old, new) = (old_items.get(segment).copied(), new_items.get(segment).copied());
        compare(old, new, format!("{path}/{segment}"), changes);
    }
    let kept_before: Vec<&String> =
        old_segments.iter().filter(|segment| new_items.contains_key(segment)).collect();
    let kept_after: Vec<&String> =
        new_segments.iter().filter(|segment| old_items.contains_key(segment)).collect();
    if kept_before != kept_after {
        changes.push(Change {
            path: path.to_owned(),
            before: Some(order(&kept_before)),
            after: Some(order(&kept_after)),
        });
    }
}

/// Describes the order of items.
fn order(segments: &[&String]) -> String {
    let segments: Vec<&str> = segments.iter().map(|segment| segment.as_str()).collect();
    format!("order {}", segments.join(", "))
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = printable::line(if self.path.is_empty() { "/" } else { &self.path });
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{path}: {before} -> {after}"),
            (Some(before), None) => write!(f, "{path}: {before} (removed)"),
            (None, Some(after)) => write!(f, "{path}: {after} (added)"),
            (None, None) => write!(f, "{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::changes;
    use crate::yaml::{Node, SourceId, read};

    fn node(text: &str) -> Node {
        read(text, SourceId(0)).unwrap().remove(0).root
    }

    fn shown(before: &str, after: &str) -> Vec<String> {
        changes(&node(before), &node(after)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn fields_are_compared_by_path() {
        assert_eq!(shown("{a: 1, b: {c/d: x}}", "{a: 1.0, b: {c/d: z}}"), ["/b/c~1d: \"x\" -> \"z\""]);
        assert_eq!(shown("{a: 1}", "{b: [2]}"), ["/a: 1 (removed)", "/b: [2] (added)"]);
        assert_eq!(shown("{a: [1, 2]}", "{a: [1]}"), ["/a/1: 2 (removed)"]);
    }

    #[test]
    fn named_items_are_compared_by_name_and_order() {
        let before = "{c: [{name: a, v: 1}, {name: b, v: 2}]}";
        assert_eq!(
            shown(before, "{c: [{name: b, v: 3}, {name: a, v: 1}]}"),
            ["/c/[name=b]/v: 2 -> 3", "/c: order [name=a], [name=b] -> order [name=b], [name=a]",]
        );
        assert_eq!(
            shown(before, "{c: [{name: a, v: 1}, {name: z, v: 2}]}"),
            [
                "/c/[name=b]: {\"name\":\"b\",\"v\":2} (removed)",
                "/c/[name=z]: {\"name\":\"z\",\"v\":2} (added)",
            ]
        );
    }
}
