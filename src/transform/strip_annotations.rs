//! Removes annotations that no cluster needs.

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::glob;
use crate::language::Marked;
use crate::object::{CA_BUNDLE, Cause, Object, PRUNE, annotation, metadata, remove_annotation};
use crate::yaml::{Node, Sources, Text};

/// The only value of the annotation [`PRUNE`].
const KEEP: &str = "keep";

/// Removes the annotations that match a pattern, and those for transship itself. Remembers which objects are kept when
/// they are no longer rendered.
pub(super) fn apply(
    objects: &mut [Object],
    patterns: &[Marked<String>],
    sources: &Sources,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for object in objects {
        match read_prune(object, sources) {
            Ok(kept) => object.kept = kept,
            Err(error) => errors.0.push(error),
        }
        let annotations = metadata(&object.root, "annotations").and_then(Node::as_map);
        let stripped: Vec<Text> = annotations
            .into_iter()
            .flatten()
            .map(|entry| &entry.key)
            .filter(|key| is_stripped(key, patterns))
            .cloned()
            .collect();
        if stripped.is_empty() {
            continue;
        }
        for key in stripped {
            remove_annotation(&mut object.root, &key);
        }
        object.history.record(&object.root, || Cause::Strip);
    }
    errors.into_result(())
}

/// Returns whether the annotation [`PRUNE`] keeps an object.
fn read_prune(object: &Object, sources: &Sources) -> Result<bool, Diagnostic> {
    match annotation(&object.root, PRUNE) {
        None => Ok(false),
        Some(value) if value.as_str() == Some(KEEP) => Ok(true),
        Some(value) => Err(Diagnostic::error(format!(
            "the annotation `{PRUNE}` has another value than `{KEEP}`"
        ))
        .at(Location::of(value.mark, sources))
        .object(&object.id)
        .note("the annotation says that `apply` does not prune the object when it is no longer rendered")
        .help(format!("write `{KEEP}`, or remove the annotation"))),
    }
}

fn is_stripped(key: &str, patterns: &[Marked<String>]) -> bool {
    let for_transship = key.starts_with("transship.openshift.io/") && key != CA_BUNDLE;
    for_transship || patterns.iter().any(|pattern| glob::matches(&pattern.value, key))
}
