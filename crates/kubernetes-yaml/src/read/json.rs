//! Reads JSON as Go's `encoding/json` does, with positions.

use super::cursor::{Cursor, Position};
use super::{MAX_DEPTH, MAX_DUPLICATES, MAX_NODES};
use crate::{DuplicateKey, Entry, Map, Mark, Node, Number, ScalarStyle, SourceId, SyntaxError, Value};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads the JSON values of a text, one after the other.
pub(super) struct JsonReader<'a> {
    cursor: Cursor<'a>,
    source: SourceId,
    depth: usize,
    /// The number of values and keys that were read.
    nodes: u64,
    /// The duplicate keys of the values that were read so far.
    pub(super) duplicates: Vec<DuplicateKey>,
    /// Why Kubernetes refuses a value that is valid JSON.
    pub(super) refused: Option<SyntaxError>,
}

impl<'a> JsonReader<'a> {
    pub(super) fn new(text: &'a str, source: SourceId) -> Self {
        Self {
            cursor: Cursor::new(text, 0),
            source,
            depth: 0,
            nodes: 0,
            duplicates: Vec::new(),
            refused: None,
        }
    }

    /// Returns the offset of the next byte, and its line counted from zero.
    pub(super) fn offset_and_line(&self) -> (usize, u32) {
        (self.cursor.offset(), self.cursor.position().line)
    }

    /// Reads the next value, and returns it with its text. Returns `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(Node, &'a str)>> {
        self.skip_space();
        if self.cursor.at_end() {
            return Ok(None);
        }
        let from = self.cursor.offset();
        let node = self.value()?;
        Ok(Some((node, self.cursor.slice(from, self.cursor.offset()))))
    }

    fn value(&mut self) -> Result<Node> {
        let at = self.cursor.position();
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(super::too_many_nodes(at));
        }
        let value = match self.cursor.byte(0) {
            b'{' => self.nested(Self::object)?,
            b'[' => self.nested(Self::array)?,
            b'"' => Value::String(self.string()?.into()),
            b't' => self.word("true", Value::Bool(true))?,
            b'f' => self.word("false", Value::Bool(false))?,
            b'n' => self.word("null", Value::Null)?,
            b'-' | b'0'..=b'9' => Value::Number(self.number()?),
            _ => return Err(SyntaxError::new(at, "expected a JSON value")),
        };
        let style = if matches!(value, Value::String(_)) { ScalarStyle::Quoted } else { ScalarStyle::Plain };
        Ok(Node { style, ..Node::new(value, self.mark(at)) })
    }

    fn nested(&mut self, collection: fn(&mut Self) -> Result<Value>) -> Result<Value> {
        let at = self.cursor.position();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(super::too_deep(at));
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
            let at = self.cursor.position();
            let key = self.string()?.into();
            self.nodes += 1;
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let value = self.value()?;
            entries.push(Entry { key, mark: self.mark(at), value });
            self.separator(b'}')?;
        }
        let duplicates = &mut self.duplicates;
        Ok(Value::Map(Map::from_entries(entries, |dropped, kept| {
            if duplicates.len() < MAX_DUPLICATES {
                duplicates.push(DuplicateKey { key: dropped.key, dropped: dropped.mark, kept: kept.mark });
            }
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

    /// Reads the comma before the next item. At the end of the collection there is none.
    fn separator(&mut self, closing: u8) -> Result<()> {
        self.skip_space();
        if self.cursor.byte(0) == closing {
            return Ok(());
        }
        self.expect(b',')?;
        self.skip_space();
        if self.cursor.byte(0) == closing {
            return Err(SyntaxError::new(self.cursor.position(), "expected another item after `,`"));
        }
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.cursor.byte(0) != byte {
            let message = format!("expected `{}`", char::from(byte));
            return Err(SyntaxError::new(self.cursor.position(), message));
        }
        self.cursor.skip();
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value> {
        if !self.cursor.rest().starts_with(word.as_bytes()) {
            return Err(SyntaxError::new(self.cursor.position(), format!("expected `{word}`")));
        }
        self.cursor.skip_to(self.cursor.offset() + word.len());
        Ok(value)
    }

    fn number(&mut self) -> Result<Number> {
        let at = self.cursor.position();
        let invalid = || SyntaxError::new(at, "JSON cannot represent this number");
        let length = number_length(self.cursor.rest()).ok_or_else(invalid)?;
        let text = self.cursor.slice(self.cursor.offset(), self.cursor.offset() + length);
        self.cursor.skip_to(self.cursor.offset() + length);
        let integer = text.parse().map(Number::Int).or_else(|_| text.parse().map(Number::Uint));
        let number = integer.or_else(|_| text.parse().map(Number::Float)).map_err(|_| invalid())?;
        if matches!(number, Number::Float(float) if float.is_infinite()) {
            // Only if the whole text is JSON: in YAML, the number is a string.
            self.refused.get_or_insert_with(invalid);
        }
        Ok(number)
    }

    fn string(&mut self) -> Result<String> {
        let start = self.cursor.position();
        self.expect(b'"')?;
        let mut text = String::new();
        loop {
            let rest = self.cursor.rest();
            let run =
                rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            let from = self.cursor.offset();
            text.push_str(self.cursor.slice(from, from + run));
            self.cursor.skip_to(from + run);
            match self.cursor.byte(0) {
                b'"' => {
                    self.cursor.skip();
                    return Ok(text);
                }
                b'\\' => text.push(self.escape()?),
                _ => {
                    let message = "the string is not closed, or contains a control character";
                    return Err(SyntaxError::new(start, message));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let at = self.cursor.position();
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
            b'u' => self.unicode_escape(at),
            _ => Err(SyntaxError::new(at, "unknown escape sequence")),
        }
    }

    /// Reads the digits after `\u`, and the second half of a surrogate pair. Half a pair becomes U+FFFD, as in Go.
    fn unicode_escape(&mut self, at: Position) -> Result<char> {
        let high = self.four_hex_digits(at)?;
        if let Some(character) = char::from_u32(high) {
            return Ok(character);
        }
        if high < 0xDC00 && self.cursor.rest().starts_with(b"\\u") {
            let digits = self.cursor.rest().get(2..6).and_then(|digits| std::str::from_utf8(digits).ok());
            let low = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or_default();
            if (0xDC00..0xE000).contains(&low) {
                self.cursor.skip_to(self.cursor.offset() + 6);
                let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn four_hex_digits(&mut self, at: Position) -> Result<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = char::from(self.cursor.byte(0)).to_digit(16);
            let digit = digit.ok_or_else(|| SyntaxError::new(at, "`\\u` needs four hexadecimal digits"))?;
            code = code << 4 | digit;
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

    fn mark(&self, at: Position) -> Mark {
        Mark { source: self.source, line: at.line + 1, column: at.column + 1 }
    }
}

/// Returns the length of the number that `bytes` begin with, or `None` if they begin with no number.
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
