//! The types of parameters and of the inputs of fragments, and the check of a value against its declaration.

use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed, read_variant, string_enum};
use crate::yaml::{Mark, Node, Number, Value, json};

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
    fn is_written_as_text(self) -> bool {
        !matches!(self, Self::Port | Self::Int | Self::Bool | Self::List | Self::Map | Self::Objects)
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

/// A regular expression that must match the whole text. It is compiled once, when its file is read.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    text: String,
    regex: regex_lite::Regex,
}

impl TextPattern {
    /// Returns whether a text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl std::fmt::Display for TextPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Typed for TextPattern {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        match regex_lite::Regex::new(&format!("^(?:{text})$")) {
            Ok(regex) => Some(Self { text, regex }),
            Err(error) => {
                reader.field_error(node.mark, &format!("is not a regular expression: {error}"));
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"type": "string", "format": "regex"})
    }
}

/// The rules for the value of a parameter or an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRules<'d> {
    /// The type.
    pub(crate) r#type: ValueType,
    /// The allowed values; all if empty.
    pub(crate) choices: &'d [Node],
    /// The pattern for a text, or for each text of a list.
    pub(crate) pattern: Option<&'d TextPattern>,
    /// The allowed kinds of an object; all if empty.
    pub(crate) kinds: &'d [String],
}

/// Whether a message may show a value. A secret is never shown, nor a value that was computed and may contain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// The value is shown.
    Shown,
    /// Only the kind of the value is shown, such as "text".
    Hidden,
}

/// A value that its declaration does not allow. Displayed as "must be a whole number, not `x`".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidValue {
    /// The position of the value, or of the item of a list.
    pub(crate) mark: Mark,
    problem: String,
}

impl std::fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)
    }
}

impl ValueRules<'_> {
    /// Returns whether a value has the type and is one of the choices.
    pub(crate) fn can_be(&self, value: &Node) -> bool {
        self.r#type.accepts(&value.value) && (self.choices.is_empty() || self.choices.contains(value))
    }

    /// Returns a description of the allowed values for messages: the choices, or the type.
    pub(crate) fn expected(&self) -> String {
        if self.choices.is_empty() {
            return self.r#type.description().to_owned();
        }
        let choices: Vec<String> = self.choices.iter().map(json::write).collect();
        format!("one of {}", choices.join(", "))
    }

    /// Checks a value against all rules.
    pub(crate) fn validate(&self, value: &Node, visibility: Visibility) -> Result<(), InvalidValue> {
        let expects = if self.r#type.is_written_as_text() { Expects::Text } else { Expects::Other };
        if !self.r#type.accepts(&value.value) {
            return Err(invalid(value, self.r#type.description(), expects, visibility));
        }
        if !self.can_be(value) {
            return Err(invalid(value, &self.expected(), expects, visibility));
        }
        if let Some(pattern) = self.pattern {
            validate_pattern(pattern, value, visibility)?;
        }
        let kind = value.as_str().and_then(|text| text.split(['.', '/']).next()).unwrap_or_default();
        if !self.kinds.is_empty() && !self.kinds.iter().any(|allowed| allowed == kind) {
            let expected = format!("a {}", self.kinds.join(" or a "));
            return Err(invalid(value, &expected, Expects::Text, visibility));
        }
        Ok(())
    }
}

/// Whether a rule expects text, for the description of the actual value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    Text,
    Other,
}

fn validate_pattern(pattern: &TextPattern, value: &Node, visibility: Visibility) -> Result<(), InvalidValue> {
    for item in value.as_list().unwrap_or(std::slice::from_ref(value)) {
        if !item.as_str().is_some_and(|text| pattern.matches(text)) {
            let expected = format!("text that matches `{}`", pattern.text);
            return Err(invalid(item, &expected, Expects::Text, visibility));
        }
    }
    Ok(())
}

fn invalid(value: &Node, expected: &str, expects: Expects, visibility: Visibility) -> InvalidValue {
    let actual = match (&value.value, visibility) {
        (Value::String(text), Visibility::Shown) if expects == Expects::Text => format!("`{text}`"),
        // `false` in quotes is text, and must not look like the value false.
        (Value::String(text), Visibility::Shown) => format!("the text `{text}`"),
        // "must be text, not text" would say nothing.
        (Value::String(_), Visibility::Hidden) if expects == Expects::Text => {
            return InvalidValue { mark: value.mark, problem: format!("must be {expected}") };
        }
        (Value::Number(_), Visibility::Shown) => format!("the number {}", json::write(value)),
        (Value::Bool(bool), Visibility::Shown) => bool.to_string(),
        (other, _) => other.kind().to_owned(),
    };
    InvalidValue { mark: value.mark, problem: format!("must be {expected}, not {actual}") }
}
