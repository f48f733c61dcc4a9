//! Which rules the bindings of a cluster grant to whom.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::label_index::{LabelSelector, labels_of};
use super::rbac::is_binding;
use crate::object::{ALL_SERVICE_ACCOUNTS, Object, RoleRule, service_account_of};
use crate::yaml::{Node, Text};

/// The rendered roles and bindings of one cluster.
#[derive(Default)]
pub(super) struct Grants<'a> {
    /// Roles by namespace and name. A ClusterRole has no namespace.
    roles: BTreeMap<(&'a str, &'a str), &'a Object>,
    pub(super) bindings: Vec<Binding<'a>>,
    /// The ClusterRoles that a ClusterRoleBinding grants, also through aggregation.
    granted_everywhere: HashSet<&'a str>,
    /// The ClusterRoles that a RoleBinding grants, also through aggregation.
    granted_in_namespaces: HashSet<&'a str>,
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Clone, Copy)]
pub(super) struct Binding<'a> {
    object: &'a Object,
    /// The role that it grants.
    pub(super) role: RoleName<'a>,
}

/// The role of a binding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RoleName<'a> {
    /// The namespace of a Role. Empty for a ClusterRole.
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl<'a> Binding<'a> {
    fn new(object: &'a Object) -> Option<Self> {
        let role = object.root.get("roleRef")?;
        let namespace = match role.get("kind")?.as_str()? {
            "ClusterRole" => "",
            _ => object.id.namespace.as_str(),
        };
        Some(Self { object, role: RoleName { namespace, name: role.get("name")?.as_str()? } })
    }

    /// Returns the namespace in which the binding grants its role. `None` means in the whole cluster.
    pub(super) fn namespace(&self) -> Option<&'a str> {
        (self.object.id.kind == "RoleBinding").then_some(self.object.id.namespace.as_str())
    }

    /// Returns whether a ServiceAccount is a subject: itself, by its user name, or as a member of a group.
    fn is_for(&self, namespace: &str, name: &str) -> bool {
        let subjects = self.object.root.get("subjects").and_then(Node::as_list).unwrap_or_default();
        subjects.iter().any(|subject| {
            let account = service_account_of(subject, &self.object.id.namespace);
            account.is_some_and(|account| {
                account == (namespace, name) || account == (namespace, "") || account == ALL_SERVICE_ACCOUNTS
            })
        })
    }
}

impl<'a> Grants<'a> {
    /// Collects the roles and bindings among objects.
    pub(super) fn new(objects: &'a [Object]) -> Self {
        let mut grants = Self::default();
        for object in objects.iter().filter(|object| !object.is_tombstone()) {
            if matches!(object.id.kind.as_str(), "Role" | "ClusterRole") {
                grants.roles.insert((&object.id.namespace, &object.id.name), object);
            }
            if is_binding(object) {
                grants.bindings.extend(Binding::new(object));
            }
        }
        let (mut everywhere, mut in_namespaces) = (HashSet::new(), HashSet::new());
        for binding in grants.bindings.iter().filter(|binding| binding.role.namespace.is_empty()) {
            let granted = if binding.namespace().is_some() { &mut in_namespaces } else { &mut everywhere };
            granted.extend(grants.parts_of(binding.role.name).iter().map(|part| part.id.name.as_str()));
        }
        grants.granted_everywhere = everywhere;
        grants.granted_in_namespaces = in_namespaces;
        grants
    }

    /// Returns whether a ClusterRoleBinding grants a ClusterRole.
    pub(super) fn is_granted_everywhere(&self, cluster_role: &str) -> bool {
        self.granted_everywhere.contains(cluster_role)
    }

    /// Returns whether a `RoleBinding` grants a ClusterRole and no ClusterRoleBinding does. Returns false for a ClusterRole
    /// without a binding, because someone may bind it in the whole cluster later.
    pub(super) fn is_granted_only_in_namespaces(&self, cluster_role: &str) -> bool {
        self.granted_in_namespaces.contains(cluster_role) && !self.is_granted_everywhere(cluster_role)
    }

    /// Returns the bindings of a ServiceAccount.
    pub(super) fn of_account(&self, namespace: &str, name: &str) -> impl Iterator<Item = &Binding<'a>> {
        self.bindings.iter().filter(move |binding| binding.is_for(namespace, name))
    }

    /// Returns the rules of a role, or `None` if the role is not rendered.
    pub(super) fn rules(&self, role: RoleName<'_>) -> Option<Vec<RoleRule>> {
        let own = self.roles.get(&(role.namespace, role.name))?;
        if !role.namespace.is_empty() {
            return Some(RoleRule::read_all(&own.root));
        }
        let parts = self.parts_of(role.name);
        Some(parts.iter().flat_map(|part| RoleRule::read_all(&part.root)).collect())
    }

    /// Returns a rendered ClusterRole and those that it aggregates, directly or through others.
    fn parts_of(&self, name: &str) -> Vec<&'a Object> {
        let mut parts: Vec<&Object> = self.roles.get(&("", name)).copied().into_iter().collect();
        let mut known: BTreeSet<&str> = parts.iter().map(|part| part.id.name.as_str()).collect();
        let mut next = 0;
        while let Some(part) = parts.get(next) {
            next += 1;
            let selectors =
                part.root.get("aggregationRule").and_then(|rule| rule.get("clusterRoleSelectors"));
            for selector in selectors.and_then(Node::as_list).unwrap_or_default() {
                let selector = LabelSelector::new(selector);
                for ((namespace, name), role) in &self.roles {
                    if namespace.is_empty() && selector.matches(labels_of(&role.root)) && known.insert(name) {
                        parts.push(role);
                    }
                }
            }
        }
        parts
    }
}

/// Returns whether a rule allows a verb for a resource. The rule may be limited to some objects.
pub(super) fn allows(rule: &RoleRule, group: &str, resource: &str, verb: &str) -> bool {
    let is_listed = |list: &[Text], wanted: &str| {
        list.iter().any(|item| matches!(item.as_str(), "*") || item.as_str() == wanted)
    };
    let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
    let has_resource = rule.resources.iter().any(|own| {
        own.as_str() == "*"
            || own.as_str() == resource
            || own.strip_prefix("*/").is_some_and(|own| subresource == Some(own))
    });
    has_resource && is_listed(&rule.api_groups, group) && is_listed(&rule.verbs, verb)
}

/// Returns whether a rule allows all verbs for all resources.
pub(super) fn allows_everything(rule: &RoleRule) -> bool {
    rule.resource_names.is_empty() && allows(rule, "*", "*", "*")
}
