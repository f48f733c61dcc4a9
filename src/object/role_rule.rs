//! A rule of a Role or ClusterRole, as it is written.

use std::fmt;

use super::build;
use crate::yaml::{self, Mark, Node, Text, Value, json};

/// A rule of a Role or ClusterRole: it allows verbs on resources or URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RoleRule {
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

impl RoleRule {
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

    /// Returns the rule as it is written in a Role.
    pub(crate) fn node(&self) -> Node {
        let mark = Mark::default();
        let texts = |texts: &[Text]| {
            build::list(texts.iter().map(|text| build::text(text.clone(), mark)).collect(), mark)
        };
        build::map(self.fields().map(|(key, values)| (key, texts(values))), mark)
    }

    /// Returns the fields that are set, in the order in which people write them.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &[Text])> {
        let fields = [
            ("apiGroups", self.api_groups.as_slice()),
            ("resources", &self.resources),
            ("resourceNames", &self.resource_names),
            ("nonResourceURLs", &self.non_resource_urls),
            ("verbs", &self.verbs),
        ];
        fields.into_iter().filter(|(_, values)| !values.is_empty())
    }
}

/// Writes the rule on one line, as an item that can be pasted into `rules` of a Role.
impl fmt::Display for RoleRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("- {")?;
        for (index, (key, values)) in self.fields().enumerate() {
            let values: Vec<String> = values.iter().map(in_flow).collect();
            write!(f, "{}{key}: [{}]", if index == 0 { "" } else { ", " }, values.join(", "))?;
        }
        f.write_str("}")
    }
}

/// Returns a text as YAML inside of `[]`.
fn in_flow(text: &Text) -> String {
    let node = Node::from(Value::String(text.clone()));
    let is_word = |char: char| char.is_ascii_alphanumeric() || "-._/:".contains(char);
    let is_plain = text.chars().all(is_word) && yaml::write(&node).trim_end() == text.as_str();
    if is_plain { text.to_string() } else { json::write(&node) }
}
