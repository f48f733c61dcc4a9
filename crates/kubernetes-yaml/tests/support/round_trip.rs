//! The properties that the fuzz targets and the tests check for any text.

use kubernetes_yaml::{Node, SourceId, Value, json, read, write};

/// Reads a text. Checks that every document, written as YAML and as JSON, is read as the same value. Returns how many
/// documents were written and read again.
pub(crate) fn survives_writing(text: &str) -> usize {
    let Ok(documents) = read(text, SourceId::default()) else { return 0 };
    // A scalar is no manifest, and may look like JSON or a separator line when it is written.
    let roots = documents.iter().map(|document| &document.root);
    let roots: Vec<&Node> =
        roots.filter(|root| matches!(root.value, Value::Map(_) | Value::List(_))).collect();
    for root in &roots {
        let yaml = write(root);
        assert_eq!(only_document(&yaml), **root, "{yaml}");
        // Kubernetes reads a text that begins with `[` as YAML, which has no control characters.
        let json = format!("{{\"root\":{}}}", json::write(root));
        assert_eq!(only_document(&json).get("root"), Some(*root), "{json}");
    }
    roots.len()
}

/// Checks that an object that `serde_json` can read is read as the same value. Returns whether the text is one.
pub(crate) fn agrees_with_serde_json(text: &str) -> bool {
    let Ok(value @ serde_json::Value::Object(_)) = serde_json::from_str::<serde_json::Value>(text) else {
        return false;
    };
    let root = only_document(text);
    assert_eq!(root, Node::from(&value), "{text}");
    assert_eq!(Node::from(&serde_json::Value::from(&root)), root, "{text}");
    true
}

fn only_document(text: &str) -> Node {
    let mut documents = read(text, SourceId::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(documents.len(), 1, "{text}");
    documents.remove(0).root
}
