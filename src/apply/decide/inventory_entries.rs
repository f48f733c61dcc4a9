//! The entries of an inventory, with an index by object.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::apply::decide::inventory_entry::InventoryEntry;
use crate::object::ObjectId;

/// The entries of an inventory, in the order in which their objects were applied. The first search builds an index, so a
/// search for each of many objects takes linear time.
#[derive(Debug, Default)]
pub(crate) struct InventoryEntries {
    entries: Vec<InventoryEntry>,
    positions: OnceLock<HashMap<ObjectId, usize>>,
}

impl InventoryEntries {
    /// Returns the entry of an object.
    pub(crate) fn find(&self, id: &ObjectId) -> Option<&InventoryEntry> {
        let positions = self.positions.get_or_init(|| {
            let ids = self.entries.iter().map(|entry| entry.id.clone());
            ids.enumerate().map(|(position, id)| (id, position)).collect()
        });
        positions.get(id).map(|position| &self.entries[*position])
    }

    /// Removes the entries for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&InventoryEntry) -> bool) {
        self.positions.take();
        self.entries.retain(keep);
    }

    pub(crate) fn push(&mut self, entry: InventoryEntry) {
        self.positions.take();
        self.entries.push(entry);
    }

    pub(crate) fn into_vec(self) -> Vec<InventoryEntry> {
        self.entries
    }
}

impl Clone for InventoryEntries {
    fn clone(&self) -> Self {
        self.entries.clone().into()
    }
}

impl PartialEq for InventoryEntries {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
    }
}

impl Eq for InventoryEntries {}

impl From<Vec<InventoryEntry>> for InventoryEntries {
    fn from(entries: Vec<InventoryEntry>) -> Self {
        Self { entries, positions: OnceLock::new() }
    }
}

impl FromIterator<InventoryEntry> for InventoryEntries {
    fn from_iter<I: IntoIterator<Item = InventoryEntry>>(entries: I) -> Self {
        Vec::from_iter(entries).into()
    }
}

impl Extend<InventoryEntry> for InventoryEntries {
    fn extend<I: IntoIterator<Item = InventoryEntry>>(&mut self, entries: I) {
        self.positions.take();
        self.entries.extend(entries);
    }
}

impl Deref for InventoryEntries {
    type Target = [InventoryEntry];

    fn deref(&self) -> &Self::Target {
        &self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::InventoryEntries;
    use crate::apply::decide::inventory_entry::InventoryEntry;
    use crate::object::ObjectId;

    fn id(name: &str) -> ObjectId {
        let [group, kind, namespace, name] = ["", "ConfigMap", "ns", name].map(str::to_owned);
        ObjectId { group, kind, namespace, name }
    }

    fn planned(name: &str) -> InventoryEntry {
        InventoryEntry::planned(&id(name), "v1")
    }

    #[test]
    fn many_entries_are_found_without_a_search() {
        // A search in all entries for each would take 10^10 steps.
        let names: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        let entries: InventoryEntries = names.iter().map(|name| planned(name)).collect();
        for name in &names {
            assert_eq!(entries.find(&id(name)).map(|entry| &entry.id.name), Some(name));
        }
    }

    #[test]
    fn entries_are_found_after_every_change() {
        let mut entries: InventoryEntries = ["a", "b"].map(planned).into_iter().collect();
        let names = |entries: &InventoryEntries| {
            let found = ["a", "b", "c", "d"].map(id);
            let found = found.iter().filter_map(|id| entries.find(id));
            found.map(|entry| entry.id.name.clone()).collect::<String>()
        };
        assert_eq!(names(&entries), "ab");
        entries.push(planned("c"));
        assert_eq!(names(&entries), "abc");
        entries.retain(|entry| entry.id.name != "a");
        assert_eq!(names(&entries), "bc");
        entries.extend([planned("d")]);
        assert_eq!(names(&entries), "bcd");
        assert_eq!(names(&entries.clone()), "bcd");
    }
}
