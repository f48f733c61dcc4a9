//! What must hold for any value and any text.

use proptest::prelude::*;
use transship::yaml::{self, Entry, Map, Mark, Node, Number, SourceId, Value};

fn node(value: Value) -> Node {
    Node { value, mark: Mark::default() }
}

/// Text that YAML readers trip over, and text that they do not.
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
        // Minus zero is written as Go writes it, `-0`, and that reads as the integer zero.
        any::<f64>()
            .prop_filter("JSON has no others", |float| float.is_finite()
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
    .prop_map(node);
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(|items| node(Value::List(items))),
            proptest::collection::vec((text(), inner), 0..6).prop_map(|entries| {
                let entry =
                    |(key, value): (String, Node)| Entry { key: key.into(), mark: Mark::default(), value };
                node(Value::Map(Map::from_entries(entries.into_iter().map(entry).collect(), |_, _| {})))
            }),
        ]
    })
}

/// Any value as the value of a key, as everything in a manifest is.
fn document() -> impl Strategy<Value = Node> {
    (text(), value()).prop_map(|(key, value)| {
        let entry = Entry { key: key.into(), mark: Mark::default(), value };
        node(Value::Map(Map::from_entries(vec![entry], |_, _| {})))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_reads_back_as_the_same_value(document in document()) {
        let written = yaml::write(&document);
        let read = yaml::read(&written, SourceId(0)).map_err(|error| TestCaseError::fail(format!("{error:?}\n{written}")))?;
        prop_assert_eq!(read.len(), 1, "{}", written);
        prop_assert_eq!(&read[0].root, &document, "{}", written);
        // A whole float such as 1e+20 is an integer once it was read; after that nothing changes any more.
        let canonical = yaml::write(&read[0].root);
        prop_assert_eq!(yaml::write(&yaml::read(&canonical, SourceId(0)).unwrap()[0].root), canonical);
    }

    #[test]
    fn json_reads_back_as_the_same_value(document in document()) {
        let written = yaml::json::write(&document);
        let read = yaml::read(&written, SourceId(0)).map_err(|error| TestCaseError::fail(format!("{error:?}\n{written}")))?;
        prop_assert_eq!(&read[0].root, &document, "{}", written);
        let oracle: serde_json::Value = serde_json::from_str(&written).unwrap();
        prop_assert!(oracle.is_object());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in proptest::collection::vec(text(), 0..12)) {
        let _ = yaml::read(&text.concat(), SourceId(0));
    }

    #[test]
    fn no_part_of_a_manifest_makes_the_reader_panic(from in 0usize..3000, length in 0usize..400, junk in text()) {
        let manifest = include_str!("../../payload/csi-snapshot-controller/0000_50_csi-snapshot-controller_07_deployment.yaml");
        let from = from.min(manifest.len());
        let to = (from + length).min(manifest.len());
        let _ = yaml::read(&format!("{}{junk}{}", &manifest[from..to], &manifest[..from]), SourceId(0));
    }
}
