//! Which objects may be pruned, and which are held.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::{Approval, HoldReason, PruneCandidates, PruneDecision, decide_prune};
use crate::apply::decide::inventory::{Inventory, InventoryEntry, InventoryLocation};
use crate::apply::decide::ownership::NotOurs;
use crate::object::{Cluster, ObjectId};

fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
    let [group, kind, namespace, name] = [group, kind, namespace, name].map(str::to_owned);
    ObjectId { group, kind, namespace, name }
}

fn entry(id: ObjectId) -> InventoryEntry {
    let text = |text: &str| text.to_owned();
    InventoryEntry {
        id,
        version: text("v1"),
        uid: text("u"),
        desired_digest: text("d"),
        live_digest: text("l"),
        found: false,
        keep: false,
        predecessor: None,
    }
}

fn inventory(ids: impl IntoIterator<Item = ObjectId>) -> Inventory {
    Inventory {
        installed: true,
        revision: "r".to_owned(),
        entries: ids.into_iter().map(entry).collect(),
        ..Inventory::default()
    }
}

/// Returns `count` ConfigMaps.
fn many(count: usize) -> Vec<ObjectId> {
    (0..count).map(|number| id("", "ConfigMap", "ns", &format!("c{number}"))).collect()
}

/// Decides for one cluster.
fn decide(inventory: &Inventory, rendered: &[ObjectId], approval: Approval) -> PruneDecision {
    decide_in(Cluster::Both, inventory, rendered, approval)
}

fn decide_in(
    cluster: Cluster,
    inventory: &Inventory,
    rendered: &[ObjectId],
    approval: Approval,
) -> PruneDecision {
    let rendered = &rendered.iter().collect();
    let (uids, changed) = (&HashMap::new(), &HashSet::new());
    decide_prune(&PruneCandidates { cluster, inventory, rendered, uids, changed }, approval)
}

#[test]
fn a_changed_object_that_was_only_created_needs_approval() {
    let inventory = inventory(many(9));
    let (gone, rendered) = inventory.entries.split_first().unwrap();
    let rendered = rendered.iter().map(|entry| &entry.id).collect();
    let decide = |changed: &HashSet<&ObjectId>, approval| {
        let (inventory, rendered, uids) = (&inventory, &rendered, &HashMap::new());
        decide_prune(
            &PruneCandidates { cluster: Cluster::Both, inventory, rendered, uids, changed },
            approval,
        )
    };
    let changed: HashSet<&ObjectId> = [&gone.id].into();
    assert_eq!(decide(&changed, Approval::Harmless).held[0].reason, HoldReason::ChangedSinceCreation);
    assert_eq!(decide(&changed, Approval::Count(1)).prune.len(), 1);
    assert_eq!(decide(&HashSet::new(), Approval::Harmless).prune.len(), 1);
}

#[test]
fn an_object_that_is_rendered_in_another_api_group_is_released() {
    let [old, new] = ["", "events.k8s.io"].map(|group| id(group, "Event", "ns", "e"));
    let inventory = inventory([old.clone(), new.clone()].into_iter().chain(many(9)));
    let rendered: HashSet<&ObjectId> = [&new].into();
    let decide = |uid: &str| {
        let uids = HashMap::from([(uid.to_owned(), new.clone())]);
        let candidates = PruneCandidates {
            cluster: Cluster::Both,
            inventory: &inventory,
            rendered: &rendered,
            uids: &uids,
            changed: &HashSet::new(),
        };
        decide_prune(&candidates, Approval::All)
    };
    let same = decide("u");
    assert_eq!((same.prune.len(), same.held.len(), same.released.len()), (0, 0, 10));
    assert_eq!(same.released[0], (entry(old), NotOurs::AppliedAs(new.clone())));
    assert_eq!(
        same.released[0].1.to_string(),
        "the same object is now applied as Event.events.k8s.io/e in ns"
    );
    let other = decide("v");
    assert_eq!((other.prune.len(), other.held.len(), other.released.len()), (10, 0, 0));
}

/// Returns how many objects are pruned and held, and why the first one is held.
fn counts(known: &[ObjectId], wanted: &[ObjectId], approval: Approval) -> (usize, usize, String) {
    let found = decide(&inventory(known.iter().cloned()), wanted, approval);
    let reason = found.held.first().map(|held| held.reason.to_string()).unwrap_or_default();
    (found.prune.len(), found.held.len(), reason)
}

