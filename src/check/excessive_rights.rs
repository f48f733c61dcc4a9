//! Roles and bindings that grant more than a workload needs.

use super::context::CheckContext;
use super::field::Field;
use super::fields::join_names;
use super::finding::{Finding, Report};
use super::grants::{allows, allows_everything};
use super::node_access::PRIVILEGED_SCCS;
use crate::language::Check;
use crate::object::{Cluster, RoleRule};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A right with which an identity gets the rights of others.
struct Escalation {
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
    /// Names of objects for which even a rule that is limited to them is dangerous.
    dangerous_names: &'static [&'static str],
    /// Whether only a rule for the whole cluster grants it.
    is_cluster_wide: bool,
    effect: &'static str,
}

const ROLES: &[&str] = &["admin", "cluster-admin", "edit"];
const ADMINISTRATORS: &[&str] = &["cluster-admin", "kube:admin", "system:admin", "system:masters"];

const ESCALATIONS: [Escalation; 12] = [
    escalation(RBAC, "roles", &["escalate"], "write roles with rights that they do not have"),
    escalation(RBAC, "clusterroles", &["escalate"], "write roles with rights that they do not have")
        .cluster_wide(),
    escalation(RBAC, "roles", &["bind"], "bind roles with rights that they do not have"),
    escalation(RBAC, "clusterroles", &["bind"], "bind roles with rights that they do not have")
        .even_if_named(ROLES),
    escalation("", "users", &["impersonate"], "act as other users")
        .even_if_named(ADMINISTRATORS)
        .cluster_wide(),
    escalation("", "groups", &["impersonate"], "act as members of other groups")
        .even_if_named(ADMINISTRATORS)
        .cluster_wide(),
    escalation("", "serviceaccounts", &["impersonate"], "act as other ServiceAccounts"),
    escalation("", "serviceaccounts/token", &["create"], "request tokens of other ServiceAccounts"),
    escalation("", "pods/exec", &["create", "get"], "run commands in the pods of others"),
    escalation("", "pods/attach", &["create", "get"], "run commands in the pods of others"),
    escalation("", "pods/ephemeralcontainers", &["update", "patch"], "run containers in the pods of others"),
    escalation("", "nodes/proxy", &["create", "get"], "run commands in all pods of a node").cluster_wide(),
];

/// The SecurityContextConstraints of OpenShift that a pod of a hosted control plane does not need.
const USE_SCC: Escalation = escalation(
    "security.openshift.io",
    "securitycontextconstraints",
    &["use"],
    "run pods that control their node",
)
.even_if_named(&PRIVILEGED_SCCS);

/// The prefix of OpenShift's ClusterRoles that allow the use of SecurityContextConstraints.
const SCC_ROLE_PREFIX: &str = "system:openshift:scc:";

const fn escalation(
    group: &'static str,
    resource: &'static str,
    verbs: &'static [&'static str],
    effect: &'static str,
) -> Escalation {
    Escalation { group, resource, verbs, effect, dangerous_names: &[], is_cluster_wide: false }
}

impl Escalation {
    const fn even_if_named(self, dangerous_names: &'static [&'static str]) -> Self {
        Self { dangerous_names, ..self }
    }

    const fn cluster_wide(self) -> Self {
        Self { is_cluster_wide: true, ..self }
    }

    fn is_granted_by(&self, rule: &RoleRule) -> bool {
        let names = &rule.resource_names;
        let is_dangerous = |name: &str| self.dangerous_names.contains(&name);
        (names.is_empty() || names.iter().any(|name| is_dangerous(name)))
            && self.verbs.iter().any(|verb| allows(rule, self.group, self.resource, verb))
    }
}

/// Where a rule applies.
#[derive(Clone, Copy)]
enum RuleScope<'a> {
    Namespace(&'a str),
    Cluster,
}

impl RuleScope<'_> {
    fn describe(self) -> String {
        match self {
            Self::Namespace("") => "a namespace".to_owned(),
            Self::Namespace(namespace) => format!("the namespace `{namespace}`"),
            Self::Cluster => "the cluster".to_owned(),
        }
    }
}

