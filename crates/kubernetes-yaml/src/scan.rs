//! Text to tokens, by the rules of the scanner that Kubernetes reads with (YAML 1.1, go-yaml's second version).
//!
//! Where block structure begins and ends is known only by indentation, and whether a scalar is a key only once the
//! `:` behind it is seen. So tokens wait in a queue: a `Key` is put in front of what turned out to be one.

use std::borrow::Cow;

use crate::cursor::{Cursor, Place};
use crate::error::SyntaxError;

#[derive(Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) at: Place,
}

#[derive(Debug, PartialEq)]
pub(crate) enum TokenKind<'a> {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    Tag(Cow<'a, str>),
    Scalar { text: Cow<'a, str>, plain: bool },
}

/// A token that may turn out to be a key, if a `:` follows on its line within 1,024 characters.
#[derive(Clone, Copy, Default)]
struct KeyCandidate {
    possible: bool,
    /// At this indentation only a key can stand, so its `:` must come.
    required: bool,
    token: usize,
    at: Place,
    /// It was given up because of its length alone.
    too_long: bool,
}

const KEY_LENGTH_LIMIT: u32 = 1024;

pub(crate) struct Scanner<'a> {
    pub(crate) cursor: Cursor<'a>,
    /// Tokens that were read, from `head` on not yet handed out.
    tokens: Vec<Token<'a>>,
    head: usize,
    /// How many tokens have been handed out.
    taken: usize,
    /// Whether the first waiting token is known to be what it is: no `Key` can come before it any more.
    settled: bool,
    ended: bool,
    /// The indentation of the innermost block collection, -1 outside of any.
    pub(crate) indent: i64,
    indents: Vec<i64>,
    /// Whether a key may begin here.
    pub(crate) key_allowed: bool,
    /// One candidate for each open flow collection, and one for the block around them.
    candidates: Vec<KeyCandidate>,
}

