//! Names and Services that lead to fixed addresses or to other namespaces, past DNS and NetworkPolicies.

use std::net::IpAddr;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::service_dns::service_of;
use crate::language::Check;
use crate::object::Cluster;

/// The paths of addresses in Endpoints and EndpointSlices.
const ADDRESSES: [(&str, &str); 3] = [
    ("Endpoints", "subsets/*/addresses/*/ip"),
    ("Endpoints", "subsets/*/notReadyAddresses/*/ip"),
    ("EndpointSlice", "endpoints/*/addresses/*"),
];

/// Hosts of cloud metadata services, from which a node gets its credentials. Most clouds use a link-local address
/// instead.
const METADATA_HOSTS: [&str; 3] = ["fd00:ec2::254", "metadata.google.internal", "metadata.azure.internal"];

const NODE_CREDENTIALS: &str =
    "only a node reaches this host: the metadata service there issues the cloud credentials of the node";

/// Checks the targets of a Service without pods: an external name, or fixed addresses.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let kind = root.object.id.kind.as_str();
    if kind == "Service" && root.object.id.group.is_empty() {
        check_external_name(root, context, report);
    }
    for (_, path) in ADDRESSES.iter().filter(|(own, _)| *own == kind) {
        root.for_each(path, &mut |address| check_address(address, context, report));
    }
}

fn check_external_name(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(field) = root.at("/spec/externalName") else { return };
    let Some(host) = field.as_str() else { return };
    if is_address_of_node(host) {
        report.add(redirected(&field, host).note(NODE_CREDENTIALS).help("remove the Service"));
        return;
    }
    let Some((namespace, _)) = service_of(host) else { return };
    let leaves_management = context.cluster() == Cluster::Management && namespace != root.object.id.namespace;
    if leaves_management || context.is_namespace_of_other_cluster(namespace) {
        report.add(
            redirected(&field, host)
                .note("the Service is in another namespace of the management cluster, in which other tenants or the cluster itself run")
                .help("name a Service of the same namespace, or allow it for this object with a reason"),
        );
    }
}

fn check_address(address: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(host) = address.as_str() else { return };
    if is_address_of_node(host) {
        report.add(redirected(address, host).note(NODE_CREDENTIALS).help("remove the address"));
    } else if context.cluster() == Cluster::Management {
        report.add(
            redirected(address, host)
                .note("in the management cluster, the address can belong to another tenant")
                .help(
                    "select pods with the selector of the Service, or allow it for this object with a reason",
                ),
        );
    }
}

/// Checks that a pod in the management cluster resolves names with DNS only.
pub(super) fn check_host_aliases(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    for alias in pod.items("/spec/hostAliases") {
        let Some(field) = alias.get("ip") else { continue };
        let Some(address) = field.as_str() else { continue };
        if is_address_of_node(address) || context.cluster() == Cluster::Management {
            report.add(
                Finding::new(
                    Check::RedirectedTraffic,
                    &field,
                    format!("the pod resolves names to the fixed address {address}"),
                )
                .note("the host at this address receives the pod's requests and credentials, even if DNS names another one")
                .help("remove `hostAliases`, and use a Service"),
            );
        }
    }
}

fn redirected(field: &Field<'_>, host: &str) -> Finding {
    Finding::new(Check::RedirectedTraffic, field, format!("the Service leads to {host}"))
}

/// Returns whether a host is reachable only from a node: a loopback or link-local address, or a metadata service.
fn is_address_of_node(host: &str) -> bool {
    if METADATA_HOSTS.contains(&host.to_ascii_lowercase().as_str()) {
        return true;
    }
    match host.parse() {
        Ok(IpAddr::V4(address)) => address.is_link_local() || address.is_loopback(),
        Ok(IpAddr::V6(address)) => {
            let mapped = address.to_ipv4_mapped();
            address.is_loopback()
                || address.is_unicast_link_local()
                || mapped.is_some_and(|address| address.is_link_local() || address.is_loopback())
        }
        Err(_) => false,
    }
}
