//! What Kubernetes' own code answers, case by case: `tests/data/truth/` was made by running its Go libraries.

use base64::Engine;
use serde_json::Value as Json;
use transship::yaml::{self, SourceId};

fn cases(file: &str) -> Vec<Json> {
    let path = format!("{}/tests/data/truth/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn field<'a>(case: &'a Json, name: &str) -> Option<&'a str> {
    case.get(name).and_then(Json::as_str)
}

/// What the stream reader must make of a case: the documents as JSON text, or nothing if it must refuse.
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

fn read(input: &[u8]) -> Option<Vec<String>> {
    let documents = yaml::read(std::str::from_utf8(input).ok()?, SourceId(0)).ok()?;
    Some(documents.iter().map(|document| yaml::json::write(&document.root)).collect())
}

/// The same value, whatever the spelling of its numbers and the order of its keys.
fn same(ours: &[String], theirs: &[String]) -> bool {
    let canonical = |text: &String| {
        let document = yaml::read(&format!("{{\"v\":{text}}}"), SourceId(0)).unwrap().remove(0);
        yaml::json::write(&document.root)
    };
    ours.len() == theirs.len()
        && ours.iter().zip(theirs).all(|(ours, theirs)| canonical(ours) == canonical(theirs))
}

#[test]
fn reads_every_case_as_kubernetes_does() {
    let mut wrong = Vec::new();
    let cases = cases("yaml-read.json");
    for case in &cases {
        if case.get("nondeterministic").is_some() {
            continue;
        }
        let (ours, theirs) = (read(&input(case)), expected_documents(case));
        let agree = match (&ours, &theirs) {
            (Some(ours), Some(theirs)) => same(ours, theirs),
            (None, None) => true,
            _ => false,
        };
        if !agree {
            wrong.push(format!("{}: {ours:?} instead of {theirs:?}", field(case, "name").unwrap()));
        }
    }
    assert_eq!(cases.len(), 277);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Keys `<<` and `=` and bare `=` would be misread by other YAML 1.1 readers, so we quote what Go leaves bare.
const QUOTED_ON_PURPOSE: [(&str, &str, &str); 2] =
    [("string/=", "v: =\n", "v: \"=\"\n"), ("keys-quoted", "<<: 16\n", "\"<<\": 16\n")];

#[test]
fn writes_every_case_as_kubernetes_does() {
    let mut wrong = Vec::new();
    let cases = cases("yaml-write.json");
    for case in &cases {
        let name = field(case, "name").unwrap();
        let json_text = field(case, "json_text").unwrap();
        // Go's writer reads its JSON with its YAML reader. A comment in front keeps ours from trying JSON first.
        let as_yaml = yaml::read(&format!("# YAML\n{json_text}\n"), SourceId(0));
        let documents = as_yaml.or_else(|_| yaml::read(json_text, SourceId(0))).unwrap();
        let written =
            documents.first().map_or_else(|| "null\n".to_owned(), |document| yaml::write(&document.root));
        let Some(theirs) = field(case, "yaml") else {
            let again = yaml::read(&written, SourceId(0)).unwrap().remove(0);
            assert_eq!(again.root, documents[0].root, "{name} must read back as it was");
            continue;
        };
        let mut theirs = theirs.to_owned();
        for (_, bare, quoted) in QUOTED_ON_PURPOSE.iter().filter(|(case, _, _)| *case == name) {
            assert!(theirs.contains(bare), "{name}");
            theirs = theirs.replace(bare, quoted);
        }
        if written != theirs {
            wrong.push(format!("{name}:\n  ours   {written:?}\n  theirs {theirs:?}"));
        }
    }
    assert_eq!(cases.len(), 114);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
