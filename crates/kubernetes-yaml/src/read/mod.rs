//! Reads the documents of a text.
//!
//! ```text
//!  text ─ split ─▶ documents ─ scan ─▶ tokens ─ compose ─▶ nodes
//!          └ json: documents in JSON              └ resolve: the type of a scalar
//! ```

mod collections;
mod compose;
pub(crate) mod cursor;
mod json;
mod scan;

use std::borrow::Cow;

use crate::{DuplicateKey, Mark, Node, SourceId, SyntaxError, Value};
use cursor::Position;

/// The deepest nesting that is read. Kubernetes allows 10,000 levels; manifests have fewer than twenty.
const MAX_DEPTH: usize = 500;

/// The most values and keys that are read of one text. Manifests have one in about 30 bytes, and an API server accepts
/// objects of up to 3 MiB.
const MAX_NODES: u64 = 2_000_000;

/// The most bytes of strings that aliases may repeat in one text. Kubernetes counts values only, however long they are.
const MAX_ALIASED_BYTES: u64 = 16 << 20;

/// The most duplicate keys that are reported for one document.
const MAX_DUPLICATES: usize = 1000;

/// What is left of the limits of a text.
struct Limits {
    nodes: u64,
    aliased_bytes: u64,
}

/// A document of a text.
#[derive(Clone, Debug)]
pub struct Document {
    /// The value of the document.
    pub root: Node,
    /// The text of the document, if it is JSON. Kubernetes passes JSON on as it was written.
    pub json: Option<String>,
    /// Keys that a map of the document has more than once, at most the first 1,000.
    pub duplicates: Vec<DuplicateKey>,
    /// Where text starts that Kubernetes does not read, because the document ends before it: after `...`, after the
    /// closing bracket of a flow collection, or where a line is indented less than the first one.
    pub dropped: Option<Mark>,
}

/// Reads all documents of a text, as `kubectl` does. Empty documents and documents that are null are left out.
///
/// A text that begins with `{` is read as JSON values, one after the other. Any other text is split at lines that begin
/// with `---`, even inside a quoted string, and each part is read as a YAML document. YAML may follow one JSON value.
///
/// # Errors
///
/// Returns an error if Kubernetes refuses the text, and for the departures in README.md.
///
/// ```
/// use kubernetes_yaml::{SourceId, read};
///
/// let documents = read("a: 1\n---\nb: 2\nb: 3\n", SourceId::default())?;
/// assert_eq!(documents.len(), 2);
/// assert_eq!(documents[1].root.get("b").and_then(|b| b.as_i64()), Some(3));
/// assert_eq!(documents[1].duplicates[0].key, "b");
/// assert_eq!(documents[1].duplicates[0].dropped.line, 3);
/// # Ok::<(), kubernetes_yaml::SyntaxError>(())
/// ```
pub fn read(text: &str, source: SourceId) -> Result<Vec<Document>, SyntaxError> {
    let mut documents: Vec<Document> = Vec::new();
    let mut limits = Limits { nodes: MAX_NODES, aliased_bytes: MAX_ALIASED_BYTES };
    if !text.trim_start().starts_with('{') {
        read_yaml(text, Start::default(), source, &mut limits, &mut documents)?;
        return Ok(without_nulls(documents));
    }
    let (json_error, end) = match read_json(text, source, &mut documents) {
        Ok(()) => return Ok(without_nulls(documents)),
        Err(JsonError::Value(error)) => return Err(error),
        Err(JsonError::Syntax(error, end)) => (error, end),
    };
    // The text may be YAML that begins with `{`, or YAML may follow one JSON value. After two JSON values, everything
    // must be JSON.
    let Some(yaml) = yaml_after_json(text, end).filter(|_| documents.len() < 2) else {
        return Err(json_error);
    };
    match read_yaml(text, yaml, source, &mut limits, &mut documents) {
        Ok(()) => Ok(without_nulls(documents)),
        // The author of a text that looks like JSON wants to know why it is not JSON.
        Err(_) if documents.is_empty() && looks_like_json(text) => Err(json_error),
        Err(error) => Err(error),
    }
}

fn looks_like_json(text: &str) -> bool {
    text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with('"'))
}

fn without_nulls(mut documents: Vec<Document>) -> Vec<Document> {
    documents.retain(|document| document.root.value != Value::Null);
    documents
}

/// The start of a line, or of what follows a JSON value on its line.
#[derive(Clone, Copy, Default)]
struct Start {
    /// In bytes from the start of the text.
    offset: usize,
    /// The line, counted from zero.
    line: u32,
}

/// Why a text cannot be read as JSON.
enum JsonError {
    /// The text is not JSON, so it may be YAML. The last complete value ends at the position.
    Syntax(SyntaxError, Start),
    /// The text is JSON with a value that Kubernetes refuses.
    Value(SyntaxError),
}

/// Reads JSON values up to the end of the text.
fn read_json(text: &str, source: SourceId, documents: &mut Vec<Document>) -> Result<(), JsonError> {
    let mut reader = json::JsonReader::new(text, source);
    loop {
        let (offset, line) = reader.offset_and_line();
        let next = reader.next().map_err(|error| JsonError::Syntax(error, Start { offset, line }))?;
        let Some((root, json)) = next else { return Ok(()) };
        if let Some(error) = reader.refused.take() {
            return Err(JsonError::Value(error));
        }
        let duplicates = std::mem::take(&mut reader.duplicates);
        documents.push(Document { root, json: Some(json.into()), duplicates, dropped: None });
    }
}

