//! The inventory: a `ConfigMap` in each cluster that lists what was applied there.
//!
//! It is the parent object of an `ApplySet`, as `kubectl apply --applyset` defines it. Every object of the set carries its
//! label.
//! The guest's administrator can edit the guest's inventory. It is therefore read as untrusted input: it is limited in
//! size, and it can only name objects of its own cluster.

use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::apply::decide::inventory_entries::InventoryEntries;
pub(crate) use crate::apply::decide::inventory_entry::InventoryEntry;
use crate::language::{INVENTORY_NAMESPACE, Profile};
use crate::object::ObjectId;
use crate::order::Plan;

/// The label of every object that belongs to an `ApplySet`.
pub(crate) const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// The largest list of objects. An API server accepts about 1 MiB in one object.
const MAX_SIZE: usize = 900 * 1024;

/// The longest revision or render digest that transship reads. Those that transship writes are shorter.
const MAX_DIGEST: usize = 1024;

/// The namespace and name of an inventory's `ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InventoryLocation {
    /// The namespace.
    pub(crate) namespace: String,
    /// The name.
    pub(crate) name: String,
}

impl InventoryLocation {
    /// Returns the location of a profile's inventory: in the namespace of the hosted control plane, if the plan has one.
    pub(crate) fn of(profile: &Profile, plan: &Plan) -> Self {
        let namespace = plan.namespace.clone().unwrap_or_else(|| INVENTORY_NAMESPACE.to_owned());
        Self { namespace, name: profile.inventory_name() }
    }

    /// Returns whether an object is this `ConfigMap`.
    pub(crate) fn is_of(&self, id: &ObjectId) -> bool {
        id.kind == "ConfigMap"
            && id.group.is_empty()
            && id.namespace == self.namespace
            && id.name == self.name
    }

    /// Returns the ID of the `ApplySet`: the value of the label `applyset.kubernetes.io/part-of`.
    pub(crate) fn apply_set_id(&self) -> String {
        let parent = format!("{}.{}.ConfigMap.", self.name, self.namespace);
        format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(Sha256::digest(parent)))
    }
}

impl fmt::Display for InventoryLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigMap/{} in {}", self.name, self.namespace)
    }
}

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
}

/// Lines of an inventory that do not name an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InvalidLines {
    /// The number of the first one, from one.
    pub(crate) first: usize,
    /// How many there are.
    pub(crate) count: usize,
}

/// The size in bytes of an inventory that is too large for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InventoryTooLarge(pub(crate) usize);

impl Inventory {
    /// Returns the entry of an object.
    pub(crate) fn find(&self, id: &ObjectId) -> Option<&InventoryEntry> {
        self.entries.find(id)
    }

    /// Sets the render digest if anything else differs from the inventory before. A run that changes nothing writes nothing,
    /// so it does not record its digest.
    pub(crate) fn record_render(&mut self, render_digest: &str, before: &Self) {
        self.render_digest.clone_from(&before.render_digest);
        if self != before {
            render_digest.clone_into(&mut self.render_digest);
        }
    }

    /// Reads the data of the `ConfigMap`.
    pub(crate) fn from_config_map(config_map: &Value) -> ParsedInventory {
        let data = |key: &str| config_map["data"][key].as_str().unwrap_or_default();
        let (entries, invalid) = parse_lines(data("objects"));
        let digest = |key: &str| {
            let digest = data(key);
            if digest.len() > MAX_DIGEST { String::new() } else { digest.to_owned() }
        };
        let inventory = Self {
            installed: data("installed") == "true",
            revision: digest("revision"),
            render_digest: digest("renderDigest"),
            entries: entries.into(),
        };
        ParsedInventory { inventory, invalid }
    }

    /// Formats the entries as lines, one per object.
    fn lines(&self) -> String {
        let mut lines = String::new();
        for entry in self.entries.iter() {
            let _ = writeln!(lines, "{entry}");
        }
        lines
    }

