//! The fields that a policy rule replaces as a whole.

use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed};
use crate::object::path::{Path, Segment};
use crate::yaml::{Entry, Node};

/// The paths of fields with their values. The last segment of each path is the key of a map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Replacements(pub(crate) Node);

impl Typed for Replacements {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(map) = node.as_map() else {
            reader.wrong_type(node, "a map of JSON pointers");
            return None;
        };
        map.iter().for_each(|entry| check_path(entry, reader));
        Some(Self(node.clone()))
    }

    fn schema() -> Json {
        json!({"type": "object", "additionalProperties": {}, "propertyNames": {"pattern": "^/"}})
    }
}

/// Reports a path that cannot be read or does not end with a key.
fn check_path(entry: &Entry, reader: &mut Reader<'_>) {
    match Path::parse(&entry.key, entry.mark) {
        Err(error) => reader.error(error.mark, error.message).help = error.help,
        Ok(path) if !matches!(path.segments.last(), Some(Segment::Name(_))) => {
            reader
                .error(entry.mark, format!("`replace` cannot replace `{}`, which is not a field", entry.key))
                .help = Some("end the path with the key of a map, as in /spec/nodeSelector".into());
        }
        Ok(_) => {}
    }
}
