//! The items of a list and the entries of a map while they are read.

use crate::node::{DuplicateKey, Entry, Map, Mark, Node, Value};

/// A node and how deep it nests.
#[derive(Clone)]
pub(crate) struct Composed {
    pub(crate) node: Node,
    pub(crate) height: usize,
}

/// Items and entries of all collections that are open, the innermost last: so none of them grows on its own.
pub(crate) struct Open {
    nodes: Vec<Node>,
    entries: Vec<Entry>,
}

impl Open {
    /// With room for what a manifest usually has open at once.
    pub(crate) fn new() -> Self {
        Self { nodes: Vec::with_capacity(32), entries: Vec::with_capacity(48) }
    }
}

/// A list that is being read.
pub(crate) struct Items {
    start: usize,
    height: usize,
}

impl Items {
    pub(crate) fn new(open: &Open) -> Self {
        Self { start: open.nodes.len(), height: 0 }
    }

    pub(crate) fn push(&mut self, item: Composed, open: &mut Open) {
        self.height = self.height.max(item.height);
        open.nodes.push(item.node);
    }

    pub(crate) fn finish(self, open: &mut Open) -> (Value, usize) {
        (Value::List(open.nodes.split_off(self.start)), self.height)
    }
}

/// A mapping's entries in the order of the text: the last one of a key wins, whether written or merged.
pub(crate) struct Entries {
    start: usize,
    /// Keys that `<<` brought; overriding one of those is what it is for, and no duplicate.
    merged: Vec<Mark>,
    height: usize,
}

impl Entries {
    pub(crate) fn new(open: &Open) -> Self {
        Self { start: open.entries.len(), merged: Vec::new(), height: 0 }
    }

    pub(crate) fn push(&mut self, entry: Entry, height: usize, open: &mut Open) {
        self.height = self.height.max(height);
        open.entries.push(entry);
    }

    /// Adds the entries of a map, or of a list of maps of which earlier ones take precedence.
    pub(crate) fn merge(&mut self, composed: Composed, aliased: bool, open: &mut Open) -> Option<()> {
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
            open.entries.push(entry.clone());
        }
        Some(())
    }

    pub(crate) fn finish(mut self, open: &mut Open, duplicates: &mut Vec<DuplicateKey>) -> (Value, usize) {
        self.merged.sort_unstable();
        let by_merge = |mark: &Mark| self.merged.binary_search(mark).is_ok();
        let map = Map::from_end_of(&mut open.entries, self.start, |dropped, kept| {
            if !by_merge(&dropped.mark) && !by_merge(&kept.mark) {
                duplicates.push(DuplicateKey { key: dropped.key, dropped: dropped.mark, kept: kept.mark });
            }
        });
        (Value::Map(map), self.height)
    }
}
