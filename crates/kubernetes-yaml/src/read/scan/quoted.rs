//! Scans scalars in single and double quotes.

use std::borrow::Cow;

use super::fold::Fold;
use super::{Result, Scanner};
use crate::SyntaxError;
use crate::read::cursor::Position;

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

/// The end of a word in quotes.
enum WordEnd {
    /// A backslash at the end of the line.
    EscapedBreak,
    /// A blank, a line break or the closing quote.
    Other,
}

impl<'a> Scanner<'a> {
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
}
