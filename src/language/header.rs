//! The fields that every file starts with: `apiVersion` and `metadata`.

use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed, string_enum, typed};
use crate::yaml::Node;

string_enum! {
    /// The version of the language.
    pub(crate) enum ApiVersion {
        /// The first version.
        "transship.openshift.io/v1" => V1,
    }
}

typed! {
    /// The metadata of a file.
    pub(crate) struct Metadata ("metadata") {
        /// The name that the command line and other files use.
        "name" name: DnsLabel,
    }
}

/// A name that Kubernetes accepts for namespaces (RFC 1123). It is also used in paths of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DnsLabel(pub(crate) String);

impl DnsLabel {
    /// Returns whether a text has at most 63 lower-case letters, digits and `-`, and neither starts nor ends with `-`.
    pub(crate) fn is_valid(text: &str) -> bool {
        let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !text.is_empty()
            && text.len() <= 63
            && text.bytes().all(is_allowed)
            && !text.starts_with('-')
            && !text.ends_with('-')
    }
}

impl Typed for DnsLabel {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        if !Self::is_valid(&text) {
            reader.field_error(node.mark, &format!("cannot be `{text}`")).help =
                Some("use at most 63 lower-case letters, digits and `-`, with no `-` at either end".into());
            return None;
        }
        Some(Self(text))
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"})
    }
}
