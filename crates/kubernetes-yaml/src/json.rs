//! JSON: read with positions, as Go's decoder reads it, and written as Go's encoder writes it.

use crate::cursor::{Cursor, Place};
use crate::error::SyntaxError;
use crate::node::{DuplicateKey, Entry, Map, Mark, Node, SourceId, Value};
use crate::{MAX_DEPTH, Number};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads JSON values from a text, one after the other.
pub(crate) struct Reader<'a> {
    cursor: Cursor<'a>,
    source: SourceId,
    depth: usize,
    pub(crate) duplicates: Vec<DuplicateKey>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, source: SourceId) -> Self {
        Self { cursor: Cursor::new(text, 0), source, depth: 0, duplicates: Vec::new() }
    }

    /// Where the next byte to read stands: its offset and its line, from zero.
    pub(crate) fn position(&self) -> (usize, u32) {
        (self.cursor.pos(), self.cursor.place().line)
    }

    /// The next value with its text, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(Node, &'a str)>> {
        self.skip_space();
        if self.cursor.at_end() {
            return Ok(None);
        }
        let from = self.cursor.pos();
        let node = self.value()?;
        Ok(Some((node, self.cursor.slice(from, self.cursor.pos()))))
    }

    fn value(&mut self) -> Result<Node> {
        let at = self.cursor.place();
        let value = match self.cursor.byte(0) {
            b'{' => self.nested(Self::object)?,
            b'[' => self.nested(Self::array)?,
            b'"' => Value::String(self.string()?.into()),
            b't' => self.word("true", Value::Bool(true))?,
            b'f' => self.word("false", Value::Bool(false))?,
            b'n' => self.word("null", Value::Null)?,
            b'-' | b'0'..=b'9' => Value::Number(self.number()?),
            _ => return Err(SyntaxError::new(at, "a JSON value is missing here")),
        };
        Ok(Node { value, mark: self.mark(at) })
    }

    fn nested(&mut self, collection: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        let at = self.cursor.place();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError::new(at, format!("nested more than {MAX_DEPTH} levels deep")));
        }
        self.cursor.skip();
        self.skip_space();
        let value = collection(self)?;
        self.cursor.skip();
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Value> {
        let mut entries = Vec::new();
        while self.cursor.byte(0) != b'}' {
            let at = self.cursor.place();
            let key = self.string()?.into();
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let value = self.value()?;
            entries.push(Entry { key, mark: self.mark(at), value });
            self.separator(b'}')?;
        }
        let duplicates = &mut self.duplicates;
        Ok(Value::Map(Map::from_entries(entries, |dropped, kept| {
            duplicates.push(DuplicateKey { key: dropped.key, dropped: dropped.mark, kept: kept.mark });
        })))
    }

    fn array(&mut self) -> Result<Value> {
        let mut items = Vec::new();
        while self.cursor.byte(0) != b']' {
            items.push(self.value()?);
            self.separator(b']')?;
        }
        Ok(Value::List(items))
    }

    /// A comma with something behind it, or the end of the collection.
    fn separator(&mut self, closing: u8) -> Result<()> {
        self.skip_space();
        if self.cursor.byte(0) == closing {
            return Ok(());
        }
        self.expect(b',')?;
        self.skip_space();
        if self.cursor.byte(0) == closing {
            return Err(SyntaxError::new(self.cursor.place(), "a comma with nothing behind it"));
        }
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.cursor.byte(0) != byte {
            let message = format!("`{}` is missing here", char::from(byte));
            return Err(SyntaxError::new(self.cursor.place(), message));
        }
        self.cursor.skip();
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value> {
        if !self.cursor.rest().starts_with(word.as_bytes()) {
            return Err(SyntaxError::new(self.cursor.place(), format!("`{word}` was expected here")));
        }
        self.cursor.skip_to(self.cursor.pos() + word.len());
        Ok(value)
    }

    fn number(&mut self) -> Result<Number> {
        let at = self.cursor.place();
        let wrong = || SyntaxError::new(at, "a number that JSON cannot hold");
        let length = number_length(self.cursor.rest()).ok_or_else(wrong)?;
        let text = self.cursor.slice(self.cursor.pos(), self.cursor.pos() + length);
        self.cursor.skip_to(self.cursor.pos() + length);
        let integer = text.parse().map(Number::Int).or_else(|_| text.parse().map(Number::Uint));
        let number = integer.or_else(|_| text.parse().map(Number::Float)).map_err(|_| wrong())?;
        // A float out of range is an error, as it is in Kubernetes.
        if matches!(number, Number::Float(float) if float.is_infinite()) { Err(wrong()) } else { Ok(number) }
    }

    fn string(&mut self) -> Result<String> {
        let start = self.cursor.place();
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            let rest = self.cursor.rest();
            let run =
                rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            let from = self.cursor.pos();
            text.push_str(self.cursor.slice(from, from + run));
            self.cursor.skip_to(from + run);
            match self.cursor.byte(0) {
                b'"' => {
                    self.cursor.skip();
                    return Ok(text);
                }
                b'\\' => text.push(self.escape()?),
                _ => {
                    return Err(SyntaxError::new(
                        start,
                        "a string that is never closed, or holds a control character",
                    ));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let at = self.cursor.place();
        self.cursor.skip();
        let letter = self.cursor.byte(0);
        self.cursor.skip();
        match letter {
            b'"' | b'\\' | b'/' => Ok(char::from(letter)),
            b'b' => Ok('\x08'),
            b'f' => Ok('\x0c'),
            b'n' => Ok('\n'),
            b'r' => Ok('\r'),
            b't' => Ok('\t'),
            b'u' => self.unicode(at),
            _ => Err(SyntaxError::new(at, "an escape that JSON does not have")),
        }
    }

    /// Four hexadecimal digits, or a surrogate pair. Half a pair becomes U+FFFD, as in Go.
    fn unicode(&mut self, at: Place) -> Result<char> {
        let high = self.hex(at)?;
        if let Some(character) = char::from_u32(high) {
            return Ok(character);
        }
        if high < 0xDC00 && self.cursor.rest().starts_with(b"\\u") {
            let digits = self.cursor.rest().get(2..6).and_then(|digits| std::str::from_utf8(digits).ok());
            let low = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default();
            if (0xDC00..0xE000).contains(&low) {
                self.cursor.skip_to(self.cursor.pos() + 6);
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self, at: Place) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = char::from(self.cursor.byte(0)).to_digit(16);
            code =
                code << 4 | digit.ok_or_else(|| SyntaxError::new(at, "\\u needs four hexadecimal digits"))?;
            self.cursor.skip();
        }
        Ok(code)
    }

    fn skip_space(&mut self) {
        loop {
            match self.cursor.byte(0) {
                b' ' | b'\t' => self.cursor.skip(),
                b'\n' | b'\r' => {
                    self.cursor.take_break();
                }
                _ => return,
            }
        }
    }

    fn mark(&self, at: Place) -> Mark {
        Mark { source: self.source, line: at.line + 1, column: at.column + 1 }
    }
}

/// How many bytes are a number: JSON's grammar ends it at the first byte that cannot belong to it.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let digits = |from: usize| {
        let count = bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(count)
    };
    let mut at = usize::from(byte(0) == b'-');
    at += if byte(at) == b'0' { 1 } else { digits(at)? };
    if byte(at) == b'.' {
        at += 1 + digits(at + 1)?;
    }
    if matches!(byte(at), b'e' | b'E') {
        at += 1 + usize::from(matches!(byte(at + 1), b'+' | b'-'));
        at += digits(at)?;
    }
    Some(at)
}

/// Writes a node as Go's `encoding/json` does: no spaces, keys sorted, and the characters escaped that HTML or
/// JavaScript would trip over.
pub fn write(node: &Node) -> String {
    let mut out = String::new();
    write_value(&node.value, Escaped::AsGo, &mut out);
    out
}

/// Writes a node for people: the same, and what HTML would trip over as it is.
pub fn show(node: &Node) -> String {
    let mut out = String::new();
    write_value(&node.value, Escaped::AsNeeded, &mut out);
    out
}

/// What is escaped in a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escaped {
    AsGo,
    AsNeeded,
}

fn write_value(value: &Value, escaped: Escaped, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(number) => number.write_json(out),
        Value::String(text) => write_string(text, escaped, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(&item.value, escaped, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(&entry.key, escaped, out);
                out.push(':');
                write_value(&entry.value.value, escaped, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, escaped: Escaped, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            '<' | '>' | '&' if escaped == Escaped::AsNeeded => out.push(character),
            '\0'..'\x20' | '<' | '>' | '&' => {
                let code = character as usize;
                out.push_str("\\u00");
                out.push(char::from(HEX[code >> 4]));
                out.push(char::from(HEX[code & 15]));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
