//! Tokens of pods in the management cluster, which run next to other hosted control planes.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{ALL_SERVICE_ACCOUNTS, Cluster};
use crate::yaml::{Node, Value};

/// Checks that a pod in the management cluster mounts a token only if its `ServiceAccount` has permissions.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
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
