//! Strategic merge patch as in Kubernetes: the schema says which lists merge and by which key; directives such as `$patch`
//! change that.
//!
//! [`ItemPosition`] says in which order the items of a merged list are.
//!
//! There is one difference. Where the patch has new values, apimachinery keeps some nulls and directives in them, which
//! the API server then ignores. Here they are removed.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::directives::{
    DELETE_FROM_LIST, ElementOrder, PATCH, RETAIN_KEYS, SET_ORDER, delete_from_list, directive, field_schema,
    key_of, positions_for_order, require_same_types, retain_keys, unknown_directive, without_directives,
};
use super::list_order::{ItemPosition, Positions, normalize, put_first};
use super::merge::remove_nulls;
use super::{PatchError, Result};
use crate::object::path::{escape, scalar_text};
use crate::object::{ListStrategy, Schema, mask};
use crate::yaml::json::HIDDEN;
use crate::yaml::{Entry, Map, Mark, Node, Value};

/// An item that a patch creates in a list that is merged by a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewItem {
    /// The path of the list, such as `/spec/template/spec/containers`.
    pub(crate) path: String,
    /// The field with the list, such as `containers`.
    pub(crate) list: String,
    /// The merge key of the list, such as `name`.
    pub(crate) merge_key: String,
    /// The value of the merge key, such as the name of a container.
    pub(crate) key: String,
    /// The position of the merge key in the patch.
    pub(crate) mark: Mark,
    /// The merge keys of the items that the list has already.
    pub(crate) existing: Arc<[String]>,
}

