//! Runs the corpus of the fuzz targets in `fuzz/`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/round_trip.rs"]
mod round_trip;

fn corpus(target: &str) -> impl Iterator<Item = String> {
    let folder = format!("{}/fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
}

#[test]
fn documents_of_the_corpus_survive_writing() {
    let documents: usize = corpus("read").map(|text| round_trip::survives_writing(&text)).sum();
    assert!(documents > 50, "the corpus has only {documents} documents");
}

#[test]
fn json_of_the_corpus_is_read_as_serde_json_reads_it() {
    let objects = corpus("json").filter(|text| round_trip::agrees_with_serde_json(text)).count();
    assert!(objects > 10, "the corpus has only {objects} objects");
}
