//! Tokens of ServiceAccounts: those that pods in the management cluster mount, and those in Secrets.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{ALL_SERVICE_ACCOUNTS, Cluster};
use crate::yaml::{Node, Value};

/// Checks that a pod in the management cluster mounts a token only if its `ServiceAccount` has rights.
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
    let has_rights = [(namespace, account), all_of_namespace, ALL_SERVICE_ACCOUNTS]
        .iter()
        .any(|subject| context.bound_accounts.contains(subject));
    if has_rights {
        return;
    }
    if is_mounted {
        report.add(
            unneeded(&spec, account)
                .help("set `automountServiceAccountToken: false`, or bind the ServiceAccount to a role"),
        );
    }
    for volume in spec.items("/volumes") {
        for source in volume.items("/projected/sources") {
            if let Some(token) = source.get("serviceAccountToken")
                && is_for_api_server(token.node)
            {
                report.add(
                    unneeded(&token, account)
                        .help("remove the token, name its `audience`, or bind the ServiceAccount to a role"),
                );
            }
        }
    }
}

/// Returns whether a projected token is for the API server of the pod's own cluster.
pub(super) fn is_for_api_server(token: &Node) -> bool {
    token.get("audience").and_then(Node::as_str).is_none_or(str::is_empty)
}

fn unneeded(field: &Field<'_>, account: &str) -> Finding {
    let message = format!("the pod mounts a token of the ServiceAccount `{account}`, which has no rights");
    Finding::new(Check::UnneededToken, field, message).note("a token that is not mounted cannot be stolen")
}

/// The type of a Secret into which Kubernetes writes a token of a ServiceAccount.
pub(super) const TOKEN_SECRET: &str = "kubernetes.io/service-account-token";

/// Checks that Kubernetes writes no token into a Secret of the management cluster or the guest.
pub(super) fn check_secret(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if root.object.id.kind != "Secret" || context.cluster() == Cluster::Both {
        return;
    }
    let Some(field) = root.get("type") else { return };
    if field.as_str() == Some(TOKEN_SECRET) {
        report.add(
            Finding::new(
                Check::LongLivedToken,
                &field,
                "Kubernetes writes a token that never expires into the Secret",
            )
            .note("anyone who reads the Secret once can use the ServiceAccount until someone deletes the Secret")
            .help("let the pod mount a projected token, or request one with the TokenRequest API"),
        );
    }
}
