//! The items of a list and the entries of a map while they are read.

use super::node::{DuplicateKey, Entry, Map, Mark, Node, Value};

/// A node and how deep it nests.
#[derive(Clone)]
pub(super) struct Composed {
    pub(super) node: Node,
    pub(super) height: usize,
}

#[derive(Default)]
pub(super) struct Items {
    nodes: Vec<Node>,
    height: usize,
}

impl Items {
    pub(super) fn push(&mut self, item: Composed) {
        self.height = self.height.max(item.height);
        self.nodes.push(item.node);
    }

    pub(super) fn finish(self) -> (Value, usize) {
        (Value::List(self.nodes), self.height)
    }
}

/// A mapping's entries in the order of the text: the last one of a key wins, whether written or merged.
#[derive(Default)]
pub(super) struct Entries {
    list: Vec<Entry>,
    /// Keys that `<<` brought; overriding one of those is what it is for, and no duplicate.
    merged: Vec<Mark>,
    height: usize,
}

impl Entries {
    pub(super) fn push(&mut self, entry: Entry, height: usize) {
        self.height = self.height.max(height);
        self.list.push(entry);
    }

    /// Adds the entries of a map, or of a list of maps of which earlier ones take precedence.
    pub(super) fn merge(&mut self, composed: Composed, aliased: bool) -> Option<()> {
        self.height = self.height.max(composed.height.saturating_sub(1));
        let maps = match composed.node.value {
            Value::Map(map) => vec![map],
            Value::List(items) if !aliased => {
                let map = |node: Node| if let Value::Map(map) = node.value { Some(map) } else { None };
                items.into_iter().rev().map(map).collect::<Option<_>>()?
            }
            _ => return None,
        };
        for entry in maps.iter().flat_map(Map::iter) {
            self.merged.push(entry.mark);
            self.list.push(entry.clone());
        }
        Some(())
    }

    pub(super) fn finish(self, duplicates: &mut Vec<DuplicateKey>) -> (Value, usize) {
        let mut merged = self.merged;
        merged.sort_unstable();
        let by_merge = |mark: &Mark| merged.binary_search(mark).is_ok();
        let map = Map::from_entries(self.list, |dropped, kept| {
            if !by_merge(&dropped.mark) && !by_merge(&kept.mark) {
                duplicates.push(DuplicateKey { key: dropped.key, dropped: dropped.mark, kept: kept.mark });
            }
        });
        (Value::Map(map), self.height)
    }
}
