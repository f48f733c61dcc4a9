//! Scans anchors, aliases and tags.

use std::borrow::Cow;

use super::{Result, Scanner};
use crate::SyntaxError;
use crate::read::cursor::Position;

impl<'a> Scanner<'a> {
    /// Scans `&name` or `*name`, and returns the name.
    pub(super) fn scan_anchor_name(&mut self) -> Result<&'a str> {
        let at = self.cursor.position();
        self.cursor.skip();
        let from = self.cursor.offset();
        self.skip_word();
        let name = self.cursor.slice(from, self.cursor.offset());
        let ends = self.cursor.is_blank_break_or_end(0)
            || matches!(self.cursor.byte(0), b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`');
        if name.is_empty() || !ends {
            return Err(SyntaxError::new(at, "invalid name of an anchor or alias").with_help(
                "use letters, digits, `-` and `_`; put a value that begins with `&` or `*` in quotes",
            ));
        }
        Ok(name)
    }

    /// Scans a tag, and returns its full form.
    pub(super) fn scan_tag(&mut self) -> Result<Cow<'a, str>> {
        let at = self.cursor.position();
        let tag = if self.cursor.byte(1) == b'<' {
            self.cursor.skip();
            self.cursor.skip();
            let uri = self.scan_tag_uri(at)?;
            if self.cursor.byte(0) != b'>' || uri.is_empty() {
                return Err(invalid_tag(at));
            }
            self.cursor.skip();
            uri
        } else {
            self.scan_short_tag(at)?
        };
        if !self.cursor.is_blank_break_or_end(0) {
            return Err(invalid_tag(at));
        }
        Ok(Cow::Owned(tag))
    }

    /// Scans `!!name`, a tag of YAML itself, or `!name`. Other handles would need a directive.
    fn scan_short_tag(&mut self, at: Position) -> Result<String> {
        let from = self.cursor.offset();
        self.cursor.skip();
        self.skip_word();
        if self.cursor.byte(0) != b'!' {
            let head = self.cursor.slice(from, self.cursor.offset());
            return Ok(format!("{head}{}", self.scan_tag_uri(at)?));
        }
        self.cursor.skip();
        let handle = self.cursor.slice(from, self.cursor.offset());
        let name = self.scan_tag_uri(at)?;
        if handle != "!!" || name.is_empty() {
            return Err(invalid_tag(at));
        }
        Ok(format!("tag:yaml.org,2002:{name}"))
    }

    fn scan_tag_uri(&mut self, at: Position) -> Result<String> {
        let mut uri = Vec::new();
        loop {
            match self.cursor.byte(0) {
                b'%' => {
                    let digit = |ahead| char::from(self.cursor.byte(ahead)).to_digit(16);
                    let (Some(high), Some(low)) = (digit(1), digit(2)) else { return Err(invalid_tag(at)) };
                    uri.push(u8::try_from(high << 4 | low).unwrap_or_default());
                    self.cursor.skip_to(self.cursor.offset() + 3);
                }
                byte if is_word(byte) || b";/?:@&=+$,.!~*'()[]".contains(&byte) => {
                    uri.push(byte);
                    self.cursor.skip();
                }
                _ => return String::from_utf8(uri).map_err(|_| invalid_tag(at)),
            }
        }
    }

    fn skip_word(&mut self) {
        while is_word(self.cursor.byte(0)) {
            self.cursor.skip();
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn invalid_tag(at: Position) -> SyntaxError {
    SyntaxError::new(at, "invalid tag").with_help("put a value that begins with `!` in quotes")
}
