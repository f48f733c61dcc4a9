//! Bindings for everyone.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::grants::{Grants, RoleName, allows};
use super::rbac::is_binding;
use crate::language::Check;
use crate::object::{Cluster, RoleRule};
use crate::yaml::Node;

/// Checks that no binding grants rights to requests without credentials. In the management cluster and the guest, also
/// checks that no binding is for all users or all ServiceAccounts. In the guest, such a binding may grant reading
/// objects other than Secrets.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if !is_binding(root.object) {
        return;
    }
    for subject in root.items("/subjects") {
        let Some(name) = subject.get("name") else { continue };
        let kind = subject.node.get("kind").and_then(Node::as_str).unwrap_or_default();
        let (who, is_anonymous) = match (kind, name.as_str().unwrap_or_default()) {
            ("Group", "system:unauthenticated") | ("User", "system:anonymous") => {
                ("requests without credentials", true)
            }
            ("Group", "system:authenticated" | "system:authenticated:oauth") => {
                ("all users of the cluster", false)
            }
            ("Group", "system:serviceaccounts") => ("all ServiceAccounts of the cluster", false),
            _ => continue,
        };
        let is_broad = match context.cluster() {
            _ if is_anonymous => true,
            Cluster::Management => true,
            Cluster::Guest => allows_more_than_reading(root, &context.grants),
            Cluster::Both => false,
        };
        if is_broad {
            report.add(
                Finding::new(Check::BroadSubject, &name, format!("the binding grants rights to {who}"))
                    .note(consequence(is_anonymous, context.cluster()))
                    .help("name the ServiceAccounts that need the rights, or allow it for this binding with a reason"),
            );
        }
    }
}

fn consequence(is_anonymous: bool, cluster: Cluster) -> &'static str {
    match cluster {
        _ if is_anonymous => "everyone who can connect to the API server gets them",
        Cluster::Management => "the pods of all other hosted control planes get them as well",
        Cluster::Guest | Cluster::Both => "every user and every pod of the guest gets them",
    }
}

/// Returns whether a binding grants more than reading objects that are not Secrets. Reports nothing about a role whose
/// rules are not known.
fn allows_more_than_reading(binding: &Field<'_>, grants: &Grants<'_>) -> bool {
    let text = |path| binding.at(path).and_then(|field| field.as_str()).unwrap_or_default();
    let namespace = match text("/roleRef/kind") {
        "ClusterRole" => "",
        _ => binding.object.id.namespace.as_str(),
    };
    let rules = grants.rules(RoleName { namespace, name: text("/roleRef/name") });
    rules.unwrap_or_default().iter().any(|rule| {
        let reads = |verb: &str| matches!(verb, "get" | "list" | "watch");
        !rule.verbs.iter().all(|verb| reads(verb)) && !is_about_oneself(rule)
            || rule.verbs.iter().any(|verb| allows(rule, "", "secrets", verb))
    })
}

/// Returns whether a rule only lets a user ask for their own rights.
fn is_about_oneself(rule: &RoleRule) -> bool {
    rule.resources.iter().all(|resource| resource.starts_with("self"))
        && rule.api_groups.iter().all(|group| group == "authorization.k8s.io")
}
