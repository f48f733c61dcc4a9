//! Compares with recorded answers of Kubernetes' own Go code. `data/read.json` and `data/write.json` hold an input and
//! the answer of `sigs.k8s.io/yaml` and of `kubectl`'s stream reader for each case.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use base64::Engine;
use kubernetes_yaml::{SourceId, json, read, write};
use serde_json::Value as Json;

fn cases(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn field<'a>(case: &'a Json, name: &str) -> Option<&'a str> {
    case.get(name).and_then(Json::as_str)
}

/// Returns the documents of a case as JSON, or `None` if Kubernetes refuses the text.
fn expected_documents(case: &Json) -> Option<Vec<String>> {
    if field(case, "docs_error").is_some() {
        return None;
    }
    if let Some(documents) = case.get("docs").and_then(Json::as_array) {
        return Some(documents.iter().map(|document| document.as_str().unwrap().to_owned()).collect());
    }
    match field(case, "json_text") {
        Some("null") => Some(Vec::new()),
        Some(text) => Some(vec![text.to_owned()]),
        None => None,
    }
}

fn input(case: &Json) -> Vec<u8> {
    match field(case, "yaml_base64") {
        Some(text) => base64::engine::general_purpose::STANDARD.decode(text).unwrap(),
        None => field(case, "yaml").unwrap().into(),
    }
}

fn actual_documents(input: &[u8]) -> Option<Vec<String>> {
    let documents = read(std::str::from_utf8(input).ok()?, SourceId(0)).ok()?;
    Some(documents.iter().map(|document| json::write(&document.root)).collect())
}

/// Compares JSON texts by value: numbers may be written in different ways, and keys be in another order.
fn same_values(actual: &[String], expected: &[String]) -> bool {
    actual.len() == expected.len()
        && actual.iter().zip(expected).all(|(actual, expected)| canonical(actual) == canonical(expected))
}

fn canonical(text: &str) -> String {
    let document = read(&format!("{{\"v\":{text}}}"), SourceId(0)).unwrap().remove(0);
    json::write(&document.root)
}

/// Cases that Kubernetes accepts and this crate refuses, because the text is damaged: see README.md.
const REFUSED_ON_PURPOSE: [&str; 2] = ["json/invalid UTF-8", "encoding/UTF-16 big-endian"];

#[test]
fn reads_every_case_as_kubernetes_does() {
    let mut wrong = Vec::new();
    let cases = cases("read.json");
    for case in &cases {
        // Kubernetes' answer to this one is random.
        if case.get("nondeterministic").is_some() {
            continue;
        }
        let (actual, expected) = (actual_documents(&input(case)), expected_documents(case));
        let agree = match (&actual, &expected) {
            (Some(actual), Some(expected)) => same_values(actual, expected),
            (None, None) => true,
            (None, Some(_)) => REFUSED_ON_PURPOSE.contains(&field(case, "name").unwrap()),
            (Some(_), None) => false,
        };
        if !agree {
            wrong.push(format!("{}: {actual:?} instead of {expected:?}", field(case, "name").unwrap()));
        }
    }
    assert_eq!(cases.len(), 320);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Cases in which Go writes no quotes and other YAML 1.1 readers would read something else: the case, what Go writes, and
/// what this crate writes.
const QUOTED_ON_PURPOSE: [(&str, &str, &str); 2] =
    [("string/=", "v: =\n", "v: \"=\"\n"), ("keys-quoted", "<<: 16\n", "\"<<\": 16\n")];

#[test]
fn writes_every_case_as_kubernetes_does() {
    let mut wrong = Vec::new();
    let cases = cases("write.json");
    for case in &cases {
        let name = field(case, "name").unwrap();
        let json_text = field(case, "json_text").unwrap();
        // Go's writer reads its JSON with its YAML reader. The comment keeps this reader from trying JSON first.
        let as_yaml = read(&format!("# YAML\n{json_text}\n"), SourceId(0));
        let documents = as_yaml.or_else(|_| read(json_text, SourceId(0))).unwrap();
        let actual = documents.first().map_or_else(|| "null\n".to_owned(), |document| write(&document.root));
        let Some(expected) = field(case, "yaml") else {
            let again = read(&actual, SourceId(0)).unwrap().remove(0);
            assert_eq!(again.root, documents[0].root, "{name} is read as another value");
            continue;
        };
        let mut expected = expected.to_owned();
        for (_, bare, quoted) in QUOTED_ON_PURPOSE.iter().filter(|(case, _, _)| *case == name) {
            assert!(expected.contains(bare), "{name}");
            expected = expected.replace(bare, quoted);
        }
        if actual != expected {
            wrong.push(format!("{name}:\n  actual   {actual:?}\n  expected {expected:?}"));
        }
    }
    assert_eq!(cases.len(), 114);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
