//! Reads selectors from files. The grammar itself is in `object/selector.rs`.

use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed};
use crate::object::{Selector, SelectorError, SelectorPattern};
use crate::yaml::{Mark, Node};

/// Reads a selector that is the key of a map.
pub(super) fn read_selector(text: &str, mark: Mark, reader: &mut Reader<'_>) -> Option<Selector> {
    parse(text, mark, reader)
}

fn parse<T: std::str::FromStr<Err = SelectorError>>(
    text: &str,
    mark: Mark,
    reader: &mut Reader<'_>,
) -> Option<T> {
    match text.parse() {
        Ok(selector) => Some(selector),
        Err(error) => {
            let message = format!("`{text}` is not a selector: {}", error.problem());
            reader.error(mark, message).help = Some(error.help().to_owned());
            None
        }
    }
}

impl Typed for Selector {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        parse(&text, node.mark, reader)
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\.[^/]+)?(/[^/]+){0,2}$"})
    }
}

impl Typed for SelectorPattern {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        parse(&text, node.mark, reader)
    }

    fn schema() -> Json {
        json!({"type": "string", "pattern": "^[A-Z][A-Za-z0-9]*(\\.[^/]+)?(/[^/]+){1,2}$"})
    }
}
