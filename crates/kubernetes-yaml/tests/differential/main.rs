//! Compares the reader and the writer with Kubernetes' own Go code, on generated and damaged texts.
//!
//! `TRANSSHIP_DIFFERENTIAL` is the number of texts, and `TRANSSHIP_SEED` the first seed. `make fuzz` compares a million.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it is skipped"
)]

mod generate;
mod oracle;
mod random;

use std::path::Path;

use kubernetes_yaml::{Document, SourceId, json, read, write};
use oracle::{Answer, Oracle};
use random::Random;

/// How many texts are sent to one process.
const BATCH: u64 = 20_000;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

#[test]
fn generated_texts_are_read_and_written_as_in_kubernetes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Some(oracle) = Oracle::build(&root, "read") else { return };
    let corpus = corpus();
    let first = environment("TRANSSHIP_SEED", 1);
    let end = first + environment("TRANSSHIP_DIFFERENTIAL", 4_000);
    let mut differences = Vec::new();
    let mut accepted = 0;
    for start in (first..end).step_by(usize::try_from(BATCH).unwrap()) {
        let texts: Vec<_> = (start..end.min(start + BATCH)).map(|seed| text(seed, &corpus)).collect();
        let ours: Vec<_> = texts.iter().map(|text| read(text, SourceId(0)).ok()).collect();
        compare(&oracle, &texts, &ours, &mut differences);
        let roots = ours.iter().flatten().flatten().filter(|document| is_collection(document));
        let written: Vec<_> = roots.map(|document| write(&document.root)).collect();
        let again: Vec<_> = written.iter().map(|text| read(text, SourceId(0)).ok()).collect();
        accepted += written.len();
        compare(&oracle, &written, &again, &mut differences);
    }
    let shown = differences.len().min(20);
    assert!(
        differences.is_empty(),
        "{} differences, of {accepted} documents that were accepted:\n\n{}",
        differences.len(),
        differences[..shown].join("\n\n")
    );
    assert!(accepted > 100, "only {accepted} documents were accepted");
}

/// Returns the texts to damage.
fn corpus() -> Vec<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = std::fs::read_to_string(data.join("tests/data/read.json")).unwrap();
    let cases: Vec<serde_json::Value> = serde_json::from_str(&cases).unwrap();
    let mut texts: Vec<String> =
        cases.iter().filter_map(|case| case.get("yaml")?.as_str().map(str::to_owned)).collect();
    let mut files: Vec<_> =
        std::fs::read_dir(data.join("fuzz/corpus/read")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    texts.extend(files.iter().map(|file| std::fs::read_to_string(file).unwrap()));
    // Damage is more likely to matter in a short text.
    texts.retain(|text| text.len() < 2_000);
    texts
}

fn text(seed: u64, corpus: &[String]) -> String {
    let mut random = Random::new(seed);
    match random.below(4) {
        0 => {
            let (chosen, other) = (random.below(corpus.len()), random.below(corpus.len()));
            generate::damage(&corpus[chosen], &corpus[other], &mut random)
        }
        1 => {
            let (generated, other) = (generate::text(&mut random), random.below(corpus.len()));
            generate::damage(&generated, &corpus[other], &mut random)
        }
        _ => generate::text(&mut random),
    }
}

fn is_collection(document: &Document) -> bool {
    document.root.as_map().is_some() || document.root.as_list().is_some()
}

fn compare(oracle: &Oracle, texts: &[String], ours: &[Option<Vec<Document>>], differences: &mut Vec<String>) {
    let requests: Vec<_> = texts.iter().map(|text| [text]).collect();
    let answers = oracle.ask(&requests);
    for ((text, ours), answer) in texts.iter().zip(ours).zip(&answers) {
        let ours = ours.as_deref().map(as_json);
        if ours == expected(answer) || departs(text, answer) {
            continue;
        }
        // Of two keys such as `1` and `"1"`, Kubernetes keeps a random one, and one of them rarely.
        let repeated = oracle.ask(&vec![[text]; 500]);
        if repeated.iter().all(|again| expected(again) == expected(answer)) {
            differences.push(format!(
                "{text:?}\n  here       {}\n  Kubernetes {}",
                ours.unwrap_or_else(|| format!("{:?}", read(text, SourceId(0)).unwrap_err().to_string())),
                expected(answer).unwrap_or_else(|| format!("{answer:?}")),
            ));
        }
    }
}

fn as_json(documents: &[Document]) -> String {
    let roots: Vec<_> = documents.iter().map(|document| json::write(&document.root)).collect();
    canonical(&format!("[{}]", roots.join(",")))
}

/// Returns a JSON text with the numbers as they are read again: `-0` is zero.
fn canonical(list: &str) -> String {
    let document = read(&format!("{{\"list\":{list}}}"), SourceId(0)).unwrap().remove(0);
    json::write(document.root.get("list").unwrap())
}

/// Returns the documents of an answer in the same form, or `None` if Kubernetes refuses the text.
fn expected(answer: &Answer) -> Option<String> {
    Some(canonical(std::str::from_utf8(answer.as_ref().ok()?).unwrap()))
}

/// How the messages of departures start that README.md lists: texts that Kubernetes accepts.
const DEPARTURES: [&str; 5] = [
    "this value is nested more than 500 levels deep",
    "the document starts with two byte-order marks",
    "Kubernetes ignores this text, because the document before it is empty and ends here",
    // Kubernetes accepts these only in text that it ignores.
    "directives such as `%YAML` and `%TAG` are not supported",
    "the control character U+",
];

/// Returns whether a difference is a departure.
fn departs(text: &str, answer: &Answer) -> bool {
    match read(text, SourceId(0)) {
        Err(error) => DEPARTURES.iter().any(|departure| error.message().starts_with(departure)),
        // Of two keys such as `1` and `"1"`, the last is used, and the value of the other is not looked at.
        Ok(documents) => answer.is_err() && documents.iter().any(|document| !document.duplicates.is_empty()),
    }
}
