//! One file's text: small enough, readable, UTF-8.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::diagnostic::{Diagnostic, Location};

/// Files above this are an error: no manifest is a thousandth of it.
const LARGEST: u64 = 64 << 20;

/// Reads a text file, or says what is wrong with it.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    let at = || Location::file(path.display().to_string());
    let failed = |error: std::io::Error| {
        Diagnostic::error(format!("cannot be read: {error}"))
            .at(at())
            .help("make it readable, or take it out of the folder")
    };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.len() > LARGEST {
        return Err(too_large(metadata.len()).at(at()));
    }
    let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap_or_default()];
    if metadata.is_file() {
        // One call for all of it: a payload has thousands of small files.
        file.read_exact(&mut bytes).map_err(failed)?;
    } else {
        file.take(LARGEST).read_to_end(&mut bytes).map_err(failed)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = valid.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        let position = (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX));
        Diagnostic::error("the text is not UTF-8 from here on")
            .at(Location { file: path.display().to_string(), position: Some(position) })
            .help("save the file as UTF-8; put binary data in base64")
    })
}

fn too_large(size: u64) -> Diagnostic {
    let message =
        format!("the file has {} MiB, more than the {} MiB that are read", size >> 20, LARGEST >> 20);
    Diagnostic::error(message)
        .note("an API server refuses objects above a few MiB")
        .help("take it out of the payload, or give it another ending than .yaml, .yml or .json")
}
