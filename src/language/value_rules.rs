//! The check of a value against its declaration: type, choices, pattern and limits.

use super::bounds::Bounds;
use super::pattern::TextPattern;
use super::value_type::ValueType;
use crate::printable;
use crate::yaml::{Mark, Node, Value, json};

/// The rules for the value of a parameter or an input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRules<'d> {
    /// The type.
    pub(crate) r#type: ValueType,
    /// The allowed values; all if empty.
    pub(crate) choices: &'d [Node],
    /// The pattern for a text, for each text of a list, or for each value of a map.
    pub(crate) pattern: Option<&'d TextPattern>,
    /// The allowed kinds of an object; all if empty.
    pub(crate) kinds: &'d [String],
    /// The limits of its size, keys and characters.
    pub(crate) bounds: Bounds<'d>,
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
    /// The position of the value, or of the item of a list or map.
    pub(crate) mark: Mark,
    pub(super) problem: String,
}

impl std::fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.problem)
    }
}

impl ValueRules<'_> {
    /// Returns the rules for all values of a type.
    pub(crate) fn of_type(r#type: ValueType) -> Self {
        Self { r#type, choices: &[], pattern: None, kinds: &[], bounds: Bounds::default() }
    }

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
        // Before the pattern, which takes longer for a longer text.
        self.bounds.validate(value, visibility)?;
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
    let items: Vec<&Node> = match &value.value {
        Value::List(items) => items.iter().collect(),
        Value::Map(map) => map.iter().map(|entry| &entry.value).collect(),
        _ => vec![value],
    };
    for item in items {
        if !item.as_str().is_some_and(|text| pattern.matches(text)) {
            let expected = format!("text that matches `{pattern}`");
            return Err(invalid(item, &expected, Expects::Text, visibility));
        }
    }
    Ok(())
}

fn invalid(value: &Node, expected: &str, expects: Expects, visibility: Visibility) -> InvalidValue {
    let actual = match (&value.value, visibility) {
        (Value::String(text), Visibility::Shown) if expects == Expects::Text => {
            format!("`{}`", printable::excerpt(text))
        }
        // `false` in quotes is text, and must not look like the value false.
        (Value::String(text), Visibility::Shown) => format!("the text `{}`", printable::excerpt(text)),
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
