//! Checks `needs` of pages: an identity must hold the rights that it uses and the rights that it grants to others.

use std::collections::HashSet;

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::held_rights::{Account, HeldRights, RBAC, RoleBindings, UnknownRole, rbac_right};
use super::needed_objects;
use crate::language::{Check, Marked, Need, NeedCluster, NeededRule, Selector};
use crate::object::{Object, Rights, RoleRule};
use crate::yaml::Mark;

/// The roles and bindings that someone can create.
const GRANTING: [&str; 4] = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];

/// Checks that identities hold the rights that they need. Also checks that the page of an identity that can grant
/// rights declares them under `grants`.
pub(super) fn check(context: &CheckContext<'_>, report: &mut Report) {
    let check = NeedsCheck { context, bindings: RoleBindings::new(&context.rendered.objects) };
    let mut granting = HashSet::new();
    for (component, need) in &context.needs {
        check.check_need(component, need, &mut granting, report);
    }
    check.check_undeclared(&granting, report);
}

struct NeedsCheck<'a> {
    context: &'a CheckContext<'a>,
    bindings: RoleBindings<'a>,
}

impl<'a> NeedsCheck<'a> {
    fn check_need(
        &self,
        component: &str,
        need: &Marked<Need>,
        granting: &mut HashSet<Account<'a>>,
        report: &mut Report,
    ) {
        let Some(account) = self.find_account(component, need, report) else { return };
        let identity = (account.id.namespace.as_str(), account.id.name.as_str());
        if !need.value.grants.is_empty() {
            granting.insert(identity);
        }
        let scope = self.scope(need, account);
        let Ok(held) = self.bindings.held(identity, &scope) else {
            return report.add(too_many_rights(account, need));
        };
        let rules: Vec<RoleRule> = need.value.rules.iter().map(NeededRule::rule).collect();
        let Ok(needed) = Rights::of(&rules) else { return report.add(too_many_rights(account, need)) };
        let missing = held.rights.missing(&needed);
        if !missing.is_empty() {
            let message = format!("`{}` lacks rights that it uses{}", account.id.name, place(&scope));
            let why = "the API server rejects its requests";
            let lack = Lack { missing, held: &held, scope: &scope };
            self.report_lack(&lack, lack.finding(account, need.mark, &message, why), report);
        }
        for role in &need.value.grants {
            self.check_grant(account, need, role, report);
        }
        needed_objects::check(account, need, self.context, report);
    }