#[test]
fn nothing_is_pruned_if_everything_is_rendered() {
    for approval in [Approval::Harmless, Approval::Count(0), Approval::Count(3), Approval::All] {
        assert_eq!(counts(&[], &[], approval), (0, 0, String::new()));
        assert_eq!(counts(&[], &many(3), approval), (0, 0, String::new()));
        assert_eq!(counts(&many(3), &many(3), approval), (0, 0, String::new()));
    }
}

#[test]
fn two_objects_or_a_fifth_need_no_approval() {
    let all = many(100);
    for (known, gone, go) in [(2, 2, true), (3, 3, false), (13, 2, true), (13, 3, false), (15, 3, true)] {
        assert_eq!(
            counts(&all[..known], &all[gone..known], Approval::Harmless).0 == gone,
            go,
            "{gone} of {known}"
        );
    }
    for (known, gone, go) in
        [(60, 12, true), (60, 13, false), (64, 12, true), (64, 13, false), (100, 20, true)]
    {
        assert_eq!(
            counts(&all[..known], &all[gone..known], Approval::Harmless).0 == gone,
            go,
            "{gone} of {known}"
        );
    }
    let held = (0, 21, "21 of 100 objects would be pruned at once".to_owned());
    assert_eq!(counts(&all, &all[21..], Approval::Harmless), held);
}

#[test]
fn an_approved_number_must_match() {
    let all = many(30);
    for (approved, why) in [
        (0, "--approve-prune allows 0, but 2 objects of the cluster would be pruned"),
        (1, "--approve-prune allows 1, but 2 objects of the cluster would be pruned"),
        (3, "--approve-prune allows 3, but 2 objects of the cluster would be pruned"),
    ] {
        assert_eq!(counts(&all, &all[2..], Approval::Count(approved)), (0, 2, why.to_owned()));
    }
    assert_eq!(counts(&all, &all[2..], Approval::Count(2)), (2, 0, String::new()));
}

/// The guest has 11 objects to prune, and its administrator can invent more. That changes nothing in the management
/// cluster.
#[test]
fn approved_numbers_count_for_each_cluster_by_itself() {
    let (management, guest) = (inventory(many(20)), inventory(many(40)));
    let counts = |approval| -> [(usize, usize); 2] {
        [
            decide_in(Cluster::Management, &management, &many(20)[3..], approval),
            decide_in(Cluster::Guest, &guest, &many(40)[11..], approval),
        ]
        .map(|decision| (decision.prune.len(), decision.held.len()))
    };
    let clusters = |management, guest| Approval::Clusters { management, guest };
    assert_eq!(counts(Approval::Harmless), [(3, 0), (0, 11)]);
    assert_eq!(counts(Approval::Count(14)), [(0, 3), (0, 11)]);
    assert_eq!(counts(Approval::Count(3)), [(3, 0), (0, 11)]);
    assert_eq!(counts(clusters(Some(3), Some(11))), [(3, 0), (11, 0)]);
    assert_eq!(counts(clusters(Some(11), Some(3))), [(0, 3), (0, 11)]);
    assert_eq!(counts(clusters(Some(4), None)), [(0, 3), (0, 11)]);
    assert_eq!(counts(clusters(None, Some(11))), [(3, 0), (11, 0)], "three objects are harmless");
    assert_eq!(counts(Approval::All), [(3, 0), (11, 0)]);
}

#[test]
fn kinds_whose_deletion_cascades_are_held() {
    for (group, kind, why) in [
        ("", "Namespace", "deleting it deletes everything in the namespace"),
        ("apiextensions.k8s.io", "CustomResourceDefinition", "deleting it deletes every object of its kind"),
        ("", "PersistentVolumeClaim", "deleting it deletes its data"),
        ("", "PersistentVolume", "deleting it deletes its data"),
    ] {
        let known = [id(group, kind, "", "x")];
        assert_eq!(counts(&known, &[], Approval::Harmless), (0, 1, why.to_owned()));
        assert_eq!(counts(&known, &[], Approval::Count(1)), (1, 0, String::new()));
        assert_eq!(counts(&known, &[], Approval::All), (1, 0, String::new()));
        assert_eq!(counts(&known, &known, Approval::Harmless), (0, 0, String::new()));
    }
}

#[test]
fn the_version_is_not_part_of_the_identity() {
    let known = [id("apps", "Deployment", "ns", "d")];
    for other in [
        id("extensions", "Deployment", "ns", "d"),
        id("apps", "DaemonSet", "ns", "d"),
        id("apps", "Deployment", "other", "d"),
        id("apps", "Deployment", "ns", "e"),
    ] {
        assert_eq!(counts(&known, &[other], Approval::Harmless), (1, 0, String::new()));
    }
    let [known] = known;
    let older = InventoryEntry { version: "v1beta1".to_owned(), ..entry(known) };
    let known = Inventory { entries: vec![older].into(), ..Inventory::default() };
    let wanted = [id("apps", "Deployment", "ns", "d")];
    assert!(decide(&known, &wanted, Approval::All).prune.is_empty());
}

