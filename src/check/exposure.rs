//! Objects that make a Service reachable from outside of its cluster.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::Cluster;

/// Kinds that publish a Service, with their groups.
const PUBLISHING_KINDS: [(&str, &str); 7] = [
    ("Gateway", "gateway.networking.k8s.io"),
    ("GRPCRoute", "gateway.networking.k8s.io"),
    ("HTTPRoute", "gateway.networking.k8s.io"),
    ("TLSRoute", "gateway.networking.k8s.io"),
    ("Ingress", "extensions"),
    ("Ingress", "networking.k8s.io"),
    ("Route", "route.openshift.io"),
];

/// Checks that nothing is published from the management cluster, and that no Service claims fixed addresses.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let id = &root.object.id;
    let is_service = id.kind == "Service" && id.group.is_empty();
    if is_service
        && let Some(addresses) = root.at("/spec/externalIPs")
        && addresses.node.as_list().is_some_and(|list| !list.is_empty())
    {
        report.add(
            Finding::new(Check::Exposed, &addresses, "the Service claims external addresses")
                .note("nodes send all traffic for these addresses to the Service, even if the addresses belong to others")
                .help("remove `externalIPs`"),
        );
    }
    if context.cluster() != Cluster::Management {
        return;
    }
    if is_service
        && let Some(field) = root.at("/spec/type")
        && let Some(name @ ("LoadBalancer" | "NodePort")) = field.as_str()
    {
        let message = format!("the Service is reachable from outside of the cluster, as {name}");
        report.add(
            exposed(&field, message)
                .help("use the type `ClusterIP`, or allow it for this object with a reason"),
        );
    }
    if PUBLISHING_KINDS.contains(&(&id.kind, &id.group)) {
        let message = format!("the {} makes a Service reachable from outside of the cluster", id.kind);
        report.add(
            exposed(root, message).help("omit it in this profile, or allow it for this object with a reason"),
        );
    }
}

fn exposed(field: &Field<'_>, message: String) -> Finding {
    Finding::new(Check::Exposed, field, message).note(
        "other tenants, and clients outside of the management cluster, can connect to this part of the hosted control plane",
    )
}
