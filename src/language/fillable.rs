//! Fields of a profile into which values of parameters are filled. Their types are checked afterwards.

use std::marker::PhantomData;

use serde_json::{Value as Json, json};

use super::template::{Names, malformed, names, substitute};
use super::typed::{Reader, Typed};
use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Node, Sensitivity};

/// A field whose value may contain `${name}`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fillable<T> {
    node: Node,
    r#type: PhantomData<T>,
}

impl<T: Typed> Typed for Fillable<T> {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let mut mentioned = Vec::new();
        names(node, &mut mentioned);
        if mentioned.is_empty() && malformed(node).is_empty() {
            T::read(node, reader)?;
        }
        Some(Self { node: node.clone(), r#type: PhantomData })
    }

    fn schema() -> Json {
        match T::schema() {
            text if text == String::schema() => text,
            other => json!({"oneOf": [other, {"type": "string", "pattern": r"^\$\{[^{}]+\}$"}]}),
        }
    }
}

impl<T: Typed> Fillable<T> {
    /// Returns the value as it is written.
    pub(super) fn node(&self) -> &Node {
        &self.node
    }

    /// Fills in values. Returns `None` for a field that consists of an absent value alone, and after an error.
    pub(super) fn fill(&self, field: &str, names: &dyn Names, reader: &mut Reader<'_>) -> Option<T> {
        match substitute(&self.node, names, reader.sources) {
            Ok(filled) => {
                let filled = filled?;
                if filled.highest_sensitivity() > Sensitivity::Public {
                    let message = format!("`{field}` has the value of a secret parameter");
                    let error = Diagnostic::error(message).at(Location::of(self.node.mark, reader.sources));
                    let error = error.note("`list` shows which manifests it selects");
                    reader.errors.0.push(error.help("use a parameter that is not secret"));
                    return None;
                }
                reader.read_field(field, &filled)
            }
            Err(error) => {
                reader.errors.0.push(error);
                None
            }
        }
    }
}
