//! Strategic merge as Kubernetes does it: which lists merge, and by which key, is in the schema; `$patch` and its
//! relatives say the rest.
//!
//! Kubernetes puts new items of a list before those that only the object has. Here they come last, which is where
//! people expect them, unless a [`Position`] says otherwise.

use super::{PatchError, Result};
use crate::object::{ListStrategy, Schema};
use crate::yaml::{Entry, Map, Node, Value};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder/";

/// Where new items of a list go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Position {
    /// Behind those that are there.
    #[default]
    Last,
    /// Before those that are there.
    First,
}

/// Applies a strategic merge patch to an object of a schema.
pub fn strategic(target: &mut Node, patch: &Node, schema: Schema<'_>, position: Position) -> Result<()> {
    let merger = Merger { position };
    match (&mut target.value, &patch.value) {
        (Value::Map(map), Value::Map(changes)) => merger.map(map, patch, changes, schema),
        _ => Err(PatchError::new(
            patch.mark,
            format!("a strategic merge patch is a map, not {}", patch.value.kind()),
        )),
    }
}

/// Refuses a null in the place of a list that merges by a key: an empty `containers:` would delete them all. Kubernetes
/// allows it, so the merge itself does.
pub fn no_empty_lists(patch: &Node, schema: Schema<'_>) -> Result<()> {
    let Value::Map(changes) = &patch.value else { return Ok(()) };
    for change in changes {
        let Some(schema) = schema.field(&change.key) else { continue };
        match (&change.value.value, schema.list_strategy()) {
            (Value::Null, ListStrategy::MergeBy(_)) => {
                return Err(PatchError::new(
                    change.mark,
                    format!("`{}:` with nothing behind it removes the whole list", change.key),
                )
                .help("write the items; where all are meant, write `- $patch: delete` for each"));
            }
            (Value::List(items), _) => {
                items.iter().try_for_each(|item| no_empty_lists(item, schema.item()))?;
            }
            _ => no_empty_lists(&change.value, schema)?,
        }
    }
    Ok(())
}

struct Merger {
    position: Position,
}

impl Merger {
    fn map(&self, target: &mut Map, patch: &Node, changes: &Map, schema: Schema<'_>) -> Result<()> {
        if let Some(directive) = changes.get(PATCH) {
            *target = match directive.as_str() {
                Some("replace") => without_directive(changes),
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
            if let Some(fresh) = clean(patch) {
                target.insert(Entry { value: fresh, ..change.clone() });
            }
            return Ok(());
        };
        match (&mut current.value, &patch.value) {
            (Value::Map(map), Value::Map(nested)) => {
                let schema = known(schema, change)?;
                if schema.replaces_map() {
                    *current = patch.clone();
                    return Ok(());
                }
                self.map(map, patch, nested, schema)
            }
            (Value::List(items), Value::List(nested)) => {
                let schema = known(schema, change)?;
                self.list(items, patch, nested, schema)
            }
            _ => {
                match clean(patch) {
                    Some(fresh) => *current = fresh,
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
            ListStrategy::Unite => {
                same_types(items, changes, patch)?;
                self.insert(items, changes.iter().filter(|item| !items.contains(item)).cloned().collect());
                let mut seen: Vec<Node> = Vec::new();
                items.retain(|item| {
                    !seen.contains(item) && {
                        seen.push(item.clone());
                        true
                    }
                });
                Ok(())
            }
            ListStrategy::MergeBy(key) => {
                same_types(items, changes, patch)?;
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
                    return Err(PatchError::new(change.mark, "`$patch: merge` means nothing in a list")
                        .help("leave it out: the items of this list are merged anyway"));
                }
                Some(_) => return Err(unknown_directive(change.get(PATCH).unwrap_or(change))),
            }
        }
        let mut fresh = Vec::new();
        for change in changes.iter().filter(|change| directive(change).is_none()) {
            let value = key_of(change, key)?;
            let current =
                items.iter_mut().find(|item| item.get(key).is_some_and(|other| same_key(other, value)));
            match (current.map(|item| &mut item.value), &change.value) {
                (Some(Value::Map(map)), Value::Map(nested)) => self.map(map, change, nested, schema)?,
                _ => fresh.extend(clean(change)),
            }
        }
        self.insert(items, fresh);
        Ok(())
    }

    fn insert(&self, items: &mut Vec<Node>, fresh: Vec<Node>) {
        match self.position {
            Position::Last => items.extend(fresh),
            Position::First => drop(items.splice(0..0, fresh)),
        }
    }
}

fn known<'s>(schema: Schema<'s>, change: &Entry) -> Result<Schema<'s>> {
    schema.field(&change.key).ok_or_else(|| {
        PatchError::new(change.mark, format!("the kind has no field `{}`", change.key))
            .help("both the object and the patch have it, so nobody can say how to merge them")
    })
}

