//! `when`: equality on parameters, so that every variant can be listed.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::template::{Lookup, Scope};
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Node, Sources, Value};

/// Conditions that must all hold.
pub type When = BTreeMap<String, Marked<Condition>>;

/// What a value must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// One of these.
    AnyOf(Vec<Node>),
    /// Anything, but there.
    Present,
    /// Not there.
    Absent,
}

impl Typed for Condition {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::String(word) if word == "present" => Some(Self::Present),
            Value::String(word) if word == "absent" => Some(Self::Absent),
            Value::String(_) | Value::Bool(_) | Value::Number(_) => Some(Self::AnyOf(vec![node.clone()])),
            Value::List(items) if !items.is_empty() => Some(Self::AnyOf(items.clone())),
            other => {
                reader.error(node.mark, format!("a condition cannot be {}", other.kind())).help =
                    Some("write a value, a list of values, `present` or `absent`".into());
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"type": ["string", "boolean", "number", "array"]})
    }
}

/// The first condition that does not hold, in words; nothing if all do.
pub fn unmet(when: &When, scope: &dyn Scope, sources: &Sources) -> Result<Option<String>, Diagnostic> {
    for (name, condition) in when {
        let at = Location::of(condition.mark, sources);
        let found = scope
            .get(name)
            .map_err(|why| Diagnostic::error(format!("`{name}` stands for nothing")).at(at).help(why))?;
        let holds = match (&condition.value, &found) {
            (Condition::Present, found) => *found != Lookup::Absent,
            (Condition::Absent, found) => *found == Lookup::Absent,
            (Condition::AnyOf(_), Lookup::Absent) => false,
            (Condition::AnyOf(values), Lookup::Value(value)) => {
                values.iter().any(|node| node.value == *value)
            }
        };
        if !holds {
            return Ok(Some(match found {
                Lookup::Absent => format!("{name} is absent"),
                Lookup::Value(_) if scope.is_secret(name) => format!("{name} is another"),
                Lookup::Value(Value::String(text)) => format!("{name} is {text}"),
                Lookup::Value(Value::Bool(bool)) => format!("{name} is {bool}"),
                Lookup::Value(_) => format!("{name} is another"),
            }));
        }
    }
    Ok(None)
}
