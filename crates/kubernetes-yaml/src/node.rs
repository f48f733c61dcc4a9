//! The tree that every file becomes: a value, and the place each part of it was written.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::Number;

/// Text as the tree holds it: short ones, which are nearly all, in place; long ones shared by their copies.
pub type Text = SmolStr;

/// Which text a node was read from: an index into [`Sources`](super::Sources).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A place in a text. Lines and columns count from one, columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    /// The text.
    pub source: SourceId,
    /// The line, from one.
    pub line: u32,
    /// The column in characters, from one.
    pub column: u32,
}

/// A value and where it was written. Two nodes are equal when their values are.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written; for a value that came through an alias, where its anchor stands.
    pub mark: Mark,
}

/// What Kubernetes can hold: JSON's values, with integers kept to the digit.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer or a float.
    Number(Number),
    /// Text.
    String(Text),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping with text as keys.
    Map(Map),
}

/// One key of a [`Map`] with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Text,
    /// Where the key was written.
    pub mark: Mark,
    /// The value.
    pub value: Node,
}

/// A mapping, kept sorted by key so that a look-up is a binary search and iteration never depends on the input.
/// Copies share their entries until one of them is changed: every profile renders the same manifests.
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Arc<[Entry]>,
}

/// A key that a mapping has more than once. The last one wins, as it does in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: Text,
    /// Where the value that was dropped stands.
    pub dropped: Mark,
    /// Where the value that counts stands.
    pub kept: Mark,
}

impl Node {
    /// The entry of a map, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.get(key)
    }

    /// The entry of a map, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.value {
            Value::Map(map) => map.get_mut(key),
            _ => None,
        }
    }

    /// The text, if this is text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The mapping, if this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// A copy in which every text that `new` has an answer for is that answer, or nothing if there is none. What does
    /// not change stays shared.
    pub fn with_texts(&self, new: &impl Fn(&str) -> Option<String>) -> Option<Node> {
        let value = match &self.value {
            Value::String(text) => Value::String(new(text)?.into()),
            Value::List(items) => {
                let mut copy: Option<Vec<Node>> = None;
                for (at, item) in items.iter().enumerate() {
                    if let Some(item) = item.with_texts(new) {
                        copy.get_or_insert_with(|| items.clone())[at] = item;
                    }
                }
                Value::List(copy?)
            }
            Value::Map(map) => {
                let mut copy: Option<Map> = None;
                for (at, entry) in map.iter().enumerate() {
                    if let Some(value) = entry.value.with_texts(new) {
                        let copy = copy.get_or_insert_with(|| map.clone());
                        Arc::make_mut(&mut copy.entries)[at].value = value;
                    }
                }
                Value::Map(copy?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => return None,
        };
        Some(Node { value, mark: self.mark })
    }

    /// The items, if this is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Value {
    /// What a person calls this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

impl Map {
    /// Sorts entries into a map. Of entries with one key the last wins; each one dropped is reported.
    pub fn from_entries(mut entries: Vec<Entry>, dropped: impl FnMut(Entry, &Entry)) -> Self {
        Self::from_end_of(&mut entries, 0, dropped)
    }

    /// Takes the entries from `start` on off a list, and makes a map of them as [`from_entries`](Self::from_entries).
    pub(crate) fn from_end_of(
        list: &mut Vec<Entry>,
        start: usize,
        dropped: impl FnMut(Entry, &Entry),
    ) -> Self {
        let entries = &mut list[start..];
        if entries.is_sorted_by(|a, b| a.key < b.key) {
            return Self { entries: list.drain(start..).collect() };
        }
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        if entries.is_sorted_by(|a, b| a.key < b.key) {
            return Self { entries: list.drain(start..).collect() };
        }
        Self { entries: last_of_each(list.drain(start..), dropped).into() }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).ok().map(|at| &self.entries[at].value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.position(key).ok().map(|at| &mut Arc::make_mut(&mut self.entries)[at].value)
    }

    /// The key with its place and value.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.position(key).ok().map(|at| &self.entries[at])
    }

    /// Puts a value under a key, in place of what was there.
    pub fn insert(&mut self, entry: Entry) {
        match self.position(&entry.key) {
            Ok(at) => Arc::make_mut(&mut self.entries)[at] = entry,
            Err(at) => self.rebuild(|entries| entries.insert(at, entry)),
        }
    }

    /// Takes a key and its value away.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        self.position(key).ok().map(|at| self.rebuild(|entries| entries.remove(at)))
    }

    /// All entries, sorted by key, byte by byte.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// All keys with their values, of which the values can be changed.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        Arc::make_mut(&mut self.entries).iter_mut().map(|entry| (entry.key.as_str(), &mut entry.value))
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        Arc::make_mut(&mut self.entries).iter_mut().map(|entry| &mut entry.value)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn rebuild<T>(&mut self, change: impl FnOnce(&mut Vec<Entry>) -> T) -> T {
        let mut entries = self.entries.to_vec();
        let result = change(&mut entries);
        self.entries = entries.into();
        result
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.key.as_str().cmp(key))
    }
}

/// Of entries that are sorted by key, the last of each key.
fn last_of_each(entries: impl Iterator<Item = Entry>, mut dropped: impl FnMut(Entry, &Entry)) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        match kept.last_mut() {
            Some(last) if last.key == entry.key => {
                let loser = std::mem::replace(last, entry);
                dropped(loser, last);
            }
            _ => kept.push(entry),
        }
    }
    kept
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self
                .entries
                .iter()
                .zip(other.entries.iter())
                .all(|(a, b)| a.key == b.key && a.value == b.value)
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}
