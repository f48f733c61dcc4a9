//! Conversions from and to `serde_json::Value`, compared with the detour through text.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kubernetes_yaml::{Node, Number, SourceId, Value, json, read};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn read_one(text: &str) -> Node {
    read(text, SourceId::default()).unwrap().remove(0).root
}

/// Compares with the value that `serde_json` reads from the JSON of the node. No digit is lost.
fn assert_to_json(node: &Node) {
    let through_text: Json = serde_json::from_str(&json::write(node)).unwrap();
    let direct = Json::from(node);
    assert!(same(&direct, &through_text), "{direct} is not {through_text}");
    assert_eq!(Node::from(&direct), *node);
}

/// Compares with the node that is read from the JSON of the value.
fn assert_from_json(value: &Json) {
    let through_text = read_one(&value.to_string());
    let direct = Node::from(value);
    assert!(identical(&direct, &through_text), "{direct:?} is not {through_text:?}");
}

/// Compares JSON. `serde_json` reads some floats with an error in the last digits, unlike the conversion.
fn same(direct: &Json, through_text: &Json) -> bool {
    match (direct, through_text) {
        (Json::Number(direct), Json::Number(through_text)) if direct.is_f64() && through_text.is_f64() => {
            let (direct, through_text) = (direct.as_f64().unwrap(), through_text.as_f64().unwrap());
            direct.to_bits().abs_diff(through_text.to_bits()) <= 16
        }
        (Json::Array(direct), Json::Array(through_text)) => {
            direct.len() == through_text.len() && direct.iter().zip(through_text).all(|(a, b)| same(a, b))
        }
        (Json::Object(direct), Json::Object(through_text)) => {
            direct.len() == through_text.len()
                && direct.iter().zip(through_text).all(|((key, a), (other, b))| key == other && same(a, b))
        }
        (direct, through_text) => direct == through_text,
    }
}

/// Compares nodes. Unlike `==`, it tells `1` from `1.0` and `0.0` from `-0.0`.
fn identical(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Number(Number::Float(a)), Value::Number(Number::Float(b))) => a.to_bits() == b.to_bits(),
        (Value::Number(a), Value::Number(b)) => {
            std::mem::discriminant(a) == std::mem::discriminant(b) && a == b
        }
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| identical(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| a.key == b.key && identical(&a.value, &b.value))
        }
        (a, b) => a == b,
    }
}

#[test]
fn a_manifest_converts_as_through_text() {
    let root = read_one(include_str!("data/deployment.yaml"));
    assert_to_json(&root);
    let json = Json::from(&root);
    assert_from_json(&json);
    assert_eq!(Node::from(&json), root);
}

#[test]
fn numbers_convert_as_through_text() {
    for number in [
        "0",
        "-0",
        "-0.0",
        "0.0",
        "1",
        "-1",
        "1.0",
        "-1.0",
        "1.5",
        "0.1",
        "1e3",
        "1E+2",
        "100000000000000000000",
        "1e20",
        "1e21",
        "-1e21",
        "1e-6",
        "1e-7",
        "123456789.125",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "1.7976931348623157e308",
        "5e-324",
        "0.30000000000000004",
    ] {
        // As JSON, where a float stays a float, and as YAML, where it may become an integer.
        assert_to_json(&read_one(&format!("{{\"v\":{number}}}")));
        assert_to_json(&read_one(&format!("v: {number}\n")));
        assert_from_json(&serde_json::from_str(&format!("{{\"v\":{number}}}")).unwrap());
    }
}

#[test]
fn integers_keep_their_digits() {
    let root = read_one("big: 9007199254740993\nhuge: 18446744073709551615\nmode: 0640\nwhole: 2.0\n");
    let json = Json::from(&root);
    assert_eq!(json, json!({"big": 9_007_199_254_740_993_i64, "huge": u64::MAX, "mode": 416, "whole": 2}));
    assert!(identical(&Node::from(&json), &root));
}

#[test]
fn keys_are_sorted_whatever_the_order_in_json() {
    let json: Json = serde_json::from_str(r#"{"b":{"d":1,"c":2},"a":[{"f":1,"e":2}]}"#).unwrap();
    let node = Node::from(&json);
    assert_eq!(json::write(&node), r#"{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}"#);
    assert_eq!(node.as_map().unwrap().get("b").and_then(|b| b.get("c")).and_then(Node::as_i64), Some(2));
}

#[test]
fn null_and_scalars_convert_at_the_top_level() {
    for json in [json!(null), json!(true), json!(7), json!("text\u{1}"), json!([])] {
        assert_eq!(Json::from(&Node::from(&json)), json);
    }
    assert_eq!(Json::from(&Node::from(Value::Number(Number::Float(f64::NAN)))), Json::Null);
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON can represent it", |float| float.is_finite()).prop_map(Json::from),
        any::<i32>().prop_map(|int| Json::from(f64::from(int))),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            proptest::collection::btree_map(any::<String>(), inner, 0..5)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_value_converts_as_through_text(value in any_json()) {
        let object = json!({"value": value});
        assert_from_json(&object);
        let node = Node::from(&object);
        assert_to_json(&node);
        prop_assert_eq!(Node::from(&Json::from(&node)), node);
    }
}
