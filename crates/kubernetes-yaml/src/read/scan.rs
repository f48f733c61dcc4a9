//! Splits a document into tokens, by the rules of the scanner in Kubernetes (YAML 1.1, go-yaml version 2).
//!
//! A scalar turns out to be a key only when the scanner reaches the `:` after it. Tokens therefore wait in a queue, and
//! the scanner inserts a `Key` token, and the start of a map, before a scalar that turned out to be a key.

use std::borrow::Cow;

use super::cursor::{Cursor, Position};
use super::scan_scalar::{BlockStyle, Quote};
use crate::SyntaxError;

#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind<'a>,
    pub(super) at: Position,
}

#[derive(Debug, PartialEq)]
pub(super) enum TokenKind<'a> {
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

/// A token that is a key if a `:` follows it on the same line, within 1,024 characters.
#[derive(Clone, Copy, Default)]
struct KeyCandidate {
    possible: bool,
    /// Whether only a key is allowed at this indentation, so that a missing `:` is an error.
    required: bool,
    /// The number of the token, counted from the start of the document.
    token: usize,
    at: Position,
    /// Whether it is no candidate any more because it is too long.
    too_long: bool,
}

const KEY_LENGTH_LIMIT: u32 = 1024;

pub(super) struct Scanner<'a> {
    pub(super) cursor: Cursor<'a>,
    /// Tokens that were read. Those from `head` on wait to be taken.
    tokens: Vec<Token<'a>>,
    head: usize,
    /// The number of tokens that were taken.
    taken: usize,
    /// Whether the first waiting token is final, so that no `Key` can be inserted before it.
    settled: bool,
    ended: bool,
    /// The indentation of the innermost block collection, or -1 outside of all block collections.
    pub(super) indent: i64,
    indents: Vec<i64>,
    /// Whether a key may start here.
    pub(super) key_allowed: bool,
    /// A candidate for each open flow collection, and one for the block around them.
    candidates: Vec<KeyCandidate>,
}

