//! The identity of an object.

use std::fmt;

use super::mask;
use crate::printable;
use crate::yaml::{Mark, Node, Value};

/// Group, kind, namespace and name of an object.
///
/// The version is not part of the identity: `v1beta1` and `v1` of one kind address the same object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace, empty if there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// The reason why a document is not an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnObject {
    /// The error message.
    pub message: String,
    /// The position in the document.
    pub mark: Mark,
    /// How to fix it.
    pub help: &'static str,
}

impl ObjectId {
    /// Reads the identity and the version of an object.
    pub fn of(root: &Node) -> Result<(Self, String), NotAnObject> {
        if root.as_map().is_none() {
            let message = format!("this document is {}, not an object", root.value.kind());
            return Err(invalid(root, &message, "a manifest starts with `apiVersion:` and `kind:`"));
        }
        let kind = text(root, "kind")?;
        if kind.is_empty() {
            return Err(invalid(
                root,
                "this object has no `kind`",
                "add `kind:`, or give the file another ending than .yaml",
            ));
        }
        if kind.ends_with("List") && root.get("items").and_then(Node::as_list).is_some() {
            return Err(invalid(
                root,
                "this is a list of objects",
                "write each object as a document of its own, after a `---` line",
            ));
        }
        let api_version = text(root, "apiVersion")?;
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        if version.is_empty() || version.contains('/') {
            return Err(invalid(
                root,
                "this object has no valid `apiVersion`",
                "write `apiVersion: v1`, or `group/version` such as `apps/v1`",
            ));
        }
        let (name, namespace) = match root.get("metadata") {
            Some(metadata) => (text(metadata, "name")?, text(metadata, "namespace")?),
            None => (String::new(), String::new()),
        };
        if name.is_empty() {
            return Err(invalid(
                root,
                "this object has no `metadata.name`",
                "every object of a payload needs a name of its own",
            ));
        }
        Ok((Self { group: group.to_owned(), kind, namespace, name }, version.to_owned()))
    }

    /// Returns the kind with its group, such as `Deployment.apps`, as `kubectl` accepts it.
    pub(crate) fn kind_and_group(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }

    /// Returns `Kind/name`.
    pub(crate) fn kind_and_name(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", printable::line(&self.kind_and_group()), printable::line(&self.name))?;
        if !self.namespace.is_empty() {
            write!(f, " in {}", printable::line(&self.namespace))?;
        }
        Ok(())
    }
}

fn invalid(root: &Node, message: &str, help: &'static str) -> NotAnObject {
    NotAnObject { message: message.to_owned(), mark: root.mark, help }
}

/// Reads an optional field that must be a string. YAML reads `namespace: n` as the boolean `false`, which must not
/// silently become "no namespace".
fn text(node: &Node, field: &str) -> Result<String, NotAnObject> {
    let Some(found) = node.get(field) else { return Ok(String::new()) };
    if mask::is_sensitive(found) {
        return Err(NotAnObject {
            message: format!("`{field}` has the value of a secret parameter"),
            mark: found.mark,
            help: "use a parameter that is not secret: names are part of URLs, and logs, events and the inventory show them",
        });
    }
    match &found.value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.to_string()),
        other => Err(NotAnObject {
            message: format!("`{field}` is {}, not text", other.kind()),
            mark: found.mark,
            help: "put the value in quotes",
        }),
    }
}
