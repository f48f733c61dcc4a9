//! The directives of strategic merge patches: keys that start with `$`.

use super::{PatchError, Result};
use crate::object::{ListStrategy, Schema};
use crate::yaml::{Entry, Map, Node, Value};

pub(super) const PATCH: &str = "$patch";
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
pub(super) const SET_ORDER: &str = "$setElementOrder/";

/// Returns the `$patch` directive of an item. It is empty if its value is not a string.
pub(super) fn directive(item: &Node) -> Option<&str> {
    item.get(PATCH).map(|directive| directive.as_str().unwrap_or(""))
}

pub(super) fn unknown_directive(directive: &Node) -> PatchError {
    PatchError::new(directive.mark, "this is not a `$patch` directive").help("write `delete` or `replace`")
}

/// Returns a map without its `$patch` directive.
pub(super) fn without_patch_directive(changes: &Map) -> Map {
    let mut map = changes.clone();
    map.remove(PATCH);
    map
}

/// Returns a value that the object does not have yet, without nulls and directives: there is nothing that they could
/// remove or change. Returns `None` if the value itself is a directive.
pub(super) fn without_directives(node: &Node) -> Option<Node> {
    let value = match &node.value {
        Value::Map(map) => {
            if map.get(PATCH).is_some() {
                return None;
            }
            let mut entries = Vec::new();
            for entry in map {
                if entry.key.starts_with('$') || entry.value.value == Value::Null {
                    continue;
                }
                if let Some(value) = without_directives(&entry.value) {
                    entries.push(Entry { value, ..entry.clone() });
                }
            }
            Value::Map(Map::of(entries))
        }
        Value::List(items) => Value::List(items.iter().filter_map(without_directives).collect()),
        scalar => scalar.clone(),
    };
    Some(Node { value, mark: node.mark })
}

/// Applies `$retainKeys`: removes all keys of the object that it does not list. The patch must not set other keys.
pub(super) fn retain_keys(target: &mut Map, changes: &Map, keys: &Node) -> Result<()> {
    let names = keys.as_list().and_then(|items| items.iter().map(Node::as_str).collect::<Option<Vec<_>>>());
    let Some(names) = names else {
        return Err(PatchError::new(
            keys.mark,
            format!("`{RETAIN_KEYS}` is a list of keys, not {}", keys.value.kind()),
        ));
    };
    for change in changes {
        let set = change.value.value != Value::Null && !change.key.starts_with('$');
        if set && !names.contains(&&*change.key) {
            let message = format!("the patch sets `{}`, which `{RETAIN_KEYS}` does not list", change.key);
            return Err(PatchError::new(change.mark, message));
        }
    }
    let dropped: Vec<_> =
        target.iter().map(|entry| entry.key.clone()).filter(|key| !names.contains(&key.as_str())).collect();
    for key in dropped {
        target.remove(&key);
    }
    Ok(())
}

/// Applies `$deleteFromPrimitiveList/field: [values]`.
pub(super) fn delete_from_list(target: &mut Map, change: &Entry) -> Result<()> {
    let field = change.key.strip_prefix(DELETE_FROM_LIST).and_then(|rest| rest.strip_prefix('/'));
    let (Some(field), Some(values)) = (field, change.value.as_list()) else {
        return Err(PatchError::new(
            change.mark,
            format!("`{DELETE_FROM_LIST}/field` needs a field and a list of values"),
        ));
    };
    if let Some(Value::List(items)) = target.get_mut(field).map(|node| &mut node.value) {
        items.retain(|item| !values.contains(item));
    }
    Ok(())
}

/// Applies `$setElementOrder/field: [items]`: sorts the listed items among the positions that they have.
pub(super) fn set_order(target: &mut Map, order: &Entry, patch: &Node, schema: Schema<'_>) -> Result<()> {
    let field = order.key.strip_prefix(SET_ORDER).unwrap_or_default();
    let Some(items) = order.value.as_list() else {
        let message = format!("`{}` is a list, not {}", order.key, order.value.value.kind());
        return Err(PatchError::new(order.mark, message));
    };
    let schema = schema.field(field).ok_or_else(|| {
        PatchError::new(order.mark, format!("the kind has no field `{field}` whose order could be set"))
    })?;
    let key = match schema.list_strategy() {
        ListStrategy::MergeBy(key) => Some(key),
        ListStrategy::Union | ListStrategy::Replace => None,
    };
    let element_order = ElementOrder { items, key };
    let patched = patch.get(field).and_then(Node::as_list).unwrap_or_default();
    if !element_order.fits(patched) {
        let message = format!("`{}` does not fit the items in `{field}`", order.key);
        return Err(PatchError::new(order.mark, message)
            .help("list every item that the patch has, in the same order"));
    }
    if let Some(Value::List(items)) = target.get_mut(field).map(|node| &mut node.value) {
        element_order.sort(items);
    }
    Ok(())
}

/// The order in a `$setElementOrder` directive.
struct ElementOrder<'p> {
    items: &'p [Node],
    /// The key that identifies items, if the list merges by one.
    key: Option<&'p str>,
}

impl ElementOrder<'_> {
    /// Returns the position of an item, or `None` if the directive does not list it.
    fn rank(&self, item: &Node) -> Option<usize> {
        self.items.iter().position(|other| match self.key {
            Some(key) => match (item.get(key), other.get(key)) {
                (Some(own), Some(other)) => same_key(own, other),
                _ => false,
            },
            None => item == other,
        })
    }

    /// Returns whether the directive lists all items of the patch, in the same order.
    fn fits(&self, patched: &[Node]) -> bool {
        let kept = patched.iter().filter(|item| directive(item).is_none());
        let ranks: Option<Vec<usize>> = kept.map(|item| self.rank(item)).collect();
        ranks.is_some_and(|ranks| ranks.is_sorted())
    }

    /// Sorts the listed items. The others stay at their positions.
    fn sort(&self, items: &mut [Node]) {
        let mut listed: Vec<Node> = items.iter().filter(|item| self.rank(item).is_some()).cloned().collect();
        listed.sort_by_key(|item| self.rank(item));
        let mut listed = listed.into_iter();
        for item in items.iter_mut().filter(|item| self.rank(item).is_some()) {
            if let Some(next) = listed.next() {
                *item = next;
            }
        }
    }
}

/// Compares keys with their types: 53 is not "53".
pub(super) fn same_key(a: &Node, b: &Node) -> bool {
    a.value == b.value
}
