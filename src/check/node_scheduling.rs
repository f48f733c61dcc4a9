//! The nodes of the management cluster on which pods run.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::Cluster;
use crate::yaml::Node;

/// Checks that a pod in the management cluster goes only to nodes of its hosted control plane, and evicts no others there.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    if let Some(field) = pod.at("/spec/nodeName")
        && let Some(name) = field.as_str()
        && !name.is_empty()
    {
        report.add(
            Finding::new(Check::NodeScheduling, &field, format!("the pod is bound to the node `{name}`"))
                .note("the scheduler does not see the pod, so taints that reserve the node for another hosted control plane have no effect")
                .help("remove `nodeName`, and select nodes with `nodeSelector`"),
        );
    }
    for toleration in pod.items("/spec/tolerations") {
        let text = |key: &str| toleration.node.get(key).and_then(Node::as_str).unwrap_or_default();
        if text("key").is_empty() && text("operator") == "Exists" {
            report.add(
                Finding::new(Check::NodeScheduling, &toleration, "the pod tolerates every taint")
                    .note("it can run on nodes that are reserved for other hosted control planes, and on nodes of the management cluster's own control plane")
                    .help("name the taints that it tolerates with `key`"),
            );
        }
    }
    if let Some(field) = pod.at("/spec/priorityClassName")
        && field.as_str() == Some("system-node-critical")
    {
        report.add(
            Finding::new(Check::NodeScheduling, &field, "the pod has the priority `system-node-critical`")
                .note("it evicts the pods of other hosted control planes when a node is full")
                .help("use a priority class for hosted control planes, such as hypershift-control-plane"),
        );
    }
}
