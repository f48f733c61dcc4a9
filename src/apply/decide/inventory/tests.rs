use serde_json::json;

use super::{
    InvalidLines, Inventory, InventoryEntries, InventoryEntry, InventoryLocation, InventoryTooLarge,
    MAX_PARTS, PART_SIZE, ParsedInventory, split,
};
use crate::apply::decide::binding::{Binding, HostedControlPlane};
use crate::apply::decide::run_record::{History, RunRecord};
use crate::object::ObjectId;

const LINES: &str = "\
apps/v1 Deployment ns d 1-2 aa bb -
v1 Namespace - ns 3-4 - - found
rbac.authorization.k8s.io/v1 ClusterRole - system:x - cc - keep
rbac.authorization.k8s.io/v1 ClusterRole - a@b%20%C3%BC - cc - found,keep
";

fn location() -> InventoryLocation {
    InventoryLocation { namespace: "openshift-config-managed".into(), name: "transship-standalone".into() }
}

fn parse_lines(text: &str) -> (InventoryEntries, Option<InvalidLines>) {
    let parsed = ParsedInventory::read(&json!({"data": {"objects": text}}), &location());
    (parsed.inventory.entries, parsed.invalid)
}

fn entries(text: &str) -> InventoryEntries {
    let (entries, invalid) = parse_lines(text);
    assert_eq!(invalid, None);
    entries
}

#[test]
fn lines_survive_a_round_trip() {
    let inventory = Inventory { entries: entries(LINES), ..Inventory::default() };
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
    assert_eq!(split(&inventory.entries, PART_SIZE), [LINES]);
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
    let fitting = PART_SIZE / size;
    let text: String = (0..fitting + 3).map(line).collect();
    let (kept, invalid) = parse_lines(&text);
    assert_eq!(kept.len(), fitting);
    assert_eq!(invalid, Some(InvalidLines { first: fitting + 1, count: 3 }));
}

#[test]
fn an_entry_was_applied_once_it_has_a_uid() {
    let applied: Vec<bool> = entries(LINES).iter().map(InventoryEntry::was_applied).collect();
    assert_eq!(applied, [true, true, false, false]);
}

/// Returns the inventory that the parts store.
fn round_trip(inventory: &Inventory, part_size: usize) -> ParsedInventory {
    let parts = inventory.parts(&location(), &["transship-standalone-1".to_owned()], part_size).unwrap();
    let mut parsed = ParsedInventory::read(&parts.main, &location());
    let names = parts.shards.iter().map(|shard| shard["metadata"]["name"].as_str().unwrap());
    assert_eq!(parsed.shards, names.collect::<Vec<_>>());
    parts.shards.iter().for_each(|shard| parsed.add_shard(shard));
    parsed
}

fn inventory() -> Inventory {
    let hosted = HostedControlPlane { namespace: "clusters-a".into(), uid: Some("n".into()) };
    let mut history = History::default();
    history.record(RunRecord { id: "7f3a".into(), ..RunRecord::default() });
    Inventory {
        installed: true,
        revision: "r".into(),
        render_digest: "d".into(),
        payload_version: "4.22.0".into(),
        previous_sets: vec!["applyset-old-v1".into()],
        binding: Binding {
            cluster: Some("m".into()),
            hosted_control_plane: Some(hosted),
            guest: Some("g".into()),
        },
        history,
        entries: entries(LINES),
    }
}