#[test]
fn pruned_entries_keep_their_order_and_content() {
    let gone = [id("", "Secret", "ns", "b"), id("", "Namespace", "", "ns"), id("", "Secret", "ns", "a")];
    let known = inventory(gone.into_iter().chain(many(12)));
    let found = decide(&known, &many(12), Approval::Harmless);
    assert_eq!(found.prune, [known.entries[0].clone(), known.entries[2].clone()]);
    assert_eq!(found.held.len(), 1);
    assert_eq!(found.held[0].entry, known.entries[1]);
    assert_eq!(found.held[0].reason.to_string(), "deleting it deletes everything in the namespace");
}

#[test]
fn an_inventory_finds_its_entries() {
    let known = inventory(many(3));
    assert_eq!(known.find(&many(3)[1]), Some(&known.entries[1]));
    assert_eq!(known.find(&id("", "ConfigMap", "other", "c1")), None);
    assert_eq!(Inventory::default(), Inventory::default());
}

/// `printf 'transship.ns.ConfigMap.' | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '='`
#[test]
fn the_set_is_named_as_kubectl_does() {
    let set = |namespace: &str, name: &str| {
        InventoryLocation { namespace: namespace.into(), name: name.into() }.apply_set_id()
    };
    assert_eq!(set("ns", "transship"), "applyset-_LOX5NlrcMfyY5JmsIGTOgff9eQ2voBG4KPgNqzi0Y8-v1");
    assert_ne!(set("a", "b"), set("b", "a"));
}

/// Objects of few kinds and names, so that the plan and the inventory have some in common.
fn ids() -> impl Strategy<Value = Vec<ObjectId>> {
    let kinds = vec!["ConfigMap", "Namespace", "PersistentVolume", "CustomResourceDefinition", "Secret"];
    let one = (proptest::sample::select(kinds), 0..2u8, 0..12u8)
        .prop_map(|(kind, namespace, name)| id("", kind, &format!("n{namespace}"), &format!("x{name}")));
    proptest::collection::btree_set(one, 0..60).prop_map(|ids| ids.into_iter().collect())
}

fn approval() -> impl Strategy<Value = Approval> {
    prop_oneof![Just(Approval::Harmless), (0..40usize).prop_map(Approval::Count), Just(Approval::All)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rendered_objects_stay_and_all_others_are_decided(
        ids in ids(), wanted in ids(), approval in approval()
    ) {
        let known = inventory(ids);
        let found = decide(&known, &wanted, approval);
        for entry in known.entries.iter() {
            let places = [
                wanted.contains(&entry.id),
                found.prune.contains(entry),
                found.held.iter().any(|held| held.entry == *entry),
            ];
            prop_assert_eq!(places.iter().filter(|here| **here).count(), 1, "{:?}", entry);
        }
        let kept = known.entries.iter().filter(|entry| wanted.contains(&entry.id)).count();
        prop_assert_eq!(kept + found.prune.len() + found.held.len(), known.entries.len(), "no object is invented");
        prop_assert!(found.held.iter().all(|held| !held.reason.to_string().is_empty()));
    }

    #[test]
    fn an_approved_number_prunes_all_or_nothing(ids in ids(), wanted in ids(), count in 0..40usize) {
        let known = inventory(ids);
        let counted = decide(&known, &wanted, Approval::Count(count));
        prop_assert!(counted.prune.is_empty() || counted.held.is_empty());
        let all = decide(&known, &wanted, Approval::All);
        prop_assert!(all.held.is_empty());
        prop_assert_eq!(decide(&known, &wanted, Approval::Count(all.prune.len())), all);
    }
}

#[test]
fn an_object_whose_manifest_keeps_it_is_held_and_does_not_count() {
    let mut inventory = inventory(many(3));
    let kept = InventoryEntry { keep: true, ..entry(id("", "Secret", "ns", "key")) };
    inventory.entries.push(kept.clone());
    for approval in [Approval::All, Approval::Count(3)] {
        let decision = decide(&inventory, &[], approval);
        assert_eq!(decision.prune.len(), 3, "{approval:?}");
        let held: Vec<_> = decision.held.iter().map(|held| (&held.entry, held.reason.to_string())).collect();
        let reason = "the annotation transship.openshift.io/prune of its last manifest keeps it".to_owned();
        assert_eq!(held, [(&kept, reason)]);
    }
}