fn without_directive(changes: &Map) -> Map {
    let mut map = changes.clone();
    map.remove(PATCH);
    map
}

fn unknown_directive(directive: &Node) -> PatchError {
    PatchError::new(directive.mark, "a `$patch` that strategic merge does not know")
        .help("it is `delete` or `replace`")
}

fn directive(item: &Node) -> Option<&str> {
    item.get(PATCH).map(|directive| directive.as_str().unwrap_or(""))
}

/// Keeps only the listed keys of the object; the patch may set no others.
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

/// `$deleteFromPrimitiveList/field: [values]`
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

/// `$setElementOrder/field: [items]`: the items that it names, in that order, each at a place that one of them had.
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
        ListStrategy::Unite | ListStrategy::Replace => None,
    };
    let rank = |item: &Node| {
        wanted.iter().position(|other| match key {
            Some(key) => matches!((item.get(key), other.get(key)), (Some(a), Some(b)) if same_key(a, b)),
            None => item == other,
        })
    };
    patched_items_are_listed(patch, field, &rank, order)?;
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

fn patched_items_are_listed(
    patch: &Node,
    field: &str,
    rank: &impl Fn(&Node) -> Option<usize>,
    order: &Entry,
) -> Result<()> {
    let items = patch.get(field).and_then(Node::as_list).unwrap_or_default();
    let ranks: Option<Vec<_>> = items.iter().filter(|item| directive(item).is_none()).map(rank).collect();
    match ranks {
        Some(ranks) if ranks.is_sorted() => Ok(()),
        _ => Err(PatchError::new(order.mark, format!("`{field}` and the order set for it do not agree"))
            .help("list every item that the patch has, in the same order")),
    }
}

fn key_of<'n>(item: &'n Node, key: &str) -> Result<&'n Node> {
    item.get(key).ok_or_else(|| {
        PatchError::new(item.mark, format!("an item without `{key}`"))
            .help(format!("items of this list are merged by `{key}`, so each one must have it"))
    })
}

/// Keys are the same only if their types are: 53 is not "53".
fn same_key(a: &Node, b: &Node) -> bool {
    a.value == b.value
}

/// All items must be of one kind: nobody can merge a map with a text.
fn same_types(items: &[Node], changes: &[Node], patch: &Node) -> Result<()> {
    let mut kinds = items.iter().chain(changes).map(|item| std::mem::discriminant(&item.value));
    let first = kinds.next();
    if kinds.all(|kind| Some(kind) == first) {
        return Ok(());
    }
    Err(PatchError::new(patch.mark, "the items of the list and of the patch are of different types"))
}

/// A value that is new: nulls and directives in it have nothing to act on. Nothing if it is a directive itself.
fn clean(node: &Node) -> Option<Node> {
    let value = match &node.value {
        Value::Map(map) if map.get(PATCH).is_some() => return None,
        Value::Map(map) => {
            let entries =
                map.iter().filter(|entry| !entry.key.starts_with('$') && entry.value.value != Value::Null);
            let entries =
                entries.filter_map(|entry| Some(Entry { value: clean(&entry.value)?, ..entry.clone() }));
            Value::Map(Map::from_entries(entries.collect(), |_, _| {}))
        }
        Value::List(items) => Value::List(items.iter().filter_map(clean).collect()),
        scalar => scalar.clone(),
    };
    Some(Node { value, mark: node.mark })
}
