//! `when`: conditions on names. A condition only compares with fixed values, so every combination can be listed.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::template::{Lookup, Names};
use super::typed::{Marked, Reader, Typed};
use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Node, Sensitivity, Sources, Value};

/// Conditions by name. All of them must hold.
pub(crate) type When = BTreeMap<String, Marked<Condition>>;

/// The condition for one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    /// It has one of these values.
    AnyOf(Vec<Node>),
    /// It has a value.
    Present,
    /// It has no value.
    Absent,
}

impl Typed for Condition {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::String(text) if text == "present" => Some(Self::Present),
            Value::String(text) if text == "absent" => Some(Self::Absent),
            Value::String(_) | Value::Bool(_) | Value::Number(_) => Some(Self::AnyOf(vec![node.clone()])),
            Value::List(items) if !items.is_empty() => Some(Self::AnyOf(items.clone())),
            other => {
                reader
                    .error(
                        node.mark,
                        format!("a condition must be a value or a list of values, not {}", other.kind()),
                    )
                    .help = Some("write a value, a list of values, `present` or `absent`".into());
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"type": ["string", "boolean", "number", "array"]})
    }
}

/// Returns a description of the first condition that does not hold, or `None` if all hold.
pub(crate) fn unmet(when: &When, names: &dyn Names, sources: &Sources) -> Result<Option<String>, Diagnostic> {
    for (name, condition) in when {
        let found = names.get(name).map_err(|error| {
            Diagnostic::error(format!("`{name}` is not defined"))
                .at(Location::of(condition.mark, sources))
                .help(error.help)
        })?;
        let holds = match (&condition.value, &found) {
            (Condition::Present, found) => *found != Lookup::Absent,
            (Condition::Absent, found) => *found == Lookup::Absent,
            (Condition::AnyOf(_), Lookup::Absent) => false,
            (Condition::AnyOf(values), Lookup::Value(value)) => values.contains(value),
        };
        if !holds {
            return Ok(Some(match found {
                Lookup::Absent => format!("{name} has no value"),
                Lookup::Value(node) => match node.value {
                    _ if node.sensitivity > Sensitivity::Public => format!("{name} has another value"),
                    Value::String(text) => format!("{name} is {text}"),
                    Value::Bool(bool) => format!("{name} is {bool}"),
                    _ => format!("{name} has another value"),
                },
            }));
        }
    }
    Ok(None)
}
