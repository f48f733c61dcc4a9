//! The rights and objects that the workloads of a component use, which a page declares under `needs`.

use super::typed::{Marked, Reader, string_enum, typed};
use super::when::When;
use crate::object::{Cluster, RoleRule, Selector, SelectorError};
use crate::yaml::Text;

typed! {
    /// The rights and objects that one identity uses in one cluster.
    pub(crate) struct Need ("a need") {
        /// The identity, as `ServiceAccount/name`: a ServiceAccount of the component.
        "identity" identity: Marked<Selector>,
        /// The cluster in which the identity acts.
        "cluster" cluster: NeedCluster,
        /// The namespace in which the identity needs the rights. The default is its own namespace for `management`, and the whole cluster for `guest`. If the profile has a namespace, that namespace is used instead.
        "namespace" namespace: Option<String>,
        /// The profiles in which it needs the rights and objects. The default is all profiles.
        "in" profiles: Vec<Marked<String>>,
        /// It needs them only if these conditions hold.
        "when" when: When,
        /// The rights that it uses, as in a Role.
        "rules" rules: Vec<NeededRule>,
        /// Roles and ClusterRoles that it creates and binds for others.
        "grants" grants: Vec<Marked<Selector>>,
        /// Objects that must exist, because it reads them or the objects that it creates refer to them, as `Kind.group/name` or `Kind.group/namespace/name`. Without a namespace, that of the identity.
        "objects" objects: Vec<Marked<Selector>>,
    }
}

string_enum! {
    /// The cluster in which an identity acts. In a topology with one cluster, both are that cluster.
    pub(crate) enum NeedCluster {
        /// The management cluster.
        "management" => Management,
        /// The guest.
        "guest" => Guest,
    }
}

typed! {
    /// A rule, as in a Role.
    pub(crate) struct NeededRule ("a rule") {
        /// The API groups of the resources.
        "apiGroups" api_groups: Vec<String>,
        /// The resources.
        "resources" resources: Vec<String>,
        /// The names of the objects.
        "resourceNames" resource_names: Vec<String>,
        /// URLs that belong to no resource.
        "nonResourceURLs" non_resource_urls: Vec<String>,
        /// The verbs.
        "verbs" verbs: Vec<String>,
    }
}

impl NeedCluster {
    /// Returns whether a profile is for this cluster.
    pub(crate) fn includes(self, cluster: Cluster) -> bool {
        match cluster {
            Cluster::Both => true,
            Cluster::Management => self == Self::Management,
            Cluster::Guest => self == Self::Guest,
        }
    }
}

impl NeededRule {
    /// Returns the rule of RBAC.
    pub(crate) fn rule(&self) -> RoleRule {
        let texts = |texts: &[String]| texts.iter().map(Text::from).collect();
        RoleRule {
            api_groups: texts(&self.api_groups),
            resources: texts(&self.resources),
            resource_names: texts(&self.resource_names),
            non_resource_urls: texts(&self.non_resource_urls),
            verbs: texts(&self.verbs),
        }
    }

    /// Returns whether the rule can allow anything.
    fn is_complete(&self) -> bool {
        let has_resources = !self.api_groups.is_empty() && !self.resources.is_empty();
        !self.verbs.is_empty() && (has_resources || !self.non_resource_urls.is_empty())
    }
}

/// Reports errors beyond the types of the fields.
pub(super) fn check_needs(needs: &[Marked<Need>], reader: &mut Reader<'_>) {
    for Marked { value: need, mark } in needs {
        let identity = &need.identity;
        if identity.value.kind != "ServiceAccount" || identity.value.name.is_none() {
            reader.error(identity.mark, format!("`{}` is not an identity", identity.value)).help =
                Some("write ServiceAccount/name, with a ServiceAccount of the component".into());
        }
        for role in &need.grants {
            if !matches!(role.value.kind.as_str(), "Role" | "ClusterRole") || role.value.name.is_none() {
                reader.error(role.mark, format!("`{}` is not a role", role.value)).help =
                    Some("write Role/name or ClusterRole/name".into());
            }
        }
        for object in need.objects.iter().filter(|object| object.value.name.is_none()) {
            reader.error(object.mark, format!("`{}` has no name", object.value)).help =
                Some(SelectorError::NoName.help().into());
        }
        if need.rules.is_empty() && need.grants.is_empty() && need.objects.is_empty() {
            reader.error(*mark, "the need has no `rules`, `grants` or `objects`").help =
                Some("add the rights that the identity uses, the roles that it creates for others, or the objects that it reads".into());
        }
        if !need.rules.iter().all(NeededRule::is_complete) {
            reader
                .error(*mark, "a rule needs `verbs`, and `apiGroups` and `resources` or `nonResourceURLs`")
                .help = Some("an API group can be empty: `apiGroups: [\"\"]`".into());
        }
    }
}
