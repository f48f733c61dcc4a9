//! Conversions from and to `serde_json::Value`.

use crate::{Entry, Map, Mark, Node, Number, Text, Value};

/// Converts to the value that `serde_json` reads from the JSON that [`json::write`](crate::json::write) writes.
///
/// A float without a fraction becomes an integer if it fits, as it does in Kubernetes. Infinity and NaN, which reading
/// never produces, become null.
impl From<&Node> for serde_json::Value {
    fn from(node: &Node) -> Self {
        match &node.value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(number) => number_to_json(*number),
            Value::String(text) => Self::String(text.to_string()),
            Value::List(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Map(map) => {
                let entries = map.iter().map(|entry| (entry.key.to_string(), Self::from(&entry.value)));
                Self::Object(entries.collect())
            }
        }
    }
}

fn number_to_json(number: Number) -> serde_json::Value {
    let number = match number {
        Number::Float(float) => Number::from_float(float),
        integer => integer,
    };
    match number {
        Number::Int(int) => int.into(),
        Number::Uint(uint) => uint.into(),
        Number::Float(float) => float.into(),
    }
}

/// Converts to the value that [`read`](crate::read()) reads from the JSON that `serde_json` writes, without a position.
///
/// With the feature `arbitrary_precision` of `serde_json`, a number that no 64-bit float can hold becomes null.
impl From<&serde_json::Value> for Node {
    fn from(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        Self::from(match json {
            Json::Null => Value::Null,
            Json::Bool(bool) => Value::Bool(*bool),
            Json::Number(number) => number_from_json(number).map_or(Value::Null, Value::Number),
            Json::String(text) => Value::String(Text::from(text.as_str())),
            Json::Array(items) => Value::List(items.iter().map(Self::from).collect()),
            Json::Object(entries) => Value::Map(entries.iter().map(entry_from_json).collect::<Map>()),
        })
    }
}

fn entry_from_json((key, value): (&String, &serde_json::Value)) -> Entry {
    Entry { key: Text::from(key.as_str()), mark: Mark::default(), value: Node::from(value) }
}

fn number_from_json(number: &serde_json::Number) -> Option<Number> {
    if let Some(int) = number.as_i64() {
        return Some(Number::Int(int));
    }
    if let Some(uint) = number.as_u64() {
        return Some(Number::Uint(uint));
    }
    number.as_f64().map(Number::Float)
}
