//! Strategic merge patch as in Kubernetes: the schema says which lists merge and by which key; directives such as `$patch`
//! change that.
//!
//! Kubernetes puts new items of a list before those that only the object has. Here they come last, which is where users
//! expect them, unless [`ItemPosition`] says otherwise.

use super::{PatchError, Result};
use crate::language::ItemPosition;
use crate::object::{ListStrategy, Schema};
use crate::yaml::{Entry, Map, Node, Value};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder/";

/// Applies a strategic merge patch to an object.
pub fn strategic(target: &mut Node, patch: &Node, schema: Schema<'_>, position: ItemPosition) -> Result<()> {
    let merger = Merger { position };
    match (&mut target.value, &patch.value) {
        (Value::Map(map), Value::Map(changes)) => merger.map(map, patch, changes, schema),
        _ => Err(PatchError::new(
            patch.mark,
            format!("a strategic merge patch is a map, not {}", patch.value.kind()),
        )),
    }
}

/// Refuses a patch with null for a list that merges by key: `containers:` without items would delete all of them.
/// Kubernetes allows this, so [`strategic`] does too; the patches of pages are checked with this function first.
pub fn refuse_emptied_lists(patch: &Node, schema: Schema<'_>) -> Result<()> {
    let Value::Map(changes) = &patch.value else { return Ok(()) };
    for change in changes {
        let Some(schema) = schema.field(&change.key) else { continue };
        match (&change.value.value, schema.list_strategy()) {
            (Value::Null, ListStrategy::MergeBy(_)) => {
                return Err(PatchError::new(
                    change.mark,
                    format!("`{}:` without a value removes the whole list", change.key),
                )
                .help("write the items; to remove items, write `- $patch: delete` for each of them"));
            }
            (Value::List(items), _) => {
                for item in items {
                    refuse_emptied_lists(item, schema.item())?;
                }
            }
            _ => refuse_emptied_lists(&change.value, schema)?,
        }
    }
    Ok(())
}

struct Merger {
    position: ItemPosition,
}

impl Merger {
    fn map(&self, target: &mut Map, patch: &Node, changes: &Map, schema: Schema<'_>) -> Result<()> {
        if let Some(directive) = changes.get(PATCH) {
            *target = match directive.as_str() {
                Some("replace") => without_patch_directive(changes),
                Some("delete") => Map::default(),
                _ => return Err(unknown_directive(directive)),
            };
            return Ok(());
        }
        if let Some(keys) = changes.get(RETAIN_KEYS) {
            retain_keys(target, changes, keys)?;
        }
        for change in changes {
            if &*change.key != RETAIN_KEYS && !change.key.starts_with(SET_ORDER) {
                self.entry(target, change, schema)?;
            }
        }
        for order in changes.iter().filter(|change| change.key.starts_with(SET_ORDER)) {
            set_order(target, order, patch, schema)?;
        }
        Ok(())
    }

    fn entry(&self, target: &mut Map, change: &Entry, schema: Schema<'_>) -> Result<()> {
        if change.key.starts_with(DELETE_FROM_LIST) {
            return delete_from_list(target, change);
        }
        let patch = &change.value;
        if patch.value == Value::Null {
            target.remove(&change.key);
            return Ok(());
        }
        let Some(current) = target.get_mut(&change.key) else {
            if let Some(new) = without_directives(patch) {
                target.insert(Entry { value: new, ..change.clone() });
            }
            return Ok(());
        };
        match (&mut current.value, &patch.value) {
            (Value::Map(map), Value::Map(nested)) => {
                let schema = field_schema(schema, change)?;
                if schema.replaces_map() {
                    *current = patch.clone();
                    return Ok(());
                }
                self.map(map, patch, nested, schema)
            }
            (Value::List(items), Value::List(nested)) => {
                let schema = field_schema(schema, change)?;
                self.list(items, patch, nested, schema)
            }
            _ => {
                match without_directives(patch) {
                    Some(new) => *current = new,
                    None => drop(target.remove(&change.key)),
                }
                Ok(())
            }
        }
    }

    fn list(&self, items: &mut Vec<Node>, patch: &Node, changes: &[Node], schema: Schema<'_>) -> Result<()> {
        match schema.list_strategy() {
            ListStrategy::Replace => {
                *items = changes.to_vec();
                Ok(())
            }
            ListStrategy::Union => {
                require_same_types(items, changes, patch)?;
                let new = changes.iter().filter(|item| !items.contains(item)).cloned().collect();
                self.insert(items, new);
                remove_duplicates(items);
                Ok(())
            }
            ListStrategy::MergeBy(key) => {
                require_same_types(items, changes, patch)?;
                self.keyed_list(items, changes, key, schema.item())
            }
        }
    }

