//! Generates objects of Kubernetes' own kinds, and patches that often fit them.

use serde_json::{Map, Value, json};

use crate::random::Random;
use crate::shapes::{KINDS, METADATA, Shape};

/// The texts and keys of generated values. There are few, so that objects and patches often agree.
const WORDS: [&str; 6] = ["a", "b", "c", "d", "e", "x/y"];

fn word(random: &mut Random) -> &'static str {
    random.pick(&WORDS)
}

fn number(random: &mut Random) -> Value {
    json!(random.below(6))
}

/// Returns an object, and the shape of its fields for patches.
pub(crate) fn object(random: &mut Random) -> (Value, &'static [(&'static str, Shape)]) {
    let (api_version, kind, fields) = &KINDS[random.below(KINDS.len())];
    let mut object = map(fields, random);
    let mut metadata = map(METADATA, random);
    metadata.insert("name".to_owned(), json!("o"));
    object.insert("apiVersion".to_owned(), json!(api_version));
    object.insert("kind".to_owned(), json!(kind));
    object.insert("metadata".to_owned(), Value::Object(metadata));
    (Value::Object(object), fields)
}

fn map(fields: &[(&str, Shape)], random: &mut Random) -> Map<String, Value> {
    let mut map = Map::new();
    for (name, shape) in fields {
        if !random.one_in(3) {
            map.insert((*name).to_owned(), value(shape, random));
        }
    }
    map
}

fn value(shape: &Shape, random: &mut Random) -> Value {
    match shape {
        Shape::Text => json!(word(random)),
        Shape::Number => number(random),
        Shape::Boolean => json!(random.one_in(2)),
        Shape::Labels => {
            let count = random.below(4);
            Value::Object((0..count).map(|_| (word(random).to_owned(), json!(word(random)))).collect())
        }
        Shape::Object(fields) => Value::Object(map(fields, random)),
        Shape::Keyed(key, fields) => {
            let mut items: Vec<Value> = Vec::new();
            for _ in 0..random.below(5) {
                let item = keyed_item(key, fields, random);
                if items.iter().all(|other| other[*key] != item[*key]) {
                    items.push(item);
                }
            }
            Value::Array(items)
        }
        Shape::Set => Value::Array(words(random)),
        Shape::List(item) => Value::Array((0..random.below(4)).map(|_| value(item, random)).collect()),
    }
}

fn keyed_item(key: &str, fields: &[(&str, Shape)], random: &mut Random) -> Value {
    let mut item = map(fields, random);
    item.insert(key.to_owned(), key_value(key, random));
    Value::Object(item)
}

fn key_value(key: &str, random: &mut Random) -> Value {
    if matches!(key, "containerPort" | "port") { number(random) } else { json!(word(random)) }
}

