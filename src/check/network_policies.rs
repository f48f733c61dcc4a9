//! The NetworkPolicies of the management cluster.

use std::collections::HashMap;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::label_index::{LabelSelector, labels_of};
use crate::language::Check;
use crate::object::{Cluster, Object};
use crate::yaml::Node;

const KIND: &str = "NetworkPolicy";
const GROUP: &str = "networking.k8s.io";

const REACHABLE: &str =
    "every pod of the management cluster can connect, including those of other hosted control planes";

/// The NetworkPolicies of a cluster, by namespace.
pub(super) type NetworkPolicies<'a> = HashMap<&'a str, Vec<&'a Object>>;

/// Returns the NetworkPolicies among objects.
pub(super) fn network_policies(objects: &[Object]) -> NetworkPolicies<'_> {
    let mut policies = NetworkPolicies::new();
    for object in objects.iter().filter(|object| is_policy(object) && !object.is_tombstone()) {
        policies.entry(object.id.namespace.as_str()).or_default().push(object);
    }
    policies
}

fn is_policy(object: &Object) -> bool {
    object.id.kind == KIND && object.id.group == GROUP
}

/// Checks that a NetworkPolicy in the management cluster does not allow all traffic.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management || !is_policy(root.object) {
        return;
    }
    for rule in root.items("/spec/ingress") {
        if allows_all(rule.node, "from") {
            report.add(
                Finding::new(
                    Check::OpenNetwork,
                    &rule,
                    "the NetworkPolicy allows connections from everywhere",
                )
                .note(REACHABLE)
                .help("name the pods and ports that may connect, with `from` and `ports`"),
            );
        }
    }
    // Some pods need unrestricted egress, because the guest's API server can have any address and port.
    let selects_all = match root.at("/spec/podSelector") {
        Some(selector) => LabelSelector::new(selector.node).is_empty(),
        None => true,
    };
    for rule in root.items("/spec/egress") {
        if selects_all && allows_all(rule.node, "to") {
            report.add(
                Finding::new(
                    Check::OpenNetwork,
                    &rule,
                    "the NetworkPolicy allows every pod of the namespace to connect to everything",
                )
                .note("an attacker who controls one pod can connect to other hosted control planes")
                .help("select the pods that need it with `podSelector`, or name their peers with `to`"),
            );
        }
    }
}

/// Returns whether a rule allows all peers on all ports.
fn allows_all(rule: &Node, peers: &str) -> bool {
    let list = |field: &str| rule.get(field).and_then(Node::as_list).unwrap_or_default();
    let (peers, ports) = (list(peers), list("ports"));
    ports.is_empty() && (peers.is_empty() || peers.iter().any(is_everyone))
}

/// Returns whether a peer is every pod of every namespace, or every address.
fn is_everyone(peer: &Node) -> bool {
    let selects_all = |field: &str| peer.get(field).map(|selector| LabelSelector::new(selector).is_empty());
    if let Some(block) = peer.get("ipBlock") {
        let is_every_address = matches!(block.get("cidr").and_then(Node::as_str), Some("0.0.0.0/0" | "::/0"));
        return is_every_address && block.get("except").is_none();
    }
    selects_all("namespaceSelector") == Some(true) && selects_all("podSelector").unwrap_or(true)
}

/// Checks that a NetworkPolicy restricts the connections to the pods of a workload in the management cluster.
pub(super) fn check_pod(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    let namespace = pod.object.id.namespace.as_str();
    let externals = context.here.externals_of_kind(KIND, GROUP, namespace);
    report.use_externals(&externals);
    let policies = context.network_policies.get(namespace).map(Vec::as_slice).unwrap_or_default();
    let is_restricted = policies.iter().any(|policy| restricts_ingress(policy, labels_of(pod.node)));
    if externals.is_empty() && !is_restricted {
        let spec = pod.get("spec").unwrap_or(*pod);
        report.add(
            Finding::new(Check::OpenNetwork, &spec, "no NetworkPolicy selects the pod")
                .note(REACHABLE)
                .help("add a NetworkPolicy; if someone else creates one, declare it under `externals`"),
        );
    }
}

/// Returns whether a policy restricts the connections to a pod with these labels.
fn restricts_ingress(policy: &Object, labels: Option<&Node>) -> bool {
    let Some(spec) = policy.root.get("spec") else { return false };
    let types = spec.get("policyTypes").and_then(Node::as_list).unwrap_or_default();
    let is_for_ingress = types.is_empty() || types.iter().any(|name| name.as_str() == Some("Ingress"));
    is_for_ingress
        && spec.get("podSelector").is_none_or(|selector| LabelSelector::new(selector).matches(labels))
}
