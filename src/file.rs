//! One file: small enough, readable, UTF-8, and its documents.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::yaml::{self, Document, DuplicateKey, Node, SourceId};

/// Files above this are an error: no manifest is a thousandth of it.
const LARGEST: u64 = 64 << 20;

/// Reads a text file, or says what is wrong with it.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    let name = || path.display().to_string();
    let failed = |error: std::io::Error| unreadable(&error, &name());
    let mut file = File::open(path).map_err(failed)?;
    // Nearly every manifest fits, and asking for its size first costs as much as reading it.
    let mut start = [0; 2 << 10];
    let length = file.read(&mut start).map_err(failed)?;
    let mut bytes = start[..length].to_vec();
    file.take(LARGEST + 1 - length as u64).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large(&name()));
    }
    utf8(bytes, &name())
}

/// Reads a file that must hold one document.
pub fn read_document(path: &Path, source: SourceId) -> Result<Document, Diagnostic> {
    let name = path.display().to_string();
    let mut documents = read_documents(path, source)?;
    if documents.len() == 1 {
        return Ok(documents.remove(0));
    }
    let message = format!("the file has {} documents, it must have one", documents.len());
    Err(Diagnostic::error(message).at(Location::file(name)).help("put each into a file of its own"))
}

/// Reads a file that must hold one document, in which no key is written twice.
pub(crate) fn read_without_repeats(path: &Path, source: SourceId) -> Result<Node, Diagnostics> {
    let name = path.display().to_string();
    let document = read_document(path, source)?;
    let twice = |duplicate: &DuplicateKey| {
        Diagnostic::error(format!("the key `{}` is written twice", duplicate.key))
            .at(Location::in_file(duplicate.kept, &name))
            .note(format!("the first is at {}", Location::in_file(duplicate.dropped, &name)))
            .help("remove one of them")
    };
    Diagnostics(document.duplicates.iter().map(twice).collect()).or(document.root)
}

/// Reads all documents of a file.
pub(crate) fn read_documents(path: &Path, source: SourceId) -> Result<Vec<Document>, Diagnostic> {
    let text = read_text(path)?;
    yaml::read(&text, source).map_err(|error| Diagnostic::syntax(error, &path.display().to_string()))
}

/// Reads a stream to its end, or says what is wrong with it. The name is the one that messages show.
pub fn read_stream(stream: impl Read, name: &str) -> Result<String, Diagnostic> {
    let mut bytes = Vec::new();
    stream.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error, name))?;
    if bytes.len() as u64 > LARGEST {
        return Err(too_large(name));
    }
    utf8(bytes, name)
}

fn too_large(name: &str) -> Diagnostic {
    Diagnostic::error(format!("the file is larger than the {} MiB that are read", LARGEST >> 20))
        .at(Location::file(name))
        .note("an API server refuses objects above a few MiB")
        .help("give it another ending than .yaml, .yml or .json if it is no manifest")
}

fn unreadable(error: &std::io::Error, name: &str) -> Diagnostic {
    Diagnostic::error(format!("cannot be read: {error}"))
        .at(Location::file(name))
        .help("make it a readable file")
}

fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostic> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = valid.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        let position = (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX));
        Diagnostic::error("the text is not UTF-8 from here on")
            .at(Location { file: name.to_owned(), position: Some(position) })
            .help("save the file as UTF-8; put binary data in base64")
    })
}