type Result<T> = std::result::Result<T, SyntaxError>;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, first_line: u32) -> Self {
        // A byte-order mark is not part of the document.
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

    /// Returns the next token without taking it.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<&Token<'a>> {
        if !self.settled {
            self.settle()?;
        }
        Ok(&self.tokens[self.head])
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        let at = self.peek()?.at;
        let kind = std::mem::replace(&mut self.tokens[self.head].kind, TokenKind::StreamEnd);
        self.taken += 1;
        self.head += 1;
        self.settled = false;
        Ok(Token { kind, at })
    }

    /// Reads on until the first waiting token is final.
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
            self.push(TokenKind::StreamEnd, self.cursor.position());
        }
        self.settled = true;
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.tokens.len() - self.head
    }

    pub(super) fn flow_depth(&self) -> usize {
        self.candidates.len() - 1
    }

    pub(super) fn in_flow(&self) -> bool {
        self.flow_depth() > 0
    }

    fn head_may_be_key(&mut self) -> Result<bool> {
        let head = self.taken;
        let is_head = |candidate: &KeyCandidate| candidate.token == head && candidate.possible;
        // There is only one candidate outside of flow collections, which is the common case.
        let index = match &self.candidates[..] {
            [only] => is_head(only).then_some(0),
            all => all.iter().rposition(is_head),
        };
        match index {
            Some(index) => self.still_candidate(index),
            None => Ok(false),
        }
    }

    /// Returns whether a candidate can still become a key here. Returns an error if it cannot and only a key is allowed.
    fn still_candidate(&mut self, index: usize) -> Result<bool> {
        let here = self.cursor.position();
        let candidate = &mut self.candidates[index];
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

    /// Reads one more token, and the start and end tokens of block collections that come with it.
    fn fetch(&mut self) -> Result<()> {
        self.skip_to_token();
        self.close_blocks(self.cursor.column());
        let at = self.cursor.position();
        let first = self.cursor.byte(0);
        if first == 0 {
            return self.fetch_end();
        }
        if at.column == 0 {
            if first == b'%' {
                let message = "directives such as `%YAML` and `%TAG` are not supported";
                return Err(SyntaxError::new(at, message)
                    .with_help("remove the directive; kubectl refuses it as well"));
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
            b'*' => self.fetch_alias(),
            b'&' => self.fetch_anchor(),
            b'!' => self.fetch_tag(),
            b'|' if !self.in_flow() => self.fetch_block_scalar(BlockStyle::Literal),
            b'>' if !self.in_flow() => self.fetch_block_scalar(BlockStyle::Folded),
            b'\'' => self.fetch_quoted(Quote::Single),
            b'"' => self.fetch_quoted(Quote::Double),
            b'\t' => Err(tab_in_indentation(at).with_help("indent with spaces")),
            b'#' | b'|' | b'>' | b'%' | b'@' | b'`' => {
                Err(SyntaxError::new(at, format!("`{}` cannot start a value", char::from(first)))
                    .with_help("put the value in quotes"))
            }
            _ => self.fetch_plain(),
        }
    }

    /// Skips blanks, comments and line breaks.
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

    /// Returns the token for `---` or `...` in the first column, if one is here.
    pub(super) fn document_indicator(&self) -> Option<TokenKind<'a>> {
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
        self.push(TokenKind::StreamEnd, self.cursor.position());
        Ok(())
    }

    fn fetch_document_indicator(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.close_blocks(-1);
        self.drop_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.position();
        self.cursor.skip_to(self.cursor.offset() + 3);
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
        let at = self.cursor.position();
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(SyntaxError::new(at, "a list item cannot start here").with_help(
                    "start the list on the line after its key, with every `-` in the same column",
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
        let at = self.cursor.position();
        if !self.in_flow() {
            if !self.key_allowed {
                return Err(SyntaxError::new(at, "a key with `?` cannot start here"));
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
            let index = self.head + candidate.token.saturating_sub(self.taken);
            self.tokens.insert(index, Token { kind: TokenKind::Key, at: candidate.at });
            self.open_block(candidate.at, index, TokenKind::BlockMappingStart);
            self.candidates[innermost].possible = false;
            self.key_allowed = false;
        } else {
            let at = self.cursor.position();
            if !self.in_flow() {
                if !self.key_allowed && self.candidates[innermost].too_long {
                    return Err(SyntaxError::new(at, "the key is longer than 1,024 characters")
                        .with_help("write `? ` before the key, and `: ` with the value on the next line"));
                }
                if !self.key_allowed {
                    return Err(SyntaxError::new(at, "unexpected `: ` inside a value").with_help(
                        "put the value in quotes if the `:` is part of it; otherwise check the indentation",
                    ));
                }
                self.open_block(at, self.tokens.len(), TokenKind::BlockMappingStart);
            }
            self.key_allowed = !self.in_flow();
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn fetch_alias(&mut self) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.position();
        let name = self.scan_anchor_name()?;
        self.push(TokenKind::Alias(name), at);
        Ok(())
    }

    fn fetch_anchor(&mut self) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.position();
        let name = self.scan_anchor_name()?;
        self.push(TokenKind::Anchor(name), at);
        Ok(())
    }

    fn fetch_tag(&mut self) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.position();
        let tag = self.scan_tag()?;
        self.push(TokenKind::Tag(tag), at);
        Ok(())
    }

    fn fetch_block_scalar(&mut self, style: BlockStyle) -> Result<()> {
        self.drop_candidate()?;
        self.key_allowed = true;
        let at = self.cursor.position();
        let text = self.scan_block_scalar(style)?;
        self.push(TokenKind::Scalar { text, plain: false }, at);
        Ok(())
    }

    fn fetch_quoted(&mut self, quote: Quote) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.position();
        let text = self.scan_quoted(quote)?;
        self.push(TokenKind::Scalar { text, plain: false }, at);
        Ok(())
    }

    fn fetch_plain(&mut self) -> Result<()> {
        self.save_candidate()?;
        self.key_allowed = false;
        let at = self.cursor.position();
        let text = self.scan_plain()?;
        self.push(TokenKind::Scalar { text, plain: true }, at);
        // Most plain scalars are keys, so this saves one round through `fetch`.
        if self.cursor.byte(0) == b':' && !self.in_flow() && self.cursor.is_blank_break_or_end(1) {
            return self.fetch_value();
        }
        Ok(())
    }

    fn push(&mut self, kind: TokenKind<'a>, at: Position) {
        self.tokens.push(Token { kind, at });
    }

    /// Adds a token of one character, and skips the character.
    fn push_indicator(&mut self, kind: TokenKind<'a>) {
        let at = self.cursor.position();
        self.cursor.skip();
        self.push(kind, at);
    }

    /// Makes the token that starts here a candidate for a key, if a key is allowed here.
    fn save_candidate(&mut self) -> Result<()> {
        if !self.key_allowed {
            return Ok(());
        }
        let required = !self.in_flow() && self.indent == self.cursor.column();
        let token = self.taken + self.waiting();
        self.drop_candidate()?;
        if let Some(innermost) = self.candidates.last_mut() {
            *innermost =
                KeyCandidate { possible: true, required, token, at: self.cursor.position(), too_long: false };
        }
        Ok(())
    }

    /// Drops the innermost candidate. Returns an error if only a key is allowed in its place.
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

    /// Opens a block collection if `at` is indented deeper than the innermost one. Inserts its start token at `index`.
    fn open_block(&mut self, at: Position, index: usize, kind: TokenKind<'a>) {
        let column = i64::from(at.column);
        if !self.in_flow() && self.indent < column {
            self.indents.push(self.indent);
            self.indent = column;
            self.tokens.insert(index, Token { kind, at });
        }
    }

    /// Closes all block collections that are indented deeper than `column`.
    fn close_blocks(&mut self, column: i64) {
        while !self.in_flow() && self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.position());
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }
}

pub(super) fn tab_in_indentation(at: Position) -> SyntaxError {
    SyntaxError::new(at, "a tab cannot be used for indentation")
}

fn missing_colon(at: Position) -> SyntaxError {
    SyntaxError::new(at, "expected `:` after this key").with_help(
        "write `key: value`, with a space after the colon; indent the further lines of a value deeper than its key",
    )
}
