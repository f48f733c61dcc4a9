//! Strategic merge patch as in Kubernetes: the schema says which lists merge and by which key; directives such as `$patch`
//! change that.
//!
//! Kubernetes puts new items of a list before those that only the object has. Here they come last, which is where users
//! expect them, unless [`ItemPosition`] says otherwise.

use super::directives::{
    DELETE_FROM_LIST, PATCH, RETAIN_KEYS, SET_ORDER, delete_from_list, directive, retain_keys, same_key,
    set_order, unknown_directive, without_directives, without_patch_directive,
};
use super::merge::remove_nulls;
use super::{PatchError, Result};
use crate::language::ItemPosition;
use crate::object::{ListStrategy, Schema};
use crate::yaml::{Entry, Map, Node, Value};

/// Applies a strategic merge patch to an object.
pub(crate) fn strategic(
    target: &mut Node,
    patch: &Node,
    schema: Schema<'_>,
    position: ItemPosition,
) -> Result<()> {
    let merger = Merger { position };
    match (&mut target.value, &patch.value) {
        (Value::Map(map), Value::Map(changes)) => merger.merge_map(map, patch, changes, schema),
        _ => Err(PatchError::new(
            patch.mark,
            format!("a strategic merge patch is a map, not {}", patch.value.kind()),
        )),
    }
}

/// Refuses a patch with null for a list that merges by key: `containers:` without items would delete all of them.
/// Kubernetes allows this, so [`strategic`] does too; the patches of pages are checked with this function first.
pub(crate) fn refuse_emptied_lists(patch: &Node, schema: Schema<'_>) -> Result<()> {
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
    /// Merges a map of the patch into one of the object, and applies the directives in it.
    fn merge_map(&self, target: &mut Map, patch: &Node, changes: &Map, schema: Schema<'_>) -> Result<()> {
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
        remove_nulls(target, changes);
        // Adds all new keys at once, because each insertion moves the keys after it.
        let mut added = Vec::new();
        for change in changes {
            if &*change.key != RETAIN_KEYS && !change.key.starts_with(SET_ORDER) {
                added.extend(self.merge_entry(target, change, schema)?);
            }
        }
        target.extend(added);
        for order in changes.iter().filter(|change| change.key.starts_with(SET_ORDER)) {
            set_order(target, order, patch, schema)?;
        }
        Ok(())
    }

    /// Merges one field of the patch. Returns the field if the object does not have it.
    fn merge_entry(&self, target: &mut Map, change: &Entry, schema: Schema<'_>) -> Result<Option<Entry>> {
        if change.key.starts_with(DELETE_FROM_LIST) {
            return delete_from_list(target, change).map(|()| None);
        }
        let patch = &change.value;
        if patch.value == Value::Null {
            return Ok(None);
        }
        let Some(current) = target.get_mut(&change.key) else {
            let new = without_directives(patch);
            return Ok(new.map(|value| Entry { value, ..change.clone() }));
        };
        match (&mut current.value, &patch.value) {
            (Value::Map(map), Value::Map(nested)) => {
                let schema = field_schema(schema, change)?;
                if schema.replaces_map() {
                    *current = patch.clone();
                } else {
                    self.merge_map(map, patch, nested, schema)?;
                }
            }
            (Value::List(items), Value::List(nested)) => {
                let schema = field_schema(schema, change)?;
                self.merge_list(items, patch, nested, schema)?;
            }
            _ => match without_directives(patch) {
                Some(new) => *current = new,
                None => drop(target.remove(&change.key)),
            },
        }
        Ok(None)
    }

    /// Merges a list of the patch, by the strategy in the schema.
    fn merge_list(
        &self,
        items: &mut Vec<Node>,
        patch: &Node,
        changes: &[Node],
        schema: Schema<'_>,
    ) -> Result<()> {
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
                self.merge_keyed_list(items, changes, key, schema.item())
            }
        }
    }

    /// Merges a list whose items are identified by a key.
    fn merge_keyed_list(
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
                (Some(Value::Map(map)), Value::Map(nested)) => self.merge_map(map, change, nested, schema)?,
                _ => new.extend(without_directives(change)),
            }
        }
        self.insert(items, new);
        Ok(())
    }

    /// Inserts new items at the position that the patch asks for.
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

fn key_of<'n>(item: &'n Node, key: &str) -> Result<&'n Node> {
    item.get(key).ok_or_else(|| {
        PatchError::new(item.mark, format!("the item has no `{key}`"))
            .help(format!("add it: the items of this list are merged by `{key}`"))
    })
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
