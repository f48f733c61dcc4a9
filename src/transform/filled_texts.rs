//! Converts a number or boolean that `${…}` inserted to a string, if the field must be a string. If the type of the
//! field is not known, converts it if the file has quotes around it: `"${name}"`.

use crate::expand::View;
use crate::language::template::filled_as_text;
use crate::object::{Expected, Object, Schema};
use crate::yaml::{Node, ScalarStyle, Value};

/// Converts the values in objects.
pub(super) fn convert(objects: &mut [Object], view: &View<'_>) {
    for object in objects.iter_mut().filter(|object| has_filled(&object.root)) {
        let api_version = object.root.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
        let schema = view.schema(&object.id, api_version).unwrap_or(Schema::Unknown);
        convert_value(&mut object.root, schema);
    }
}

/// Returns whether a number or boolean below a node was filled in.
fn has_filled(node: &Node) -> bool {
    match &node.value {
        Value::Number(_) | Value::Bool(_) => node.style != ScalarStyle::Plain,
        Value::List(items) => items.iter().any(has_filled),
        Value::Map(map) => map.iter().any(|entry| has_filled(&entry.value)),
        Value::Null | Value::String(_) => false,
    }
}

fn convert_value(node: &mut Node, schema: Schema<'_>) {
    match &mut node.value {
        Value::Map(map) => {
            for (key, value) in map.entries_mut() {
                convert_value(value, schema.field(key).unwrap_or(Schema::Unknown));
            }
        }
        Value::List(items) => {
            for item in items {
                convert_value(item, schema.item());
            }
        }
        _ => {
            let is_text = match schema.expected() {
                Expected::Text => true,
                Expected::Anything => node.style == ScalarStyle::Quoted,
                _ => false,
            };
            if is_text {
                filled_as_text(node);
            }
        }
    }
}
