//! Text that is not valid YAML or JSON, or too large to read.

use std::fmt::Write;

use super::{compare_errors, payload_error};
use crate::support::{TestProject, repository, run_in};

#[test]
fn invalid_yaml_is_reported_with_its_position() {
    compare_errors("syntax");
}

#[test]
fn invalid_json_is_reported_with_its_position() {
    let json = r#"{
  "a": 1
  "b": 2
}
"#;
    assert_eq!(payload_error("x.json", json), "error: payload/x.json:3:3: expected `,`\n");
}

#[test]
fn several_json_documents_are_not_read_as_yaml() {
    let json = r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}
{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}
{"a": tru}
"#;
    assert_eq!(payload_error("x.json", json), "error: payload/x.json:3:7: expected `true`\n");
}

#[test]
fn duplicate_keys_in_yaml_are_read_as_kubectl_reads_them_and_reported() {
    let project = TestProject::standalone().manifest(
        "x.yaml",
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a, annotations: {}}
        data:
          k: one
          k: two
        ",
    );
    let run = project.run(&["render", "-o", "json"]);
    assert_eq!(run.json()[0]["data"]["k"], "two");
    assert_eq!(
        run.stderr,
        "\
warning: payload/x.yaml:6:3: duplicate key `k`: the last value is used
  note: transship ignores the value at payload/x.yaml:5:3, as kubectl does
  help: remove one of them
"
    );
}

#[test]
fn duplicate_keys_in_json_are_read_as_kubectl_reads_them_and_reported() {
    let project = TestProject::standalone().manifest(
        "x.json",
        r#"
        {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","annotations":{}},
        "data":{"k":"one",
          "k":"two"}}
        "#,
    );
    let run = project.run(&["render", "-o", "json"]);
    assert_eq!(run.json()[0]["data"]["k"], "two");
    assert_eq!(
        run.stderr,
        "\
warning: payload/x.json:3:3: duplicate key `k`: the last value is used
  note: transship ignores the value at payload/x.json:2:9, as kubectl does
  help: remove one of them
"
    );
}

#[test]
fn a_file_that_is_not_utf8_is_an_error() {
    let project = TestProject::standalone();
    project.write("payload/x.yaml", b"a: 1\nb: x\xff\n");
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/x.yaml:2:5: the file is not UTF-8 from here on
  help: save the file as UTF-8; encode binary data as base64
"
    );
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let project = TestProject::standalone().manifest("x.yaml", "");
    let file = std::fs::File::create(project.path().join("payload/x.yaml")).unwrap();
    file.set_len((64 << 20) + 1).unwrap();
    assert_eq!(
        project.render_error("test"),
        "\
error: payload/x.yaml: the file is larger than 64 MiB
  note: an API server rejects objects above a few MiB
  help: if it is not a manifest, give it another extension than .yaml, .yml or .json
"
    );
}

#[test]
fn an_endless_stream_is_an_error() {
    let run = run_in(&repository(), &["fmt", "/dev/zero"], "");
    assert_eq!(
        run.refusal(),
        "\
error: /dev/zero: the file is larger than 64 MiB
  note: an API server rejects objects above a few MiB
  help: if it is not a manifest, give it another extension than .yaml, .yml or .json
"
    );
}

#[test]
fn deep_nesting_is_an_error() {
    let lists = "[".repeat(100_000);
    let json = format!("{{\"a\":{lists}");
    let items = "- ".repeat(100_000);
    assert_eq!(
        payload_error("x.yaml", &lists),
        "error: payload/x.yaml:1:501: this value is nested more than 500 levels deep\n"
    );
    assert_eq!(
        payload_error("x.json", &json),
        "error: payload/x.json:1:505: this value is nested more than 500 levels deep\n"
    );
    assert_eq!(
        payload_error("x.yaml", &items),
        "error: payload/x.yaml:1:1001: this value is nested more than 500 levels deep\n"
    );
}

#[test]
fn aliases_that_grow_exponentially_are_an_error() {
    let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let ten_aliases = format!("*a{}, ", level - 1).repeat(10);
        writeln!(yaml, "a{level}: &a{level} [{ten_aliases}]").unwrap();
    }
    assert_eq!(
        payload_error("x.yaml", &yaml),
        "\
error: payload/x.yaml:4:20: aliases expand this document to an excessive size
  help: write the values out; Kubernetes refuses this document as well
"
    );
}

#[test]
fn a_key_that_is_too_long_is_an_error() {
    let yaml = format!("{}: 1\n", "k".repeat(1030));
    assert_eq!(
        payload_error("x.yaml", &yaml),
        "\
error: payload/x.yaml:1:1031: the key is longer than 1,024 characters
  help: write `? ` before the key, and `: ` with the value on the next line
"
    );
}

#[test]
fn a_secret_in_a_broken_file_is_not_printed() {
    let yaml = r"
        apiVersion: v1
        kind: Secret
        metadata: {name: s}
        stringData:
          key: CANARY: x
        ";
    assert_eq!(
        payload_error("x.yaml", yaml),
        "\
error: payload/x.yaml:5:14: unexpected `: ` inside a value
  help: put the value in quotes if the `:` is part of it; otherwise check the indentation
"
    );
}

#[test]
fn a_secret_that_looks_like_an_alias_is_not_printed() {
    let yaml = r"
        apiVersion: v1
        kind: Secret
        stringData: {p: *CANARY}
        ";
    assert_eq!(
        payload_error("x.yaml", yaml),
        "\
error: payload/x.yaml:3:17: this alias refers to an unknown anchor
  help: define the anchor earlier in the same document; put a value that begins with `*` in quotes
"
    );
}
