//! Values and keys that YAML has and JSON does not have.
//!
//! Kubernetes refuses them when it converts a document to JSON. By then it has dropped the values of duplicate keys, so
//! this check needs the whole document.

use crate::read::cursor::Position;
use crate::{Mark, Node, Number, SyntaxError, Value};

/// Stands for a key that is null. No text has this key: YAML has no zero bytes outside of escape sequences.
pub(super) const NULL_KEY: &str = "\0null";
/// Stands for a key that is an integer above [`i64::MAX`].
pub(super) const LARGE_KEY: &str = "\0large";

/// Returns an error for a value or key that JSON does not have.
pub(super) fn check(node: &Node) -> Result<(), SyntaxError> {
    match &node.value {
        Value::Number(Number::Float(float)) if !float.is_finite() => {
            Err(SyntaxError::new(position(node.mark), "JSON cannot represent this number")
                .with_help("put it in quotes if it is text"))
        }
        Value::List(items) => items.iter().try_for_each(check),
        Value::Map(map) => map.iter().try_for_each(|entry| {
            check_key(&entry.key, entry.mark)?;
            check(&entry.value)
        }),
        _ => Ok(()),
    }
}

fn check_key(key: &str, mark: Mark) -> Result<(), SyntaxError> {
    match key {
        NULL_KEY => Err(SyntaxError::new(position(mark), "null cannot be a key")
            .with_help("put the key in quotes if it is text")),
        LARGE_KEY => Err(SyntaxError::new(position(mark), "this integer is too large for a key")),
        _ => Ok(()),
    }
}

fn position(mark: Mark) -> Position {
    Position { line: mark.line - 1, column: mark.column - 1, index: 0 }
}
