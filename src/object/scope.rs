//! Whether objects of a kind live in a namespace.

use std::collections::HashMap;

use super::schema;
use crate::yaml::Node;

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// The group and the kind that a `CustomResourceDefinition` defines.
pub(super) fn defined_kind(root: &Node) -> Option<(&str, &str)> {
    if root.get("kind")?.as_str()? != "CustomResourceDefinition" {
        return None;
    }
    let spec = root.get("spec")?;
    Some((spec.get("group")?.as_str()?, spec.get("names")?.get("kind")?.as_str()?))
}

/// The scopes of all kinds that can be known: Kubernetes' own, and those of the CRDs at hand.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    custom: HashMap<(String, String), Scope>,
}

impl Scopes {
    /// Learns the scopes that CustomResourceDefinitions declare.
    pub fn with_crds<'a>(objects: impl IntoIterator<Item = &'a Node>) -> Self {
        let crd = |root: &Node| {
            let (group, kind) = defined_kind(root)?;
            let scope = match root.get("spec")?.get("scope")?.as_str()? {
                "Cluster" => Scope::Cluster,
                _ => Scope::Namespaced,
            };
            Some(((group.to_owned(), kind.to_owned()), scope))
        };
        Self { custom: objects.into_iter().filter_map(crd).collect() }
    }

    /// Learns the scope of a kind that no CRD at hand declares.
    pub fn declare(&mut self, group: &str, kind: &str, scope: Scope) {
        self.custom.entry((group.to_owned(), kind.to_owned())).or_insert(scope);
    }

    /// The scope of a kind, if it can be known.
    pub fn of(&self, group: &str, kind: &str) -> Option<Scope> {
        if let Some(scope) = self.custom.get(&(group.to_owned(), kind.to_owned())) {
            return Some(*scope);
        }
        schema::built_in_scope(group, kind).or_else(|| aggregated(group, kind))
    }
}

/// Kinds that OpenShift's own API servers serve: no CRD can say their scope.
fn aggregated(group: &str, kind: &str) -> Option<Scope> {
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
