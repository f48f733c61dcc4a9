//! A file's text to its documents, as the stream reader of kubectl and the cluster-version-operator cuts it.

use std::borrow::Cow;

use crate::cursor::Place;
use crate::error::SyntaxError;
use crate::node::{DuplicateKey, Node, SourceId, Value};
use crate::{compose, json};

/// One document of a file that is not empty.
#[derive(Clone, Debug)]
pub struct Document {
    /// What it says.
    pub root: Node,
    /// The text itself, if the document was written in JSON: Kubernetes passes that on unchanged.
    pub json: Option<String>,
    /// Keys that it has more than once.
    pub duplicates: Vec<DuplicateKey>,
}

/// Reads all documents of a text, or says why it cannot be read.
///
/// The rules are Kubernetes': a text that begins with `{` is tried as JSON values in a row; what is not JSON is cut
/// at lines that begin with `---`, whatever those lines are part of, and each piece is one YAML document.
pub fn read(text: &str, source: SourceId) -> Result<Vec<Document>, SyntaxError> {
    let mut documents: Vec<Document> = Vec::new();
    let mut offset = 0;
    let mut line = 0;
    let mut json_error = None;
    if text.trim_start().starts_with('{') {
        match read_json(text, source, &mut documents) {
            Ok(()) => return Ok(without_nulls(documents)),
            // More than one value in a row can only be JSON; one alone may be followed by YAML, none be YAML itself.
            Err((error, end)) => match yaml_behind_json(text, end).filter(|_| documents.len() < 2) {
                Some(rest) => {
                    (offset, line) = rest;
                    json_error = Some(error);
                }
                None => return Err(error),
            },
        }
    }
    match read_yaml(&text[offset..], line, source, &mut documents) {
        // What looks like JSON and is neither JSON nor YAML was meant as JSON.
        Err(error) => {
            Err(json_error.filter(|_| documents.is_empty() && looks_like_json(text)).unwrap_or(error))
        }
        Ok(()) => Ok(without_nulls(documents)),
    }
}

fn read_yaml(
    text: &str,
    first_line: u32,
    source: SourceId,
    documents: &mut Vec<Document>,
) -> Result<(), SyntaxError> {
    for (piece, first_line) in split(text, first_line)? {
        reject_control_characters(piece, first_line)?;
        let piece =
            if piece.ends_with('\n') { Cow::Borrowed(piece) } else { Cow::Owned(format!("{piece}\n")) };
        let mut duplicates = Vec::new();
        let root = compose::document(&piece, first_line, source, &mut duplicates)?;
        documents.push(Document { root, json: None, duplicates });
    }
    Ok(())
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'))
}

fn without_nulls(mut documents: Vec<Document>) -> Vec<Document> {
    documents.retain(|document| document.root.value != Value::Null);
    documents
}

/// Where a value ended: its offset, and the line there, from zero.
type End = (usize, u32);

/// Reads JSON values until the end. On failure says where the last whole value ended.
fn read_json(text: &str, source: SourceId, documents: &mut Vec<Document>) -> Result<(), (SyntaxError, End)> {
    let mut reader = json::Reader::new(text, source);
    loop {
        let end = reader.position();
        let Some((root, json)) = reader.next().map_err(|error| (error, end))? else { return Ok(()) };
        let duplicates = std::mem::take(&mut reader.duplicates);
        documents.push(Document { root, json: Some(json.into()), duplicates });
    }
}

/// Where YAML goes on behind JSON: the rest of the line is passed over if it is blank. Kubernetes looks four bytes
/// ahead while it does so, and gives up where the text ends before that.
fn yaml_behind_json(text: &str, (from, line): End) -> Option<End> {
    let rest = &text[from..];
    for (at, character) in rest.char_indices() {
        if rest.len() - at < 4 {
            return None;
        }
        if character == '\n' {
            return Some((from + at + 1, line + 1));
        }
        if !character.is_whitespace() {
            return Some((from + at, line));
        }
    }
    None
}

/// Cuts a text into the pieces between separator lines, each with its first line, from zero.
fn split(text: &str, first_line: u32) -> Result<Vec<(&str, u32)>, SyntaxError> {
    // Nearly every file is one document, which this sees in a fraction of the time.
    if !text.is_empty() && !text.starts_with("---") && !text.contains("\n---") {
        return Ok(vec![(text, first_line)]);
    }
    let mut pieces = Vec::new();
    let (mut start, mut start_line) = (0, first_line);
    let first = text.starts_with("---").then_some(0);
    for at in first.into_iter().chain(text.match_indices("\n---").map(|(at, _)| at + 1)) {
        let line = start_line + lines(&text[start..at]);
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length + 1);
        let behind = text[at + "---".len()..end].trim();
        if !behind.is_empty() && !behind.starts_with('#') {
            let place = Place { line, column: 0, index: 0 };
            return Err(SyntaxError::new(place, "a line that begins with `---` must have nothing behind it")
                .help("put what follows on the next line; inside quoted or block text, indent the line"));
        }
        // A separator with nothing before it begins its piece instead of ending one.
        if at > start {
            pieces.push((&text[start..at], start_line));
            (start, start_line) = (end, line + 1);
        }
    }
    if start < text.len() {
        pieces.push((&text[start..], start_line));
    }
    Ok(pieces)
}

fn lines(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Control characters are in no YAML that Kubernetes reads.
fn reject_control_characters(text: &str, first_line: u32) -> Result<(), SyntaxError> {
    // Without an early way out the compiler can look at many bytes at once.
    let suspicious = text.bytes().fold(0, |found, byte| {
        let space = u8::from(byte == b'\t') | u8::from(byte == b'\n') | u8::from(byte == b'\r');
        let lead = u8::from(byte == 0x7f) | u8::from(byte == 0xc2) | u8::from(byte == 0xef);
        found | (u8::from(byte < 0x20) ^ space) | lead
    });
    if suspicious == 0 {
        return Ok(());
    }
    let mut place = Place { line: first_line, column: 0, index: 0 };
    for character in text.chars() {
        let allowed = match character {
            '\t' | '\n' | '\r' | '\u{85}' => true,
            '\u{fffe}' | '\u{ffff}' => false,
            other => !other.is_control(),
        };
        if !allowed {
            let message = format!("the control character U+{:04X}", u32::from(character));
            return Err(
                SyntaxError::new(place, message).help("remove it, or write it as an escape in double quotes")
            );
        }
        place.column += 1;
        if character == '\n' {
            place = Place { line: place.line + 1, column: 0, index: 0 };
        }
    }
    Ok(())
}
