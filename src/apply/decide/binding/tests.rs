use serde_json::{Value, json};

use super::{Binding, BindingErrorKind, FoundClusters, FoundIdentity, HostedControlPlane, Rebinding};
use crate::object::Cluster;

const NAMESPACE: &str = "clusters-a";

#[expect(clippy::unnecessary_wraps, reason = "a uid that is known")]
fn uid(uid: &str) -> Option<String> {
    Some(uid.to_owned())
}

/// The binding of the management cluster `m`, the hosted control plane `n` and the guest `g`.
fn bound() -> Binding {
    let hosted = HostedControlPlane { namespace: NAMESPACE.to_owned(), uid: uid("n") };
    Binding { cluster: uid("m"), hosted_control_plane: Some(hosted), guest: uid("g") }
}

fn management(recorded: Binding) -> FoundIdentity {
    FoundIdentity {
        kube_system: uid("m"),
        hosted_namespace: uid("n"),
        recorded,
        other_hosted_control_plane: None,
    }
}

fn guest(kube_system: &str, recorded: Binding) -> FoundIdentity {
    FoundIdentity { kube_system: uid(kube_system), recorded, ..FoundIdentity::default() }
}

/// Checks both clusters. Returns the error of the management cluster and that of the guest, without their details.
fn check(
    management: &FoundIdentity,
    guest: &FoundIdentity,
    rebinding: Rebinding,
) -> [Option<BindingErrorKind>; 2] {
    let found = FoundClusters { hosted_namespace: Some(NAMESPACE), cluster: management, guest: Some(guest) };
    [found.check_cluster(rebinding), found.check_guest(rebinding)].map(|result| result.err().map(|e| e.kind))
}

#[test]
fn clusters_that_record_each_other_or_nothing_belong_together() {
    for recorded in [bound(), Binding::default()] {
        let (management, guest) = (management(recorded.clone()), guest("g", recorded));
        assert_eq!(check(&management, &guest, Rebinding::Off), [None, None]);
    }
}

#[test]
fn one_cluster_on_both_sides_is_refused_even_with_rebind() {
    let same = Some(BindingErrorKind::SameCluster);
    for rebinding in [Rebinding::Off, Rebinding::On] {
        let management = management(Binding::default());
        assert_eq!(check(&management, &guest("m", Binding::default()), rebinding), [same, same]);
        // Nobody may read `kube-system`.
        let blind = FoundIdentity { kube_system: None, ..management };
        let mut guest = FoundIdentity { kube_system: None, ..guest("", Binding::default()) };
        assert_eq!(check(&blind, &guest, rebinding), [None, None]);
        guest.hosted_namespace = uid("n");
        assert_eq!(check(&blind, &guest, rebinding), [same, same]);
    }
}

#[test]
fn another_guest_is_refused() {
    let found = guest("other", Binding::default());
    let error = Some(BindingErrorKind::OtherGuest);
    assert_eq!(check(&management(bound()), &found, Rebinding::Off), [error, None]);
    assert_eq!(check(&management(bound()), &found, Rebinding::On), [None, None]);
}

#[test]
fn the_guest_of_another_hosted_control_plane_is_refused() {
    let hosted = HostedControlPlane { namespace: "clusters-b".to_owned(), uid: uid("b") };
    let others = Binding { hosted_control_plane: Some(hosted), ..bound() };
    let error = Some(BindingErrorKind::GuestOfOthers);
    let management = management(Binding::default());
    assert_eq!(check(&management, &guest("g", others.clone()), Rebinding::Off), [None, error]);
    assert_eq!(check(&management, &guest("g", others), Rebinding::On), [None, None]);
    let mut with_inventory = guest("g", Binding::default());
    with_inventory.other_hosted_control_plane = Some("clusters-b".to_owned());
    assert_eq!(check(&management, &with_inventory, Rebinding::Off), [None, error]);
    let other_namespace = HostedControlPlane { uid: uid("recreated"), ..hosted_of(&bound()) };
    let recreated = Binding { hosted_control_plane: Some(other_namespace), ..bound() };
    assert_eq!(check(&management, &guest("g", recreated), Rebinding::Off), [None, error]);
}

fn hosted_of(binding: &Binding) -> HostedControlPlane {
    binding.hosted_control_plane.clone().unwrap()
}

#[test]
fn an_inventory_of_another_cluster_is_refused() {
    let other = Binding { cluster: uid("other"), ..bound() };
    let error = Some(BindingErrorKind::OtherCluster(Cluster::Management));
    assert_eq!(check(&management(other.clone()), &guest("g", bound()), Rebinding::Off), [error, None]);
    let copied = Binding { guest: uid("other"), ..bound() };
    let error = Some(BindingErrorKind::OtherCluster(Cluster::Guest));
    assert_eq!(check(&management(bound()), &guest("g", copied), Rebinding::Off), [None, error]);
    let standalone = FoundIdentity { kube_system: uid("m"), recorded: other, ..FoundIdentity::default() };
    let found = FoundClusters { hosted_namespace: None, cluster: &standalone, guest: None };
    let error = found.check_cluster(Rebinding::Off).unwrap_err();
    assert_eq!(error.kind, BindingErrorKind::OtherCluster(Cluster::Both));
    assert_eq!(error.expected, "the cluster with the uid other");
    assert_eq!(error.found, "the cluster with the uid m");
}

#[test]
fn only_the_management_cluster_confirms_a_guest() {
    for (recorded, expected) in [(bound(), true), (Binding::default(), false)] {
        let (management, guest) = (management(recorded), guest("g", bound()));
        let found =
            FoundClusters { hosted_namespace: Some(NAMESPACE), cluster: &management, guest: Some(&guest) };
        assert_eq!(found.is_guest_confirmed(), expected);
    }
}

#[test]
fn a_binding_survives_a_round_trip() {
    for binding in [bound(), Binding::default(), Binding { cluster: uid("c"), ..Binding::default() }] {
        let mut data = serde_json::Map::new();
        binding.add_to_data(&mut data);
        assert_eq!(Binding::from_data(&Value::from(data)), binding);
    }
    let long = json!({"guestUID": "x".repeat(301), "clusterUID": ""});
    assert_eq!(Binding::from_data(&long), Binding::default());
}

#[test]
fn what_is_not_known_now_stays_as_recorded() {
    let hosted = HostedControlPlane { uid: None, ..hosted_of(&bound()) };
    let found = Binding { cluster: None, hosted_control_plane: Some(hosted), guest: uid("new") };
    assert_eq!(found.or_recorded(&bound()), Binding { guest: uid("new"), ..bound() });
    assert_eq!(Binding::default().or_recorded(&bound()), bound());
}
