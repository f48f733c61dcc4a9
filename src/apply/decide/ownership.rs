//! Who owns an object, and what transship does with objects and fields that others own.

use std::fmt;

use serde_json::Value;

use crate::apply::decide::inventory::{InventoryEntry, PART_OF};
use crate::apply::decide::managed_fields;
use crate::object::ObjectId;

/// How to handle a field that another manager owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// Report the conflict.
    Fail,
    /// Take the field over.
    Force,
}

/// Whether an object belongs to transship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// transship created or adopted it.
    Ours,
    /// It existed before transship applied it, and it was not adopted.
    NotOurs,
}

/// Whether to take over objects that others created (`--adopt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// Objects that others created stay theirs.
    #[default]
    Off,
    /// Objects that others created become transship's.
    On,
}

/// Why transship does not delete an object: it is not transship's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotOurs {
    /// The inventory has no entry for it.
    NotInInventory,
    /// The inventory says that it existed before, and it was not adopted.
    ExistedBefore,
    /// It does not carry the label of the `ApplySet`.
    NoLabel,
    /// It has another uid than the object that transship applied.
    OtherObject,
    /// This run applied it under another name: the API server serves one object in two API groups.
    AppliedAs(ObjectId),
}

impl fmt::Display for NotOurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInInventory => f.write_str("it is not in the inventory"),
            Self::ExistedBefore => f.write_str("it existed before transship applied it"),
            Self::NoLabel => f.write_str("it no longer has transship's label"),
            Self::OtherObject => f.write_str("another object with its name exists"),
            Self::AppliedAs(id) => write!(f, "the same object is now applied as {id}"),
        }
    }
}

/// Returns why transship must not delete an object. `None` if the inventory, the uid and the label all say that transship
/// created or adopted it.
pub(crate) fn reason_not_to_delete(
    entry: Option<&InventoryEntry>,
    live: &Value,
    apply_sets: &ApplySets,
) -> Option<NotOurs> {
    let Some(entry) = entry else { return Some(NotOurs::NotInInventory) };
    if entry.found {
        return Some(NotOurs::ExistedBefore);
    }
    if !apply_sets.contain(live) {
        return Some(NotOurs::NoLabel);
    }
    // Something may have interrupted transship after it created or recreated the object and before it wrote the uid.
    let is_same_object = entry.was_applied() && live["metadata"]["uid"] == *entry.uid;
    if !is_same_object && !managed_fields::is_written_by_us(live) {
        return Some(NotOurs::OtherObject);
    }
    None
}

/// The `ApplySet` of an inventory. If the inventory was moved, objects may still carry the label of an earlier set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ApplySets {
    /// The ID of the set.
    pub(crate) current: String,
    /// The IDs of earlier sets.
    pub(crate) previous: Vec<String>,
}

impl ApplySets {
    /// Returns whether an object carries the label of the set.
    pub(crate) fn contain(&self, live: &Value) -> bool {
        apply_set_of(live).is_some_and(|set| self.has(set))
    }

    /// Returns whether an ID is that of the set, or of an earlier one.
    pub(crate) fn has(&self, set: &str) -> bool {
        set == self.current || self.previous.iter().any(|previous| previous == set)
    }
}

/// Returns the ID of the `ApplySet` that an object belongs to, by its label.
pub(crate) fn apply_set_of(live: &Value) -> Option<&str> {
    live["metadata"]["labels"][PART_OF].as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ApplySets, NotOurs, reason_not_to_delete};
    use crate::apply::decide::inventory::{InventoryEntry, PART_OF};
    use crate::apply::decide::managed_fields::MANAGER;
    use crate::object::ObjectId;

    const SET: &str = "applyset-ours-v1";

    fn sets() -> ApplySets {
        ApplySets { current: SET.to_owned(), previous: vec!["applyset-moved-v1".to_owned()] }
    }

    fn entry(uid: &str) -> InventoryEntry {
        let [group, kind, namespace, name] = ["", "ConfigMap", "ns", "settings"].map(str::to_owned);
        let id = ObjectId { group, kind, namespace, name };
        InventoryEntry { uid: uid.to_owned(), ..InventoryEntry::planned(&id, "v1") }
    }

    fn live(set: &str, manager: &str) -> Value {
        let fields = json!([{"manager": manager, "operation": "Apply", "fieldsV1": {"f:data": {}}}]);
        json!({"metadata": {"uid": "u", "labels": {PART_OF: set}, "managedFields": fields}})
    }

    #[test]
    fn inventory_uid_and_label_must_all_agree() {
        let found = InventoryEntry { found: true, ..entry("u") };
        for (entry, live, expected) in [
            (Some(entry("u")), live(SET, "another"), None),
            (Some(entry("u")), live("applyset-moved-v1", "another"), None),
            (None, live(SET, MANAGER), Some(NotOurs::NotInInventory)),
            (Some(found), live(SET, MANAGER), Some(NotOurs::ExistedBefore)),
            (Some(entry("u")), live("applyset-other-v1", MANAGER), Some(NotOurs::NoLabel)),
            (Some(entry("u")), json!({"metadata": {"uid": "u"}}), Some(NotOurs::NoLabel)),
            (Some(entry("v")), live(SET, "another"), Some(NotOurs::OtherObject)),
            (Some(entry("")), live(SET, "another"), Some(NotOurs::OtherObject)),
        ] {
            assert_eq!(reason_not_to_delete(entry.as_ref(), &live, &sets()), expected, "{entry:?} {live}");
        }
    }

    #[test]
    fn an_object_that_an_interrupted_run_created_is_ours() {
        for uid in ["", "v"] {
            assert_eq!(reason_not_to_delete(Some(&entry(uid)), &live(SET, MANAGER), &sets()), None);
        }
    }
}