#[test]
fn the_config_map_survives_a_round_trip() {
    let inventory = inventory();
    let parts = inventory.parts(&location(), &[], PART_SIZE).unwrap();
    assert!(parts.shards.is_empty());
    assert_eq!(
        parts.main,
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "transship-standalone", "namespace": "openshift-config-managed",
                "labels": {
                    "applyset.kubernetes.io/id": location().apply_set_id(),
                    "transship.openshift.io/hosted-control-plane": "clusters-a",
                },
                "annotations": {
                    "applyset.kubernetes.io/tooling": "transship/v1",
                    "applyset.kubernetes.io/contains-group-kinds":
                        "ClusterRole.rbac.authorization.k8s.io,Deployment.apps,Namespace",
                    "applyset.kubernetes.io/additional-namespaces": "ns",
                },
            },
            "data": {
                "formatVersion": "3", "installed": "true", "revision": "r", "renderDigest": "d",
                "payloadVersion": "4.22.0", "previousApplySets": "applyset-old-v1",
                "clusterUID": "m", "hostedControlPlane": "clusters-a", "hostedControlPlaneUID": "n",
                "guestUID": "g", "history": inventory.history.lines(), "objects": LINES,
            },
        })
    );
    let parsed = round_trip(&inventory, PART_SIZE);
    assert_eq!((&parsed.inventory, parsed.invalid, parsed.is_old), (&inventory, None, false));
}

#[test]
fn shards_survive_a_round_trip_and_have_new_names() {
    let inventory = inventory();
    for part_size in [1, 60, 120] {
        let parsed = round_trip(&inventory, part_size);
        assert_eq!((&parsed.inventory, parsed.invalid), (&inventory, None), "{part_size}");
        assert!(parsed.shards.iter().all(|name| name != "transship-standalone-1"), "it is in use");
    }
    assert_eq!(round_trip(&inventory, 1).shards.len(), 3);
}

#[test]
fn an_inventory_without_a_format_version_is_old() {
    let old = json!({"data": {"installed": "true", "revision": "r", "objects": LINES}});
    let parsed = ParsedInventory::read(&old, &location());
    assert!(parsed.is_old && parsed.inventory.installed);
    assert_eq!(parsed.inventory.entries, entries(LINES));
    assert_eq!(parsed.inventory.binding, Binding::default());
    assert_eq!(ParsedInventory::read(&json!(null), &location()), ParsedInventory::default());
    let broken = ParsedInventory::read(&json!({"data": {"objects": "v1 Secret"}}), &location());
    assert_eq!(broken.invalid, Some(InvalidLines { first: 1, count: 1 }));
}

#[test]
fn only_its_own_shards_count() {
    let shards = "other-1 transship-standalone-2 ../x transship-standalone-99";
    let data = json!({"formatVersion": "3", "shards": shards});
    let parsed = ParsedInventory::read(&json!({"data": data}), &location());
    assert_eq!(parsed.shards, ["transship-standalone-2"]);
}

#[test]
fn invalid_lines_are_counted_through_all_shards() {
    let mut parsed = ParsedInventory::read(&json!({"data": {"objects": LINES}}), &location());
    parsed.add_shard(&json!({"data": {"objects": format!("x\n{LINES}")}}));
    assert_eq!(parsed.invalid, Some(InvalidLines { first: 5, count: 1 }));
    assert_eq!(parsed.inventory.entries.len(), 4, "each object counts once");
}

#[test]
fn the_largest_size_is_known_before_objects_have_uids() {
    let id = |number: usize| ObjectId {
        group: String::new(),
        kind: "K".into(),
        namespace: String::new(),
        name: format!("{number:04}"),
    };
    let mut applied = InventoryEntry::planned(&id(1), "v1");
    let planned = applied.clone();
    applied.uid = "0f8fad5b-d9cb-469f-a165-70867728950e".into();
    applied.desired_digest = "0123456789abcdef".into();
    applied.live_digest = "0123456789abcdef".into();
    assert_eq!(planned.largest_size(), applied.to_string().len());
    assert_eq!(applied.largest_size(), applied.to_string().len());
    let line = applied.largest_size() + 1;
    let planned = |count: usize| Inventory {
        entries: (0..count).map(|number| InventoryEntry::planned(&id(number), "v1")).collect(),
        ..Inventory::default()
    };
    // Two lines fit into each part.
    assert_eq!(planned(2 * MAX_PARTS).check_size(2 * line), Ok(()));
    let objects = 2 * MAX_PARTS + 1;
    assert_eq!(planned(objects).check_size(2 * line), Err(InventoryTooLarge { objects }));
    assert!(planned(objects).parts(&location(), &[], 20).is_err());
}