    /// Returns the rendered ServiceAccount of a need. Reports one that the component does not have; skips one whose
    /// component is not rendered here.
    fn find_account(&self, component: &str, need: &Marked<Need>, report: &mut Report) -> Option<&'a Object> {
        let identity = &need.value.identity;
        let rendered = &self.context.rendered;
        let manifests = &rendered.view.payload.manifests;
        let is_identity = |object: &&Object| {
            object.component == component
                && match object.manifest {
                    Some(manifest) => identity.value.matches(&manifests[manifest].id),
                    None => identity.value.matches(&object.id),
                }
        };
        let of_component = || rendered.objects.iter().filter(|object| object.component == component);
        let found = of_component().find(is_identity);
        if found.is_none() && of_component().next().is_some() {
            let message = format!("`{}` is not an object of the component in this cluster", identity.value);
            report.add(
                Finding::in_file(Check::MissingObject, identity.mark, message)
                    .note("the rights of this need are not checked")
                    .help("place the ServiceAccount in this cluster, or limit the need with `in`"),
            );
        }
        found
    }

    /// Returns the namespace in which the rights are needed; empty for the whole cluster.
    fn scope(&self, need: &Marked<Need>, account: &Object) -> String {
        // All objects of a hosted control plane are in one namespace.
        let namespace = self.context.rendered.namespace.as_ref().or(need.value.namespace.as_ref());
        match (namespace, need.value.cluster) {
            (Some(namespace), _) => namespace.clone(),
            (None, NeedCluster::Management) => account.id.namespace.clone(),
            (None, NeedCluster::Guest) => String::new(),
        }
    }

    /// Checks that an identity may create a role and bindings to it.
    fn check_grant(
        &self,
        account: &'a Object,
        need: &Marked<Need>,
        role: &Marked<Selector>,
        report: &mut Report,
    ) {
        let Some((scope, rules)) = self.granted(role) else {
            let message = format!("the payload has no role `{}`", role.value);
            return report.add(
                Finding::in_file(Check::MissingObject, role.mark, message)
                    .note("the rights that it grants are not checked")
                    .help("correct the name, or limit the need with `in`"),
            );
        };
        let identity = (account.id.namespace.as_str(), account.id.name.as_str());
        let Ok(held) = self.bindings.held(identity, &scope) else {
            return report.add(too_many_rights(account, need));
        };
        let Ok(granted) = Rights::of(&rules) else { return report.add(too_many_rights(account, need)) };
        let name = role.value.name.as_deref().unwrap_or_default();
        let missing = missing_to_grant(&held, &role.value.kind, name, &granted);
        if !missing.is_empty() {
            let message =
                format!("`{}` lacks rights to create `{}` and its bindings", account.id.name, role.value);
            let why = "an identity can grant only rights that it holds, and the API server rejects the role";
            let lack = Lack { missing, held: &held, scope: &scope };
            self.report_lack(&lack, lack.finding(account, role.mark, &message, why), report);
        }
    }

    /// Reports missing rights. Reports nothing if a bound role does not exist: another check reports that, and it is
    /// the cause.
    fn report_lack(&self, lack: &Lack<'_>, finding: Finding, report: &mut Report) {
        let exists = |role: &UnknownRole| {
            self.context.here.find(&role.kind, RBAC, &role.namespace, &role.name).is_some()
        };
        if lack.held.unknown.iter().all(exists) {
            report.add(finding);
        }
    }

    /// Returns the namespace and the rules of a granted role. If this profile does not render the role, uses its
    /// manifest.
    fn granted(&self, role: &Marked<Selector>) -> Option<(String, Vec<RoleRule>)> {
        let rendered = &self.context.rendered;
        let manifests = &rendered.view.payload.manifests;
        let is_role = |object: &&Object| match object.manifest {
            Some(manifest) => role.value.matches(&manifests[manifest].id),
            None => role.value.matches(&object.id),
        };
        if let Some(object) = rendered.objects.iter().find(is_role) {
            return Some((object.id.namespace.clone(), self.bindings.rules(object)));
        }
        let manifest = manifests.iter().find(|manifest| role.value.matches(&manifest.id))?;
        let namespace = match &rendered.namespace {
            Some(namespace) if !manifest.id.namespace.is_empty() => namespace.clone(),
            _ => manifest.id.namespace.clone(),
        };
        Some((namespace, RoleRule::read_all(&manifest.root)))
    }

    /// Reports identities that can create roles or bindings without a page that says which.
    fn check_undeclared(&self, declared: &HashSet<Account<'_>>, report: &mut Report) {
        for account in self.bindings.accounts() {
            let Some(object) = self.service_account(account) else { continue };
            let Ok(held) = self.bindings.held_on_roles(account, account.0) else { continue };
            let resources: Vec<&str> =
                GRANTING.into_iter().filter(|kind| held.covers(kind, None, "create")).collect();
            // An identity with `escalate` and `bind` can grant rights that it does not hold.
            let is_unlimited =
                held.covers("clusterroles", None, "escalate") && held.covers("clusterroles", None, "bind");
            if resources.is_empty() || is_unlimited || declared.contains(&account) {
                continue;
            }
            let message =
                format!("`{}` can create {}, but no page says which", account.1, resources.join(", "));
            report.add(
                Finding::new(Check::UndeclaredGrants, &Field::root(object), message)
                    .note("an identity can grant only rights that it holds, and transship cannot check that without `grants`")
                    .help("name the roles that it creates and binds under `grants` in `needs` of its page"),
            );
        }
    }

    fn service_account(&self, (namespace, name): Account<'_>) -> Option<&'a Object> {
        match self.context.here.find("ServiceAccount", "", namespace, name)? {
            ExistingObject::Rendered(object) => Some(object),
            _ => None,
        }
    }
}

/// Returns the rights that are missing to create a role and bindings to it.
fn missing_to_grant(held: &HeldRights<'_>, kind: &str, name: &str, granted: &Rights) -> Rights {
    let (roles, bindings) = match kind {
        "ClusterRole" => ("clusterroles", "clusterrolebindings"),
        _ => ("roles", "rolebindings"),
    };
    let mut needed = Rights::default();
    needed.insert(rbac_right(roles, None, "create"));
    needed.insert(rbac_right(roles, Some(name), "update"));
    needed.insert(rbac_right(bindings, None, "create"));
    let may_grant_anything =
        held.covers(roles, Some(name), "escalate") && held.covers(roles, Some(name), "bind");
    let mut missing = held.rights.missing(&needed);
    if !may_grant_anything {
        missing.extend(held.rights.missing(granted));
    }
    missing
}

fn place(scope: &str) -> String {
    if scope.is_empty() { String::new() } else { format!(" in the namespace `{scope}`") }
}

/// Rights that are missing, and what is held in the same place.
struct Lack<'l> {
    missing: Rights,
    held: &'l HeldRights<'l>,
    /// The namespace; empty for the whole cluster.
    scope: &'l str,
}

impl Lack<'_> {
    /// Returns the finding for a ServiceAccount: the missing rules, and the role to add them to.
    fn finding(&self, account: &Object, mark: Mark, message: &str, why: &str) -> Finding {
        let mut finding =
            Finding::new(Check::MissingRight, &Field::root(account), message).at(mark).note(why);
        for rule in self.missing.rules() {
            finding = finding.note(format!("missing: {rule}"));
        }
        for role in &self.held.unknown {
            let UnknownRole { kind, name, .. } = role;
            finding = finding
                .note(format!("the rules of {kind}/{name}, which someone else creates, are not known"));
        }
        match self.held.roles.iter().find(|role| role.namespace == self.scope) {
            Some(role) => finding.help(format!("add the rules to {role}")),
            None => finding.help("add the rules to a role, and bind it to the ServiceAccount"),
        }
    }
}

fn too_many_rights(account: &Object, need: &Marked<Need>) -> Finding {
    Finding::new(Check::MissingRight, &Field::root(account), "the rules grant more than 100000 rights")
        .at(need.mark)
        .note("each verb on each resource and each name is a right, and so many are not compared")
        .help("use fewer verbs, resources or names, or `*`")
}
