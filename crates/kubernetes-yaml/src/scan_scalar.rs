//! The scanner's longer words: scalars in their five styles, anchors and tags.

use std::borrow::Cow;

use crate::bytes;
use crate::cursor::Place;
use crate::error::SyntaxError;
use crate::scan::Scanner;

type Result<T> = std::result::Result<T, SyntaxError>;

/// The line breaks between two lines of one scalar. One break folds into a space, more lose the first.
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
    /// Text without quotes, over as many lines as are indented.
    pub(crate) fn scan_plain(&mut self) -> Result<Cow<'a, str>> {
        let start = self.cursor.place();
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

    /// The words of one line, and whether the scalar ends with them.
    fn plain_line(&mut self) -> (&'a str, bool) {
        let from = self.cursor.pos();
        let rest = self.cursor.rest();
        let in_flow = self.in_flow();
        let (mut at, mut end) = (0, 0);
        let ended = loop {
            let run = rest[at..].iter().take_while(|byte| WORD[**byte as usize]).count();
            if run > 0 {
                at += run;
                end = at;
            }
            match rest.get(at).copied().unwrap_or(0) {
                0 => break true,
                b' ' | b'\t' => {
                    at += 1;
                    continue;
                }
                b'#' if at > end => break true,
                b':' if self.cursor.is_blank_break_or_end(at + 1) => break true,
                b',' | b'?' | b'[' | b']' | b'{' | b'}' if in_flow => break true,
                b'\n' | b'\r' => break false,
                0xC2 | 0xE2 if self.cursor.is_break(at) => break false,
                _ => {}
            }
            at += 1;
            end = at;
        };
        self.cursor.skip_to(from + at);
        (self.cursor.slice(from, from + end), ended)
    }

    fn plain_breaks(&mut self, indent: i64, start: Place, fold: &mut Fold<'a>) -> Result<()> {
        loop {
            if self.cursor.is_break(0) {
                fold.add(self.cursor.take_break());
            } else if self.cursor.is_blank(0) {
                if self.cursor.byte(0) == b'\t' && self.cursor.column() < indent {
                    return Err(SyntaxError::new(self.cursor.place(), "a tab where only spaces may indent")
                        .help(format!("the text that began on line {} goes on here", start.line + 1)));
                }
                self.cursor.skip();
            } else {
                return Ok(());
            }
        }
    }

    /// Text in quotes.
    pub(crate) fn scan_quoted(&mut self, single: bool) -> Result<Cow<'a, str>> {
        let start = self.cursor.place();
        let quote = if single { b'\'' } else { b'"' };
        self.cursor.skip();
        if let Some(text) = self.quoted_on_one_line(quote) {
            return Ok(Cow::Borrowed(text));
        }
        let mut text = String::new();
        loop {
            if self.document_indicator().is_some() || self.cursor.at_end() {
                return Err(SyntaxError::new(start, "a quote that is never closed")
                    .help("close it; a line that starts with `---` ends the document, even inside quotes"));
            }
            let joined = self.quoted_words(single, &mut text)?;
            if self.cursor.byte(0) == quote {
                self.cursor.skip();
                return Ok(Cow::Owned(text));
            }
            let mut fold = Fold::default();
            let blanks = self.cursor.pos();
            let mut blanks_end = blanks;
            while self.cursor.is_blank(0) || self.cursor.is_break(0) {
                if self.cursor.is_break(0) {
                    // Behind an escaped line break every further one is kept.
                    let line_break = self.cursor.take_break();
                    if joined { fold.more.push_str(line_break) } else { fold.add(line_break) }
                } else {
                    self.cursor.skip();
                    if fold.first.is_none() && !joined {
                        blanks_end = self.cursor.pos();
                    }
                }
            }
            if joined || fold.first.is_some() {
                fold.write(&mut text);
            } else {
                text.push_str(self.cursor.slice(blanks, blanks_end));
            }
        }
    }

    /// The common case: no escape and no line break before the closing quote.
    fn quoted_on_one_line(&mut self, quote: u8) -> Option<&'a str> {
        let rest = self.cursor.rest();
        let stop = rest.iter().position(|byte| {
            *byte == quote || matches!(byte, b'\n' | b'\r' | 0xC2 | 0xE2) || *byte == b'\\' && quote == b'"'
        })?;
        let escaped = quote == b'\'' && rest.get(stop + 1) == Some(&b'\'');
        if rest[stop] != quote || escaped {
            return None;
        }
        let from = self.cursor.pos();
        self.cursor.skip_to(from + stop + 1);
        Some(self.cursor.slice(from, from + stop))
    }

    /// Characters up to a blank, a break or the closing quote. Says whether an escaped line break ended them.
    fn quoted_words(&mut self, single: bool, text: &mut String) -> Result<bool> {
        while !self.cursor.is_blank_break_or_end(0) {
            match self.cursor.byte(0) {
                b'\'' if single && self.cursor.byte(1) == b'\'' => {
                    text.push('\'');
                    self.cursor.skip();
                    self.cursor.skip();
                }
                b'\'' if single => return Ok(false),
                b'"' if !single => return Ok(false),
                b'\\' if !single && self.cursor.is_break(1) => {
                    self.cursor.skip();
                    self.cursor.take_break();
                    return Ok(true);
                }
                b'\\' if !single => text.push(self.scan_escape()?),
                _ => {
                    let from = self.cursor.pos();
                    self.cursor.skip();
                    text.push_str(self.cursor.slice(from, self.cursor.pos()));
                }
            }
        }
        Ok(false)
    }

    fn scan_escape(&mut self) -> Result<char> {
        let at = self.cursor.place();
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
                return Err(SyntaxError::new(at, "an escape that YAML does not have").help(
                    "in double quotes a backslash must be doubled; in single quotes it is just itself",
                ));
            }
        };
        self.cursor.skip();
        self.cursor.skip();
        Ok(simple)
    }

    fn scan_numeric_escape(&mut self, at: Place, hex_digits: usize) -> Result<char> {
        self.cursor.skip();
        self.cursor.skip();
        let mut code = 0;
        for _ in 0..hex_digits {
            let digit = char::from(self.cursor.byte(0)).to_digit(16);
            let digit =
                digit.ok_or_else(|| SyntaxError::new(at, "an escape with too few hexadecimal digits"))?;
            code = (code << 4) | digit;
            self.cursor.skip();
        }
        char::from_u32(code).ok_or_else(|| {
            SyntaxError::new(at, "an escape that is no Unicode character")
                .help("YAML has no surrogate pairs: write the character itself, or \\U with eight digits")
        })
    }

    /// A `|` or `>` block.
    pub(crate) fn scan_block_scalar(&mut self, literal: bool) -> Result<Cow<'a, str>> {
        let start = self.cursor.place();
        self.cursor.skip();
        let (keep, indent) = self.block_header(start)?;
        let mut indent = indent.map(|step| self.indent.max(0) + step);
        let mut text = String::new();
        let mut last_break = "";
        let mut trailing = String::new();
        self.block_breaks(&mut indent, &mut trailing)?;
        let mut after_blank = false;
        while Some(self.cursor.column()) == indent && !self.cursor.at_end() {
            let blank = self.cursor.is_blank(0);
            if literal || after_blank || blank || last_break != "\n" {
                text.push_str(last_break);
            } else if trailing.is_empty() {
                text.push(' ');
            }
            text.push_str(&trailing);
            trailing.clear();
            after_blank = blank;
            let from = self.cursor.pos();
            self.cursor.skip_to_break();
            text.push_str(self.cursor.slice(from, self.cursor.pos()));
            last_break = if self.cursor.at_end() { "" } else { self.cursor.take_break() };
            self.block_breaks(&mut indent, &mut trailing)?;
        }
        if keep != Chomp::Strip {
            text.push_str(last_break);
        }
        if keep == Chomp::Keep {
            text.push_str(&trailing);
        }
        Ok(Cow::Owned(text))
    }

    /// What may stand behind `|` or `>`: chomping and indentation, in either order, and a comment.
    fn block_header(&mut self, start: Place) -> Result<(Chomp, Option<i64>)> {
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
            return Err(SyntaxError::new(start, "text behind the `|` or `>` of a block")
                .help("the block's text starts on the next line, indented; quote a value that begins with `|` or `>`"));
        }
        if self.cursor.is_break(0) {
            self.cursor.take_break();
        }
        Ok((chomp.unwrap_or(Chomp::Clip), step))
    }

    /// Indentation and empty lines; the first line that is not empty decides an indentation not given.
    fn block_breaks(&mut self, indent: &mut Option<i64>, breaks: &mut String) -> Result<()> {
        let mut deepest = 0;
        let inside = |column: i64, indent: Option<i64>| indent.is_none_or(|indent| column < indent);
        loop {
            while inside(self.cursor.column(), *indent) && self.cursor.byte(0) == b' ' {
                self.cursor.skip();
            }
            deepest = deepest.max(self.cursor.column());
            if inside(self.cursor.column(), *indent) && self.cursor.byte(0) == b'\t' {
                return Err(SyntaxError::new(self.cursor.place(), "a tab where only spaces may indent")
                    .help("indent the lines of a block with spaces; a tab may follow them"));
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

    /// The name behind `&` or `*`.
    pub(crate) fn scan_anchor(&mut self) -> Result<&'a str> {
        let at = self.cursor.place();
        self.cursor.skip();
        let from = self.cursor.pos();
        self.skip_word();
        let name = self.cursor.slice(from, self.cursor.pos());
        let ends = self.cursor.is_blank_break_or_end(0)
            || matches!(self.cursor.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return Err(SyntaxError::new(at, "an anchor or alias without a proper name")
                .help("quote a value that begins with `*` or `&`; names have letters, digits, `-` and `_`"));
        }
        Ok(name)
    }

    /// A tag, written out in full.
    pub(crate) fn scan_tag(&mut self) -> Result<Cow<'a, str>> {
        let at = self.cursor.place();
        let tag = if self.cursor.byte(1) == b'<' {
            self.cursor.skip();
            self.cursor.skip();
            let uri = self.scan_uri(at)?;
            if self.cursor.byte(0) != b'>' || uri.is_empty() {
                return Err(bad_tag(at));
            }
            self.cursor.skip();
            uri
        } else {
            self.scan_short_tag(at)?
        };
        if !self.cursor.is_blank_break_or_end(0) {
            return Err(bad_tag(at));
        }
        Ok(Cow::Owned(tag))
    }

    /// `!!name` stands for one of YAML's own, `!name` for itself; other handles would need a directive.
    fn scan_short_tag(&mut self, at: Place) -> Result<String> {
        let from = self.cursor.pos();
        self.cursor.skip();
        self.skip_word();
        if self.cursor.byte(0) != b'!' {
            let head = self.cursor.slice(from, self.cursor.pos());
            return Ok(format!("{head}{}", self.scan_uri(at)?));
        }
        self.cursor.skip();
        let handle = self.cursor.slice(from, self.cursor.pos());
        let name = self.scan_uri(at)?;
        if handle != "!!" || name.is_empty() {
            return Err(bad_tag(at));
        }
        Ok(format!("tag:yaml.org,2002:{name}"))
    }

    fn scan_uri(&mut self, at: Place) -> Result<String> {
        let mut uri = Vec::new();
        loop {
            match self.cursor.byte(0) {
                b'%' => {
                    let digit = |ahead| char::from(self.cursor.byte(ahead)).to_digit(16);
                    let (Some(high), Some(low)) = (digit(1), digit(2)) else { return Err(bad_tag(at)) };
                    uri.push(u8::try_from(high << 4 | low).unwrap_or_default());
                    self.cursor.skip_to(self.cursor.pos() + 3);
                }
                byte if is_word(byte) || b";/?:@&=+$,.!~*'()[]".contains(&byte) => {
                    uri.push(byte);
                    self.cursor.skip();
                }
                _ => return String::from_utf8(uri).map_err(|_| bad_tag(at)),
            }
        }
    }

    fn skip_word(&mut self) {
        while is_word(self.cursor.byte(0)) {
            self.cursor.skip();
        }
    }
}

/// Bytes that are always part of a word without quotes, wherever they stand in it.
const WORD: [bool; 256] = bytes::all_but(b"\0 \t\n\r#:,?[]{}\xC2\xE2");

#[derive(Clone, Copy, PartialEq)]
enum Chomp {
    /// `-`: no line break at the end.
    Strip,
    /// One line break at the end.
    Clip,
    /// `+`: all line breaks at the end.
    Keep,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn bad_tag(at: Place) -> SyntaxError {
    SyntaxError::new(at, "a tag that cannot be read").help("quote a value that begins with `!`")
}
