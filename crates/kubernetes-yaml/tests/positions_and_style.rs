//! Positions, and how values are written where Kubernetes' own cases say nothing.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use kubernetes_yaml::{Node, SourceId, json, read, write};

fn read_one(text: &str) -> Node {
    read(text, SourceId(0)).unwrap().remove(0).root
}

#[test]
fn every_node_and_key_knows_its_line_and_column() {
    let root = read_one("# c\na:\n  - b\n  - {c: 1, é: [x, y1]}\n\"k\": |\n  text\n");
    let at = |node: &Node| (node.mark.line, node.mark.column);
    assert_eq!(at(&root), (2, 1));
    let list = root.get("a").unwrap().as_list().unwrap();
    assert_eq!((at(&list[0]), at(&list[1])), ((3, 5), (4, 5)));
    assert_eq!(at(list[1].get("c").unwrap()), (4, 9));
    assert_eq!(at(&list[1].get("é").unwrap().as_list().unwrap()[1]), (4, 19));
    let entry = root.as_map().unwrap().entry("k").unwrap();
    assert_eq!(((entry.mark.line, entry.mark.column), at(&entry.value)), ((5, 1), (5, 6)));
}

#[test]
fn positions_count_from_the_start_of_the_file() {
    let documents = read("a: &x 1\n---\n# c\nb:\n  c: 2\n", SourceId(3)).unwrap();
    let c = documents[1].root.get("b").unwrap().get("c").unwrap();
    assert_eq!((c.mark.source, c.mark.line, c.mark.column), (SourceId(3), 5, 6));
    let documents = read("{\"a\": 1}\n---\nb: 2\n", SourceId(0)).unwrap();
    assert_eq!(documents[1].root.get("b").unwrap().mark.line, 3);
    let aliased = read_one("a: &x\n  k: 1\nb: *x\n");
    assert_eq!(
        aliased.get("b").unwrap().get("k").unwrap().mark.line,
        2,
        "an alias has the position of its anchor"
    );
}

#[test]
fn long_lines_are_not_folded() {
    let long = "word ".repeat(100) + "end";
    assert_eq!(write(&read_one(&format!("a: {long}\n"))), format!("a: {long}\n"));
    assert_eq!(write(&read_one(&format!("a: ' {long}'\n"))), format!("a: ' {long}'\n"));
}

#[test]
fn strings_that_other_readers_would_misread_are_quoted() {
    for text in
        ["=", "2001-99-99", "2001-12-14 21:59:43", "12:30:45", "0o17", "1_000", "yes", "~", "", "0640"]
    {
        let written = write(&read_one(&format!("a: '{text}'\n")));
        assert_eq!(written, format!("a: \"{text}\"\n"));
    }
    assert_eq!(write(&read_one("'<<': 1\n'=': 2\n")), "\"<<\": 1\n\"=\": 2\n");
}

#[test]
fn numbers_keep_their_digits() {
    let text = "a: 9007199254740993\nb: 18446744073709551615\nc: -9223372036854775808\nd: 1e-07\ne: 0.1\n";
    assert_eq!(write(&read_one(text)), text);
    let json = json::write(&read_one("[1e21, 1e20, 1e-7, 0.000001, 1.50, -0.0, 18446744073709551616]"));
    assert_eq!(json, "[1e+21,100000000000000000000,1e-7,0.000001,1.5,-0,18446744073709552000]");
}

#[test]
fn json_is_written_as_go_writes_it() {
    let json = json::write(&read_one("{b: \"<a>&\\u2028\\x7f\\t\\\"\", a: [], é: null}"));
    assert_eq!(json, "{\"a\":[],\"b\":\"\\u003ca\\u003e\\u0026\\u2028\u{7f}\\t\\\"\",\"é\":null}");
}

/// Kubernetes reads a text as JSON if `{` is its first character after blanks, including blanks that YAML does not know.
#[test]
fn a_key_that_would_look_like_json_is_quoted() {
    let root = read_one("'\u{a0}{': 1\n");
    assert_eq!(write(&root), "'\u{a0}{': 1\n");
    assert_eq!(read_one(&write(&root)), root);
}

/// Returns the line and column of the text that Kubernetes ignores after the first document.
fn dropped(text: &str) -> Option<(u32, u32)> {
    let document = read(text, SourceId(0)).unwrap().remove(0);
    document.dropped.map(|mark| (mark.line, mark.column))
}

#[test]
fn text_that_kubernetes_ignores_after_a_document_is_reported() {
    for (text, at) in [
        ("a: 1\n...\nb: 2\n", (3, 1)),
        ("a: 1\n...\n# c\n\n...\n  b: 2\n", (6, 3)),
        ("a: 1\n... b\n", (2, 5)),
        ("a: 1\n...\n\"not closed\n", (3, 1)),
        ("{a: 1}\nb: 2\n", (2, 1)),
        ("[]a: 1\n", (1, 3)),
        (" a: 1\nb: 2\n", (2, 1)),
        ("  a: 1\n b: 2\n", (2, 2)),
        (" ? a\n: b\n", (2, 1)),
        ("a: 1\r---\rb: 2\r", (3, 1)),
        ("\"a\"\n\"b\"\n", (2, 1)),
    ] {
        assert_eq!(dropped(text), Some(at), "{text:?}");
    }
    let documents = read("a: 1\n---\nb: 1\n...\nc: 1\n", SourceId(3)).unwrap();
    assert_eq!(documents[0].dropped, None);
    assert_eq!(documents[1].dropped.map(|mark| (mark.source, mark.line)), Some((SourceId(3), 5)));
}

#[test]
fn nothing_is_reported_where_kubernetes_ignores_only_comments_and_blank_lines() {
    for text in [
        "a: 1\n...\n",
        "a: 1\n... # c\n",
        "a: 1\n...\n\n# c\n...\n",
        "{a: 1}\n# c\n",
        " a: 1\n# c\n\n",
        "{\"a\": 1}\n",
        "---\na: 1\n...\n---\nb: 1\n",
    ] {
        assert_eq!(dropped(text), None, "{text:?}");
    }
}
