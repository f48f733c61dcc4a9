//! The order of a list after a strategic merge.

use std::collections::BTreeMap;

use crate::yaml::{Node, json};

/// Where a merged list has the items of a strategic merge patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemPosition {
    /// As in Kubernetes (apimachinery's `normalizeElementOrder`): the items of the patch have the order of the patch, an
    /// item that is not in the patch keeps its place before or after them, and new items come early.
    Kubernetes,
    /// As in kustomize: the items of the patch come first, in the order of the patch, and then the others.
    First,
    /// Existing items keep their order, and new items come after them.
    Last,
}

/// The positions of items, by the value that identifies them: a merge key, or the whole item.
pub(super) struct Positions(BTreeMap<String, usize>);

impl Positions {
    /// Returns the positions of the items of a list. If several items have the same identity, uses the first position.
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

/// Orders the items of a merged list as kustomize does: first the items of the patch, in the order of the patch, then the
/// others.
pub(super) fn put_first(merged: &mut [Node], patch: &Positions, object: &Positions, key: Option<&str>) {
    merged.sort_by_cached_key(|item| match patch.get(item, key) {
        Some(position) => (false, Some(position)),
        None => (true, object.get(item, key)),
    });
}

/// Orders the items of a merged list as Kubernetes does. The items of the patch have the order of the patch, the others keep theirs. Of an
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
