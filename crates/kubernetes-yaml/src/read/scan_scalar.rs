//! Scans scalars in their five styles: plain, single-quoted, double-quoted, literal and folded.

use std::borrow::Cow;

use super::cursor::Position;
use super::scan::{Scanner, tab_in_indentation};
use crate::{SyntaxError, byte_set};

type Result<T> = std::result::Result<T, SyntaxError>;

/// The line breaks between two lines of a scalar. One break becomes a space; of several, the first is dropped.
#[derive(Default)]
struct Fold<'a> {
    first: Option<&'a str>,
    more: String,
}

impl<'a> Fold<'a> {
    fn add(&mut self, line_break: &'a str) {
        match self.first {
            None => self.first = Some(line_break),
            Some(_) => self.more.push_str(line_break),
        }
    }

    fn write(&mut self, out: &mut String) {
        match self.first.take() {
            Some("\n") if self.more.is_empty() => out.push(' '),
            Some("\n") | None => {}
            Some(separator) => out.push_str(separator),
        }
        out.push_str(&self.more);
        self.more.clear();
    }
}

impl<'a> Scanner<'a> {
    /// Scans a scalar without quotes, with all further lines that are indented.
    pub(super) fn scan_plain(&mut self) -> Result<Cow<'a, str>> {
        let start = self.cursor.position();
        let indent = self.indent + 1;
        let mut text = Cow::Borrowed("");
        let mut fold = Fold::default();
        loop {
            if self.document_indicator().is_some() || self.cursor.byte(0) == b'#' {
                break;
            }
            let (line, ended) = self.plain_line();
            if !line.is_empty() {
                if fold.first.is_some() {
                    fold.write(text.to_mut());
                    text.to_mut().push_str(line);
                } else {
                    text = Cow::Borrowed(line);
                }
            }
            if ended {
                break;
            }
            self.plain_breaks(indent, start, &mut fold)?;
            if !self.in_flow() && self.cursor.column() < indent {
                break;
            }
        }
        if fold.first.is_some() {
            self.key_allowed = true;
        }
        Ok(text)
    }

    /// Scans one line of a plain scalar. Returns the line without blanks at its end, and whether the scalar ends there.
    fn plain_line(&mut self) -> (&'a str, bool) {
        let from = self.cursor.offset();
        let rest = self.cursor.rest();
        let in_flow = self.in_flow();
        // `end` is the end of the last character that is not blank.
        let (mut index, mut end) = (0, 0);
        let ended = loop {
            let run = rest[index..].iter().take_while(|byte| WORD[**byte as usize]).count();
            if run > 0 {
                index += run;
                end = index;
            }
            match rest.get(index).copied().unwrap_or(0) {
                0 => break true,
                b' ' | b'\t' => {
                    index += 1;
                    continue;
                }
                b'#' if index > end => break true,
                b':' if self.cursor.is_blank_break_or_end(index + 1) => break true,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => break true,
                b'\n' | b'\r' => break false,
                0xC2 | 0xE2 if self.cursor.is_break(index) => break false,
                _ => {}
            }
            index += 1;
            end = index;
        };
        self.cursor.skip_to(from + index);
        (self.cursor.slice(from, from + end), ended)
    }

    /// Skips the blanks and line breaks between two lines of a plain scalar that starts at `start`.
    fn plain_breaks(&mut self, indent: i64, start: Position, fold: &mut Fold<'a>) -> Result<()> {
        loop {
            if self.cursor.is_break(0) {
                fold.add(self.cursor.take_break());
            } else if self.cursor.is_blank(0) {
                if self.cursor.byte(0) == b'\t' && self.cursor.column() < indent {
                    let line = start.line + 1;
                    return Err(tab_in_indentation(self.cursor.position()).with_help(format!(
                        "indent with spaces; the value that starts on line {line} continues here"
                    )));
                }
                self.cursor.skip();
            } else {
                return Ok(());
            }
        }
    }

    /// Scans a scalar in quotes.
    pub(super) fn scan_quoted(&mut self, quote: Quote) -> Result<Cow<'a, str>> {
        let start = self.cursor.position();
        self.cursor.skip();
        if let Some(text) = self.quoted_on_one_line(quote) {
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::new();
        loop {
            if self.document_indicator().is_some() || self.cursor.at_end() {
                return Err(SyntaxError::new(start, "the closing quote is missing").with_help(
                    "close the quote; a line that starts with `---` ends the document, even inside quotes",
                ));
            }
            let word_end = self.quoted_word(quote, &mut text)?;
            if self.cursor.byte(0) == quote.byte() {
                self.cursor.skip();
                return Ok(Cow::Owned(text));
            }
            match word_end {
                WordEnd::EscapedBreak => self.blanks_after_escaped_break(&mut text),
                WordEnd::Other => self.quoted_blanks(&mut text),
            }
        }
    }

    /// Scans the blanks and line breaks between two words in quotes. Blanks around a line break are dropped.
    fn quoted_blanks(&mut self, text: &mut String) {
        let mut fold = Fold::default();
        let start = self.cursor.offset();
        let mut end = start;
        while self.cursor.is_blank(0) || self.cursor.is_break(0) {
            if self.cursor.is_break(0) {
                fold.add(self.cursor.take_break());
            } else {
                self.cursor.skip();
                if fold.first.is_none() {
                    end = self.cursor.offset();
                }
            }
        }
        if fold.first.is_some() {
            fold.write(text);
        } else {
            text.push_str(self.cursor.slice(start, end));
        }
    }

    /// Scans the blanks and line breaks after an escaped line break. The blanks are dropped, the line breaks are kept.
    fn blanks_after_escaped_break(&mut self, text: &mut String) {
        while self.cursor.is_blank(0) || self.cursor.is_break(0) {
            if self.cursor.is_break(0) {
                text.push_str(self.cursor.take_break());
            } else {
                self.cursor.skip();
            }
        }
    }

    /// Scans the common case: no escape sequence and no line break before the closing quote.
    fn quoted_on_one_line(&mut self, quote: Quote) -> Option<&'a str> {
        let rest = self.cursor.rest();
        let closing = quote.byte();
        let stop = rest.iter().position(|byte| {
            *byte == closing
                || matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2)
                || *byte == b'\\' && closing == b'"'
        })?;
        let escaped = closing == b'\'' && rest.get(stop + 1) == Some(&b'\'');
        if rest[stop] != closing || escaped {
            return None;
        }
        let from = self.cursor.offset();
        self.cursor.skip_to(from + stop + 1);
        Some(self.cursor.slice(from, from + stop))
    }

    /// Scans the characters up to a blank, a line break or the closing quote.
    fn quoted_word(&mut self, quote: Quote, text: &mut String) -> Result<WordEnd> {
        let single = quote == Quote::Single;
        while !self.cursor.is_blank_break_or_end(0) {
            match self.cursor.byte(0) {
                b'\'' if single && self.cursor.byte(1) == b'\'' => {
                    text.push('\'');
                    self.cursor.skip();
                    self.cursor.skip();
                }
                b'\'' if single => return Ok(WordEnd::Other),
                b'"' if !single => return Ok(WordEnd::Other),
                b'\\' if !single && self.cursor.is_break(1) => {
                    self.cursor.skip();
                    self.cursor.take_break();
                    return Ok(WordEnd::EscapedBreak);
                }
                b'\\' if !single => text.push(self.scan_escape()?),
                _ => {
                    let from = self.cursor.offset();
                    self.cursor.skip();
                    text.push_str(self.cursor.slice(from, self.cursor.offset()));
                }
            }
        }
        Ok(WordEnd::Other)
    }

    fn scan_escape(&mut self) -> Result<char> {
        let at = self.cursor.position();
        let simple = match self.cursor.byte(1) {
            b'x' => return self.scan_numeric_escape(at, 2),
            b'u' => return self.scan_numeric_escape(at, 4),
            b'U' => return self.scan_numeric_escape(at, 8),
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' => ' ',
            b'"' => '"',
            b'\'' => '\'',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            _ => {
                return Err(SyntaxError::new(at, "unknown escape sequence")
                    .with_help("write `\\\\` for a backslash in double quotes, or use single quotes"));
            }
        };
        self.cursor.skip();
        self.cursor.skip();
        Ok(simple)
    }

    fn scan_numeric_escape(&mut self, at: Position, hex_digits: usize) -> Result<char> {
        self.cursor.skip();
        self.cursor.skip();
        let mut code = 0;
        for _ in 0..hex_digits {
            let digit = char::from(self.cursor.byte(0)).to_digit(16);
            let digit = digit
                .ok_or_else(|| SyntaxError::new(at, "the escape sequence has too few hexadecimal digits"))?;
            code = (code << 4) | digit;
            self.cursor.skip();
        }
        char::from_u32(code).ok_or_else(|| {
            SyntaxError::new(at, "the escape sequence is not a Unicode character").with_help(
                "write the character itself, or `\\U` with eight digits; YAML has no surrogate pairs",
            )
        })
    }

    /// Scans a literal or folded block.
    pub(super) fn scan_block_scalar(&mut self, style: BlockStyle) -> Result<Cow<'a, str>> {
        let start = self.cursor.position();
        self.cursor.skip();
        let (chomp, step) = self.block_header(start)?;
        let mut indent = step.map(|step| self.indent.max(0) + step);
        let mut text = String::new();
        let mut last_break = "";
        // The empty lines after the last line that is not empty.
        let mut trailing = String::new();
        self.block_breaks(&mut indent, &mut trailing)?;
        let mut after_blank = false;
        while Some(self.cursor.column()) == indent && !self.cursor.at_end() {
            let blank = self.cursor.is_blank(0);
            // Folding leaves line breaks around lines that begin with a blank as they are.
            if style == BlockStyle::Literal || after_blank || blank || last_break != "\n" {
                text.push_str(last_break);
            } else if trailing.is_empty() {
                text.push(' ');
            }
            text.push_str(&trailing);
            trailing.clear();
            after_blank = blank;
            let from = self.cursor.offset();
            self.cursor.skip_to_break();
            text.push_str(self.cursor.slice(from, self.cursor.offset()));
            last_break = if self.cursor.at_end() { "" } else { self.cursor.take_break() };
            self.block_breaks(&mut indent, &mut trailing)?;
        }
        if chomp != Chomp::Strip {
            text.push_str(last_break);
        }
        if chomp == Chomp::Keep {
            text.push_str(&trailing);
        }
        Ok(Cow::Owned(text))
    }

    /// Scans the rest of the line after `|` or `>`: chomping and indentation in either order, and a comment.
    fn block_header(&mut self, start: Position) -> Result<(Chomp, Option<i64>)> {
        let mut chomp = None;
        let mut step = None;
        loop {
            match self.cursor.byte(0) {
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                digit @ b'1'..=b'9' if step.is_none() => step = Some(i64::from(digit - b'0')),
                _ => break,
            }
            self.cursor.skip();
        }
        self.cursor.skip_blanks();
        if self.cursor.byte(0) == b'#' {
            self.cursor.skip_to_break();
        }
        if !self.cursor.is_break_or_end(0) {
            return Err(SyntaxError::new(start, "unexpected text after `|` or `>`").with_help(
                "start the text on the next line, indented; put a value that begins with `|` or `>` in quotes",
            ));
        }
        if self.cursor.is_break(0) {
            self.cursor.take_break();
        }
        Ok((chomp.unwrap_or(Chomp::Clip), step))
    }

    /// Skips indentation and empty lines. If the header gave no indentation, the first line that is not empty sets it.
    fn block_breaks(&mut self, indent: &mut Option<i64>, breaks: &mut String) -> Result<()> {
        let mut deepest = 0;
        loop {
            while self.is_before(*indent) && self.cursor.byte(0) == b' ' {
                self.cursor.skip();
            }
            deepest = deepest.max(self.cursor.column());
            if self.is_before(*indent) && self.cursor.byte(0) == b'\t' {
                return Err(tab_in_indentation(self.cursor.position())
                    .with_help("indent the lines of a block with spaces; a tab may follow the spaces"));
            }
            if !self.cursor.is_break(0) {
                break;
            }
            breaks.push_str(self.cursor.take_break());
        }
        if indent.is_none() {
            *indent = Some(deepest.max(self.indent + 1).max(1));
        }
        Ok(())
    }

    /// Returns whether the cursor is left of the indentation of a block. It always is while that is not known.
    fn is_before(&self, indent: Option<i64>) -> bool {
        indent.is_none_or(|indent| self.cursor.column() < indent)
    }
}

/// Bytes that are part of a plain scalar wherever they are in it.
const WORD: [bool; 256] = byte_set::all_but(b"\0 \t\n\r#:,?[]{}\xC2\xE2");

/// The quotes around a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Single,
    Double,
}

impl Quote {
    fn byte(self) -> u8 {
        match self {
            Self::Single => b'\'',
            Self::Double => b'"',
        }
    }
}

/// What ends a word in quotes.
enum WordEnd {
    /// A backslash at the end of the line.
    EscapedBreak,
    /// A blank, a line break or the closing quote.
    Other,
}

/// The style of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockStyle {
    /// `|`: line breaks are kept.
    Literal,
    /// `>`: a line break becomes a space.
    Folded,
}

/// What happens to the line breaks at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    /// `-`: all are dropped.
    Strip,
    /// One is kept.
    Clip,
    /// `+`: all are kept.
    Keep,
}