/// Returns where YAML starts after a JSON value: on the next line if the rest of the line is blank. Kubernetes looks
/// four bytes ahead, and finds no YAML if the text ends before that.
fn yaml_after_json(text: &str, json_end: Start) -> Option<Start> {
    let rest = &text[json_end.offset..];
    for (index, character) in rest.char_indices() {
        if rest.len() - index < 4 {
            return None;
        }
        if character == '\n' {
            return Some(Start { offset: json_end.offset + index + 1, line: json_end.line + 1 });
        }
        if !character.is_whitespace() {
            return Some(Start { offset: json_end.offset + index, line: json_end.line });
        }
    }
    None
}

fn read_yaml(
    text: &str,
    start: Start,
    source: SourceId,
    limits: &mut Limits,
    documents: &mut Vec<Document>,
) -> Result<(), SyntaxError> {
    for (part, first_line) in split(&text[start.offset..], start.line)? {
        reject_control_characters(part, first_line)?;
        let document = compose::compose_document(&with_unix_line_ends(part), first_line, source, limits)?;
        if let (Value::Null, Some(dropped)) = (&document.root.value, document.dropped) {
            let position = Position { line: dropped.line - 1, column: dropped.column - 1, index: 0 };
            let message =
                "Kubernetes ignores this text, because the document before it is empty and ends here";
            return Err(SyntaxError::new(position, message)
                .with_help("remove the line `...`, or write `---` in its place"));
        }
        documents.push(document);
    }
    Ok(())
}

/// Ends the last line. Of the two carriage returns in `\r\r\n`, drops one as `kubectl` does; elsewhere `\r\n` is one line
/// break anyway.
fn with_unix_line_ends(part: &str) -> Cow<'_, str> {
    let ended = part.ends_with('\n');
    if part.contains("\r\r\n") {
        let mut part = part.replace("\r\n", "\n");
        if !ended {
            part.push('\n');
        }
        return Cow::Owned(part);
    }
    if ended { Cow::Borrowed(part) } else { Cow::Owned(format!("{part}\n")) }
}

/// Splits a text at its separator lines. Returns each part with its first line, counted from zero.
fn split(text: &str, first_line: u32) -> Result<Vec<(&str, u32)>, SyntaxError> {
    // Most files have one document, and this test is much faster than the loop below.
    if !text.is_empty() && !text.starts_with("---") && !text.contains("\n---") {
        return Ok(vec![(text, first_line)]);
    }
    let mut parts = Vec::new();
    let (mut start, mut start_line) = (0, first_line);
    let first = text.starts_with("---").then_some(0);
    for separator in first.into_iter().chain(text.match_indices("\n---").map(|(index, _)| index + 1)) {
        let line = start_line + count_lines(&text[start..separator]);
        let end = text[separator..].find('\n').map_or(text.len(), |length| separator + length + 1);
        let after = text[separator + "---".len()..end].trim();
        if !after.is_empty() && !after.starts_with('#') {
            return Err(SyntaxError::new(Position::at_line(line), "unexpected text after `---`")
                .with_help("put it on the next line; if this line belongs to a string, indent it"));
        }
        // A separator with nothing before it is the first line of its part.
        if separator > start {
            parts.push((&text[start..separator], start_line));
            (start, start_line) = (end, line + 1);
        }
    }
    if start < text.len() {
        parts.push((&text[start..], start_line));
    }
    Ok(parts)
}

fn count_lines(text: &str) -> u32 {
    let count = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns an error for a control character, because Kubernetes accepts none in YAML.
fn reject_control_characters(text: &str, first_line: u32) -> Result<(), SyntaxError> {
    if !may_have_control_characters(text) {
        return Ok(());
    }
    let mut position = Position::at_line(first_line);
    for character in text.chars() {
        let allowed = match character {
            '\t' | '\n' | '\r' | '\u{85}' => true,
            '\u{fffe}' | '\u{ffff}' => false,
            other => !other.is_control(),
        };
        if !allowed {
            let message = format!("the control character U+{:04X} is not allowed", u32::from(character));
            return Err(SyntaxError::new(position, message)
                .with_help("remove it, or write it as an escape sequence in double quotes"));
        }
        position.column += 1;
        if character == '\n' {
            position = Position::at_line(position.line + 1);
        }
    }
    Ok(())
}

/// Looks for bytes that are a control character, or the first byte of one. The loop has no early exit, so that the
/// compiler can process many bytes at once.
fn may_have_control_characters(text: &str) -> bool {
    let suspicious = text.bytes().fold(0, |found, byte| {
        let space = u8::from(byte == b'\t') | u8::from(byte == b'\n') | u8::from(byte == b'\r');
        let lead = u8::from(byte == 0x7f) | u8::from(byte == 0xc2) | u8::from(byte == 0xef);
        found | (u8::from(byte < 0x20) ^ space) | lead
    });
    suspicious != 0
}

fn too_many_nodes(position: Position) -> SyntaxError {
    SyntaxError::new(position, "the text has more than 2,000,000 values and keys")
        .with_help("split it; an API server accepts objects of up to 3 MiB")
}

fn too_deep(position: Position) -> SyntaxError {
    SyntaxError::new(position, format!("this value is nested more than {MAX_DEPTH} levels deep"))
}
