//! The rights that the bindings of a cluster grant to a ServiceAccount.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::label_index::{LabelSelector, labels_of};
use crate::object::{
    ALL_SERVICE_ACCOUNTS, Object, ObjectId, Right, Rights, RoleRule, TooManyRights, service_account_of,
};
use crate::yaml::Node;

/// The API group of roles and bindings.
pub(super) const RBAC: &str = "rbac.authorization.k8s.io";

/// Namespace and name of a ServiceAccount. An empty name means all ServiceAccounts of the namespace.
pub(super) type Account<'a> = (&'a str, &'a str);

/// The roles and bindings of a cluster.
pub(super) struct RoleBindings<'a> {
    /// Roles by kind, namespace and name.
    roles: BTreeMap<(&'a str, &'a str, &'a str), &'a Object>,
    /// Bindings by the ServiceAccounts that are their subjects.
    bindings: HashMap<Account<'a>, Vec<&'a Object>>,
}

/// The rights of a ServiceAccount.
#[derive(Default)]
pub(super) struct HeldRights<'a> {
    pub(super) rights: Rights,
    /// The rendered roles that grant them.
    pub(super) roles: Vec<&'a ObjectId>,
    /// Roles that are bound and not rendered, so that their rules are not known.
    pub(super) unknown: Vec<UnknownRole>,
}

/// A role that is bound and not rendered.
pub(super) struct UnknownRole {
    pub(super) kind: String,
    /// The namespace; empty for a ClusterRole.
    pub(super) namespace: String,
    pub(super) name: String,
}

impl<'a> RoleBindings<'a> {
    pub(super) fn new(objects: &'a [Object]) -> Self {
        let mut index = Self { roles: BTreeMap::new(), bindings: HashMap::new() };
        for object in objects.iter().filter(|object| !object.is_tombstone()) {
            let ObjectId { kind, namespace, name, .. } = &object.id;
            match kind.as_str() {
                "Role" | "ClusterRole" => {
                    index.roles.insert((kind, namespace, name), object);
                }
                "RoleBinding" | "ClusterRoleBinding" => {
                    let subjects = object.root.get("subjects").and_then(Node::as_list).unwrap_or_default();
                    for account in subjects.iter().filter_map(|it| service_account_of(it, namespace)) {
                        index.bindings.entry(account).or_default().push(object);
                    }
                }
                _ => {}
            }
        }
        index
    }

    /// Returns a rendered role.
    pub(super) fn role(&self, kind: &str, namespace: &str, name: &str) -> Option<&'a Object> {
        self.roles.get(&(kind, namespace, name)).copied()
    }

    /// Returns the rights of a ServiceAccount in a namespace, or in the whole cluster if the namespace is empty.
    pub(super) fn held(&self, account: Account<'_>, scope: &str) -> Result<HeldRights<'a>, TooManyRights> {
        self.held_by(account, scope, |_| true)
    }

    /// Returns the rights of a ServiceAccount on roles and bindings, as [`held`](Self::held). Most rules are about other
    /// resources, and collecting their rights takes long.
    pub(super) fn held_on_roles(
        &self,
        account: Account<'_>,
        scope: &str,
    ) -> Result<HeldRights<'a>, TooManyRights> {
        self.held_by(account, scope, |rule| rule.api_groups.iter().any(|group| group == RBAC || group == "*"))
    }

    /// Returns the rights that the rules grant for which `is_wanted` returns true.
    fn held_by(
        &self,
        (namespace, name): Account<'_>,
        scope: &str,
        is_wanted: impl Fn(&RoleRule) -> bool + Copy,
    ) -> Result<HeldRights<'a>, TooManyRights> {
        let mut held = HeldRights::default();
        for account in [(namespace, name), (namespace, ""), ALL_SERVICE_ACCOUNTS] {
            for binding in self.bindings.get(&account).into_iter().flatten() {
                if binding.id.namespace.is_empty() || binding.id.namespace == scope {
                    self.add_role(binding, is_wanted, &mut held)?;
                }
            }
        }
        Ok(held)
    }

    fn add_role(
        &self,
        binding: &Object,
        is_wanted: impl Fn(&RoleRule) -> bool,
        held: &mut HeldRights<'a>,
    ) -> Result<(), TooManyRights> {
        let role = binding.root.get("roleRef");
        let text = |field: &str| role.and_then(|role| role.get(field)?.as_str()).unwrap_or_default();
        let (kind, name) = (text("kind"), text("name"));
        let namespace = if kind == "Role" { binding.id.namespace.as_str() } else { "" };
        match self.role(kind, namespace, name) {
            Some(role) => {
                held.roles.push(&role.id);
                for rule in self.rules(role).into_iter().filter(is_wanted) {
                    held.rights.add(&rule)?;
                }
            }
            None if (kind, name) == ("ClusterRole", "cluster-admin") => held.rights.add_everything(),
            None => held.unknown.push(UnknownRole {
                kind: kind.to_owned(),
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
        }
        Ok(())
    }

    /// Returns the rules of a role. Those of an aggregated ClusterRole are the rules of the roles that it selects.
    pub(super) fn rules(&self, role: &Object) -> Vec<RoleRule> {
        let mut rules = Vec::new();
        self.collect_rules(role, &mut HashSet::new(), &mut rules);
        rules
    }

    fn collect_rules<'o>(
        &'o self,
        role: &'o Object,
        seen: &mut HashSet<&'o ObjectId>,
        rules: &mut Vec<RoleRule>,
    ) {
        if !seen.insert(&role.id) {
            return;
        }
        let selectors = role.root.get("aggregationRule").and_then(|rule| rule.get("clusterRoleSelectors"));
        let Some(selectors) = selectors.and_then(Node::as_list) else {
            return rules.extend(RoleRule::read_all(&role.root));
        };
        for selected in self.roles.values().filter(|other| other.id.kind == "ClusterRole") {
            let labels = labels_of(&selected.root);
            if selectors.iter().any(|selector| LabelSelector::new(selector).matches(labels)) {
                self.collect_rules(selected, seen, rules);
            }
        }
    }

    /// Returns the ServiceAccounts that are subjects by themselves, sorted.
    pub(super) fn accounts(&self) -> Vec<Account<'a>> {
        let mut accounts: Vec<_> =
            self.bindings.keys().copied().filter(|(_, name)| !name.is_empty()).collect();
        accounts.sort_unstable();
        accounts
    }
}

impl HeldRights<'_> {
    /// Returns whether the rights include a verb on roles or bindings: on the one with this name, or on all of them.
    pub(super) fn covers(&self, resource: &str, name: Option<&str>, verb: &str) -> bool {
        self.rights.covers(&rbac_right(resource, name, verb))
    }
}

/// Returns a right on roles or bindings.
pub(super) fn rbac_right(resource: &str, name: Option<&str>, verb: &str) -> Right {
    Right::Resource {
        group: RBAC.into(),
        resource: resource.into(),
        name: name.map(Into::into),
        verb: verb.into(),
    }
}
