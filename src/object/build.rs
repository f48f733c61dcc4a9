//! Builds small trees. All nodes of a tree get the same mark: the line that asked for it.

use crate::yaml::{Entry, Map, Mark, Node, Text, Value};

/// Builds a map. Of two entries with the same key, the last one counts.
pub(crate) fn map<K: Into<Text>>(entries: impl IntoIterator<Item = (K, Node)>, mark: Mark) -> Node {
    let entries = entries.into_iter().map(|(key, value)| Entry { key: key.into(), mark, value }).collect();
    Node::new(Value::Map(Map::of(entries)), mark)
}

/// Builds a list.
pub(crate) fn list(items: Vec<Node>, mark: Mark) -> Node {
    Node::new(Value::List(items), mark)
}

/// Builds a string.
pub(crate) fn text(text: impl Into<Text>, mark: Mark) -> Node {
    Node::new(Value::String(text.into()), mark)
}