    /// Returns the `ConfigMap`. With a resource version, the API server rejects it if someone else wrote it since.
    pub(crate) fn to_config_map(
        &self,
        location: &InventoryLocation,
        resource_version: Option<&str>,
    ) -> Result<Value, InventoryTooLarge> {
        let objects = self.lines();
        if objects.len() > MAX_SIZE {
            return Err(InventoryTooLarge(objects.len()));
        }
        let kinds: BTreeSet<String> = self.entries.iter().map(|entry| entry.id.kind_and_group()).collect();
        let mut namespaces: BTreeSet<&str> =
            self.entries.iter().map(|entry| entry.id.namespace.as_str()).collect();
        namespaces.remove("");
        namespaces.remove(location.namespace.as_str());
        let kinds: Vec<String> = kinds.into_iter().collect();
        let namespaces: Vec<&str> = namespaces.into_iter().collect();
        let mut config_map = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": location.name, "namespace": location.namespace,
                "labels": {"applyset.kubernetes.io/id": location.apply_set_id()},
                "annotations": {
                    "applyset.kubernetes.io/tooling": "transship/v1",
                    "applyset.kubernetes.io/contains-group-kinds": kinds.join(","),
                    "applyset.kubernetes.io/additional-namespaces": namespaces.join(","),
                },
            },
            "data": {
                "installed": self.installed.to_string(),
                "revision": self.revision,
                "renderDigest": self.render_digest,
                "objects": objects,
            },
        });
        if let Some(resource_version) = resource_version {
            config_map["metadata"]["resourceVersion"] = json!(resource_version);
        }
        Ok(config_map)
    }
}

