//! The fuzzer's corpus, replayed: see `fuzz/fuzz_targets/yaml.rs` for the property.

use transship::yaml::{self, SourceId, Value};

use crate::support::repository;

#[test]
fn every_text_of_the_corpus_survives_being_written() {
    let mut written_again = 0;
    for entry in std::fs::read_dir(repository().join("fuzz/corpus/yaml")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(documents) = yaml::read(&std::fs::read_to_string(&path).unwrap(), SourceId(0)) else {
            continue;
        };
        for document in documents {
            if !matches!(document.root.value, Value::Map(_) | Value::List(_)) {
                continue;
            }
            for written in [yaml::write(&document.root), yaml::json::write(&document.root)] {
                let again = yaml::read(&written, SourceId(0)).unwrap();
                assert_eq!(again.len(), 1, "{}", path.display());
                assert_eq!(again[0].root, document.root, "{}", path.display());
                written_again += 1;
            }
        }
    }
    assert!(written_again > 50, "the corpus is gone");
}
