//! Any text: the reader must neither panic nor hang, and what it reads must survive being written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transship::yaml::{self, SourceId, Value};

fuzz_target!(|text: &str| {
    let Ok(documents) = yaml::read(text, SourceId(0)) else { return };
    for document in documents {
        // A bare scalar is no manifest, and may look like JSON once it is written.
        if !matches!(document.root.value, Value::Map(_) | Value::List(_)) {
            continue;
        }
        let mut texts = vec![yaml::write(&document.root)];
        // A text that begins with `[` is read as YAML, which has no control characters, as in Kubernetes.
        if matches!(document.root.value, Value::Map(_)) {
            texts.push(yaml::json::write(&document.root));
        }
        for written in texts {
            let again = yaml::read(&written, SourceId(0)).expect("what is written can be read");
            assert_eq!(again.len(), 1, "{written}");
            assert_eq!(again[0].root, document.root, "{written}");
        }
    }
});