/// Reads the lines of an inventory. A line beyond [`MAX_SIZE`] is invalid. If several lines name one object, uses only
/// the first of them.
fn parse_lines(text: &str) -> (Vec<InventoryEntry>, Option<InvalidLines>) {
    let (mut entries, mut ids) = (Vec::new(), HashSet::new());
    let mut invalid: Option<InvalidLines> = None;
    let mut size = 0;
    for (index, line) in text.lines().enumerate() {
        size += line.len() + 1;
        match InventoryEntry::parse(line).filter(|_| size <= MAX_SIZE) {
            Some(entry) if ids.insert(entry.id.clone()) => entries.push(entry),
            Some(_) => {}
            None => invalid.get_or_insert(InvalidLines { first: index + 1, count: 0 }).count += 1,
        }
    }
    (entries, invalid)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        InvalidLines, Inventory, InventoryEntry, InventoryLocation, InventoryTooLarge, MAX_SIZE,
        ParsedInventory, parse_lines,
    };
    use crate::object::ObjectId;

    const LINES: &str = "\
apps/v1 Deployment ns d 1-2 aa bb -
v1 Namespace - ns 3-4 - - found
rbac.authorization.k8s.io/v1 ClusterRole - system:x - cc - keep
rbac.authorization.k8s.io/v1 ClusterRole - a@b%20%C3%BC - cc - found,keep
";

    fn entries(text: &str) -> Vec<InventoryEntry> {
        let (entries, invalid) = parse_lines(text);
        assert_eq!(invalid, None);
        entries
    }

    #[test]
    fn lines_survive_a_round_trip() {
        let inventory = Inventory { entries: entries(LINES).into(), ..Inventory::default() };
        assert_eq!(inventory.entries.len(), 4);
        assert_eq!(inventory.entries[3].id.name, "a@b ü");
        assert_eq!(inventory.entries[1].id.namespace, "");
        assert_eq!(
            inventory.entries.iter().map(|entry| entry.found).collect::<Vec<_>>(),
            [false, true, false, true]
        );
        assert_eq!(
            inventory.entries.iter().map(|entry| entry.keep).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        assert_eq!(inventory.entries[2].id.name, "system:x");
        assert_eq!(inventory.lines(), LINES);
    }

    #[test]
    fn lines_that_lead_to_another_path_are_rejected() {
        for line in [
            "v1 Secret ns ../x - - - -",
            "v1 Secret ns .. - - - -",
            "v1 Secret ns a?b - - - -",
            "v1 Secret ns a/b - - - -",
            "v1 Secret ns a - - -",
            "v1 Secret ns a - - - - -",
            "v1 Secret ns a - - - x",
            "v1 Secret ns a - - - found,x",
            "v1 Secret ns a - - - keep,",
            "v1 Secret ns  - - - -",
            "../v1 Secret ns a - - - -",
            "v1 Secret ns a%2f - - - -",
            "v1 Secret ns %2E%2e - - - -",
            "v1 Secret ns a%2 - - - -",
            "v1 Secret ns a%252f - - - -",
        ] {
            let (kept, invalid) = parse_lines(&format!("{LINES}{line}\n{LINES}"));
            assert_eq!(kept, entries(LINES), "the other lines count once");
            assert_eq!(invalid, Some(InvalidLines { first: 5, count: 1 }), "{line}");
        }
    }

    #[test]
    fn lines_beyond_the_largest_size_are_invalid() {
        let line = |number: usize| format!("v1 ConfigMap ns c{number:0100} - - - -\n");
        let size = line(0).len();
        let fitting = MAX_SIZE / size;
        let text: String = (0..fitting + 3).map(line).collect();
        let (kept, invalid) = parse_lines(&text);
        assert_eq!(kept.len(), fitting);
        assert_eq!(invalid, Some(InvalidLines { first: fitting + 1, count: 3 }));
    }

    fn location() -> InventoryLocation {
        InventoryLocation {
            namespace: "openshift-config-managed".into(),
            name: "transship-standalone".into(),
        }
    }

    #[test]
    fn the_location_names_the_config_map() {
        assert_eq!(location().to_string(), "ConfigMap/transship-standalone in openshift-config-managed");
    }

    #[test]
    fn the_set_is_named_like_an_apply_set() {
        let set = location().apply_set_id();
        assert!(set.starts_with("applyset-") && set.ends_with("-v1") && set.len() == 55, "{set}");
    }

    #[test]
    fn an_entry_was_applied_once_it_has_a_uid() {
        let applied: Vec<bool> = entries(LINES).iter().map(InventoryEntry::was_applied).collect();
        assert_eq!(applied, [true, true, false, false]);
    }

    #[test]
    fn the_config_map_survives_a_round_trip() {
        let inventory = Inventory {
            installed: true,
            revision: "r".into(),
            render_digest: "d".into(),
            entries: entries(LINES).into(),
        };
        let config_map = inventory.to_config_map(&location(), Some("7")).unwrap();
        assert_eq!(
            config_map,
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {
                    "name": "transship-standalone", "namespace": "openshift-config-managed",
                    "resourceVersion": "7",
                    "labels": {"applyset.kubernetes.io/id": location().apply_set_id()},
                    "annotations": {
                        "applyset.kubernetes.io/tooling": "transship/v1",
                        "applyset.kubernetes.io/contains-group-kinds":
                            "ClusterRole.rbac.authorization.k8s.io,Deployment.apps,Namespace",
                        "applyset.kubernetes.io/additional-namespaces": "ns",
                    },
                },
                "data": {"installed": "true", "revision": "r", "renderDigest": "d", "objects": LINES},
            })
        );
        let parsed = Inventory::from_config_map(&config_map);
        assert_eq!(parsed, ParsedInventory { inventory, invalid: None });
        assert_eq!(Inventory::from_config_map(&json!({})), ParsedInventory::default());
        let broken = Inventory::from_config_map(&json!({"data": {"objects": "v1 Secret"}}));
        assert_eq!(broken.invalid, Some(InvalidLines { first: 1, count: 1 }));
    }

    #[test]
    fn the_render_digest_is_recorded_only_with_another_change() {
        let before = Inventory { render_digest: "old".into(), ..Inventory::default() };
        let mut unchanged = Inventory::default();
        unchanged.record_render("new", &before);
        assert_eq!(unchanged, before);
        let mut changed = Inventory { revision: "r".into(), ..Inventory::default() };
        changed.record_render("new", &before);
        assert_eq!(changed.render_digest, "new");
    }

    /// Returns an inventory whose list of objects has this many bytes.
    fn inventory_of_size(size: usize) -> Inventory {
        let mut id = ObjectId {
            group: String::new(),
            kind: "K".into(),
            namespace: String::new(),
            name: String::new(),
        };
        let line_without_name = "v1 K -  - - - -\n".len();
        id.name = "x".repeat(size - line_without_name);
        Inventory { entries: vec![InventoryEntry::planned(&id, "v1")].into(), ..Inventory::default() }
    }

    #[test]
    fn an_inventory_above_900_kib_is_refused() {
        let limit = 921_600;
        assert!(inventory_of_size(limit).to_config_map(&location(), None).is_ok());
        let error = inventory_of_size(limit + 1).to_config_map(&location(), None).unwrap_err();
        assert_eq!(error, InventoryTooLarge(limit + 1));
    }
}
