//! What the files of all kinds share.

use serde_json::{Value as Json, json};

use super::Selector;
use super::typed::{Marked, Reader, Typed, typed, words};
use super::when::When;
use crate::yaml::{Node, Value};

words! {
    /// The version of the language.
    pub enum Header {
        /// The only one so far.
        "transship.openshift.io/v1" => V1,
    }
}

typed! {
    /// What every file says about itself.
    pub struct Metadata ("metadata") {
        /// The name, by which the command line and other files know it.
        "name" name: Label,
    }
}

/// A name as Kubernetes gives it to namespaces: it also becomes part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label(pub String);

impl Label {
    /// Whether a text is one: at most 63 lower-case letters, digits and `-`, with none of the latter at its ends.
    pub fn is(text: &str) -> bool {
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !text.is_empty()
            && text.len() <= 63
            && text.bytes().all(fine)
            && !text.starts_with('-')
            && !text.ends_with('-')
    }
}

impl Typed for Label {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        if !Self::is(&text) {
            reader.error(node.mark, format!("this cannot be `{text}`")).help = Some(
                "it is at most 63 lower-case letters, digits and `-`, and neither begins nor ends with `-`"
                    .into(),
            );
            return None;
        }
        Some(Self(text))
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"})
    }
}

/// Why objects are left out: a reason alone, or with what it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Omission {
    /// The reason.
    pub reason: String,
    /// The profiles it concerns, all if empty.
    pub profiles: Vec<Marked<String>>,
    /// When it holds.
    pub when: When,
    /// It may match nothing.
    pub optional: bool,
}

typed! {
    /// An omission that depends on something.
    struct OmissionFields ("an omission") {
        /// Why the objects are left out.
        "reason" reason: String,
        /// The profiles it concerns; without it, all.
        "in" profiles: Vec<Marked<String>>,
        /// When it holds.
        "when" when: When,
        /// It may match nothing.
        "optional" optional: bool,
    }
}

impl Typed for Omission {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        if let Value::String(reason) = &node.value {
            return Some(Self {
                reason: reason.to_string(),
                profiles: Vec::new(),
                when: When::new(),
                optional: false,
            });
        }
        let OmissionFields { reason, profiles, when, optional } = OmissionFields::read(node, reader)?;
        Some(Self { reason, profiles, when, optional })
    }

    fn schema() -> Json {
        json!({"oneOf": [{"type": "string", "description": "Why the objects are left out."}, OmissionFields::schema()]})
    }
}

/// Omissions by the objects they mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Omissions(pub Vec<(Marked<Selector>, Omission)>);

impl Typed for Omissions {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.error(
                node.mark,
                format!("this must be a map of objects and reasons, not {}", node.value.kind()),
            );
            return None;
        };
        let mut omissions = Vec::new();
        for entry in map {
            let selector = Selector::parse(&entry.key, entry.mark, reader);
            let omission = Omission::read(&entry.value, reader);
            if let (Some(value), Some(omission)) = (selector, omission) {
                omissions.push((Marked { value, mark: entry.mark }, omission));
            }
        }
        Some(Self(omissions))
    }

    fn absent() -> Option<Self> {
        Some(Self::default())
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": Omission::schema()})
    }
}