type Result<T> = std::result::Result<T, SyntaxError>;

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, first_line: u32) -> Self {
        // The byte-order mark of a document is not part of it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            cursor: Cursor::new(text, first_line),
            tokens: Vec::with_capacity(16),
            head: 0,
            taken: 0,
            settled: false,
            ended: false,
            indent: -1,
            indents: Vec::with_capacity(16),
            key_allowed: true,
            candidates: vec![KeyCandidate::default()],
        }
    }

    /// The next token, left where it is.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<&Token<'a>> {
        if !self.settled {
            self.settle()?;
        }
        Ok(&self.tokens[self.head])
    }

    /// The next token, taken.
    pub(crate) fn next(&mut self) -> Result<Token<'a>> {
        let at = self.peek()?.at;
        let kind = std::mem::replace(&mut self.tokens[self.head].kind, TokenKind::StreamEnd);
        self.taken += 1;
        self.head += 1;
        self.settled = false;
        Ok(Token { kind, at })
    }

    #[inline(never)]
    fn settle(&mut self) -> Result<()> {
        if self.head == self.tokens.len() {
            self.tokens.clear();
            self.head = 0;
        }
        while !self.ended && (self.waiting() == 0 || self.head_may_be_key()?) {
            self.fetch()?;
        }
        if self.waiting() == 0 {
            self.push(TokenKind::StreamEnd, self.cursor.place());
        }
        self.settled = true;
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.tokens.len() - self.head
    }

    pub(crate) fn flow_depth(&self) -> usize {
        self.candidates.len() - 1
    }

    pub(crate) fn in_flow(&self) -> bool {
        self.flow_depth() > 0
    }

    fn head_may_be_key(&mut self) -> Result<bool> {
        let head = self.taken;
        let is_head = |candidate: &KeyCandidate| candidate.token == head && candidate.possible;
        // Outside of flow collections, which is nearly everywhere, there is one candidate.
        let found = match &self.candidates[..] {
            [only] => is_head(only).then_some(0),
            all => all.iter().rposition(is_head),
        };
        match found {
            Some(at) => self.still_candidate(at),
            None => Ok(false),
        }
    }

    /// Whether the candidate can still become a key here; if not, and it had to, that is an error.
    fn still_candidate(&mut self, at: usize) -> Result<bool> {
        let here = self.cursor.place();
        let candidate = &mut self.candidates[at];
        if !candidate.possible {
            return Ok(false);
        }
        if candidate.at.line < here.line || candidate.at.index + KEY_LENGTH_LIMIT < here.index {
            if candidate.required {
                return Err(missing_colon(candidate.at));
            }
            candidate.possible = false;
            candidate.too_long = candidate.at.line == here.line;
        }
        Ok(candidate.possible)
    }

    fn fetch(&mut self) -> Result<()> {
        self.skip_to_token();
        self.close_blocks(self.cursor.column());
        let at = self.cursor.place();
        let first = self.cursor.byte(0);
        if first == 0 {
            return self.fetch_end();
        }
        if at.column == 0 {
            if first == b'%' {
                return Err(SyntaxError::new(
                    at,
                    "directives such as %YAML and %TAG cannot be read in a stream",
                )
                .help("remove the directive: kubectl and the cluster-version-operator refuse it as well"));
            }
            if let Some(kind) = self.document_indicator() {
                return self.fetch_document_indicator(kind);
            }
        }
        match first {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.cursor.is_blank_break_or_end(1) => self.fetch_block_entry(),
            b'?' if self.in_flow() || self.cursor.is_blank_break_or_end(1) => self.fetch_key(),
            b':' if self.in_flow() || self.cursor.is_blank_break_or_end(1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_anchor(first == b'*'),
            b'!' => self.fetch_tag(),
            b'|' | b'>' if !self.in_flow() => self.fetch_block_scalar(first == b'|'),
            b'\'' | b'"' => self.fetch_quoted(first == b'\''),
            b'\t' => Err(SyntaxError::new(at, "a tab where only spaces may indent")
                .help("indent with spaces; the rest of the file cannot be read until then")),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                Err(SyntaxError::new(at, format!("`{}` cannot start a value", char::from(first)))
                    .help("put the text in quotes"))
            }
            _ => self.fetch_plain(),
        }
    }

    /// Moves over blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            self.cursor.skip_spaces();
            while self.cursor.byte(0) == b'\t' && (self.in_flow() || !self.key_allowed) {
                self.cursor.skip();
                self.cursor.skip_spaces();
            }
            if self.cursor.byte(0) == b'#' {
                self.cursor.skip_to_break();
            }
            if !self.cursor.is_break(0) {
                return;
            }
            self.cursor.take_break();
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }

    /// `---` or `...` alone in the first column.
    pub(crate) fn document_indicator(&self) -> Option<TokenKind<'a>> {
        if self.cursor.column() != 0 || !self.cursor.is_blank_break_or_end(3) {
            return None;
        }
        match (self.cursor.byte(0), self.cursor.byte(1), self.cursor.byte(2)) {
            (b'-', b'-', b'-') => Some(TokenKind::DocumentStart),
            (b'.', b'.', b'.') => Some(TokenKind::DocumentEnd),
            _ => None,
        }
    }

    fn fetch_end(&mut self) -> Result<()> {
        self.close_blocks(-1);
        self.drop_candidate()?;
        self.key_allowed = false;
        self.ended = true;
        self.push(TokenKind::StreamEnd, self.cursor.place());
        Ok(())
    }

    fn fetch_document_indicator(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.close_blocks(-1);
        self.drop_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.place();
        self.cursor.skip_to(self.cursor.pos() + 3);
        self.push(kind, at);
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.save_candidate()?;
        self.candidates.push(KeyCandidate::default());
        self.key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.drop_candidate()?;
        if self.in_flow() {
            self.candidates.pop();
        }
        self.key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> Result<()> {
        self.drop_candidate()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::FlowEntry);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<()> {
        let at = self.cursor.place();
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(SyntaxError::new(at, "a list item cannot start here").help(
                    "put the `-` on a line of its own, below the key and not deeper than its siblings",
                ));
            }
            self.open_block(at, self.tokens.len(), TokenKind::BlockSequenceStart);
        }
        self.drop_candidate()?;
        self.key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<()> {
        let at = self.cursor.place();
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(SyntaxError::new(at, "a `?` key cannot start here"));
            }
            self.open_block(at, self.tokens.len(), TokenKind::BlockMappingStart);
        }
        self.drop_candidate()?;
        self.key_allowed = !self.in_flow();
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<()> {
        let innermost = self.candidates.len() - 1;
        if self.still_candidate(innermost)? {
            let candidate = self.candidates[innermost];
            let position = self.head + candidate.token.saturating_sub(self.taken);
            self.tokens.insert(position, Token { kind: TokenKind::Key, at: candidate.at });
            self.open_block(candidate.at, position, TokenKind::BlockMappingStart);
            self.candidates[innermost].possible = false;
            self.key_allowed = false;
        } else {
            let at = self.cursor.place();
            if !self.in_flow() {
                if !self.key_allowed && self.candidates[innermost].too_long {
                    return Err(SyntaxError::new(at, "a key of more than 1,024 characters")
                        .help("write it behind a `?` on a line of its own, with the `:` on the next"));
                }
                if !self.key_allowed {
                    return Err(SyntaxError::new(at, "a second `: ` in one value")
                        .help("put the value in quotes if the `:` belongs to it, or check the indentation"));
                }
                self.open_block(at, self.tokens.len(), TokenKind::BlockMappingStart);
            }
            self.key_allowed = !self.in_flow();
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn fetch_anchor(&mut self, alias: bool) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.place();
        let name = self.scan_anchor()?;
        self.push(if alias { TokenKind::Alias(name) } else { TokenKind::Anchor(name) }, at);
        Ok(())
    }

    fn fetch_tag(&mut self) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.place();
        let tag = self.scan_tag()?;
        self.push(TokenKind::Tag(tag), at);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, literal: bool) -> Result<()> {
        self.drop_candidate()?;
        self.key_allowed = true;
        let at = self.cursor.place();
        let text = self.scan_block_scalar(literal)?;
        self.push(TokenKind::Scalar { text, plain: false }, at);
        Ok(())
    }

    fn fetch_quoted(&mut self, single: bool) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.place();
        let text = self.scan_quoted(single)?;
        self.push(TokenKind::Scalar { text, plain: false }, at);
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.place();
        let text = self.scan_plain()?;
        self.push(TokenKind::Scalar { text, plain: true }, at);
        // Nearly every word is a key, and what follows is its `:`.
        if self.cursor.byte(0) == b':' && !self.in_flow() && self.cursor.is_blank_break_or_end(1) {
            return self.fetch_value();
        }
        Ok(())
    }

    fn push(&mut self, kind: TokenKind<'a>, at: Place) {
        self.tokens.push(Token { kind, at });
    }

    /// A token of one character.
    fn push_indicator(&mut self, kind: TokenKind<'a>) {
        let at = self.cursor.place();
        self.cursor.skip();
        self.push(kind, at);
    }

    fn save_candidate(&mut self) -> Result<()> {
        if !self.key_allowed {
            return Ok(());
        }
        let required = !self.in_flow() && self.indent == self.cursor.column();
        let token = self.taken + self.waiting();
        self.drop_candidate()?;
        if let Some(innermost) = self.candidates.last_mut() {
            *innermost =
                KeyCandidate { possible: true, required, token, at: self.cursor.place(), too_long: false };
        }
        Ok(())
    }

    fn drop_candidate(&mut self) -> Result<()> {
        match self.candidates.last_mut() {
            Some(candidate) if candidate.possible && candidate.required => Err(missing_colon(candidate.at)),
            Some(candidate) => {
                candidate.possible = false;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Opens a block collection at a deeper column; its start token goes before the token at `position`.
    fn open_block(&mut self, at: Place, position: usize, kind: TokenKind<'a>) {
        let column = i64::from(at.column);
        if !self.in_flow() && self.indent < column {
            self.indents.push(self.indent);
            self.indent = column;
            self.tokens.insert(position, Token { kind, at });
        }
    }

    /// Closes every block collection that is deeper than `column`.
    fn close_blocks(&mut self, column: i64) {
        while !self.in_flow() && self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.place());
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}

fn missing_colon(at: Place) -> SyntaxError {
    SyntaxError::new(at, "a key without a `:` behind it").help(
        "write `key: value`, with a space behind the colon; text that goes on must be indented deeper than its key",
    )
}
