//! Differences between two values, field by field.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;

use crate::yaml::{Node, Value, json};

/// A field that differs. At least one of `before` and `after` is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The path: a JSON pointer, with `[name=x]` for items that have a name.
    pub path: String,
    /// The old value as JSON, or nothing if the field was added.
    pub before: Option<String>,
    /// The new value as JSON, or nothing if the field was removed.
    pub after: Option<String>,
}

/// Returns all fields that differ.
pub fn changes(before: &Node, after: &Node) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(Some(before), Some(after), String::new(), &mut changes);
    changes
}

fn compare(before: Option<&Node>, after: Option<&Node>, path: String, changes: &mut Vec<Change>) {
    match (before.map(|node| &node.value), after.map(|node| &node.value)) {
        (Some(Value::Map(old)), Some(Value::Map(new))) => {
            let keys: BTreeSet<&str> = old.iter().chain(new).map(|entry| entry.key.as_str()).collect();
            for key in keys {
                compare(old.get(key), new.get(key), format!("{path}/{}", escape(key)), changes);
            }
        }
        (Some(Value::List(old)), Some(Value::List(new))) => compare_lists(old, new, &path, changes),
        (old, new) if old == new => {}
        _ => changes.push(Change { path, before: before.map(json::show), after: after.map(json::show) }),
    }
}

/// Compares items by name if all of them have one, and by index otherwise. For items with names, another order is a
/// difference too.
fn compare_lists(old: &[Node], new: &[Node], path: &str, changes: &mut Vec<Change>) {
    let (Some(old_names), Some(new_names)) = (unique_names(old), unique_names(new)) else {
        for index in 0..old.len().max(new.len()) {
            compare(old.get(index), new.get(index), format!("{path}/{index}"), changes);
        }
        return;
    };
    let old_by_name: HashMap<&str, &Node> = old_names.iter().copied().zip(old).collect();
    let new_by_name: HashMap<&str, &Node> = new_names.iter().copied().zip(new).collect();
    let added = new_names.iter().filter(|name| !old_by_name.contains_key(*name));
    for name in old_names.iter().chain(added) {
        let item_path = format!("{path}/[name={}]", escape(name));
        compare(old_by_name.get(name).copied(), new_by_name.get(name).copied(), item_path, changes);
    }
    let kept_before: Vec<&str> =
        old_names.iter().copied().filter(|name| new_by_name.contains_key(name)).collect();
    let kept_after: Vec<&str> =
        new_names.iter().copied().filter(|name| old_by_name.contains_key(name)).collect();
    if kept_before != kept_after {
        changes.push(Change {
            path: path.to_owned(),
            before: Some(format!("order {}", kept_before.join(", "))),
            after: Some(format!("order {}", kept_after.join(", "))),
        });
    }
}

/// Returns the names of all items, if each item has a name of its own.
fn unique_names(items: &[Node]) -> Option<Vec<&str>> {
    let mut names = Vec::with_capacity(items.len());
    let mut seen = HashSet::new();
    for item in items {
        let name = item.get("name")?.as_str()?;
        if !seen.insert(name) {
            return None;
        }
        names.push(name);
    }
    if names.is_empty() { None } else { Some(names) }
}

fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
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
            ["/c/[name=b]/v: 2 -> 3", "/c: order a, b -> order b, a",]
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
