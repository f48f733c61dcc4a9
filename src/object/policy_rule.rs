//! A rule of a Role or ClusterRole, as it is written.

use crate::yaml::{Node, Text};

/// A rule of a Role or ClusterRole: it allows verbs on resources or URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PolicyRule {
    /// The API groups of the resources. The core group is empty.
    pub(crate) api_groups: Vec<Text>,
    /// The resources, such as `pods` or `pods/status`.
    pub(crate) resources: Vec<Text>,
    /// The names of the objects. Without names, the rule is for all objects.
    pub(crate) resource_names: Vec<Text>,
    /// URLs that belong to no resource.
    pub(crate) non_resource_urls: Vec<Text>,
    /// The verbs.
    pub(crate) verbs: Vec<Text>,
}

impl PolicyRule {
    /// Reads a rule. Ignores what is not text: the checks of fields report it.
    pub(crate) fn read(node: &Node) -> Self {
        let texts = |field: &str| {
            let items = node.get(field).and_then(Node::as_list).unwrap_or_default();
            items.iter().filter_map(Node::as_str).map(Text::from).collect()
        };
        Self {
            api_groups: texts("apiGroups"),
            resources: texts("resources"),
            resource_names: texts("resourceNames"),
            non_resource_urls: texts("nonResourceURLs"),
            verbs: texts("verbs"),
        }
    }

    /// Reads the rules of a Role or ClusterRole.
    pub(crate) fn read_all(role: &Node) -> Vec<Self> {
        role.get("rules").and_then(Node::as_list).unwrap_or_default().iter().map(Self::read).collect()
    }
}
