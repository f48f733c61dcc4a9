//! Scans literal and folded blocks.

use std::borrow::Cow;

use super::{Result, Scanner, tab_in_indentation};
use crate::SyntaxError;
use crate::read::cursor::Position;

/// The style of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockStyle {
    /// `|`: line breaks are kept.
    Literal,
    /// `>`: a line break becomes a space.
    Folded,
}

/// How to treat the line breaks at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    /// `-`: all are dropped.
    Strip,
    /// One is kept.
    Clip,
    /// `+`: all are kept.
    Keep,
}

impl<'a> Scanner<'a> {
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
