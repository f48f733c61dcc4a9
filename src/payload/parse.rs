//! One file to its manifests.

use std::collections::HashMap;
use std::path::Path;

use super::{Manifest, Sha256, find_files};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::object::ObjectId;
use crate::yaml::{self, Document, Mark, SourceId, Value};

pub(super) struct Input {
    pub(super) path: String,
    /// The path as messages show it.
    pub(super) name: String,
    pub(super) source: SourceId,
}

pub(super) struct Parsed {
    pub(super) sha256: Sha256,
    pub(super) manifests: Vec<Manifest>,
    pub(super) warnings: Vec<Diagnostic>,
}

pub(super) fn manifests(root: &Path, input: &Input) -> Result<Parsed, Diagnostics> {
    let text = file::read_text(&root.join(&input.path))?;
    let documents =
        yaml::read(&text, input.source).map_err(|error| Diagnostic::syntax(error, &input.name))?;
    let mut parsed =
        Parsed { sha256: Sha256::of(text.as_bytes()), manifests: Vec::new(), warnings: Vec::new() };
    parsed.warnings.extend(template(&text, input));
    let mut errors = Diagnostics::default();
    let mut seen = HashMap::new();
    for (index, document) in documents.into_iter().enumerate() {
        let mark = document.root.mark;
        parsed.warnings.extend(
            document.duplicates.iter().map(|duplicate| Diagnostic::duplicate_key(duplicate, &input.name)),
        );
        let Some(manifest) = errors.collect(manifest(document, index + 1, &input.name)) else { continue };
        parsed.warnings.extend(annotations_not_text(&manifest, &input.name));
        match seen.insert(manifest.id.clone(), mark) {
            Some(first) => errors.0.push(same_object_twice(&manifest.id, first, mark, &input.name)),
            None => parsed.manifests.push(manifest),
        }
    }
    errors.or(parsed)
}

fn manifest(document: Document, number: usize, file: &str) -> Result<Manifest, Diagnostic> {
    let (id, version) = ObjectId::of(&document.root).map_err(|error| {
        Diagnostic::error(error.message).at(Location::in_file(error.mark, file)).help(error.help)
    })?;
    Ok(Manifest {
        id,
        version,
        file: 0,
        document: number,
        json: document.json,
        lent: Vec::new(),
        root: document.root,
    })
}

/// In a release image the cluster-version-operator's own manifests are Go templates.
fn template(text: &str, input: &Input) -> Option<Diagnostic> {
    let own = input.path.split_once('/').is_some_and(|(folder, _)| folder == find_files::OWN_MANIFESTS);
    (own && text.contains("{{")).then(|| {
        Diagnostic::warning("a Go template, taken as it is")
            .at(Location::file(&input.name))
            .note("the cluster-version-operator fills in `{{.ReleaseImage}}` and the like before it applies the file")
    })
}

fn same_object_twice(id: &ObjectId, first: Mark, second: Mark, file: &str) -> Diagnostic {
    Diagnostic::error("the same object twice in one file")
        .at(Location::in_file(second, file))
        .object(id)
        .note(format!("the first is at {}", Location::in_file(first, file)))
        .help("remove one; another API version does not make it another object")
}

/// The cluster-version-operator reads all annotations or, if one is not text, none: the manifest would silently vanish.
fn annotations_not_text(manifest: &Manifest, file: &str) -> Option<Diagnostic> {
    let annotations = manifest.root.get("metadata")?.get("annotations")?;
    let (message, mark) = match &annotations.value {
        Value::Null => return None,
        Value::Map(map) => {
            let entry = map.iter().find(|entry| entry.value.as_str().is_none())?;
            let kind = entry.value.value.kind();
            (format!("the annotation `{}` is {kind}, not text", entry.key), entry.value.mark)
        }
        other => (format!("`annotations` is {}, not a map", other.kind()), annotations.mark),
    };
    let warning = Diagnostic::warning(message).at(Location::in_file(mark, file)).object(&manifest.id);
    Some(
        warning
            .note("so none of this object's annotations count, and it is left out")
            .help("put the value in quotes"),
    )
}
