//! One file's text: small enough, readable, UTF-8.

use std::path::Path;

use crate::diagnostic::{Diagnostic, Location};

/// Files above this are an error: no manifest is a thousandth of it.
const LARGEST: u64 = 64 << 20;

/// Reads a text file, or says what is wrong with it.
pub fn read_text(path: &Path) -> Result<String, Diagnostic> {
    let shown = path.display().to_string();
    let at = || Location::file(&shown);
    let failed = |error: std::io::Error| {
        Diagnostic::error(format!("cannot be read: {error}"))
            .at(at())
            .help("make it readable, or take it out of the folder")
    };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > LARGEST {
        return Err(Diagnostic::error(format!("the file has {} MiB, more than the {} MiB that are read", size >> 20, LARGEST >> 20))
            .at(at())
            .note("an API server refuses objects above a few MiB")
            .help("take it out of the payload, or give it another ending than .yaml, .yml or .json"));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = valid.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        let position = (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX));
        Diagnostic::error("the text is not UTF-8 from here on")
            .at(Location { file: shown.clone(), position: Some(position) })
            .help("save the file as UTF-8; put binary data in base64")
    })
}
