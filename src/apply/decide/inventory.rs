//! The inventory: a `ConfigMap` in each cluster that lists what was applied there.
//!
//! It is the parent object of an `ApplySet`, as `kubectl apply --applyset` defines it. Every object of the set carries its
//! label. An inventory with very many objects continues in shards (see [`inventory_shards`]).
//! The guest's administrator can edit the guest's inventory. It is therefore read as untrusted input: it is limited in
//! size, and it can only name objects of its own cluster.
//!
//! [`inventory_shards`]: super::inventory_shards

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use crate::apply::decide::binding::Binding;
use crate::apply::decide::inventory_entries::InventoryEntries;
pub(crate) use crate::apply::decide::inventory_entry::InventoryEntry;
pub(crate) use crate::apply::decide::inventory_location::InventoryLocation;
use crate::apply::decide::inventory_shards::{MAX_PARTS, PART_SIZE, ShardNames, split};
use crate::apply::decide::run_record::History;
use crate::object::ObjectId;

/// The label of every object that belongs to an `ApplySet`.
pub(crate) const PART_OF: &str = "applyset.kubernetes.io/part-of";
/// The label of the parent of an `ApplySet`.
const APPLY_SET_ID: &str = "applyset.kubernetes.io/id";

/// The label of the inventories of a hosted control plane, in both clusters. Its value is the namespace of the hosted control
/// plane.
pub(crate) const HOSTED_CONTROL_PLANE: &str = "transship.openshift.io/hosted-control-plane";

/// The version of the format that transship writes. Version 1 had no key for it, no binding, no shards and no history.
/// Version 2 did not say from whom objects were taken over.
const FORMAT_VERSION: &str = "3";

/// The longest text that transship reads from a key other than `objects` and `history`.
const MAX_TEXT: usize = 1024;
/// The longest history that transship reads.
const MAX_HISTORY: usize = 64 * 1024;
/// How many previous sets transship reads.
const MAX_PREVIOUS_SETS: usize = 8;

/// The objects that were applied to a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inventory {
    /// Whether a rollout was complete at least once. Before that, run levels do not wait for readiness.
    pub(crate) installed: bool,
    /// A digest of the rendered objects. A rollout that finds another revision here knows that a rollout of other objects
    /// started.
    pub(crate) revision: String,
    /// The render digest of the last rollout that changed something.
    pub(crate) render_digest: String,
    /// The version of the payload of that rollout; empty if it has none.
    pub(crate) payload_version: String,
    /// The IDs of earlier sets, if the inventory was moved. Objects with their label belong to this set until it is applied
    /// again.
    pub(crate) previous_sets: Vec<String>,
    /// The clusters that belong together.
    pub(crate) binding: Binding,
    /// The runs that changed something.
    pub(crate) history: History,
    /// The objects, in the order in which they were applied.
    pub(crate) entries: InventoryEntries,
}

/// The inventory as it is in its `ConfigMap`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedInventory {
    /// The inventory, without the invalid lines.
    pub(crate) inventory: Inventory,
    /// The lines that do not name an object, if there are any.
    pub(crate) invalid: Option<InvalidLines>,
    /// The names of the shards in which the list of objects continues.
    pub(crate) shards: Vec<String>,
    /// Whether the inventory has an older format.
    pub(crate) is_old: bool,
    /// How many lines were read.
    lines: usize,
}

/// Lines of an inventory that do not name an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidLines {
    /// The number of the first one, from one.
    pub(crate) first: usize,
    /// How many there are.
    pub(crate) count: usize,
}

/// The number of objects of an inventory that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InventoryTooLarge {
    pub(crate) objects: usize,
}

/// The objects that store an inventory.
pub(crate) struct InventoryParts {
    /// The `ConfigMap` of the inventory.
    pub(crate) main: Value,
    /// Its shards; none if all objects fit into the first part.
    pub(crate) shards: Vec<Value>,
}

impl Inventory {
    /// Returns the entry of an object.
    pub(crate) fn find(&self, id: &ObjectId) -> Option<&InventoryEntry> {
        self.entries.find(id)
    }

    /// Returns whether two inventories have the same objects in the same state.
    pub(crate) fn has_same_objects(&self, other: &Self) -> bool {
        self.installed == other.installed
            && self.revision == other.revision
            && self.previous_sets == other.previous_sets
            && self.entries == other.entries
    }

    /// Checks that the inventory can be stored even when every entry has its uid and its digests.
    pub(crate) fn check_size(&self, part_size: usize) -> Result<(), InventoryTooLarge> {
        let (mut parts, mut size) = (1, 0);
        for entry in self.entries.iter() {
            let line = entry.largest_size() + 1;
            size += line;
            if size > part_size {
                parts += 1;
                size = line;
            }
        }
        if parts <= MAX_PARTS { Ok(()) } else { Err(InventoryTooLarge { objects: self.entries.len() }) }
    }