/// Applies a strategic merge patch to an object. Returns the items that it creates in lists that are merged by a key,
/// except those inside of a new item.
pub(crate) fn strategic(
    target: &mut Node,
    patch: &Node,
    schema: Schema<'_>,
    position: ItemPosition,
) -> Result<Vec<NewItem>> {
    let mut merger = Merger { position, path: String::new(), created: Vec::new() };
    match (&mut target.value, &patch.value) {
        (Value::Map(map), Value::Map(changes)) => {
            merger.merge_map(map, changes, schema)?;
            Ok(merger.created)
        }
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
    /// The path of the map or list that is being merged.
    path: String,
    created: Vec<NewItem>,
}

impl Merger {
    /// Merges a map of the patch into one of the object, and applies the directives in it.
    fn merge_map(&mut self, target: &mut Map, changes: &Map, schema: Schema<'_>) -> Result<()> {
        if let Some(directive) = changes.get(PATCH) {
            *target = match directive.as_str() {
                Some("replace") => replacement(changes),
                Some("delete") => Map::default(),
                _ => return Err(unknown_directive(directive)),
            };
            return Ok(());
        }
        if let Some(keys) = changes.get(RETAIN_KEYS) {
            retain_keys(target, changes, keys)?;
        }
        let mut ordered = BTreeSet::new();
        for entry in changes {
            if let Some(order) = ElementOrder::of(entry)? {
                self.merge_in_order(target, &order, changes, schema)?;
                ordered.insert(order.field);
            }
        }
        remove_nulls(target, changes);
        // Adds all new keys at once, because each insertion moves the keys after it.
        let mut added = Vec::new();
        for change in changes {
            let is_done = &*change.key == RETAIN_KEYS || change.key.starts_with(SET_ORDER);
            if !is_done && !ordered.contains(&*change.key) {
                added.extend(self.merge_entry(target, change, schema)?);
            }
        }
        target.extend(added);
        Ok(())
    }

    /// Merges a list together with its `$setElementOrder`.
    fn merge_in_order(
        &mut self,
        target: &mut Map,
        order: &ElementOrder<'_>,
        changes: &Map,
        schema: Schema<'_>,
    ) -> Result<()> {
        let key = order.key(schema)?;
        let change = changes.entry(order.field);
        let patched = match change {
            Some(change) => change.value.as_list().ok_or_else(|| {
                let message = format!("`{}` is a list, not {}", order.field, change.value.value.kind());
                PatchError::new(change.mark, message)
            })?,
            None => &[],
        };
        order.check(patched, key)?;
        let before = target.get(order.field).and_then(Node::as_list).unwrap_or_default();
        let before = positions_for_order(before, patched, key);
        if let Some(change) = change {
            let added = self.merge_entry(target, change, schema)?;
            target.extend(added);
        }
        match target.get_mut(order.field).map(|node| &mut node.value) {
            Some(Value::List(items)) => order.apply(items, &before, key),
            _ => Ok(()),
        }
    }

    /// Merges one field of the patch. Returns the field if the object does not have it.
    fn merge_entry(&mut self, target: &mut Map, change: &Entry, schema: Schema<'_>) -> Result<Option<Entry>> {
        let length = self.enter(&change.key);
        let added = self.merge_field(target, change, schema)?;
        self.path.truncate(length);
        Ok(added)
    }

    /// Appends a segment to the path. Returns the length of the path before.
    fn enter(&mut self, segment: &str) -> usize {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&escape(segment));
        length
    }

    fn merge_field(&mut self, target: &mut Map, change: &Entry, schema: Schema<'_>) -> Result<Option<Entry>> {
        if change.key.starts_with(DELETE_FROM_LIST) {
            return delete_from_list(target, change, schema).map(|()| None);
        }
        let patch = &change.value;
        if patch.value == Value::Null {
            return Ok(None);
        }
        let Some(current) = target.get_mut(&change.key) else {
            let new = without_directives(patch);
            if let (Some(new), Some(schema)) = (&new, schema.field(&change.key)) {
                self.record_new(&change.key, new, schema);
            }
            return Ok(new.map(|value| Entry { value, ..change.clone() }));
        };
        current.sensitivity = current.sensitivity.max(patch.sensitivity);
        match (&mut current.value, &patch.value) {
            (Value::Map(map), Value::Map(nested)) => {
                let schema = field_schema(schema, &change.key, change.mark)?;
                if schema.replaces_map() {
                    *current = patch.with_value(Value::Map(replacement(nested)));
                } else {
                    self.merge_map(map, nested, schema)?;
                }
            }
            (Value::List(items), Value::List(nested)) => {
                let schema = field_schema(schema, &change.key, change.mark)?;
                self.merge_list(items, change, nested, schema)?;
            }
            _ => match without_directives(patch) {
                Some(new) => {
                    if let Some(schema) = schema.field(&change.key) {
                        self.record_new(&change.key, &new, schema);
                    }
                    *current = new;
                }
                None => drop(target.remove(&change.key)),
            },
        }
        Ok(None)
    }

    /// Merges a list of the patch, by the strategy in the schema.
    fn merge_list(
        &mut self,
        items: &mut Vec<Node>,
        change: &Entry,
        changes: &[Node],
        schema: Schema<'_>,
    ) -> Result<()> {
        let patch = &change.value;
        match schema.list_strategy() {
            ListStrategy::Replace => {
                *items = changes.iter().filter_map(without_directives).collect();
                Ok(())
            }
            ListStrategy::Union => {
                require_same_types(items, changes, patch)?;
                self.merge_set(items, changes, patch)
            }
            ListStrategy::MergeBy(key) => {
                require_same_types(items, changes, patch)?;
                let list = KeyedList { field: &change.key, key, item: schema.item() };
                self.merge_keyed_list(items, changes, &list)
            }
        }
    }

    /// Merges a list in which each text or number occurs once.
    fn merge_set(&self, items: &mut Vec<Node>, changes: &[Node], patch: &Node) -> Result<()> {
        let is_collection = |item: &&Node| matches!(item.value, Value::Map(_) | Value::List(_) | Value::Null);
        if let Some(item) = items.iter().chain(changes).find(is_collection) {
            let message = format!("the list cannot be merged, because an item is {}", item.value.kind());
            return Err(PatchError::new(patch.mark, message));
        }
        let before = Positions::of(items, None);
        let mut seen = Positions::of(&[], None);
        let mut merged = Vec::new();
        for item in items.iter().chain(changes) {
            if seen.get(item, None).is_none() {
                seen.insert(item, None, merged.len());
                merged.push(item.clone());
            }
        }
        *items = merged;
        self.order(items, &Positions::of(changes, None), &before, None);
        Ok(())
    }

    /// Merges a list whose items are identified by a key.
    fn merge_keyed_list(
        &mut self,
        items: &mut Vec<Node>,
        changes: &[Node],
        list: &KeyedList<'_>,
    ) -> Result<()> {
        let key = list.key;
        if apply_item_directives(items, changes, key)? {
            return Ok(());
        }
        items.iter().try_for_each(|item| key_of(item, key).map(drop))?;
        let changes: Vec<Node> = changes.iter().filter(|item| directive(item).is_none()).cloned().collect();
        let before = Positions::of(items, Some(key));
        let existing = items.len();
        let mut existing_keys = None;
        let mut positions = Positions::of(items, Some(key));
        for change in &changes {
            let value = key_of(change, key)?;
            let Some(index) = positions.get(change, Some(key)) else {
                let existing_keys = existing_keys.get_or_insert_with(|| keys(&items[..existing], key));
                self.record(list, value, Arc::clone(existing_keys));
                positions.insert(change, Some(key), items.len());
                items.extend(without_directives(change));
                continue;
            };
            if let (Value::Map(map), Value::Map(nested)) = (&mut items[index].value, &change.value) {
                let recorded = self.created.len();
                let length = self.enter(&format!("[{key}={}]", shown(value)));
                self.merge_map(map, nested, list.item)?;
                self.path.truncate(length);
                if index >= existing {
                    self.created.truncate(recorded);
                }
            }
        }
        self.order(items, &Positions::of(&changes, Some(key)), &before, Some(key));
        Ok(())
    }

    /// Orders a merged list, in which new items come last so far.
    fn order(&self, items: &mut Vec<Node>, patch: &Positions, before: &Positions, key: Option<&str>) {
        match self.position {
            ItemPosition::Kubernetes => normalize(items, patch, before, key),
            ItemPosition::First => put_first(items, patch, before, key),
            ItemPosition::Last => {}
        }
    }

    /// Records an item that the patch creates.
    fn record(&mut self, list: &KeyedList<'_>, key: &Node, existing: Arc<[String]>) {
        self.created.push(NewItem {
            path: self.path.clone(),
            list: list.field.to_owned(),
            merge_key: list.key.to_owned(),
            key: shown(key),
            mark: key.mark,
            existing,
        });
    }

    /// Records the items of keyed lists in a field that the object does not have.
    fn record_new(&mut self, field: &str, new: &Node, schema: Schema<'_>) {
        match (&new.value, schema.list_strategy()) {
            (Value::List(items), ListStrategy::MergeBy(key)) => {
                let list = KeyedList { field, key, item: schema.item() };
                for key in items.iter().filter_map(|item| item.get(key)) {
                    self.record(&list, key, Arc::default());
                }
            }
            (Value::Map(map), _) => {
                for entry in map {
                    let Some(schema) = schema.field(&entry.key) else { continue };
                    let length = self.enter(&entry.key);
                    self.record_new(&entry.key, &entry.value, schema);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// A list that is merged by a key.
struct KeyedList<'s> {
    field: &'s str,
    key: &'s str,
    item: Schema<'s>,
}

/// Returns the merge keys of items, without sensitive ones.
fn keys(items: &[Node], key: &str) -> Arc<[String]> {
    let keys = items.iter().filter_map(|item| item.get(key));
    keys.filter(|key| !mask::is_sensitive(key)).filter_map(scalar_text).collect()
}

/// Returns a merge key for a message.
fn shown(key: &Node) -> String {
    if mask::is_sensitive(key) { HIDDEN.to_owned() } else { scalar_text(key).unwrap_or_default() }
}

/// Applies the `$patch` directives of items. Returns whether one of them replaced the whole list.
fn apply_item_directives(items: &mut Vec<Node>, changes: &[Node], key: &str) -> Result<bool> {
    let mut is_replaced = false;
    let mut deleted = Vec::new();
    for change in changes {
        match directive(change) {
            None => {}
            Some("replace") => is_replaced = true,
            Some("delete") => {
                key_of(change, key)?;
                deleted.push(change.clone());
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
    if is_replaced {
        *items = changes.iter().filter_map(without_directives).collect();
        items.iter().try_for_each(|item| key_of(item, key).map(drop))?;
        let positions = Positions::of(items, Some(key));
        normalize(items, &Positions::of(&[], Some(key)), &positions, Some(key));
    } else if !deleted.is_empty() {
        let deleted = Positions::of(&deleted, Some(key));
        items.retain(|item| deleted.get(item, Some(key)).is_none());
    }
    Ok(is_replaced)
}

/// Returns the map that replaces one of the object, without directives and nulls.
fn replacement(changes: &Map) -> Map {
    let mut map = changes.clone();
    map.remove(PATCH);
    match without_directives(&Node::from(Value::Map(map))).map(|node| node.value) {
        Some(Value::Map(map)) => map,
        _ => Map::default(),
    }
}
