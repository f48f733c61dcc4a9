//! What left the payload: what of it may go, and what is held.

use proptest::prelude::*;
use transship::apply::{Approval, Entry, Home, Inventory, Leaving, leaving};
use transship::object::ObjectId;

fn id(group: &str, kind: &str, namespace: &str, name: &str) -> ObjectId {
    let [group, kind, namespace, name] = [group, kind, namespace, name].map(str::to_owned);
    ObjectId { group, kind, namespace, name }
}

fn entry(id: ObjectId) -> Entry {
    let text = |text: &str| text.to_owned();
    Entry { id, version: text("v1"), uid: text("u"), desired: text("d"), live: text("l"), found: false }
}

fn inventory(ids: impl IntoIterator<Item = ObjectId>) -> Inventory {
    Inventory { installed: true, revision: "r".to_owned(), entries: ids.into_iter().map(entry).collect() }
}

/// So many ConfigMaps.
fn many(count: usize) -> Vec<ObjectId> {
    (0..count).map(|number| id("", "ConfigMap", "ns", &format!("c{number}"))).collect()
}

/// What leaves one cluster, if there is no other.
fn of_one(known: &Inventory, wanted: &[ObjectId], approval: Approval) -> Leaving {
    leaving(&[(known, wanted)], approval).remove(0)
}

/// How many go and how many are held, with the reason of the first.
fn decided(known: &[ObjectId], wanted: &[ObjectId], approval: Approval) -> (usize, usize, String) {
    let found = of_one(&inventory(known.iter().cloned()), wanted, approval);
    let why = found.held.first().map(|(_, why)| why.clone()).unwrap_or_default();
    (found.go.len(), found.held.len(), why)
}

#[test]
fn nothing_known_is_nothing_to_decide() {
    for approval in [Approval::Harmless, Approval::Count(0), Approval::Count(3), Approval::All] {
        assert_eq!(decided(&[], &[], approval), (0, 0, String::new()));
        assert_eq!(decided(&[], &many(3), approval), (0, 0, String::new()));
        assert_eq!(decided(&many(3), &many(3), approval), (0, 0, String::new()));
    }
}

#[test]
fn two_may_go_or_a_fifth() {
    let all = many(100);
    for (known, gone, go) in [(2, 2, true), (3, 3, false), (13, 2, true), (13, 3, false), (15, 3, true)] {
        assert_eq!(
            decided(&all[..known], &all[gone..known], Approval::Harmless).0 == gone,
            go,
            "{gone} of {known}"
        );
    }
    for (known, gone, go) in
        [(60, 12, true), (60, 13, false), (64, 12, true), (64, 13, false), (100, 20, true)]
    {
        assert_eq!(
            decided(&all[..known], &all[gone..known], Approval::Harmless).0 == gone,
            go,
            "{gone} of {known}"
        );
    }
    let held = (0, 21, "21 of 100 objects would go at once".to_owned());
    assert_eq!(decided(&all, &all[21..], Approval::Harmless), held);
}

#[test]
fn a_number_that_was_approved_is_exact() {
    let all = many(30);
    for (approved, why) in [
        (0, "0 were approved, and 2 would go"),
        (1, "1 were approved, and 2 would go"),
        (3, "3 were approved, and 2 would go"),
    ] {
        assert_eq!(decided(&all, &all[2..], Approval::Count(approved)), (0, 2, why.to_owned()));
    }
    assert_eq!(decided(&all, &all[2..], Approval::Count(2)), (2, 0, String::new()));
}

#[test]
fn a_number_counts_for_both_clusters() {
    let (management, guest) = (inventory(many(20)), inventory(many(40)));
    let (management_wanted, guest_wanted) = (&many(20)[3..], &many(40)[11..]);
    let sets = [(&management, management_wanted), (&guest, guest_wanted)];
    let counts = |approval| -> Vec<(usize, usize)> {
        leaving(&sets, approval).iter().map(|one| (one.go.len(), one.held.len())).collect()
    };
    assert_eq!(counts(Approval::Count(14)), [(3, 0), (11, 0)]);
    assert_eq!(counts(Approval::Count(11)), [(0, 3), (0, 11)]);
    assert_eq!(counts(Approval::Harmless), [(3, 0), (0, 11)], "what is much is said of each");
    assert_eq!(leaving(&sets, Approval::Count(3))[0].held[0].1, "3 were approved, and 14 would go");
}

