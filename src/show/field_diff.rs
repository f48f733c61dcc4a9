//! What differs between two values, field by field.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::yaml::{Node, Value, json};

/// One field that differs. At least one of the sides is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where: a JSON pointer, with `[name=x]` for an item of a list that is known by its name.
    pub path: String,
    /// What it was, as JSON.
    pub before: Option<String>,
    /// What it is, as JSON.
    pub after: Option<String>,
}

/// All fields that differ, in the order of their paths.
pub fn changes(before: &Node, after: &Node) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(before, after, "", &mut changes);
    changes
}

fn compare(before: &Node, after: &Node, path: &str, changes: &mut Vec<Change>) {
    match (&before.value, &after.value) {
        (Value::Map(old), Value::Map(new)) => {
            let mut keys: Vec<&str> = old.iter().chain(new).map(|entry| &*entry.key).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                side_by_side(old.get(key), new.get(key), &format!("{path}/{}", escape(key)), changes);
            }
        }
        (Value::List(old), Value::List(new)) => lists(old, new, path, changes),
        (old, new) if old == new => {}
        _ => side_by_side_values(Some(before), Some(after), path, changes),
    }
}

fn side_by_side(before: Option<&Node>, after: Option<&Node>, path: &str, changes: &mut Vec<Change>) {
    match (before, after) {
        (Some(before), Some(after)) => compare(before, after, path, changes),
        _ => side_by_side_values(before, after, path, changes),
    }
}

fn side_by_side_values(before: Option<&Node>, after: Option<&Node>, path: &str, changes: &mut Vec<Change>) {
    changes.push(Change {
        path: path.to_owned(),
        before: before.map(json::show),
        after: after.map(json::show),
    });
}

/// Items with names are compared by name; an order that changed is a difference as well. Others by their place.
fn lists(old: &[Node], new: &[Node], path: &str, changes: &mut Vec<Change>) {
    let (Some(old_names), Some(new_names)) = (names(old), names(new)) else {
        for index in 0..old.len().max(new.len()) {
            side_by_side(old.get(index), new.get(index), &format!("{path}/{index}"), changes);
        }
        return;
    };
    let (in_old, in_new) = (by_name(&old_names), by_name(&new_names));
    for (index, name) in old_names.iter().enumerate() {
        let after = in_new.get(name).map(|at| &new[*at]);
        side_by_side(Some(&old[index]), after, &format!("{path}/[name={}]", escape(name)), changes);
    }
    for (index, name) in new_names.iter().enumerate() {
        if !in_old.contains_key(name) {
            side_by_side(None, Some(&new[index]), &format!("{path}/[name={}]", escape(name)), changes);
        }
    }
    let kept = |names: &[&str], others: &HashMap<&str, usize>| -> Vec<String> {
        names.iter().filter(|name| others.contains_key(*name)).map(|name| (*name).to_owned()).collect()
    };
    let (before, after) = (kept(&old_names, &in_new), kept(&new_names, &in_old));
    if before != after {
        let order = |names: Vec<String>| Some(format!("order {}", names.join(", ")));
        changes.push(Change { path: path.to_owned(), before: order(before), after: order(after) });
    }
}

fn by_name<'n>(names: &[&'n str]) -> HashMap<&'n str, usize> {
    names.iter().enumerate().map(|(index, name)| (*name, index)).collect()
}

/// The names of a list's items, if every one has a name of its own.
fn names(items: &[Node]) -> Option<Vec<&str>> {
    let names: Vec<&str> = items.iter().map(|item| item.get("name")?.as_str()).collect::<Option<_>>()?;
    let distinct: HashSet<&str> = names.iter().copied().collect();
    (!names.is_empty() && distinct.len() == names.len()).then_some(names)
}

fn escape(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "/" } else { &self.path };
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{path}: {before} -> {after}"),
            (Some(before), None) => write!(f, "{path}: {before} is gone"),
            (None, Some(after)) => write!(f, "{path}: {after} is new"),
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
    fn fields_by_path() {
        assert_eq!(shown("{a: 1, b: {c/d: x}}", "{a: 1.0, b: {c/d: z}}"), ["/b/c~1d: \"x\" -> \"z\""]);
        assert_eq!(shown("{a: 1}", "{b: [2]}"), ["/a: 1 is gone", "/b: [2] is new"]);
        assert_eq!(shown("{a: [1, 2]}", "{a: [1]}"), ["/a/1: 2 is gone"]);
    }

    #[test]
    fn named_items_by_name_and_their_order() {
        let before = "{c: [{name: a, v: 1}, {name: b, v: 2}]}";
        assert_eq!(
            shown(before, "{c: [{name: b, v: 3}, {name: a, v: 1}]}"),
            ["/c/[name=b]/v: 2 -> 3", "/c: order a, b -> order b, a",]
        );
        assert_eq!(
            shown(before, "{c: [{name: a, v: 1}, {name: z, v: 2}]}"),
            ["/c/[name=b]: {\"name\":\"b\",\"v\":2} is gone", "/c/[name=z]: {\"name\":\"z\",\"v\":2} is new",]
        );
    }
}
