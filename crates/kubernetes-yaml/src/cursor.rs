//! A place in a text, moved forward: bytes, lines, and columns counted in characters.

use crate::bytes;

/// A place relative to the start of the file: line and column count from zero here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// Characters since the start of the text.
    pub(crate) index: u32,
}

pub(crate) struct Cursor<'a> {
    text: &'a str,
    /// Whether a character is a byte, as it nearly always is.
    ascii: bool,
    pos: usize,
    place: Place,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`, whose first line is line `line` of the file (from zero).
    pub(crate) fn new(text: &'a str, line: u32) -> Self {
        Self { text, ascii: text.is_ascii(), pos: 0, place: Place { line, ..Place::default() } }
    }

    pub(crate) fn place(&self) -> Place {
        self.place
    }

    pub(crate) fn column(&self) -> i64 {
        i64::from(self.place.column)
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        &self.text[from..to]
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.pos..]
    }

    /// The byte `ahead` of here, or zero past the end: the text itself never holds a zero.
    pub(crate) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// How many bytes the line break `ahead` of here has, zero if there is none. YAML 1.1 has three beyond ASCII's.
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

    /// Moves over one character that is not a line break.
    pub(crate) fn skip(&mut self) {
        self.pos += width(self.byte(0));
        self.place.column += 1;
        self.place.index += 1;
    }

    /// Moves forward to `pos` on the same line.
    pub(crate) fn skip_to(&mut self, pos: usize) {
        let characters = if self.ascii {
            pos - self.pos
        } else {
            let run = &self.text.as_bytes()[self.pos..pos];
            run.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
        };
        let characters = u32::try_from(characters).unwrap_or(u32::MAX);
        self.place.column = self.place.column.saturating_add(characters);
        self.place.index = self.place.index.saturating_add(characters);
        self.pos = pos;
    }

    pub(crate) fn skip_spaces(&mut self) {
        let spaces = self.rest().iter().take_while(|byte| **byte == b' ').count();
        let columns = u32::try_from(spaces).unwrap_or(u32::MAX);
        self.place.column = self.place.column.saturating_add(columns);
        self.place.index = self.place.index.saturating_add(columns);
        self.pos += spaces;
    }

    pub(crate) fn skip_blanks(&mut self) {
        while self.is_blank(0) {
            self.skip();
        }
    }

    pub(crate) fn skip_to_break(&mut self) {
        let mut to = self.pos;
        let bytes = self.text.as_bytes();
        while to < bytes.len() && (ORDINARY[bytes[to] as usize] || self.break_length(to - self.pos) == 0) {
            to += 1;
        }
        self.skip_to(to);
    }

    /// Moves over a line break and gives the text it stands for: a newline, or the separator that YAML 1.1 keeps.
    pub(crate) fn take_break(&mut self) -> &'a str {
        let length = self.break_length(0);
        let text = self.slice(self.pos, self.pos + length);
        self.pos += length;
        self.place.line += 1;
        self.place.column = 0;
        self.place.index += if text == "\r\n" { 2 } else { 1 };
        if length == 3 { text } else { "\n" }
    }
}

/// Bytes that can neither be nor begin a line break.
const ORDINARY: [bool; 256] = bytes::all_but(b"\n\r\xC2\xE2");

fn width(first: u8) -> usize {
    match first {
        0 => 0,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
        _ => 1,
    }
}
