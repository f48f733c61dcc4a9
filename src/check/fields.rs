//! The fields of an object, compared with the schema of its kind.

use std::collections::HashMap;

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{Expected, Schema};
use crate::yaml::{Entry, Map, Node, Number, Sources, Value, json};

/// Maps whose values must be text. Authors often forget to quote values such as `true` or `1`.
const TEXT_MAPS: [&str; 4] = ["labels", "annotations", "matchLabels", "nodeSelector"];

/// Checks that the fields of an object are known, of the right type, complete and without duplicates.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if let Some(schema) = context.kinds.schema(root.object) {
        let mut checker = FieldChecker { sources: context.sources(), report };
        checker.check_value(root, schema, Keys { own: "", of_map: "" });
    }
}

struct FieldChecker<'c> {
    sources: &'c Sources,
    report: &'c mut Report,
}

/// The key of a value, and the key of the map that contains it.
#[derive(Clone, Copy)]
struct Keys<'n> {
    own: &'n str,
    of_map: &'n str,
}

impl FieldChecker<'_> {
    fn check_value(&mut self, field: &Field<'_>, schema: Schema<'_>, keys: Keys<'_>) {
        let expected = schema.expected();
        match (&field.node.value, expected) {
            // The API server treats null as absent.
            (Value::Null, _) => {}
            (Value::Map(map), Expected::Map | Expected::Anything) => {
                self.check_map(field, map, schema, keys.own);
            }
            (Value::List(items), Expected::List | Expected::Anything) => {
                for item in field.items("") {
                    self.check_value(&item, schema.item(), keys);
                }
                if items.len() > 1 {
                    self.check_duplicates(field, schema);
                }
            }
            _ if is_expected(&field.node.value, expected) => {}
            _ => self.report.add(wrong_type(field, expected, keys.of_map)),
        }
    }

    fn check_map(&mut self, field: &Field<'_>, map: &Map, schema: Schema<'_>, key: &str) {
        for entry in map {
            // The API server ignores `status` here: it is written through the status subresource.
            if entry.key == "status" && matches!(schema, Schema::CustomRoot(_)) {
                continue;
            }
            let keys = Keys { own: &entry.key, of_map: key };
            match schema.field(&entry.key) {
                Some(schema) => self.check_value(&field.entry(entry), schema, keys),
                None => self.report.add(unknown_field(field, entry, schema)),
            }
        }
        for required in schema.required().iter() {
            if map.get(required).is_none_or(|node| node.value == Value::Null) {
                let message = format!("the required field `{required}` is missing");
                self.report.add(
                    Finding::new(Check::MissingField, field, message)
                        .note("the API server rejects the object")
                        .help(format!("add `{required}`")),
                );
            }
        }
    }

    /// Checks that the items of a list differ in their keys, if the schema makes the list a map or a set.
    fn check_duplicates(&mut self, list: &Field<'_>, schema: Schema<'_>) {
        let keys = schema.list_keys();
        if keys.is_empty() && !schema.is_set() {
            return;
        }
        let mut seen: HashMap<String, &Node> = HashMap::new();
        for item in list.items("") {
            let Some(identity) = identity_of(item.node, &keys) else { continue };
            let Some(first) = seen.get(&identity) else {
                seen.insert(identity, item.node);
                continue;
            };
            self.report.add(
                Finding::new(Check::DuplicateItem, &item, format!("another item of the list has {identity}"))
                    .note(format!("the first one is at {}", self.sources.show(first.mark)))
                    .note("server-side apply rejects the object")
                    .help("remove one of them, or change its key"),
            );
        }
    }
}

/// Returns the keys of an item with their values, or the whole item if the list is a set. Returns `None` if a key is
/// missing.
fn identity_of(item: &Node, keys: &[&str]) -> Option<String> {
    if keys.is_empty() {
        return Some(json::write(item));
    }
    let mut parts = Vec::with_capacity(keys.len());
    for key in keys {
        match item.get(key) {
            Some(value) => parts.push(format!("{key} {}", json::write(value))),
            // The protocol of a port is the only key with a default.
            None if *key == "protocol" => parts.push("protocol \"TCP\"".to_owned()),
            None => return None,
        }
    }
    Some(parts.join(", "))
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

fn unknown_field(map: &Field<'_>, entry: &Entry, schema: Schema<'_>) -> Finding {
    let known = schema.fields();
    Finding::new(Check::UnknownField, &map.entry(entry), format!("unknown field `{}`", entry.key))
        .at(entry.mark)
        .note("server-side apply rejects the object, with an error that looks like a server failure")
        .help(format!("the known fields are {}", join_names(&known)))
        .suggest(&entry.key, known.iter().copied())
}

fn wrong_type(field: &Field<'_>, expected: Expected, map_key: &str) -> Finding {
    let wanted = match expected {
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
    let is_label = expected == Expected::Text && TEXT_MAPS.contains(&map_key);
    let check = if is_label { Check::LabelNotText } else { Check::WrongType };
    let help = match (expected, &field.node.value) {
        (Expected::Text, Value::Bool(_) | Value::Number(_)) => "put the value in quotes".to_owned(),
        (Expected::Integer | Expected::Number | Expected::Boolean, Value::String(_)) => {
            format!("write {wanted}, without quotes")
        }
        _ => format!("write {wanted}"),
    };
    Finding::new(check, field, format!("expected {wanted}, found {}", field.node.value.kind()))
        .note("the API server rejects the object")
        .help(help)
}

/// Joins names for a message. Counts those after the twelfth instead of listing them.
pub(super) fn join_names(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    match names.split_at_checked(SHOWN) {
        Some((shown, rest)) if !rest.is_empty() => format!("{} and {} more", shown.join(", "), rest.len()),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::join_names;

    #[test]
    fn names_after_the_twelfth_are_counted() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];
        assert_eq!(join_names(&names[..2]), "a, b");
        assert_eq!(join_names(&names[..12]), "a, b, c, d, e, f, g, h, i, j, k, l");
        assert_eq!(join_names(&names), "a, b, c, d, e, f, g, h, i, j, k, l and 2 more");
    }
}
