//! Roles, bindings and their subjects.

use std::collections::HashSet;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::grants::{RoleName, allows_everything};
use crate::language::Check;
use crate::object::{Cluster, Object, service_account_of};
use crate::yaml::Node;

const SUBJECT_KINDS: [&str; 3] = ["ServiceAccount", "User", "Group"];

/// Namespace and name of the ServiceAccounts that have rights. An empty name means all ServiceAccounts of the
/// namespace.
pub(super) type BoundAccounts<'a> = HashSet<(&'a str, &'a str)>;

/// Returns the ServiceAccounts to which the bindings of a cluster grant rights.
pub(super) fn bound_accounts(objects: &[Object]) -> BoundAccounts<'_> {
    let mut bound = HashSet::new();
    for object in objects.iter().filter(|object| is_binding(object) && !object.is_tombstone()) {
        for subject in object.root.get("subjects").and_then(Node::as_list).unwrap_or_default() {
            bound.extend(service_account_of(subject, &object.id.namespace));
        }
    }
    bound
}

pub(super) fn is_binding(object: &Object) -> bool {
    matches!(object.id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding")
}

/// Checks that the API server accepts the subjects and the role of a binding.
pub(super) fn check_binding(root: &Field<'_>, report: &mut Report) {
    if !is_binding(root.object) {
        return;
    }
    for subject in root.items("/subjects") {
        check_subject(&subject, report);
    }
    if root.object.id.kind == "ClusterRoleBinding"
        && let Some(kind) = root.at("/roleRef/kind")
        && kind.as_str() == Some("Role")
    {
        report.add(
            Finding::new(Check::OneOf, &kind, "a ClusterRoleBinding can only reference a ClusterRole")
                .note("the API server rejects the object")
                .help("reference a ClusterRole, or use a RoleBinding"),
        );
    }
}

fn check_subject(subject: &Field<'_>, report: &mut Report) {
    let Some(kind) = subject.get("kind") else { return };
    let name = kind.as_str().unwrap_or_default();
    if !SUBJECT_KINDS.contains(&name) {
        report.add(
            Finding::new(Check::OneOf, &kind, "a subject must be a ServiceAccount, a User or a Group")
                .note("the API server rejects the object")
                .help(format!("use one of {}", SUBJECT_KINDS.join(", ")))
                .suggest(name, SUBJECT_KINDS),
        );
    }
    let is_cluster_binding = subject.object.id.kind == "ClusterRoleBinding";
    if is_cluster_binding && name == "ServiceAccount" && subject.get("namespace").is_none() {
        report.add(
            Finding::new(Check::MissingField, subject, "the required field `namespace` is missing")
                .note("a ServiceAccount is always in a namespace, and a ClusterRoleBinding has none to default to")
                .help("add `namespace`"),
        );
    }
}

/// Checks that no binding grants rights to a user or group of ServiceAccounts in a namespace of the other cluster.
/// `references` checks this for subjects of the kind `ServiceAccount`.
pub(super) fn check_users_of_other_cluster(
    root: &Field<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) {
    if !is_binding(root.object) {
        return;
    }
    for subject in root.items("/subjects") {
        let is_service_account = subject.node.get("kind").and_then(Node::as_str) == Some("ServiceAccount");
        let Some((namespace, _)) = service_account_of(subject.node, &root.object.id.namespace) else {
            continue;
        };
        if !is_service_account
            && context.is_namespace_of_other_cluster(namespace)
            && let Some(name) = subject.get("name")
        {
            report.add(subject_of_other_cluster(&name, namespace));
        }
    }
}

/// Returns the finding for a subject in a namespace of the other cluster.
pub(super) fn subject_of_other_cluster(name: &Field<'_>, namespace: &str) -> Finding {
    let message =
        format!("the subject is in the namespace `{namespace}`, which belongs to the other cluster");
    Finding::new(Check::WrongClusterSubject, name, message)
        .note("anyone who can create this namespace in this cluster gets the rights")
        .help("use a subject of this cluster, or omit the binding in this profile")
}

/// Checks that no binding grants all rights in the guest.
pub(super) fn check_guest_admin(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Guest || root.object.id.kind != "ClusterRoleBinding" {
        return;
    }
    let Some(field) = root.at("/roleRef/name") else { return };
    let Some(role) = field.as_str() else { return };
    let rules = context.grants.rules(RoleName { namespace: "", name: role }).unwrap_or_default();
    if role == "cluster-admin" || rules.iter().any(allows_everything) {
        report.add(
            Finding::new(Check::GuestAdmin, &field, format!("`{role}` grants all rights in the guest"))
                .note("anyone with a kubeconfig of this identity, and every pod that runs as it, controls the guest")
                .help("grant only the rights that are needed, or allow it for this binding with a reason"),
        );
    }
}
