//! Writes the rights of a cluster as Roles and ClusterRoles with their bindings.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value as Json, json};

use super::needed::NeededRights;
use crate::object::{Rights, RoleRule};
use crate::yaml::Node;

const GROUP: &str = "rbac.authorization.k8s.io";

/// A Role, or a ClusterRole if it has no namespace.
#[derive(Debug)]
pub(crate) struct NeededRole {
    pub(crate) namespace: Option<String>,
    pub(crate) rules: Vec<RoleRule>,
}

/// Who gets the rights: `User/NAME`, `Group/NAME` or `ServiceAccount/NAMESPACE/NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    kind: &'static str,
    namespace: Option<String>,
    name: String,
}

/// A text that is not a [`Subject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubjectError;

impl fmt::Display for SubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write User/NAME, Group/NAME or ServiceAccount/NAMESPACE/NAME")
    }
}

impl std::error::Error for SubjectError {}

impl FromStr for Subject {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = text.split_once('/').ok_or(SubjectError)?;
        let (kind, namespace, name) = match kind {
            "User" => ("User", None, name),
            "Group" => ("Group", None, name),
            "ServiceAccount" => {
                let (namespace, name) = name.split_once('/').ok_or(SubjectError)?;
                ("ServiceAccount", Some(namespace), name)
            }
            _ => return Err(SubjectError),
        };
        if name.is_empty() || namespace == Some("") || namespace.is_some() && name.contains('/') {
            return Err(SubjectError);
        }
        Ok(Self { kind, namespace: namespace.map(str::to_owned), name: name.to_owned() })
    }
}

impl Subject {
    fn json(&self) -> Json {
        match &self.namespace {
            Some(namespace) => json!({"kind": self.kind, "namespace": namespace, "name": self.name}),
            None => json!({"apiGroup": GROUP, "kind": self.kind, "name": self.name}),
        }
    }
}

impl NeededRights {
    /// Returns the roles with as few rules as possible. A Role has no right that the ClusterRole has.
    pub(crate) fn roles(&self) -> Vec<NeededRole> {
        let mut roles = vec![(None, self.cluster.clone())];
        for (namespace, rights) in &self.namespaces {
            roles.push((Some(namespace.clone()), self.cluster.missing(rights)));
        }
        roles.retain(|(_, rights): &(Option<String>, Rights)| !rights.is_empty());
        let roles = roles.into_iter();
        roles.map(|(namespace, rights)| NeededRole { namespace, rules: rights.rules() }).collect()
    }
}

impl NeededRole {
    /// Returns `Role` or `ClusterRole`.
    pub(crate) fn kind(&self) -> &'static str {
        if self.namespace.is_some() { "Role" } else { "ClusterRole" }
    }

    /// Returns the role and, if there is a subject, its binding.
    pub(crate) fn objects(&self, name: &str, subject: Option<&Subject>) -> Vec<Node> {
        let mut metadata = json!({"name": name});
        if let Some(namespace) = &self.namespace {
            metadata["namespace"] = namespace.as_str().into();
        }
        let rules: Vec<Json> = self.rules.iter().map(|rule| Json::from(&rule.node())).collect();
        let (version, kind) = (format!("{GROUP}/v1"), self.kind());
        let mut objects =
            vec![json!({"apiVersion": version, "kind": kind, "metadata": metadata, "rules": rules})];
        if let Some(subject) = subject {
            objects.push(json!({
                "apiVersion": version, "kind": format!("{kind}Binding"), "metadata": metadata,
                "roleRef": {"apiGroup": GROUP, "kind": kind, "name": name},
                "subjects": [subject.json()],
            }));
        }
        objects.iter().map(Node::from).collect()
    }
}
