//! Maps, sorted by key.

use std::sync::Arc;

use crate::{Entry, Node};

/// A map from strings to nodes.
///
/// The entries are sorted by key, byte by byte, so that iteration does not depend on the order of the text and a
/// lookup is a binary search. Copies share their entries until one of them changes.
#[derive(Clone, Debug, Default)]
pub struct Map {
    pub(crate) entries: Arc<Vec<Entry>>,
}

impl Map {
    /// Creates a map. If several entries have the same key, the last one wins.
    ///
    /// ```
    /// use kubernetes_yaml::{Entry, Map, Mark, Node, Value, write};
    ///
    /// let name = Node::from(Value::String("web".into()));
    /// let map = Map::of(vec![Entry { key: "name".into(), mark: Mark::default(), value: name }]);
    /// assert_eq!(write(&Node::from(Value::Map(map))), "name: web\n");
    /// ```
    pub fn of(entries: Vec<Entry>) -> Self {
        Self::from_entries(entries, |_, _| {})
    }

    /// Creates a map. If several entries have the same key, the last one wins: `dropped` is called with each entry
    /// that loses and the entry that replaces it.
    pub fn from_entries(mut entries: Vec<Entry>, dropped: impl FnMut(Entry, &Entry)) -> Self {
        Self::from_end_of(&mut entries, 0, dropped)
    }

    /// Removes the entries from `start` on from a list, and creates a map as [`from_entries`](Self::from_entries).
    pub(crate) fn from_end_of(
        list: &mut Vec<Entry>,
        start: usize,
        dropped: impl FnMut(Entry, &Entry),
    ) -> Self {
        let entries = &mut list[start..];
        if entries.is_sorted_by(|a, b| a.key < b.key) {
            return Self::from_sorted(list.drain(start..).collect());
        }
        // Stable, so that entries with the same key keep the order of the text.
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        if entries.is_sorted_by(|a, b| a.key < b.key) {
            return Self::from_sorted(list.drain(start..).collect());
        }
        Self::from_sorted(last_of_each_key(list.drain(start..), dropped))
    }

    fn from_sorted(entries: Vec<Entry>) -> Self {
        Self { entries: Arc::new(entries) }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.position(key).ok().map(|index| &self.entries[index].value)
    }

    /// Returns the value of a key for changing it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.position(key).ok().map(|index| &mut Arc::make_mut(&mut self.entries)[index].value)
    }

    /// Returns a key with its position and value.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.position(key).ok().map(|index| &self.entries[index])
    }

    /// Adds an entry, or replaces the entry with the same key.
    pub fn insert(&mut self, entry: Entry) {
        match self.position(&entry.key) {
            Ok(index) => Arc::make_mut(&mut self.entries)[index] = entry,
            Err(index) => Arc::make_mut(&mut self.entries).insert(index, entry),
        }
    }

    /// Adds many entries, or replaces the entries with the same keys. If several of them have the same key, the last
    /// one wins.
    ///
    /// Takes about as long as creating the map anew, however many entries there are; [`insert`](Self::insert) moves all
    /// entries behind the new one.
    pub fn extend(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let mut entries = entries.into_iter().peekable();
        if entries.peek().is_none() {
            return;
        }
        let own = std::mem::take(&mut self.entries);
        let mut all = Arc::unwrap_or_clone(own);
        all.extend(entries);
        *self = Self::of(all);
    }

    /// Removes a key and returns its entry.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        self.position(key).ok().map(|index| Arc::make_mut(&mut self.entries).remove(index))
    }

    /// Keeps the entries for which `keep` returns true.
    pub fn retain(&mut self, keep: impl FnMut(&Entry) -> bool) {
        Arc::make_mut(&mut self.entries).retain(keep);
    }

    /// Returns all entries, sorted by key.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry> {
        self.entries.iter()
    }

    /// Returns all keys with their values, for changing the values.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        Arc::make_mut(&mut self.entries).iter_mut().map(|entry| (entry.key.as_str(), &mut entry.value))
    }

    /// Returns all values for changing them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        Arc::make_mut(&mut self.entries).iter_mut().map(|entry| &mut entry.value)
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.key.as_str().cmp(key))
    }
}

/// Keeps the last entry of each key, of entries that are sorted by key.
fn last_of_each_key(
    entries: impl Iterator<Item = Entry>,
    mut dropped: impl FnMut(Entry, &Entry),
) -> Vec<Entry> {
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        match kept.last_mut() {
            Some(last) if last.key == entry.key => {
                let earlier = std::mem::replace(last, entry);
                dropped(earlier, last);
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

/// If several entries have the same key, the last one wins.
impl FromIterator<Entry> for Map {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self::of(entries.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}
