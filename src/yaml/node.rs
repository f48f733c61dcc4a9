//! The tree that every file becomes: a value, and the place each part of it was written.

use smol_str::SmolStr;

use super::Number;

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
#[derive(Clone, Debug, Default)]
pub struct Map {
    entries: Vec<Entry>,
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
    pub fn from_entries(mut entries: Vec<Entry>, mut dropped: impl FnMut(Entry, &Entry)) -> Self {
        if !entries.is_sorted_by(|a, b| a.key < b.key) {
            entries.sort_by(|a, b| a.key.cmp(&b.key));
            let mut kept: Vec<Entry> = Vec::with_capacity(entries.len());
            for entry in entries {
                match kept.last_mut() {
                    Some(last) if last.key == entry.key => {
                        let loser = std::mem::replace(last, entry);
                        dropped(loser, last);
                    }
                    _ => kept.push(entry),
                }
            }
            entries = kept;
        }
        Self { entries }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).ok().map(|at| &self.entries[at].value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.position(key).ok().map(|at| &mut self.entries[at].value)
    }

    /// The key with its place and value.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.position(key).ok().map(|at| &self.entries[at])
    }

    /// Puts a value under a key, in place of what was there.
    pub fn insert(&mut self, entry: Entry) {
        match self.position(&entry.key) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    /// Takes a key and its value away.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        self.position(key).ok().map(|at| self.entries.remove(at))
    }

    /// All entries, sorted by key, byte by byte.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// All keys with their values, of which the values can be changed.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        self.entries.iter_mut().map(|entry| (entry.key.as_str(), &mut entry.value))
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.key.as_str().cmp(key))
    }
}

impl PartialEq for Map {
    fn eq(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self.entries.iter().zip(&other.entries).all(|(a, b)| a.key == b.key && a.value == b.value)
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}