    /// Returns the objects that store the inventory. `used` are the names of the shards that the cluster has now; the new
    /// shards have other names, so that the current inventory stays valid until the `ConfigMap` is written.
    pub(crate) fn parts(
        &self,
        location: &InventoryLocation,
        used: &[String],
        part_size: usize,
    ) -> Result<InventoryParts, InventoryTooLarge> {
        let mut parts = split(&self.entries, part_size);
        if parts.len() > MAX_PARTS {
            return Err(InventoryTooLarge { objects: self.entries.len() });
        }
        let first = if parts.is_empty() { String::new() } else { parts.remove(0) };
        let names = ShardNames::of(&location.name).unused(used);
        let mut shards = Vec::new();
        for (name, objects) in names.iter().zip(parts) {
            shards.push(json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": location.namespace},
                "data": {"objects": objects},
            }));
        }
        let main = self.config_map(location, first, &names[..shards.len()]);
        Ok(InventoryParts { main, shards })
    }

    fn config_map(&self, location: &InventoryLocation, objects: String, shards: &[String]) -> Value {
        let kinds: BTreeSet<String> = self.entries.iter().map(|entry| entry.id.kind_and_group()).collect();
        let mut namespaces: BTreeSet<&str> =
            self.entries.iter().map(|entry| entry.id.namespace.as_str()).collect();
        namespaces.remove("");
        namespaces.remove(location.namespace.as_str());
        let kinds: Vec<String> = kinds.into_iter().collect();
        let namespaces: Vec<&str> = namespaces.into_iter().collect();
        let mut labels = json!({APPLY_SET_ID: location.apply_set_id()});
        if let Some(hosted) = &self.binding.hosted_control_plane {
            labels[HOSTED_CONTROL_PLANE] = json!(hosted.namespace);
        }
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": location.name, "namespace": location.namespace,
                "labels": labels,
                "annotations": {
                    "applyset.kubernetes.io/tooling": "transship/v1",
                    "applyset.kubernetes.io/contains-group-kinds": kinds.join(","),
                    "applyset.kubernetes.io/additional-namespaces": namespaces.join(","),
                },
            },
            "data": self.data(objects, shards),
        })
    }

    fn data(&self, objects: String, shards: &[String]) -> Map<String, Value> {
        let mut data = Map::new();
        for (key, text) in [
            ("formatVersion", FORMAT_VERSION.to_owned()),
            ("installed", self.installed.to_string()),
            ("revision", self.revision.clone()),
            ("renderDigest", self.render_digest.clone()),
            ("payloadVersion", self.payload_version.clone()),
            ("history", self.history.lines()),
            ("objects", objects),
        ] {
            data.insert(key.to_owned(), json!(text));
        }
        for (key, names) in [("previousApplySets", &self.previous_sets[..]), ("shards", shards)] {
            if !names.is_empty() {
                data.insert(key.to_owned(), json!(names.join(" ")));
            }
        }
        self.binding.add_to_data(&mut data);
        data
    }
}

impl ParsedInventory {
    /// Reads the `ConfigMap` of an inventory. Its shards are to be added with [`Self::add_shard`].
    pub(crate) fn read(config_map: &Value, location: &InventoryLocation) -> Self {
        let data = &config_map["data"];
        let text = |key: &str| {
            let text = data[key].as_str().unwrap_or_default();
            if text.len() > MAX_TEXT { "" } else { text }
        };
        let history = data["history"].as_str().filter(|history| history.len() <= MAX_HISTORY);
        let known_shards = ShardNames::of(&location.name);
        let shards = text("shards").split_whitespace().filter(|name| known_shards.contains(name));
        let sets = text("previousApplySets").split_whitespace().take(MAX_PREVIOUS_SETS);
        let inventory = Inventory {
            installed: text("installed") == "true",
            revision: text("revision").to_owned(),
            render_digest: text("renderDigest").to_owned(),
            payload_version: text("payloadVersion").to_owned(),
            previous_sets: sets.map(str::to_owned).collect(),
            binding: Binding::from_data(data),
            history: History::parse(history.unwrap_or_default()),
            entries: InventoryEntries::default(),
        };
        let mut parsed = Self {
            inventory,
            shards: shards.take(MAX_PARTS - 1).map(str::to_owned).collect(),
            is_old: config_map.is_object() && text("formatVersion") != FORMAT_VERSION,
            ..Self::default()
        };
        parsed.add_lines(data["objects"].as_str().unwrap_or_default());
        parsed
    }

    /// Adds the objects of a shard.
    pub(crate) fn add_shard(&mut self, config_map: &Value) {
        self.add_lines(config_map["data"]["objects"].as_str().unwrap_or_default());
    }

    /// Adds the objects of lines. A line beyond [`PART_SIZE`] is invalid. If several lines name one object, uses only the first
    /// of them.
    fn add_lines(&mut self, text: &str) {
        let mut ids: HashSet<ObjectId> =
            self.inventory.entries.iter().map(|entry| entry.id.clone()).collect();
        let mut size = 0;
        for line in text.lines() {
            self.lines += 1;
            size += line.len() + 1;
            match InventoryEntry::parse(line).filter(|_| size <= PART_SIZE) {
                Some(entry) if ids.insert(entry.id.clone()) => self.inventory.entries.push(entry),
                Some(_) => {}
                None => {
                    let first = self.lines;
                    self.invalid.get_or_insert(InvalidLines { first, count: 0 }).count += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
