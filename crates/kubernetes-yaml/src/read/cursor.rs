//! A cursor that moves forward through a text and counts lines and columns.

use crate::byte_set;

/// A position in a text. Line and column count from zero here, unlike in a [`Mark`](crate::Mark).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u32,
    /// In characters.
    pub(crate) column: u32,
    /// Characters since the start of the document.
    pub(crate) index: u32,
}

impl Position {
    /// Returns the start of a line, counted from zero.
    pub(crate) fn at_line(line: u32) -> Self {
        Self { line, ..Self::default() }
    }
}

pub(crate) struct Cursor<'a> {
    text: &'a str,
    /// Whether every character is one byte, as it is in most texts.
    ascii: bool,
    offset: usize,
    position: Position,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of `text`, which begins at line `first_line` of its file, counted from zero.
    pub(crate) fn new(text: &'a str, first_line: u32) -> Self {
        Self { text, ascii: text.is_ascii(), offset: 0, position: Position::at_line(first_line) }
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    pub(crate) fn column(&self) -> i64 {
        i64::from(self.position.column)
    }

    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        &self.text[from..to]
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.offset..]
    }

    /// Returns the byte that is `ahead` bytes further on, or zero after the end. YAML has no zero bytes.
    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.offset + ahead).copied().unwrap_or(0)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.offset >= self.text.len()
    }

    /// Returns the length of the line break that is `ahead` bytes further on, or zero if there is none. YAML 1.1 also
    /// breaks lines at NEL, LS and PS.
    pub(crate) fn break_length(&self, ahead: usize) -> usize {
        match self.byte(ahead) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.byte(ahead + 1) == b'\n'),
            0xC2 if self.byte(ahead + 1) == 0x85 => 2,
            0xE2 if self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    pub(crate) fn is_break(&self, ahead: usize) -> bool {
        self.break_length(ahead) > 0
    }

    pub(crate) fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    pub(crate) fn is_break_or_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    pub(crate) fn is_blank_break_or_end(&self, ahead: usize) -> bool {
        self.is_blank(ahead) || self.is_break_or_end(ahead)
    }

    /// Skips one character that is not a line break.
    pub(crate) fn skip(&mut self) {
        self.offset += width(self.byte(0));
        self.position.column += 1;
        self.position.index += 1;
    }

    /// Moves forward to `offset` on the same line.
    pub(crate) fn skip_to(&mut self, offset: usize) {
        let characters = if self.ascii {
            offset - self.offset
        } else {
            let run = &self.text.as_bytes()[self.offset..offset];
            run.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
        };
        let characters = u32::try_from(characters).unwrap_or(u32::MAX);
        self.position.column = self.position.column.saturating_add(characters);
        self.position.index = self.position.index.saturating_add(characters);
        self.offset = offset;
    }

    pub(crate) fn skip_spaces(&mut self) {
        let spaces = self.rest().iter().take_while(|byte| **byte == b' ').count();
        let columns = u32::try_from(spaces).unwrap_or(u32::MAX);
        self.position.column = self.position.column.saturating_add(columns);
        self.position.index = self.position.index.saturating_add(columns);
        self.offset += spaces;
    }

    pub(crate) fn skip_blanks(&mut self) {
        while self.is_blank(0) {
            self.skip();
        }
    }

    pub(crate) fn skip_to_break(&mut self) {
        let bytes = self.text.as_bytes();
        let mut end = self.offset;
        while end < bytes.len()
            && (ORDINARY[bytes[end] as usize] || self.break_length(end - self.offset) == 0)
        {
            end += 1;
        }
        self.skip_to(end);
    }

    /// Skips a line break, and returns what it means in a string: a newline, or LS and PS unchanged.
    pub(crate) fn take_break(&mut self) -> &'a str {
        let length = self.break_length(0);
        let text = self.slice(self.offset, self.offset + length);
        self.offset += length;
        self.position.line += 1;
        self.position.column = 0;
        self.position.index += if text == "\r\n" { 2 } else { 1 };
        if length == 3 { text } else { "\n" }
    }
}

/// Bytes that are no line break and do not begin one.
const ORDINARY: [bool; 256] = byte_set::all_but(b"\n\r\xC2\xE2");

/// Returns the length of the character that begins with the byte `first`.
fn width(first: u8) -> usize {
    match first {
        0 => 0,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
        _ => 1,
    }
}
