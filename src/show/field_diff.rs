//! Differences between two values, field by field.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use serde_json::{Value as Json, json};

use crate::object::path;
use crate::printable;
use crate::yaml::json::show;
use crate::yaml::{Node, Value};

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    /// The path: a JSON pointer, with `[name=x]` for items that have a name.
    path: String,
    difference: Difference,
}

/// How a field differs.
#[derive(Clone, Debug, PartialEq)]
enum Difference {
    Added(Node),
    Removed(Node),
    Changed {
        before: Node,
        after: Node,
    },
    /// Only the order of the items differs. Each text is the segment of an item.
    Reordered {
        before: Vec<String>,
        after: Vec<String>,
    },
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
        _ => {
            let difference = match (before.cloned(), after.cloned()) {
                (Some(before), Some(after)) => Difference::Changed { before, after },
                (Some(before), None) => Difference::Removed(before),
                (None, Some(after)) => Difference::Added(after),
                (None, None) => return,
            };
            changes.push(Change { path, difference });
        }
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
    let kept = |segments: &[String], others: &HashMap<&String, &Node>| -> Vec<String> {
        segments.iter().filter(|segment| others.contains_key(segment)).cloned().collect()
    };
    let (before, after) = (kept(&old_segments, &new_items), kept(&new_segments, &old_items));
    if before != after {
        let difference = Difference::Reordered { before, after };
        changes.push(Change { path: path.to_owned(), difference });
    }
}

impl Change {
    /// Returns the change for programs, with typed values. The values must be masked: this shows all of them.
    pub(crate) fn to_json(&self) -> Json {
        let mut change = json!({"path": self.path, "change": self.difference.word()});
        match &self.difference {
            Difference::Added(after) => change["after"] = Json::from(after),
            Difference::Removed(before) => change["before"] = Json::from(before),
            Difference::Changed { before, after } => {
                change["before"] = Json::from(before);
                change["after"] = Json::from(after);
            }
            Difference::Reordered { before, after } => {
                change["before"] = json!(before);
                change["after"] = json!(after);
            }
        }
        change
    }
}

impl Difference {
    fn word(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Removed(_) => "removed",
            Self::Changed { .. } => "changed",
            Self::Reordered { .. } => "reordered",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = printable::line(if self.path.is_empty() { "/" } else { &self.path });
        match &self.difference {
            Difference::Added(after) => write!(f, "{path}: {} (added)", show(after)),
            Difference::Removed(before) => write!(f, "{path}: {} (removed)", show(before)),
            Difference::Changed { before, after } => write!(f, "{path}: {} -> {}", show(before), show(after)),
            Difference::Reordered { before, after } => {
                write!(f, "{path}: order {} -> order {}", before.join(", "), after.join(", "))
            }
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

    #[test]
    fn programs_get_typed_values() {
        let before = "{a: 1, b: x, c: [{name: a}, {name: b}], d: null}";
        let after = "{a: [true], c: [{name: b}, {name: a}], d: {e: 1.5}, f: null}";
        let changes = changes(&node(before), &node(after));
        let json: Vec<serde_json::Value> = changes.iter().map(super::Change::to_json).collect();
        assert_eq!(
            serde_json::Value::from(json),
            serde_json::json!([
                {"path": "/a", "change": "changed", "before": 1, "after": [true]},
                {"path": "/b", "change": "removed", "before": "x"},
                {"path": "/c", "change": "reordered", "before": ["[name=a]", "[name=b]"],
                    "after": ["[name=b]", "[name=a]"]},
                {"path": "/d", "change": "changed", "before": null, "after": {"e": 1.5}},
                {"path": "/f", "change": "added", "after": null},
            ])
        );
    }
}
