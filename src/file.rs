//! Reads files: checks their size and encoding, and parses their documents.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::yaml::{self, Document, Node, SourceId};

/// The maximum size of a file. Manifests are far smaller; the limit protects against reading a wrong file.
const MAX_SIZE: u64 = 64 << 20;

/// Reads a text file.
pub(crate) fn read_text(path: &Path) -> Result<String, Diagnostic> {
    let bytes = read_bytes(path).map_err(|error| unreadable(&error, &path.display().to_string()))?;
    check_text(bytes, &path.display().to_string())
}

/// Finds a file below a folder by a name from another file. Returns `None` if there is no such file. Fails with the
/// reason if the name leads out of the folder: a project must not be able to read other files of the host.
pub(crate) fn find_below(folder: &Path, name: &str) -> Result<Option<PathBuf>, &'static str> {
    let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if !Path::new(name).components().all(is_inside) {
        return Err("the path leaves its folder");
    }
    let path = folder.join(name);
    match (std::fs::canonicalize(&path), std::fs::canonicalize(folder)) {
        (Ok(target), Ok(folder)) if !target.starts_with(&folder) => Err("the link leaves its folder"),
        (Ok(target), Ok(_)) if target.is_file() => Ok(Some(path)),
        _ => Ok(None),
    }
}

/// Reads a file, up to one byte more than the maximum size.
pub(crate) fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // Most manifests fit into this buffer. An empty one needs three times as many `read` calls for 2,000 small files.
    let mut bytes = Vec::with_capacity(2 << 10);
    file.take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a file that must have one document.
pub(crate) fn read_document(path: &Path, source: SourceId) -> Result<Document, Diagnostic> {
    single_document(read_documents(path, source)?, &path.display().to_string())
}

/// Returns the only document of a file. Messages show the name as its file.
pub(crate) fn single_document(mut documents: Vec<Document>, name: &str) -> Result<Document, Diagnostic> {
    if documents.len() == 1 {
        return Ok(documents.remove(0));
    }
    let message = format!("the file must have one document, not {}", documents.len());
    Err(Diagnostic::error(message).at(Location::file(name)).help("move each document to its own file"))
}

/// Reads a file that must have one document without duplicate keys.
pub(crate) fn read_without_duplicate_keys(path: &Path, source: SourceId) -> Result<Node, Diagnostics> {
    let name = path.display().to_string();
    let document = read_document(path, source)?;
    let errors = Diagnostic::refused_duplicate_keys(&document.duplicates, &name);
    Diagnostics(errors).into_result(document.root)
}

/// Reads all documents of a file that transship itself uses.
pub(crate) fn read_documents(path: &Path, source: SourceId) -> Result<Vec<Document>, Diagnostic> {
    parse_documents(&read_text(path)?, source, &path.display().to_string())
}

/// Parses all documents of a text that transship itself uses. Text that Kubernetes would ignore is an error. Messages
/// show the name as its file.
pub(crate) fn parse_documents(text: &str, source: SourceId, name: &str) -> Result<Vec<Document>, Diagnostic> {
    let documents = yaml::read(text, source).map_err(|error| Diagnostic::syntax(error, name))?;
    match documents.iter().find_map(|document| document.dropped) {
        Some(start) => Err(Diagnostic::text_after_document(start, name)),
        None => Ok(documents),
    }
}

/// Reads a stream to its end. Messages show the name as its file.
pub(crate) fn read_stream(stream: impl Read, name: &str) -> Result<String, Diagnostic> {
    let mut bytes = Vec::new();
    stream.take(MAX_SIZE + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error, name))?;
    check_text(bytes, name)
}

/// Checks the size and the encoding of a file.
fn check_text(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostic> {
    if bytes.len() as u64 > MAX_SIZE {
        return Err(too_large(name));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        not_utf8(valid, name)
    })
}

fn too_large(name: &str) -> Diagnostic {
    Diagnostic::error(format!("the file is larger than {} MiB", MAX_SIZE >> 20))
        .at(Location::file(name))
        .note("an API server rejects objects above a few MiB")
        .help("if it is not a manifest, give it another extension than .yaml, .yml or .json")
}

fn unreadable(error: &std::io::Error, name: &str) -> Diagnostic {
    Diagnostic::error(format!("cannot read the file: {error}"))
        .at(Location::file(name))
        .help("check that it is a file and readable")
}

fn not_utf8(valid: &[u8], name: &str) -> Diagnostic {
    let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = valid.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    let position = (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX));
    Diagnostic::error("the file is not UTF-8 from here on")
        .at(Location { file: name.to_owned(), position: Some(position) })
        .help("save the file as UTF-8; encode binary data as base64")
}
