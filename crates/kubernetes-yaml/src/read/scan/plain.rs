//! Scans scalars without quotes.

use std::borrow::Cow;

use super::fold::Fold;
use super::{Result, Scanner, tab_in_indentation};
use crate::byte_set;
use crate::read::cursor::Position;

/// Bytes that are part of a plain scalar wherever they are in it.
const WORD: [bool; 256] = byte_set::all_but(b"\0 \t\n\r#:,?[]{}\xC2\xE2");

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
}
