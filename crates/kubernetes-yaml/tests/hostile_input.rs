//! Texts that are small and used to cost much. Each runs in a process whose time and memory are limited.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::Command;

use kubernetes_yaml::{Entry, Map, Mark, Node, SourceId, Value, read, write};

/// Runs the test of this name in a process with 20 seconds of CPU time and 1.5 GB of memory. Without the limits, the
/// faults that these tests are about take minutes or many gigabytes, so that a slow machine makes no difference.
fn with_limits(name: &str, body: fn()) {
    const INSIDE: &str = "KUBERNETES_YAML_LIMITED";
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let limited = "ulimit -t 20; ulimit -v 1500000; exec \"$0\" --exact \"$1\"";
    let program = std::env::current_exe().unwrap();
    let status = Command::new("sh").args(["-c", limited]).arg(program).arg(name).env(INSIDE, "").status();
    assert!(status.unwrap().success(), "{name} took too much time or memory, or failed");
}

fn refused(text: &str) -> String {
    read(text, SourceId(0)).unwrap_err().message().to_owned()
}

#[test]
fn a_string_of_spaces_and_braces_is_written() {
    with_limits("a_string_of_spaces_and_braces_is_written", || {
        let text = format!("a: \"{}{}\"\n", " ".repeat(200_000), "{".repeat(200_000));
        let written = write(&read(&text, SourceId(0)).unwrap()[0].root);
        assert_eq!(written.len(), text.len());
    });
}

#[test]
fn aliases_cannot_repeat_a_long_string_without_limit() {
    with_limits("aliases_cannot_repeat_a_long_string_without_limit", || {
        let message = "aliases expand this document to an excessive size";
        let long = "x".repeat(100_000);
        assert_eq!(refused(&format!("a: &a {long}\nb:\n{}", "- *a\n".repeat(20_000))), message);
        // Nor by aliases of aliases, in keys, or in several documents.
        assert_eq!(
            refused(&format!("a: &a {long}\nb: &b [{}]\nc: [*b, *b, *b]\n", "*a, ".repeat(80))),
            message
        );
        assert_eq!(
            refused(&format!("a: &a {{{}}}\nb: [{}]\n", "x, ".repeat(90_000), "*a, ".repeat(90))),
            message
        );
        let document = format!("a: &a {long}\nb: [{}]\n", "*a, ".repeat(60));
        assert_eq!(refused(&format!("{document}---\n{document}---\n{document}")), message);
    });
}

#[test]
fn aliases_may_repeat_some_text() {
    let text = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(100));
    assert_eq!(read(&text, SourceId(0)).unwrap()[0].root.get("b").unwrap().as_list().unwrap().len(), 100);
}

#[test]
fn a_text_cannot_have_millions_of_values() {
    with_limits("a_text_cannot_have_millions_of_values", || {
        let message = "the text has more than 2,000,000 values and keys";
        let items = "a,".repeat(30 << 20);
        assert_eq!(refused(&format!("{{{items}a}}\n")), message);
        assert_eq!(refused(&format!("[{items}a]\n")), message);
        assert_eq!(refused(&"- a\n---\n".repeat(3_000_000)), message);
        assert_eq!(refused(&format!("{{\"a\":[{}1]}}{{}}{{}}", "1,".repeat(20 << 20))), message);
    });
}

#[test]
fn thousands_of_duplicate_keys_are_reported_once_each_up_to_a_limit() {
    let document = read(&format!("{{{}a}}\n", "a,".repeat(100_000)), SourceId(0)).unwrap().remove(0);
    assert_eq!(document.duplicates.len(), 1000);
}

#[test]
fn brackets_after_brackets_are_read() {
    with_limits("brackets_after_brackets_are_read", || {
        let text = format!("{}{}{}", "[".repeat(490), "[],".repeat(1_900_000), "]".repeat(490));
        assert!(read(&text, SourceId(0)).is_ok());
    });
}

#[test]
fn a_map_takes_many_new_keys_at_once() {
    with_limits("a_map_takes_many_new_keys_at_once", || {
        let entries = |first: u32| {
            (0..300_000).map(move |number| Entry {
                key: format!("{:07}", 2 * number + first).into(),
                mark: Mark::default(),
                value: Node::from(Value::Null),
            })
        };
        let mut map: Map = entries(0).collect();
        map.extend(entries(1));
        assert_eq!(map.len(), 600_000);
        assert!(map.iter().is_sorted_by(|a, b| a.key < b.key));
        map.retain(|entry| entry.key.ends_with('4'));
        assert_eq!(map.len(), 60_000);
    });
}

#[test]
fn a_map_of_its_own_is_changed_in_place() {
    with_limits("a_map_of_its_own_is_changed_in_place", || {
        // Each value is a list that a copy of the map would copy as well.
        let list = Value::List(vec![Node::from(Value::Null); 100]);
        let mut map = Map::default();
        for number in 0..40_000 {
            let value = Node::from(list.clone());
            map.insert(Entry { key: format!("{number:07}").into(), mark: Mark::default(), value });
        }
        assert_eq!(map.len(), 40_000);
    });
}