    fn keyed_list(
        &self,
        items: &mut Vec<Node>,
        changes: &[Node],
        key: &str,
        schema: Schema<'_>,
    ) -> Result<()> {
        if changes.iter().any(|change| directive(change) == Some("replace")) {
            *items = changes.iter().filter(|change| directive(change).is_none()).cloned().collect();
            return Ok(());
        }
        for change in changes {
            match directive(change) {
                None => {}
                Some("delete") => {
                    let value = key_of(change, key)?;
                    items.retain(|item| item.get(key).is_none_or(|other| !same_key(other, value)));
                }
                Some("merge") => {
                    return Err(PatchError::new(
                        change.mark,
                        "`$patch: merge` has no effect on an item of a list",
                    )
                    .help("remove it: the items of this list are merged anyway"));
                }
                Some(_) => return Err(unknown_directive(change.get(PATCH).unwrap_or(change))),
            }
        }
        let mut new = Vec::new();
        for change in changes.iter().filter(|change| directive(change).is_none()) {
            let value = key_of(change, key)?;
            let current =
                items.iter_mut().find(|item| item.get(key).is_some_and(|other| same_key(other, value)));
            match (current.map(|item| &mut item.value), &change.value) {
                (Some(Value::Map(map)), Value::Map(nested)) => self.map(map, change, nested, schema)?,
                _ => new.extend(without_directives(change)),
            }
        }
        self.insert(items, new);
        Ok(())
    }

    fn insert(&self, items: &mut Vec<Node>, new: Vec<Node>) {
        match self.position {
            ItemPosition::Last => items.extend(new),
            ItemPosition::First => drop(items.splice(0..0, new)),
        }
    }
}

/// Returns the schema of a field that both the object and the patch have.
fn field_schema<'s>(schema: Schema<'s>, change: &Entry) -> Result<Schema<'s>> {
    schema.field(&change.key).ok_or_else(|| {
        PatchError::new(change.mark, format!("the kind has no field `{}`", change.key)).help(
            "the schema does not say how to merge it; correct the name, or use a JSON patch to replace it",
        )
    })
}

fn remove_duplicates(items: &mut Vec<Node>) {
    let mut unique: Vec<Node> = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        if !unique.contains(&item) {
            unique.push(item);
        }
    }
    *items = unique;
}

fn without_patch_directive(changes: &Map) -> Map {
    let mut map = changes.clone();
    map.remove(PATCH);
    map
}

fn unknown_directive(directive: &Node) -> PatchError {
    PatchError::new(directive.mark, "this is not a `$patch` directive").help("write `delete` or `replace`")
}

fn directive(item: &Node) -> Option<&str> {
    item.get(PATCH).map(|directive| directive.as_str().unwrap_or(""))
}

/// Applies `$retainKeys`: removes all keys of the object that it does not list. The patch must not set other keys.
fn retain_keys(target: &mut Map, changes: &Map, keys: &Node) -> Result<()> {
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
fn delete_from_list(target: &mut Map, change: &Entry) -> Result<()> {
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
fn set_order(target: &mut Map, order: &Entry, patch: &Node, schema: Schema<'_>) -> Result<()> {
    let field = order.key.strip_prefix(SET_ORDER).unwrap_or_default();
    let Some(wanted) = order.value.as_list() else {
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
    let rank = |item: &Node| {
        wanted.iter().position(|other| match key {
            Some(key) => matches!((item.get(key), other.get(key)), (Some(a), Some(b)) if same_key(a, b)),
            None => item == other,
        })
    };
    require_same_order(patch, field, &rank, order)?;
    let Some(Value::List(items)) = target.get_mut(field).map(|node| &mut node.value) else { return Ok(()) };
    let mut ordered: Vec<Node> = items.iter().filter(|item| rank(item).is_some()).cloned().collect();
    ordered.sort_by_key(|item| rank(item));
    let mut ordered = ordered.into_iter();
    for item in items.iter_mut().filter(|item| rank(item).is_some()) {
        if let Some(next) = ordered.next() {
            *item = next;
        }
    }
    Ok(())
}

/// Refuses an order that leaves out items of the patch, or has them in another order.
fn require_same_order(
    patch: &Node,
    field: &str,
    rank: &impl Fn(&Node) -> Option<usize>,
    order: &Entry,
) -> Result<()> {
    let items = patch.get(field).and_then(Node::as_list).unwrap_or_default();
    let ranks: Option<Vec<_>> = items.iter().filter(|item| directive(item).is_none()).map(rank).collect();
    match ranks {
        Some(ranks) if ranks.is_sorted() => Ok(()),
        _ => Err(PatchError::new(order.mark, format!("`{}` does not fit the items in `{field}`", order.key))
            .help("list every item that the patch has, in the same order")),
    }
}

fn key_of<'n>(item: &'n Node, key: &str) -> Result<&'n Node> {
    item.get(key).ok_or_else(|| {
        PatchError::new(item.mark, format!("the item has no `{key}`"))
            .help(format!("add it: the items of this list are merged by `{key}`"))
    })
}

/// Compares keys with their types: 53 is not "53".
fn same_key(a: &Node, b: &Node) -> bool {
    a.value == b.value
}

/// Refuses lists with items of different types.
fn require_same_types(items: &[Node], changes: &[Node], patch: &Node) -> Result<()> {
    let mut kinds = items.iter().chain(changes).map(|item| std::mem::discriminant(&item.value));
    let first = kinds.next();
    if kinds.all(|kind| Some(kind) == first) {
        return Ok(());
    }
    Err(PatchError::new(patch.mark, "the items of the list and of the patch are of different types"))
}

/// Returns a new value without the nulls and directives in it, which have nothing to act on. Returns `None` if the value
/// itself is a directive.
fn without_directives(node: &Node) -> Option<Node> {
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
            Value::Map(Map::from_entries(entries, |_, _| {}))
        }
        Value::List(items) => Value::List(items.iter().filter_map(without_directives).collect()),
        scalar => scalar.clone(),
    };
    Some(Node { value, mark: node.mark })
}
