//! How files name objects: `Kind`, `Kind/name` or `Kind.group/name`, always by what they are called in the payload.

use std::str::FromStr;

use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed};
use crate::object::ObjectId;
use crate::yaml::{Mark, Node};

/// A kind of objects, or one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Selector {
    /// The kind.
    pub kind: String,
    /// The group, where it is given.
    pub group: Option<String>,
    /// The name, where one object is meant.
    pub name: Option<String>,
}

impl Selector {
    pub(super) fn parse(text: &str, mark: Mark, reader: &mut Reader<'_>) -> Option<Self> {
        match text.parse() {
            Ok(selector) => Some(selector),
            Err(help) => {
                reader.error(mark, format!("`{text}` names no object")).help = Some(help);
                None
            }
        }
    }

    /// Whether an object is meant.
    pub fn matches(&self, id: &ObjectId) -> bool {
        self.kind == id.kind
            && self.group.as_ref().is_none_or(|group| *group == id.group)
            && self.name.as_ref().is_none_or(|name| *name == id.name)
    }
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (kind, name) = match text.split_once('/') {
            Some((kind, name)) => (kind, Some(name)),
            None => (text, None),
        };
        let (kind, group) = match kind.split_once('.') {
            Some((kind, group)) => (kind, Some(group.to_owned())),
            None => (kind, None),
        };
        let is_kind = kind.starts_with(|first: char| first.is_ascii_uppercase())
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_kind || name == Some("") || group.as_deref() == Some("") {
            return Err(
                "write `Kind`, `Kind/name` or `Kind.group/name`, such as Deployment/csi-snapshot-controller"
                    .to_owned(),
            );
        }
        Ok(Self { kind: kind.to_owned(), group, name: name.map(str::to_owned) })
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(group) = &self.group {
            write!(f, ".{group}")?;
        }
        if let Some(name) = &self.name {
            write!(f, "/{name}")?;
        }
        Ok(())
    }
}

impl Typed for Selector {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        Self::parse(&text, node.mark, reader)
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\.[^/]+)?(/.+)?$"})
    }
}
