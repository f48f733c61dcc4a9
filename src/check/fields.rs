//! One object beside what is known about its kind: fields that are not there, of another type, missing, or said twice.

use std::collections::HashMap;

use super::finding::Fault;
use crate::language::Check;
use crate::nearest::nearest;
use crate::object::{Expected, Schema};
use crate::yaml::{Entry, Map, Node, Number, Value, json};

/// Every fault of an object's fields.
pub(super) fn check<'n>(root: &'n Node, schema: Schema<'_>, faults: &mut Vec<Fault<'n>>) {
    value(root, schema, "", "", faults);
}

/// A value, the key it stands under, and the key of the map that has it. Null is as good as nothing, for the API server
/// too.
fn value<'n>(node: &'n Node, schema: Schema<'_>, key: &str, within: &str, faults: &mut Vec<Fault<'n>>) {
    let expected = schema.expected();
    match (&node.value, expected) {
        (Value::Null, _) => {}
        (Value::Map(map), Expected::Map | Expected::Anything) => fields(node, map, schema, key, faults),
        (Value::List(items), Expected::List | Expected::Anything) => {
            for item in items {
                value(item, schema.item(), key, within, faults);
            }
            if items.len() > 1 {
                repeated(items, schema, faults);
            }
        }
        _ if is_expected(&node.value, expected) => {}
        _ => faults.push(wrong_type(node, expected, within)),
    }
}

fn fields<'n>(node: &'n Node, map: &'n Map, schema: Schema<'_>, key: &str, faults: &mut Vec<Fault<'n>>) {
    // What is below `status` another endpoint takes; here it is dropped unseen.
    let elsewhere = |key: &str| key == "status" && matches!(schema, Schema::CustomRoot(_));
    for entry in map.iter().filter(|entry| !elsewhere(&entry.key)) {
        match schema.field(&entry.key) {
            Some(schema) => value(&entry.value, schema, &entry.key, key, faults),
            None => faults.push(unknown_field(entry, schema)),
        }
    }
    for required in schema.required().iter() {
        if map.get(required).is_none_or(|node| node.value == Value::Null) {
            faults.push(
                Fault::new(Check::MissingField, node, format!("the field `{required}` is missing"))
                    .why("the API server refuses the object without it")
                    .help(format!("write `{required}`")),
            );
        }
    }
}

fn is_expected(value: &Value, expected: Expected) -> bool {
    match (value, expected) {
        (_, Expected::Anything)
        | (Value::String(_), Expected::Text | Expected::IntegerOrText | Expected::Quantity)
        | (Value::Bool(_), Expected::Boolean)
        | (Value::Number(_), Expected::Number | Expected::Quantity) => true,
        (Value::Number(number), Expected::Integer | Expected::IntegerOrText) => {
            matches!(number, Number::Int(_) | Number::Uint(_))
        }
        _ => false,
    }
}

fn unknown_field<'n>(entry: &'n Entry, schema: Schema<'_>) -> Fault<'n> {
    let fault = Fault::new(
        Check::UnknownField,
        &entry.value,
        format!("there is no field `{}` here", entry.key),
    )
    .at(entry.mark)
    .why("server-side apply refuses the object, with an answer that looks like a failure of the server");
    let known = schema.fields();
    match nearest(&entry.key, known.iter().copied()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help(format!("the fields are {}", listed(&known))),
    }
}

fn wrong_type<'n>(node: &'n Node, expected: Expected, within: &str) -> Fault<'n> {
    let label = matches!(within, "labels" | "annotations" | "matchLabels" | "nodeSelector");
    let words = match expected {
        Expected::Text => "text",
        Expected::Integer => "a whole number",
        Expected::Number => "a number",
        Expected::Boolean => "true or false",
        Expected::IntegerOrText => "a whole number or text",
        Expected::Quantity => "a quantity",
        Expected::Map => "a map",
        Expected::List => "a list",
        Expected::Anything => "anything",
    };
    let check = if label && expected == Expected::Text { Check::NotText } else { Check::WrongType };
    let fault = Fault::new(check, node, format!("this is {}, and must be {words}", node.value.kind()))
        .why("the API server refuses the object");
    match (expected, &node.value) {
        (Expected::Text, Value::Bool(_) | Value::Number(_)) => fault.help("put the value in quotes"),
        (Expected::Integer | Expected::Number | Expected::Boolean, Value::String(_)) => {
            fault.help("write the value without quotes")
        }
        _ => fault.help(format!("write {words}")),
    }
}

/// Some names, and how many more there are.
pub(super) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", names[..SHOWN].join(", ")),
        _ => names.join(", "),
    }
}

/// Items with the same keys.
fn repeated<'n>(items: &'n [Node], schema: Schema<'_>, faults: &mut Vec<Fault<'n>>) {
    let keys = schema.list_keys();
    if keys.is_empty() && !schema.is_set() {
        return;
    }
    let identity = |item: &Node| -> Option<String> {
        if keys.is_empty() {
            return Some(json::write(item));
        }
        let key = |key: &&str| match item.get(key) {
            Some(node) => Some(format!("{key} {}", json::write(node))),
            // The only key that has a default.
            None => (*key == "protocol").then(|| "protocol \"TCP\"".to_owned()),
        };
        keys.iter().map(key).collect::<Option<Vec<_>>>().map(|keys| keys.join(", "))
    };
    let mut seen: HashMap<String, &Node> = HashMap::with_capacity(items.len());
    for item in items {
        let Some(identity) = identity(item) else { continue };
        if let Some(first) = seen.get(&identity) {
            faults.push(
                Fault::new(Check::RepeatedItem, item, format!("a second item with {identity}"))
                    .also("the first is at", first.mark)
                    .why("server-side apply refuses both")
                    .help("remove one of them, or give it another key"),
            );
        }
        seen.entry(identity).or_insert(item);
    }
}
