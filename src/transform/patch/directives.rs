//! The directives of strategic merge patches: keys that start with `$`.

use super::list_order::{Positions, normalize};
use super::{PatchError, Result};
use crate::object::{ListStrategy, Schema};
use crate::yaml::{Entry, Map, Mark, Node, Value};

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
    Some(node.with_value(value))
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
pub(super) fn delete_from_list(target: &mut Map, change: &Entry, schema: Schema<'_>) -> Result<()> {
    let field = change.key.strip_prefix(DELETE_FROM_LIST).and_then(|rest| rest.strip_prefix('/'));
    let (Some(field), Some(values)) = (field, change.value.as_list()) else {
        return Err(PatchError::new(
            change.mark,
            format!("`{DELETE_FROM_LIST}/field` needs a field and a list of values"),
        ));
    };
    if let Some(Value::List(items)) = target.get_mut(field).map(|node| &mut node.value) {
        field_schema(schema, field, change.mark)?;
        require_same_types(items, values, &change.value)?;
        if let Some(map) = items.iter().find(|item| item.as_map().is_some()) {
            return Err(PatchError::new(
                change.mark,
                format!("`{DELETE_FROM_LIST}/{field}` removes texts or numbers, not {}", map.value.kind()),
            )
            .help("write `- $patch: delete` with the merge key for each item in the list itself"));
        }
        let removed = Positions::of(values, None);
        items.retain(|item| removed.get(item, None).is_none());
    }
    Ok(())
}

/// The order in a `$setElementOrder/field: [items]` directive.
pub(super) struct ElementOrder<'p> {
    /// The field with the list.
    pub(super) field: &'p str,
    items: &'p [Node],
    entry: &'p Entry,
}

impl<'p> ElementOrder<'p> {
    /// Reads the directive, if an entry of a patch is one. An empty list orders nothing.
    pub(super) fn of(entry: &'p Entry) -> Result<Option<Self>> {
        let Some(field) = entry.key.strip_prefix(SET_ORDER) else { return Ok(None) };
        match entry.value.as_list() {
            Some([]) => Ok(None),
            Some(items) => Ok(Some(Self { field, items, entry })),
            None => {
                let message = format!("`{}` is a list, not {}", entry.key, entry.value.value.kind());
                Err(PatchError::new(entry.mark, message))
            }
        }
    }

    /// Returns the key that identifies the items of the list, if it is merged by one.
    pub(super) fn key<'s>(&self, schema: Schema<'s>) -> Result<Option<&'s str>> {
        let schema = schema.field(self.field).ok_or_else(|| {
            let message = format!("cannot set the order of `{}`: the kind has no such field", self.field);
            PatchError::new(self.entry.mark, message)
        })?;
        Ok(match schema.list_strategy() {
            ListStrategy::MergeBy(key) => Some(key),
            ListStrategy::Union | ListStrategy::Replace => None,
        })
    }

    /// Fails unless the directive lists all items of the patch, in the same order.
    pub(super) fn check(&self, patched: &[Node], key: Option<&str>) -> Result<()> {
        let kept: Vec<Node> = patched.iter().filter(|item| directive(item).is_none()).cloned().collect();
        if let Some(key) = key {
            self.items.iter().chain(&kept).try_for_each(|item| key_of(item, key).map(drop))?;
        }
        let kept_positions = Positions::of(&kept, key);
        let mut waiting = kept.iter().peekable();
        for item in self.items {
            let same = |other: &&Node| kept_positions.get(other, key) == kept_positions.get(item, key);
            waiting.next_if(same);
        }
        if waiting.peek().is_none() {
            return Ok(());
        }
        let message = format!("`{}` does not fit the items in `{}`", self.entry.key, self.field);
        Err(PatchError::new(self.entry.mark, message)
            .help("list every item that the patch has, in the same order"))
    }

    /// Orders the merged list. `object` has the positions of the items before the merge.
    pub(super) fn apply(&self, merged: &mut Vec<Node>, object: &Positions, key: Option<&str>) -> Result<()> {
        if key.is_none() && merged.iter().any(|item| item.as_map().is_some()) {
            let message =
                format!("the items of `{}` have no merge key by which they could be ordered", self.field);
            return Err(PatchError::new(self.entry.mark, message));
        }
        normalize(merged, &Positions::of(self.items, key), object, key);
        Ok(())
    }
}

/// Returns the positions of the items of the object for a list with `$setElementOrder`. As in apimachinery, the first new
/// items take the places at the end that deleted items leave.
pub(super) fn positions_for_order(object: &[Node], patched: &[Node], key: Option<&str>) -> Positions {
    let is_deleted = |item: &&Node| directive(item) == Some("delete");
    let deleted: Vec<Node> = patched.iter().filter(is_deleted).cloned().collect();
    if key.is_none() || deleted.is_empty() {
        return Positions::of(object, key);
    }
    let deleted = Positions::of(&deleted, key);
    let mut remaining: Vec<Node> = object.to_vec();
    remaining.retain(|item| deleted.get(item, key).is_none());
    let mut positions = Positions::of(&remaining, key);
    let mut next = remaining.len();
    for item in patched.iter().filter(|item| directive(item).is_none()) {
        if next < object.len() && positions.get(item, key).is_none() {
            positions.insert(item, key, next);
            next += 1;
        }
    }
    positions
}

/// Returns the schema of a field that both the object and the patch have.
pub(super) fn field_schema<'s>(schema: Schema<'s>, field: &str, mark: Mark) -> Result<Schema<'s>> {
    schema.field(field).ok_or_else(|| {
        PatchError::new(mark, format!("the kind has no field `{field}`")).help(
            "the schema does not say how to merge it; correct the name, or use a JSON patch to replace it",
        )
    })
}

/// Returns the merge key of an item.
pub(super) fn key_of<'n>(item: &'n Node, key: &str) -> Result<&'n Node> {
    let Some(value) = item.get(key) else {
        return Err(PatchError::new(item.mark, format!("the item has no `{key}`"))
            .help(format!("add it: the items of this list are merged by `{key}`")));
    };
    match value.value {
        Value::List(_) | Value::Map(_) => {
            let message = format!("`{key}` identifies the item and cannot be {}", value.value.kind());
            Err(PatchError::new(value.mark, message))
        }
        _ => Ok(value),
    }
}

/// Refuses lists with items of different types.
pub(super) fn require_same_types(items: &[Node], changes: &[Node], patch: &Node) -> Result<()> {
    let mut kinds = items.iter().chain(changes).map(|item| std::mem::discriminant(&item.value));
    let first = kinds.next();
    if kinds.all(|kind| Some(kind) == first) {
        return Ok(());
    }
    Err(PatchError::new(patch.mark, "the items of the list and of the patch are of different types"))
}
