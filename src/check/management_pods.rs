//! Pods in the management cluster, which run next to other hosted control planes.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{ALL_SERVICE_ACCOUNTS, Cluster};
use crate::yaml::{Node, Number, Value};

const SHARED_NODE: &str = "other hosted control planes run on the same node, and an attacker who controls this pod controls the node";
const REMOVE_OR_ALLOW: &str = "remove it, or allow it for this object with a reason";

/// Checks that a pod in the management cluster does not use the network, processes, memory, files or ports of its node.
pub(super) fn check_host_access(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    for (path, message) in [
        ("/spec/hostNetwork", "the pod uses the network of its node"),
        ("/spec/hostPID", "the pod sees the processes of its node"),
        ("/spec/hostIPC", "the pod shares memory with processes of its node"),
    ] {
        if let Some(field) = pod.at(path)
            && field.node.value == Value::Bool(true)
        {
            report.add(host_access(&field, message));
        }
    }
    for volume in pod.items("/spec/volumes") {
        if let Some(path) = volume.get("hostPath") {
            report.add(host_access(&path, "the pod mounts files of its node"));
        }
    }
    for container in pod.containers() {
        for port in container.items("/ports") {
            if let Some(host_port) = port.get("hostPort")
                && host_port.node.value != Value::Number(Number::Int(0))
            {
                report.add(host_access(&host_port, "the pod opens a port of its node"));
            }
        }
    }
}

fn host_access(field: &Field<'_>, message: &str) -> Finding {
    Finding::new(Check::HostAccess, field, message).note(SHARED_NODE).help(REMOVE_OR_ALLOW)
}

/// Checks that no container in the management cluster is privileged or has a capability that makes it so.
pub(super) fn check_privileges(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    for container in pod.containers() {
        if let Some(privileged) = container.at("/securityContext/privileged")
            && privileged.node.value == Value::Bool(true)
        {
            report.add(privileged_container(&privileged, "the container is privileged"));
            continue;
        }
        for added in container.items("/securityContext/capabilities/add") {
            if let Some(name @ ("ALL" | "SYS_ADMIN" | "CAP_SYS_ADMIN")) = added.as_str() {
                let message = format!("the container has the capability `{name}`");
                report.add(privileged_container(&added, &message));
                break;
            }
        }
    }
}

fn privileged_container(field: &Field<'_>, message: &str) -> Finding {
    Finding::new(Check::Privileged, field, message).note(SHARED_NODE).help(REMOVE_OR_ALLOW)
}

/// Checks that a pod in the management cluster mounts a token only if its `ServiceAccount` has permissions.
pub(super) fn check_token(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(spec) = pod.get("spec") else { return };
    if context.cluster() != Cluster::Management {
        return;
    }
    let text = |field: &str| spec.node.get(field).and_then(Node::as_str);
    let account = text("serviceAccountName").or(text("serviceAccount")).unwrap_or("default");
    let namespace = pod.object.id.namespace.as_str();
    let is_mounted = match spec.node.get("automountServiceAccountToken").map(|node| &node.value) {
        Some(Value::Bool(automount)) => *automount,
        _ => !context.here.disables_token_mount(namespace, account),
    };
    let all_of_namespace = (namespace, "");
    let has_permissions = [(namespace, account), all_of_namespace, ALL_SERVICE_ACCOUNTS]
        .iter()
        .any(|subject| context.bound_accounts.contains(subject));
    if is_mounted && !has_permissions {
        let message =
            format!("the pod mounts a token of the ServiceAccount `{account}`, which has no permissions");
        report.add(
            Finding::new(Check::UnneededToken, &spec, message)
                .note("a token that is not mounted cannot be stolen")
                .help("set `automountServiceAccountToken: false`, or bind the ServiceAccount to a role"),
        );
    }
}
