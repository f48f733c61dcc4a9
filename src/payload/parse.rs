//! Reads the manifests of one file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::{Manifest, find_files};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::object::{ObjectId, label_text, mask};
use crate::yaml::{self, Document, Mark, SourceId, Value};

/// A file to read.
pub(super) struct Input {
    /// The path below the payload's folder.
    pub(super) path: String,
    /// The path as messages show it.
    pub(super) name: String,
    pub(super) source: SourceId,
}

/// The content of a file.
pub(super) struct Parsed {
    pub(super) text: Arc<str>,
    pub(super) manifests: Vec<Manifest>,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) is_go_template: bool,
}

/// Reads the manifests of a file.
pub(super) fn manifests(root: &Path, input: &Input) -> Result<Parsed, Diagnostics> {
    let text = file::read_text(&root.join(&input.path))?;
    let documents =
        yaml::read(&text, input.source).map_err(|error| Diagnostic::syntax(error, &input.name))?;
    let mut parsed = Parsed {
        manifests: Vec::new(),
        warnings: Vec::new(),
        is_go_template: is_go_template(&text, input),
        text: text.into(),
    };
    if parsed.is_go_template {
        parsed.warnings.push(go_template(input));
    }
    let mut errors = Diagnostics::default();
    let is_only = documents.len() == 1;
    let mut seen = HashMap::new();
    for (index, document) in documents.into_iter().enumerate() {
        let mark = document.root.mark;
        parsed.warnings.extend(Diagnostic::duplicate_keys(&document.duplicates, &input.name));
        parsed.warnings.extend(document.dropped.map(|start| Diagnostic::ignored_text(start, &input.name)));
        let Some(manifest) = errors.ok_or_record(manifest(document, index + 1, &input.name)) else {
            continue;
        };
        parsed.warnings.extend(ignored_annotations(&manifest, &input.name));
        let first = if is_only { None } else { seen.insert(manifest.id.clone(), mark) };
        match first {
            Some(first) => errors.0.push(duplicate_object(&manifest.id, first, mark, &input.name)),
            None => parsed.manifests.push(manifest),
        }
    }
    errors.into_result(parsed)
}

fn manifest(mut document: Document, number: usize, file: &str) -> Result<Manifest, Diagnostic> {
    let (id, version) = ObjectId::of(&document.root).map_err(|error| {
        Diagnostic::error(error.message).at(Location::in_file(error.mark, file)).help(error.help)
    })?;
    mask::protect_secret(&mut document.root);
    Ok(Manifest {
        id,
        version,
        file: 0,
        document: number,
        json: document.json,
        ignored_text: document.dropped,
        page_annotations: Vec::new(),
        root: document.root,
    })
}

/// Returns whether a file is a Go template: only the cluster-version-operator's own manifests in a release image can be.
fn is_go_template(text: &str, input: &Input) -> bool {
    let folder = input.path.split_once('/').map(|(folder, _)| folder);
    folder == Some(find_files::OWN_MANIFESTS) && text.contains("{{")
}

fn go_template(input: &Input) -> Diagnostic {
    Diagnostic::warning("this file is a Go template, which is not evaluated")
        .at(Location::file(&input.name))
        .note("the cluster-version-operator fills in values such as `{{.ReleaseImage}}` before it applies the file")
}

fn duplicate_object(id: &ObjectId, first: Mark, second: Mark, file: &str) -> Diagnostic {
    Diagnostic::error("the file has the same object twice")
        .at(Location::in_file(second, file))
        .object(id)
        .note(format!("the first is at {}", Location::in_file(first, file)))
        .help("remove one of them; objects with different API versions are the same object")
}

/// Warns about annotations that are not text. The cluster-version-operator then ignores all annotations of the object and
/// excludes it silently.
fn ignored_annotations(manifest: &Manifest, file: &str) -> Option<Diagnostic> {
    let annotations = manifest.root.get("metadata")?.get("annotations")?;
    let (message, mark) = match &annotations.value {
        Value::Null => return None,
        Value::Map(map) => {
            let entry = map.iter().find(|entry| label_text(&entry.value).is_none())?;
            let kind = entry.value.value.kind();
            (format!("the annotation `{}` is {kind}, not text", entry.key), entry.value.mark)
        }
        other => (format!("`annotations` is {}, not a map", other.kind()), annotations.mark),
    };
    let warning = Diagnostic::warning(message).at(Location::in_file(mark, file)).object(&manifest.id);
    Some(
        warning
            .note("the cluster-version-operator ignores all annotations of the object and excludes it")
            .help("put the value in quotes"),
    )
}
