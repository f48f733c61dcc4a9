//! Lists and maps while they are being read.

use super::MAX_DUPLICATES;
use crate::{DuplicateKey, Entry, Map, Mark, Node, Value};

/// A node, and how many levels it nests.
#[derive(Clone)]
pub(super) struct Composed {
    pub(super) node: Node,
    pub(super) height: usize,
}

/// The items and entries of all collections that are still being read, the innermost last. They share two lists, so
/// that each collection does not have to grow a list of its own.
pub(super) struct Pending {
    nodes: Vec<Node>,
    entries: Vec<Entry>,
}

impl Pending {
    /// Reserves room for a typical manifest.
    pub(super) fn new() -> Self {
        Self { nodes: Vec::with_capacity(32), entries: Vec::with_capacity(48) }
    }
}

/// A list that is being read. Its items are in [`Pending`] from `start` on.
pub(super) struct Items {
    start: usize,
    height: usize,
}

impl Items {
    pub(super) fn new(pending: &Pending) -> Self {
        Self { start: pending.nodes.len(), height: 0 }
    }

    pub(super) fn push(&mut self, item: Composed, pending: &mut Pending) {
        self.height = self.height.max(item.height);
        pending.nodes.push(item.node);
    }

    pub(super) fn finish(self, pending: &mut Pending) -> (Value, usize) {
        (Value::List(pending.nodes.split_off(self.start)), self.height)
    }
}

/// How the value of a merge key was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MergeOrigin {
    /// As an alias.
    Alias,
    /// As a map or list.
    Written,
}

/// A map that is being read. Its entries are in [`Pending`] from `start` on, in the order of the text: the last entry of
/// a key wins, whether it was written or merged.
pub(super) struct Entries {
    start: usize,
    /// The positions of keys that `<<` merged. Overriding a merged key is normal, and not reported as a duplicate.
    merged: Vec<Mark>,
    height: usize,
}

impl Entries {
    pub(super) fn new(pending: &Pending) -> Self {
        Self { start: pending.entries.len(), merged: Vec::new(), height: 0 }
    }

    pub(super) fn push(&mut self, entry: Entry, height: usize, pending: &mut Pending) {
        self.height = self.height.max(height);
        pending.entries.push(entry);
    }

    /// Adds the entries of a map, or of a list of maps of which earlier ones win. Returns `None` for anything else.
    /// Kubernetes refuses an alias to a list here.
    pub(super) fn merge(
        &mut self,
        composed: Composed,
        origin: MergeOrigin,
        pending: &mut Pending,
    ) -> Option<()> {
        self.height = self.height.max(composed.height.saturating_sub(1));
        let maps = match composed.node.value {
            Value::Map(map) => vec![map],
            Value::List(items) if origin == MergeOrigin::Written => {
                let mut maps = Vec::with_capacity(items.len());
                for item in items.into_iter().rev() {
                    let Value::Map(map) = item.value else { return None };
                    maps.push(map);
                }
                maps
            }
            _ => return None,
        };
        for entry in maps.iter().flat_map(Map::iter) {
            self.merged.push(entry.mark);
            pending.entries.push(entry.clone());
        }
        Some(())
    }

    pub(super) fn finish(
        mut self,
        pending: &mut Pending,
        duplicates: &mut Vec<DuplicateKey>,
    ) -> (Value, usize) {
        self.merged.sort_unstable();
        let is_merged = |mark: &Mark| self.merged.binary_search(mark).is_ok();
        let map = Map::from_end_of(&mut pending.entries, self.start, |dropped, kept| {
            if duplicates.len() < MAX_DUPLICATES && !is_merged(&dropped.mark) && !is_merged(&kept.mark) {
                duplicates.push(DuplicateKey { key: dropped.key, dropped: dropped.mark, kept: kept.mark });
            }
        });
        (Value::Map(map), self.height)
    }
}
