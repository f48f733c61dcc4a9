//! The guest's inventory as untrusted input. The guest's administrator can add entries for objects that transship never
//! applied. transship never deletes such an object, but the entry would count as an object to prune and take up space.

use crate::apply::decide::inventory::InventoryEntry;
use crate::object::ObjectId;

/// The largest size in bytes of all entries that are no longer rendered. The rest of the inventory is for rendered objects.
const MAX_NOT_RENDERED: usize = 400 * 1024;

/// The entries of a guest's inventory that count, and those that do not.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct GuestEntries {
    /// The entries that count.
    pub(crate) kept: Vec<InventoryEntry>,
    /// Entries that are not rendered and whose object does not exist, or exists without transship's label.
    pub(crate) ghosts: Vec<ObjectId>,
    /// How many entries are left out because the inventory would be too large.
    pub(crate) surplus: usize,
}

/// Decides which entries of a guest's inventory transship uses and which it ignores. `may_be_ours` returns true if an
/// object with transship's label exists, or if transship does not know that.
pub(crate) fn check_entries(
    entries: Vec<InventoryEntry>,
    is_rendered: impl Fn(&ObjectId) -> bool,
    may_be_ours: impl Fn(&ObjectId) -> bool,
) -> GuestEntries {
    let mut result = GuestEntries::default();
    let mut size = 0;
    for entry in entries {
        if is_rendered(&entry.id) {
            result.kept.push(entry);
        } else if !may_be_ours(&entry.id) {
            result.ghosts.push(entry.id);
        } else {
            size += entry.to_string().len() + 1;
            if size <= MAX_NOT_RENDERED {
                result.kept.push(entry);
            } else {
                result.surplus += 1;
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::check_entries;
    use crate::apply::decide::inventory::InventoryEntry;
    use crate::object::ObjectId;

    fn entry(name: &str) -> InventoryEntry {
        let [group, kind, namespace, name] = ["", "ConfigMap", "ns", name].map(str::to_owned);
        InventoryEntry::planned(&ObjectId { group, kind, namespace, name }, "v1")
    }

    #[test]
    fn an_entry_that_is_not_rendered_and_has_no_labelled_object_is_a_ghost() {
        let entries = ["rendered", "ghost", "stale", "rendered-and-deleted"].map(entry);
        let found = check_entries(
            entries.to_vec(),
            |id| id.name.starts_with("rendered"),
            |id| id.name == "stale" || id.name == "rendered",
        );
        assert_eq!(found.kept, ["rendered", "stale", "rendered-and-deleted"].map(entry));
        assert_eq!(found.ghosts, [entry("ghost").id]);
        assert_eq!(found.surplus, 0);
    }

    #[test]
    fn entries_that_are_not_rendered_leave_space_for_those_that_are() {
        let entry = |number: usize| entry(&format!("{number:0100}"));
        let all: Vec<InventoryEntry> = (0..5000).map(entry).collect();
        let rendered = &all[4999].id;
        let found = check_entries(all.clone(), |id| id == rendered, |_| true);
        // A line has 125 bytes, and 3276 of them fit into 400 KiB.
        assert_eq!(all[0].to_string().len() + 1, 125);
        assert_eq!((found.kept.len(), found.surplus), (3276 + 1, 4999 - 3276));
        assert_eq!(found.kept.last(), all.last());
    }
}
