//! Shards: an inventory with very many objects continues in further `ConfigMaps`, because an API server accepts about
//! 1 MiB in one object.
//!
//! Shards are never changed. A new version of the inventory has new shards, and the `ConfigMap` of the inventory names
//! them. So a single write replaces the whole inventory, whatever interrupts transship.

use std::fmt::Write;

use crate::apply::decide::inventory_entries::InventoryEntries;
use crate::language::{INVENTORY_SHARDS, Profile};

/// The largest size in bytes of the list of objects in one part.
pub(crate) const PART_SIZE: usize = 900 * 1024;
/// The largest number of parts of an inventory: the `ConfigMap` itself, and its shards.
pub(crate) const MAX_PARTS: usize = 1 + INVENTORY_SHARDS / 2;

/// The names that the shards of an inventory can have.
pub(crate) struct ShardNames(Vec<String>);

impl ShardNames {
    pub(crate) fn of(inventory: &str) -> Self {
        Self(Profile::inventory_shards(inventory))
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    /// Returns the names that no shard of the current inventory has.
    pub(crate) fn unused(self, used: &[String]) -> Vec<String> {
        self.0.into_iter().filter(|name| !used.contains(name)).collect()
    }
}

/// Formats entries as lines, one per object, in parts of at most `part_size` bytes.
pub(crate) fn split(entries: &InventoryEntries, part_size: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for entry in entries.iter() {
        let mut line = entry.to_string();
        line.push('\n');
        match parts.last_mut() {
            Some(part) if part.len() + line.len() <= part_size => _ = part.write_str(&line),
            _ => parts.push(line),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{InventoryEntries, MAX_PARTS, ShardNames, split};
    use crate::apply::decide::inventory_entry::InventoryEntry;
    use crate::object::ObjectId;

    fn entry(name: &str) -> InventoryEntry {
        let [group, kind, namespace, name] = ["", "K", "", name].map(str::to_owned);
        InventoryEntry::planned(&ObjectId { group, kind, namespace, name }, "v1")
    }

    #[test]
    fn a_part_is_never_larger_than_allowed() {
        // A line has 17 bytes.
        let entries = ["a", "b", "c"].map(entry).into_iter().collect();
        let lines = ["v1 K - a - - - -\n", "v1 K - b - - - -\n", "v1 K - c - - - -\n"];
        assert_eq!(split(&entries, 51), [lines.concat()]);
        assert_eq!(split(&entries, 50), [lines[..2].concat(), lines[2].to_owned()]);
        assert_eq!(split(&entries, 1), lines);
        assert_eq!(split(&InventoryEntries::default(), 1), Vec::<String>::new());
    }

    #[test]
    fn the_next_inventory_has_other_shards() {
        let used = ["x-2".to_owned()];
        let names = ShardNames::of("x").unused(&used);
        assert_eq!(names[..2], ["x-1", "x-3"]);
        assert!(names.len() >= MAX_PARTS - 1);
        assert!(ShardNames::of("x").contains("x-16") && !ShardNames::of("x").contains("x-17"));
    }
}
