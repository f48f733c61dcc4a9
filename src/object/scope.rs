//! The scope of kinds: namespaced or cluster-scoped.

use std::collections::HashMap;

use super::schema_table;
use crate::yaml::Node;

/// The scope of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Its objects live in namespaces.
    Namespaced,
    /// Its objects are cluster-scoped.
    Cluster,
}

/// Returns the group and kind that an object defines, if it is a CustomResourceDefinition.
pub(crate) fn defined_kind(root: &Node) -> Option<(&str, &str)> {
    if root.get("kind")?.as_str()? != "CustomResourceDefinition" {
        return None;
    }
    let spec = root.get("spec")?;
    Some((spec.get("group")?.as_str()?, spec.get("names")?.get("kind")?.as_str()?))
}

/// The scopes of all known kinds: those built into Kubernetes and OpenShift, and those that a CustomResourceDefinition or
/// the user declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scopes {
    /// By group and kind.
    custom: HashMap<String, HashMap<String, Scope>>,
}

impl Scopes {
    /// Reads the scopes that CustomResourceDefinitions declare.
    pub(crate) fn with_crds<'a>(objects: impl IntoIterator<Item = &'a Node>) -> Self {
        let mut scopes = Self::default();
        for root in objects {
            let Some((group, kind)) = defined_kind(root) else { continue };
            let declared = root.get("spec").and_then(|spec| spec.get("scope")).and_then(Node::as_str);
            let scope = match declared {
                Some("Cluster") => Scope::Cluster,
                Some(_) => Scope::Namespaced,
                None => continue,
            };
            scopes.custom.entry(group.to_owned()).or_default().insert(kind.to_owned(), scope);
        }
        scopes
    }

    /// Declares the scope of a kind, unless a CustomResourceDefinition already does.
    pub(crate) fn declare(&mut self, group: &str, kind: &str, scope: Scope) {
        self.custom.entry(group.to_owned()).or_default().entry(kind.to_owned()).or_insert(scope);
    }

    /// Returns the scope of a kind, or `None` if the kind is unknown.
    pub(crate) fn of(&self, group: &str, kind: &str) -> Option<Scope> {
        if let Some(scope) = self.custom.get(group).and_then(|kinds| kinds.get(kind)) {
            return Some(*scope);
        }
        schema_table::built_in_scope(group, kind).or_else(|| aggregated_scope(group, kind))
    }
}

/// Returns the scope of a kind that OpenShift's aggregated API servers serve. There is no CustomResourceDefinition for
/// these kinds.
fn aggregated_scope(group: &str, kind: &str) -> Option<Scope> {
    let (namespaced, cluster): (&[&str], &[&str]) = match group {
        "apps.openshift.io" => (&["DeploymentConfig"], &[]),
        "authorization.openshift.io" => {
            (&["Role", "RoleBinding", "RoleBindingRestriction"], &["ClusterRole", "ClusterRoleBinding"])
        }
        "build.openshift.io" => (&["Build", "BuildConfig"], &[]),
        "image.openshift.io" => (&["ImageStream", "ImageStreamTag", "ImageTag"], &["Image"]),
        "oauth.openshift.io" => {
            (&[], &["OAuthAccessToken", "OAuthAuthorizeToken", "OAuthClient", "OAuthClientAuthorization"])
        }
        "project.openshift.io" => (&[], &["Project", "ProjectRequest"]),
        "quota.openshift.io" => (&["AppliedClusterResourceQuota"], &["ClusterResourceQuota"]),
        "route.openshift.io" => (&["Route"], &[]),
        "security.openshift.io" => (&[], &["RangeAllocation", "SecurityContextConstraints"]),
        "template.openshift.io" => (&["Template", "TemplateInstance"], &["BrokerTemplateInstance"]),
        "user.openshift.io" => (&[], &["Group", "Identity", "User", "UserIdentityMapping"]),
        _ => return None,
    };
    match (namespaced.contains(&kind), cluster.contains(&kind)) {
        (true, _) => Some(Scope::Namespaced),
        (_, true) => Some(Scope::Cluster),
        _ => None,
    }
}
