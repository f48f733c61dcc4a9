//! Properties of any value and any text.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use kubernetes_yaml::{Entry, Map, Mark, Node, Number, SourceId, Value, json, read, write};
use proptest::prelude::*;

#[path = "support/round_trip.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod round_trip;

/// Strings that are made of YAML syntax, and any other strings.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("yes"),
        Just("no"),
        Just("~"),
        Just("null"),
        Just("0640"),
        Just("1e3"),
        Just("12:30"),
        Just("2001-01-01"),
        Just("<<"),
        Just("="),
        Just("- "),
        Just(": "),
        Just(" #"),
        Just("\n"),
        Just("\n\n"),
        Just(" "),
        Just("\t"),
        Just("'"),
        Just("\""),
        Just("\\"),
        Just("---"),
        Just("..."),
        Just("{{ x }}"),
        Just("${X}"),
        Just("%"),
        Just("|"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("\u{feff}"),
        Just("\u{1f680}"),
        Just("\0"),
        Just("\r"),
        Just("a"),
        Just("x y"),
        Just("é"),
    ];
    prop_oneof![proptest::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat()), any::<String>(),]
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::Int),
        (i64::MAX.unsigned_abs() + 1..).prop_map(Number::Uint),
        // Go writes minus zero as `-0`, which is read as the integer zero.
        any::<f64>()
            .prop_filter("JSON can represent it", |float| float.is_finite()
                && (*float != 0.0 || float.is_sign_positive()))
            .prop_map(Number::Float),
    ]
}

fn value() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        text().prop_map(|text| Value::String(text.into())),
    ]
    .prop_map(Node::from);
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(|items| Node::from(Value::List(items))),
            proptest::collection::vec((text(), inner), 0..6).prop_map(|entries| {
                let entries = entries.into_iter().map(|(key, value)| entry(&key, value));
                Node::from(Value::Map(entries.collect::<Map>()))
            }),
        ]
    })
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: key.into(), mark: Mark::default(), value }
}

/// A map with one key and any value.
fn document() -> impl Strategy<Value = Node> {
    (text(), value()).prop_map(|(key, value)| Node::from(Value::Map(Map::of(vec![entry(&key, value)]))))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back_as_the_same_value(document in document()) {
        let written = write(&document);
        let documents = read(&written, SourceId(0)).map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
        prop_assert_eq!(documents.len(), 1, "{}", written);
        prop_assert_eq!(&documents[0].root, &document, "{}", written);
        // A float without a fraction, such as 1e+20, is read as an integer. After that the text does not change.
        let canonical = write(&documents[0].root);
        prop_assert_eq!(write(&read(&canonical, SourceId(0)).unwrap()[0].root), canonical);
    }

    #[test]
    fn json_reads_back_as_the_same_value(document in document()) {
        let written = json::write(&document);
        let documents = read(&written, SourceId(0)).map_err(|error| TestCaseError::fail(format!("{error}\n{written}")))?;
        prop_assert_eq!(&documents[0].root, &document, "{}", written);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&written).unwrap().is_object());
    }

    #[test]
    fn any_text_is_read_without_a_panic_and_survives_writing(text in proptest::collection::vec(text(), 0..12)) {
        round_trip::survives_writing(&text.concat());
    }

    #[test]
    fn any_part_of_a_manifest_is_read_without_a_panic_and_survives_writing(from in 0usize..3000, length in 0usize..400, junk in text()) {
        let manifest = include_str!("data/deployment.yaml");
        let from = from.min(manifest.len());
        let to = (from + length).min(manifest.len());
        round_trip::survives_writing(&format!("{}{junk}{}", &manifest[from..to], &manifest[..from]));
    }
}
