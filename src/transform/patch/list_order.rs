//! The order of a list after a strategic merge: that of apimachinery's `normalizeElementOrder`.

use std::collections::BTreeMap;

use crate::yaml::{Node, json};

/// The positions of items, by the value that identifies them: a merge key, or the whole item.
pub(super) struct Positions(BTreeMap<String, usize>);

impl Positions {
    /// Returns the positions of the items of a list. Of items with the same identity, the first counts.
    pub(super) fn of(items: &[Node], key: Option<&str>) -> Self {
        let mut positions = Self(BTreeMap::new());
        for (index, item) in items.iter().enumerate() {
            if let Some(identity) = identity(item, key) {
                positions.0.entry(identity).or_insert(index);
            }
        }
        positions
    }

    /// Returns the position of an item, or of the one with the same identity.
    pub(super) fn get(&self, item: &Node, key: Option<&str>) -> Option<usize> {
        self.0.get(&identity(item, key)?).copied()
    }

    /// Records the position of an item that is added to the list.
    pub(super) fn insert(&mut self, item: &Node, key: Option<&str>, index: usize) {
        if let Some(identity) = identity(item, key) {
            self.0.entry(identity).or_insert(index);
        }
    }
}

/// Returns what identifies an item, with its type: 53 is not "53".
fn identity(item: &Node, key: Option<&str>) -> Option<String> {
    match key {
        Some(key) => item.get(key).map(json::write),
        None => Some(json::write(item)),
    }
}

/// Orders the items of a merged list. The items of the patch have the order of the patch, the others keep theirs. Of an
/// item of the patch and another item, that comes first which was first in the object; an item that is new comes as
/// early as the order of the patch allows.
pub(super) fn normalize(merged: &mut Vec<Node>, patch: &Positions, object: &Positions, key: Option<&str>) {
    let (mut of_patch, mut others): (Vec<Node>, Vec<Node>) =
        std::mem::take(merged).into_iter().partition(|item| patch.get(item, key).is_some());
    of_patch.sort_by_cached_key(|item| patch.get(item, key));
    others.sort_by_cached_key(|item| object.get(item, key));
    let mut others = others.into_iter().peekable();
    for item in of_patch {
        if let Some(position) = object.get(&item, key) {
            let is_before = |other: &Node| object.get(other, key).is_some_and(|other| other < position);
            while let Some(other) = others.next_if(is_before) {
                merged.push(other);
            }
        }
        merged.push(item);
    }
    merged.extend(others);
}
