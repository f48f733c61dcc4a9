//! A field in all revisions of an object. Its children are found from it and not from the root of the object, so that a
//! list with many items takes no quadratic time.

use std::collections::{BTreeSet, HashMap};

use crate::object::path::{self, item_segment, named_segment};
use crate::yaml::{Node, Value};

/// A field in every revision of an object.
pub(super) struct RevisedField<'a> {
    /// The path of the field.
    pub(super) path: String,
    /// The value in each revision, the oldest first; `None` if that revision does not have the field.
    pub(super) versions: Vec<Option<&'a Node>>,
}

/// The items of a list in every revision of an object.
pub(super) struct RevisedItems<'a> {
    path: String,
    /// The items of each revision by their segment; `None` for a segment that several items have.
    versions: Vec<HashMap<String, Option<&'a Node>>>,
}

impl<'a> RevisedField<'a> {
    /// Returns the field with a key.
    pub(super) fn key(&self, key: &str) -> Self {
        let versions = self.versions.iter().map(|node| node.and_then(|node| node.get(key))).collect();
        Self { path: path::field(&self.path, key), versions }
    }

    /// Returns the items of the list.
    pub(super) fn items(&self) -> RevisedItems<'a> {
        let versions = self.versions.iter().map(|node| items_by_segment(*node)).collect();
        RevisedItems { path: self.path.clone(), versions }
    }

    /// Returns the keys and named items that an earlier revision has and `current` does not, sorted by path.
    pub(super) fn removed_children(&self, current: &Node) -> Vec<Self> {
        match &current.value {
            Value::Map(current) => {
                let earlier = self.versions.iter().flatten().filter_map(|node| node.as_map()).flatten();
                let removed = earlier.filter(|entry| current.get(&entry.key).is_none());
                let keys: BTreeSet<&str> = removed.map(|entry| entry.key.as_str()).collect();
                keys.into_iter().map(|key| self.key(key)).collect()
            }
            Value::List(current) => {
                let current: BTreeSet<String> = current.iter().filter_map(named_segment).collect();
                let earlier = self.versions.iter().flatten().filter_map(|node| node.as_list()).flatten();
                let mut removed: BTreeSet<String> = earlier.filter_map(named_segment).collect();
                removed.retain(|segment| !current.contains(segment));
                if removed.is_empty() {
                    return Vec::new();
                }
                let items = self.items();
                removed.into_iter().map(|segment| items.item(&segment)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl<'a> RevisedItems<'a> {
    /// Returns the item with a segment.
    pub(super) fn item(&self, segment: &str) -> RevisedField<'a> {
        let versions = self.versions.iter().map(|items| items.get(segment).copied().flatten()).collect();
        RevisedField { path: format!("{}/{segment}", self.path), versions }
    }
}

fn items_by_segment(list: Option<&Node>) -> HashMap<String, Option<&Node>> {
    let mut items = HashMap::new();
    for (index, item) in list.and_then(Node::as_list).unwrap_or_default().iter().enumerate() {
        items.entry(item_segment(item, index)).and_modify(|other| *other = None).or_insert(Some(item));
    }
    items
}

/// Returns the node at a path, if there is exactly one.
pub(super) fn node_at<'n>(root: &'n Node, path: &str) -> Option<&'n Node> {
    match path::resolve(root, path).ok()?[..] {
        [node] => Some(node),
        _ => None,
    }
}