/// Returns different words in any order.
fn words(random: &mut Random) -> Vec<Value> {
    let mut words = Vec::new();
    for _ in 0..random.below(5) {
        let word = json!(word(random));
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Returns a strategic merge patch for an object with these fields.
pub(crate) fn strategic_patch(fields: &[(&str, Shape)], random: &mut Random) -> Value {
    let mut patch = map_patch(fields, true, random);
    if random.one_in(2) {
        patch.insert("metadata".to_owned(), Value::Object(map_patch(METADATA, true, random)));
    }
    Value::Object(patch)
}

/// Returns a JSON merge patch for an object with these fields.
pub(crate) fn merge_patch(fields: &[(&str, Shape)], random: &mut Random) -> Value {
    let mut patch = map_patch(fields, false, random);
    if random.one_in(2) {
        patch.insert("metadata".to_owned(), Value::Object(map_patch(METADATA, false, random)));
    }
    if random.one_in(8) {
        patch.insert(word(random).to_owned(), anything(3, random));
    }
    Value::Object(patch)
}

fn map_patch(fields: &[(&str, Shape)], directives: bool, random: &mut Random) -> Map<String, Value> {
    let mut patch = Map::new();
    for (name, shape) in fields {
        match random.below(12) {
            0..=6 => {}
            7 => {
                patch.insert((*name).to_owned(), Value::Null);
            }
            8 if random.one_in(6) => {
                patch.insert((*name).to_owned(), anything(2, random));
            }
            _ => field_patch(name, shape, directives, random, &mut patch),
        }
    }
    if directives && random.one_in(14) {
        patch.insert("$patch".to_owned(), json!(random.pick(&["replace", "replace", "delete", "merge"])));
    }
    if directives && random.one_in(12) {
        let mut keys: Vec<&str> =
            patch.keys().filter(|key| !key.starts_with('$')).map(String::as_str).collect();
        keys.extend(fields.iter().map(|(name, _)| *name).filter(|_| random.one_in(3)));
        if random.one_in(6) {
            keys.pop();
        }
        let keys = json!(keys);
        patch.insert("$retainKeys".to_owned(), keys);
    }
    patch
}

fn field_patch(
    name: &str,
    shape: &Shape,
    directives: bool,
    random: &mut Random,
    patch: &mut Map<String, Value>,
) {
    let value = match shape {
        Shape::Labels => {
            let count = random.below(4);
            let value =
                |random: &mut Random| if random.one_in(4) { Value::Null } else { json!(word(random)) };
            Value::Object((0..count).map(|_| (word(random).to_owned(), value(random))).collect())
        }
        Shape::Object(fields) => {
            let mut patch = map_patch(fields, directives, random);
            // In a map that is always replaced, Kubernetes does not read the directive but keeps it.
            if name == "selector" {
                patch.remove("$patch");
            }
            Value::Object(patch)
        }
        Shape::Keyed(key, fields) => Value::Array(keyed_patch(key, fields, directives, random)),
        Shape::Set => {
            let (kept, removed): (Vec<_>, Vec<_>) =
                words(random).into_iter().partition(|_| !random.one_in(3));
            if directives && !removed.is_empty() {
                patch.insert(format!("$deleteFromPrimitiveList/{name}"), json!(removed));
            }
            json!(kept)
        }
        Shape::List(item) if random.one_in(3) => {
            let count = random.below(3);
            Value::Array((0..count).map(|_| list_item_patch(item, directives, random)).collect())
        }
        other => value(other, random),
    };
    if directives && random.one_in(5) {
        set_element_order(name, shape, &value, random, patch);
    }
    patch.insert(name.to_owned(), value);
    if directives && random.one_in(20) && matches!(shape, Shape::Keyed(..) | Shape::Set | Shape::List(_)) {
        patch.remove(name);
    }
}

fn list_item_patch(item: &Shape, directives: bool, random: &mut Random) -> Value {
    match item {
        Shape::Object(fields) => Value::Object(map_patch(fields, directives, random)),
        other => value(other, random),
    }
}

fn keyed_patch(key: &str, fields: &[(&str, Shape)], directives: bool, random: &mut Random) -> Vec<Value> {
    let mut items = Vec::new();
    for _ in 0..random.below(4) {
        let mut item = map_patch(fields, directives, random);
        item.remove("$patch");
        if random.one_in(40) {
            item.remove(key);
        } else {
            item.insert(key.to_owned(), key_value(key, random));
            if let Some(Value::Array(keys)) = item.get_mut("$retainKeys") {
                keys.push(json!(key));
            }
        }
        if directives && random.one_in(5) {
            let directive = random.pick(&["delete", "delete", "delete", "replace", "merge", "other"]);
            item.insert("$patch".to_owned(), json!(directive));
        }
        items.push(Value::Object(item));
    }
    if directives && random.one_in(12) {
        items.push(json!({"$patch": "replace"}));
    }
    items
}

/// Adds a `$setElementOrder` that lists the items of the patch in their order, and others between them.
fn set_element_order(
    name: &str,
    shape: &Shape,
    value: &Value,
    random: &mut Random,
    patch: &mut Map<String, Value>,
) {
    let mut order = Vec::new();
    let key = match shape {
        Shape::Keyed(key, _) => Some(*key),
        Shape::Set | Shape::List(Shape::Text) => None,
        _ => return,
    };
    let other = |random: &mut Random| match key {
        Some(key) => json!({key: key_value(key, random)}),
        None => json!(word(random)),
    };
    // Kubernetes compares the order with a list that is replaced only by accident.
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if items.iter().any(|item| item.get("$patch").is_some_and(|directive| directive != "delete")) {
        return;
    }
    for item in items {
        while random.one_in(3) {
            order.push(other(random));
        }
        match key {
            Some(key) if item.get("$patch").is_none() => order.push(json!({key: item.get(key)})),
            Some(_) => {}
            None => order.push(item.clone()),
        }
    }
    while random.one_in(2) {
        order.push(other(random));
    }
    if random.one_in(10) {
        order.reverse();
    }
    if !order.is_empty() {
        patch.insert(format!("$setElementOrder/{name}"), Value::Array(order));
    }
}

/// Returns any value that is not null.
fn anything(depth: usize, random: &mut Random) -> Value {
    match random.below(if depth == 0 { 3 } else { 5 }) {
        0 => json!(word(random)),
        1 => number(random),
        2 => json!(random.one_in(2)),
        3 => {
            let count = random.below(3);
            let item = |random: &mut Random| {
                if random.one_in(6) { Value::Null } else { anything(depth - 1, random) }
            };
            Value::Array((0..count).map(|_| item(random)).collect())
        }
        _ => {
            let count = random.below(3);
            let item = |random: &mut Random| {
                if random.one_in(6) { Value::Null } else { anything(depth - 1, random) }
            };
            Value::Object((0..count).map(|_| (word(random).to_owned(), item(random))).collect())
        }
    }
}

/// Returns the operations of a JSON patch for an object.
pub(crate) fn json_patch(object: &Value, random: &mut Random) -> Value {
    let mut pointers = vec![String::new()];
    collect_pointers(object, "", &mut pointers);
    let count = 1 + random.below(4);
    Value::Array((0..count).map(|_| operation(object, &pointers, random)).collect())
}

fn operation(object: &Value, pointers: &[String], random: &mut Random) -> Value {
    let op = random.pick(&["add", "add", "remove", "replace", "replace", "move", "copy", "test", "test"]);
    let path = pointer(pointers, random);
    let mut operation = json!({"op": op, "path": path});
    match op {
        "move" | "copy" => operation["from"] = json!(pointer(pointers, random)),
        "remove" => {}
        // Most tests should succeed.
        "test" if random.below(4) > 0 => {
            operation["value"] = object.pointer(&path).cloned().unwrap_or(Value::Null);
        }
        _ if random.one_in(10) => operation["value"] = Value::Null,
        _ => operation["value"] = anything(2, random),
    }
    operation
}

/// Returns a pointer to a value that the object has, or to one beside it.
fn pointer(pointers: &[String], random: &mut Random) -> String {
    let pointer = pointers[random.below(pointers.len())].clone();
    let parent = || pointer.rsplit_once('/').map(|(parent, _)| parent.to_owned()).unwrap_or_default();
    match random.below(12) {
        0 => format!("{pointer}/{}", word(random).replace('/', "~1")),
        1 => format!("{pointer}/-"),
        2 => format!("{}/{}", parent(), random.below(6)),
        3 => format!("{}/{}", parent(), word(random).replace('/', "~1")),
        4 => format!("{}/-", parent()),
        _ => pointer,
    }
}

fn collect_pointers(value: &Value, parent: &str, pointers: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect()
        }
        _ => Vec::new(),
    };
    for (key, child) in children {
        let pointer = format!("{parent}/{key}");
        collect_pointers(child, &pointer, pointers);
        pointers.push(pointer);
    }
}
