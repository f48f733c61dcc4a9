//! The types of parameters and of the inputs of fragments, and the values that they accept.

use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed, read_variant, string_enum};
use crate::yaml::{Node, Number, Value};

string_enum! {
    /// The type of a parameter or of an input.
    pub(crate) enum ValueType {
        /// Any text.
        "string" => String,
        /// The name of a Kubernetes object, container or volume: lower-case letters, digits, `-` and `.`.
        "name" => Name,
        /// An absolute path in a container.
        "path" => Path,
        /// A port number from 1 to 65535.
        "port" => Port,
        /// A whole number.
        "int" => Int,
        /// `true` or `false`.
        "bool" => Bool,
        /// A list.
        "list" => List,
        /// A map.
        "map" => Map,
        /// A tag of the release: `${x}` is its pullspec, `${x.guest}` and `${x.management}` those of one release.
        "image" => Image,
        /// An object of the component as `Kind/name`: `${x.name}`, `${x.namespace}`, `${x.kind}`, `${x.apiVersion}`.
        "object" => Object,
        /// A list of objects, each as `Kind/name` or `Kind.group/name`.
        "objects" => Objects,
        /// A workload as `Kind/name`. The default is the workload of the page or fragment that uses the fragment.
        "workload" => Workload,
        /// The name of a container. The default is the only container of the workload.
        "container" => Container,
    }
}

impl ValueType {
    /// Returns whether a value has this type.
    pub(crate) fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (
                Self::String | Self::Workload | Self::Container | Self::Image | Self::Object,
                Value::String(_),
            )
            | (Self::Bool, Value::Bool(_))
            | (Self::Int, Value::Number(Number::Int(_)))
            | (Self::List, Value::List(_))
            | (Self::Map, Value::Map(_)) => true,
            (Self::Objects, Value::List(items)) => items.iter().all(|item| item.as_str().is_some()),
            (Self::Name, Value::String(text)) => is_name(text),
            (Self::Path, Value::String(text)) => text.starts_with('/'),
            (Self::Port, Value::Number(Number::Int(port))) => (1..=65535).contains(port),
            _ => false,
        }
    }

    /// Returns a description for messages, such as "a whole number".
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::String => "text",
            Self::Name => "a name of lower-case letters, digits, `-` and `.`",
            Self::Path => "an absolute path",
            Self::Port => "a port number from 1 to 65535",
            Self::Int => "a whole number",
            Self::Bool => "true or false",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Image => "an image tag of the release",
            Self::Object => "an object as `Kind/name`",
            Self::Objects => "a list of objects, each as `Kind/name`",
            Self::Workload => "a workload as `Kind/name`",
            Self::Container => "the name of a container",
        }
    }

    /// Returns whether values of this type are texts, even if they look like numbers.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::String | Self::Name | Self::Path)
    }

    /// Returns whether a value of this type is a string in YAML.
    pub(super) fn is_written_as_text(self) -> bool {
        !matches!(self, Self::Port | Self::Int | Self::Bool | Self::List | Self::Map | Self::Objects)
    }

    /// Returns whether a value is text, or consists of texts.
    pub(super) fn has_texts(self) -> bool {
        !matches!(self, Self::Port | Self::Int | Self::Bool)
    }

    /// Returns whether the type itself limits what a value can contain.
    pub(super) fn is_bounded(self) -> bool {
        matches!(self, Self::Name | Self::Int | Self::Port | Self::Bool)
    }

    /// Returns the JSON Schema of a value.
    pub(super) fn value_schema(self) -> Json {
        match self {
            Self::Port => json!({"type": "integer", "minimum": 1, "maximum": 65535}),
            Self::Int => json!({"type": "integer"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::List => json!({"type": "array"}),
            Self::Objects => json!({"type": "array", "items": {"type": "string"}}),
            Self::Map => json!({"type": "object"}),
            Self::Path => json!({"type": "string", "pattern": "^/"}),
            Self::Workload | Self::Object => {
                json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\.[^/]+)?/.+$"})
            }
            Self::String | Self::Name | Self::Image | Self::Container => json!({"type": "string"}),
        }
    }
}

/// Returns whether a text is a DNS subdomain (RFC 1123), which is what Kubernetes accepts as the name of most objects.
fn is_name(text: &str) -> bool {
    let is_alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (first, last) = (text.bytes().next(), text.bytes().next_back());
    text.len() <= 253
        && text.bytes().all(|byte| is_alphanumeric(byte) || byte == b'-' || byte == b'.')
        && [first, last].into_iter().all(|edge| edge.is_some_and(is_alphanumeric))
}

/// The type of a parameter. A parameter belongs to no component, so it cannot be an image or an object of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParameterType(pub(crate) ValueType);

impl ParameterType {
    const NAMES: [(&'static str, Self); 8] = [
        ("string", Self(ValueType::String)),
        ("name", Self(ValueType::Name)),
        ("path", Self(ValueType::Path)),
        ("int", Self(ValueType::Int)),
        ("port", Self(ValueType::Port)),
        ("bool", Self(ValueType::Bool)),
        ("list", Self(ValueType::List)),
        ("map", Self(ValueType::Map)),
    ];
}

impl Typed for ParameterType {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read_variant(node, &Self::NAMES, reader)
    }

    fn schema() -> Json {
        json!({"enum": Self::NAMES.map(|(name, _)| name)})
    }
}