#[test]
fn each_kind_that_takes_more_with_it_says_what() {
    for (group, kind, why) in [
        ("", "Namespace", "everything in it would go with it"),
        ("apiextensions.k8s.io", "CustomResourceDefinition", "every object of its kind would go with it"),
        ("", "PersistentVolumeClaim", "its data would go with it"),
        ("", "PersistentVolume", "its data would go with it"),
    ] {
        let known = [id(group, kind, "", "x")];
        assert_eq!(decided(&known, &[], Approval::Harmless), (0, 1, why.to_owned()));
        assert_eq!(decided(&known, &[], Approval::Count(1)), (1, 0, String::new()));
        assert_eq!(decided(&known, &[], Approval::All), (1, 0, String::new()));
        assert_eq!(decided(&known, &known, Approval::Harmless), (0, 0, String::new()));
    }
}

#[test]
fn all_of_an_identity_counts_and_no_version() {
    let known = [id("apps", "Deployment", "ns", "d")];
    for other in [
        id("extensions", "Deployment", "ns", "d"),
        id("apps", "DaemonSet", "ns", "d"),
        id("apps", "Deployment", "other", "d"),
        id("apps", "Deployment", "ns", "e"),
    ] {
        assert_eq!(decided(&known, &[other], Approval::Harmless), (1, 0, String::new()));
    }
    let mut known = inventory(known);
    known.entries[0].version = "v1beta1".to_owned();
    let wanted = [id("apps", "Deployment", "ns", "d")];
    assert!(of_one(&known, &wanted, Approval::All).go.is_empty());
}

#[test]
fn what_goes_keeps_its_order_and_all_that_is_known_of_it() {
    let gone = [id("", "Secret", "ns", "b"), id("", "Namespace", "", "ns"), id("", "Secret", "ns", "a")];
    let known = inventory(gone.into_iter().chain(many(12)));
    let found = of_one(&known, &many(12), Approval::Harmless);
    assert_eq!(found.go, [known.entries[0].clone(), known.entries[2].clone()]);
    assert_eq!(found.held, [(known.entries[1].clone(), "everything in it would go with it".to_owned())]);
}

#[test]
fn an_inventory_finds_its_entries() {
    let known = inventory(many(3));
    assert_eq!(known.find(&many(3)[1]), Some(&known.entries[1]));
    assert_eq!(known.find(&id("", "ConfigMap", "other", "c1")), None);
    assert_eq!(
        Inventory::default(),
        Inventory { installed: false, revision: String::new(), entries: Vec::new() }
    );
}

/// `printf 'transship.ns.ConfigMap.' | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '='`
#[test]
fn a_home_names_its_set_as_kubectl_does() {
    let set = |namespace: &str, name: &str| Home { namespace: namespace.into(), name: name.into() }.set();
    assert_eq!(set("ns", "transship"), "applyset-_LOX5NlrcMfyY5JmsIGTOgff9eQ2voBG4KPgNqzi0Y8-v1");
    assert_ne!(set("a", "b"), set("b", "a"));
}

/// Objects of few kinds and names, so that the payload and the inventory have some in common.
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
    fn what_is_wanted_stays_and_everything_else_is_decided(
        ids in ids(), wanted in ids(), approval in approval()
    ) {
        let known = inventory(ids);
        let found = of_one(&known, &wanted, approval);
        for entry in &known.entries {
            let places = [
                wanted.contains(&entry.id),
                found.go.contains(entry),
                found.held.iter().any(|(held, _)| held == entry),
            ];
            prop_assert_eq!(places.iter().filter(|here| **here).count(), 1, "{:?}", entry);
        }
        let kept = known.entries.iter().filter(|entry| wanted.contains(&entry.id)).count();
        prop_assert_eq!(kept + found.go.len() + found.held.len(), known.entries.len(), "nothing is made up");
        prop_assert!(found.held.iter().all(|(_, why)| !why.is_empty()));
    }

    #[test]
    fn an_approval_is_for_all_or_none(ids in ids(), wanted in ids(), count in 0..40usize) {
        let known = inventory(ids);
        let counted = of_one(&known, &wanted, Approval::Count(count));
        prop_assert!(counted.go.is_empty() || counted.held.is_empty());
        let all = of_one(&known, &wanted, Approval::All);
        prop_assert!(all.held.is_empty());
        prop_assert_eq!(of_one(&known, &wanted, Approval::Count(all.go.len())), all);
    }
}