/// Checks the rules of a Role or ClusterRole, and the role of a binding.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() == Cluster::Both {
        return;
    }
    let id = &root.object.id;
    let scope = match id.kind.as_str() {
        "Role" => RuleScope::Namespace(&id.namespace),
        "ClusterRole" if context.grants.is_granted_only_in_namespaces(&id.name) => RuleScope::Namespace(""),
        "ClusterRole" => RuleScope::Cluster,
        "RoleBinding" | "ClusterRoleBinding" => return check_bound_role(root, context, report),
        _ => return,
    };
    for rule in root.items("/rules") {
        let policy = RoleRule::read(rule.node);
        if allows_everything(&policy) {
            // The binding has the finding `guest-admin` then.
            if !context.grants.is_granted_everywhere(&id.name) || id.kind == "Role" {
                report.add(broad(&rule, format!("the rule allows everything in {}", scope.describe())));
            }
            continue;
        }
        check_escalation(&rule, &policy, scope, context, report);
        check_secrets(&rule, &policy, scope, context, report);
    }
}

/// Checks that a rule does not let its subjects get the rights of others.
fn check_escalation(
    rule: &Field<'_>,
    policy: &RoleRule,
    scope: RuleScope<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) {
    let is_management = context.cluster() == Cluster::Management;
    let mut effects = Vec::new();
    for escalation in ESCALATIONS.iter().chain(is_management.then_some(&USE_SCC)) {
        let is_effective = matches!(scope, RuleScope::Cluster) || !escalation.is_cluster_wide;
        if is_effective && escalation.is_granted_by(policy) && !effects.contains(&escalation.effect) {
            effects.push(escalation.effect);
        }
    }
    if !effects.is_empty() {
        report.add(escalates(rule, format!("the rule lets its subjects {}", join_names(&effects))));
    }
}

/// Checks that a rule does not allow reading all Secrets of a namespace of the management cluster, or of the whole
/// guest.
fn check_secrets(
    rule: &Field<'_>,
    policy: &RoleRule,
    scope: RuleScope<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) {
    let is_broad = matches!(scope, RuleScope::Cluster) || context.cluster() == Cluster::Management;
    let reads = ["get", "list", "watch"].iter().any(|verb| allows(policy, "", "secrets", verb));
    if is_broad && reads && policy.resource_names.is_empty() {
        let message = format!("the rule allows reading all Secrets of {}", scope.describe());
        report.add(match context.cluster() {
            Cluster::Management => broad(rule, message).note("among them are the kubeconfig of the guest's administrator, its root CA and the keys of its etcd"),
            Cluster::Guest | Cluster::Both => broad(rule, message).note("among them are the credentials of all operators and users"),
        });
    }
}

/// Checks that a binding does not grant a role that Kubernetes or OpenShift define for administrators.
fn check_bound_role(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(field) = root.at("/roleRef/name") else { return };
    let Some(name) = field.as_str() else { return };
    let kind = root.at("/roleRef/kind");
    if kind.and_then(|kind| kind.as_str()) != Some("ClusterRole") {
        return;
    }
    let is_management = context.cluster() == Cluster::Management;
    if is_management && name.strip_prefix(SCC_ROLE_PREFIX).is_some_and(|scc| PRIVILEGED_SCCS.contains(&scc)) {
        let message = format!("`{name}` lets its subjects {}", USE_SCC.effect);
        report.add(escalates(&field, message));
    }
    let is_everywhere = root.object.id.kind == "ClusterRoleBinding";
    // The finding for a role that allows everything in the whole guest is `guest-admin`.
    if ROLES.contains(&name) && !(is_everywhere && name == "cluster-admin") {
        let scope =
            if is_everywhere { RuleScope::Cluster } else { RuleScope::Namespace(&root.object.id.namespace) };
        let message =
            format!("`{name}` grants nearly all rights in {}, including all Secrets", scope.describe());
        report.add(broad(&field, message));
    }
}

fn escalates(field: &Field<'_>, message: String) -> Finding {
    Finding::new(Check::Escalation, field, message)
        .note("an attacker who controls one of the subjects can get more rights than the role lists")
        .help("remove the right, limit it with `resourceNames`, or allow it for this object with a reason")
}

fn broad(field: &Field<'_>, message: String) -> Finding {
    Finding::new(Check::BroadRights, field, message)
        .help("grant only what is needed, limit the rule with `resourceNames`, or allow it for this object with a reason")
}
