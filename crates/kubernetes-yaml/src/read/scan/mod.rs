//! Splits a document into tokens, by the rules of the scanner in Kubernetes (YAML 1.1, go-yaml version 2).
//!
//! A scalar turns out to be a key only when the scanner reaches the `:` after it. Tokens therefore wait in a queue, and
//! the scanner inserts a `Key` token, and the start of a map, before a scalar that turned out to be a key.

mod block;
mod fetch;
mod fold;
mod plain;
mod quoted;
mod tag;

use std::borrow::Cow;

use super::cursor::{Cursor, Position};
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
#[expect(clippy::struct_excessive_bools, reason = "the states are independent")]
struct KeyCandidate {
    possible: bool,
    /// Whether only a key is allowed at this indentation, so that a missing `:` is an error.
    required: bool,
    /// The number of the token, counted from the start of the document.
    token: usize,
    at: Position,
    /// Whether it was given up because it is too long.
    too_long: bool,
    /// Whether the scanner no longer waits for its `:`. This is so after an empty flow collection, because of a
    /// mistake in go-yaml that decides which text is part of the document.
    abandoned: bool,
}

const KEY_LENGTH_LIMIT: u32 = 1024;

pub(super) struct Scanner<'a> {
    cursor: Cursor<'a>,
    /// Tokens that were read. Those from `head` on wait to be taken.
    tokens: Vec<Token<'a>>,
    head: usize,
    /// The number of tokens that were taken.
    taken: usize,
    /// Whether the first waiting token is final, so that no `Key` can be inserted before it.
    settled: bool,
    ended: bool,
    /// The indentation of the innermost block collection, or -1 outside of all block collections.
    indent: i64,
    indents: Vec<i64>,
    /// Whether a key may start here.
    key_allowed: bool,
    /// A candidate for each open flow collection, and one for the block around them.
    candidates: Vec<KeyCandidate>,
}

type Result<T> = std::result::Result<T, SyntaxError>;

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, first_line: u32) -> Result<Self> {
        // A byte-order mark is not part of the document.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.starts_with('\u{feff}') {
            let message = "the document starts with two byte-order marks";
            return Err(SyntaxError::new(Position::at_line(first_line), message).with_help(
                "remove them; Kubernetes loses the first character of some lines after two marks",
            ));
        }
        Ok(Self {
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
        })
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

    /// Returns where text starts that is not part of the document, which has been read. Reads no further than
    /// Kubernetes does, which reads one token: an error there counts.
    pub(super) fn text_after_document(&mut self) -> Result<Option<Position>> {
        let token = self.peek()?;
        match token.kind {
            TokenKind::StreamEnd => return Ok(None),
            TokenKind::DocumentStart | TokenKind::DocumentEnd => {}
            _ => return Ok(Some(token.at)),
        }
        // Lines with an indicator and nothing else are not text.
        loop {
            self.cursor.skip_blanks();
            if self.cursor.byte(0) == b'#' {
                self.cursor.skip_to_break();
            }
            if self.cursor.is_break(0) {
                self.cursor.take_break();
            } else if self.document_indicator().is_some() {
                self.cursor.skip_to(self.cursor.offset() + 3);
            } else {
                return Ok((!self.cursor.at_end()).then(|| self.cursor.position()));
            }
        }
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

    fn in_flow(&self) -> bool {
        self.candidates.len() > 1
    }

    fn head_may_be_key(&mut self) -> Result<bool> {
        let head = self.taken;
        let is_head =
            |candidate: &KeyCandidate| candidate.token == head && candidate.possible && !candidate.abandoned;
        // There is only one candidate outside of flow collections, which is the common case.
        let index = match &self.candidates[..] {
            [only] => is_head(only).then_some(0),
            // Inner candidates come after outer ones, so those before the head need not be looked at.
            all => {
                let mut after = all.iter().enumerate().rev().take_while(|(_, inner)| inner.token >= head);
                after.find(|(_, candidate)| is_head(candidate)).map(|(index, _)| index)
            }
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
            *innermost = KeyCandidate {
                possible: true,
                required,
                token,
                at: self.cursor.position(),
                ..KeyCandidate::default()
            };
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

fn tab_in_indentation(at: Position) -> SyntaxError {
    SyntaxError::new(at, "a tab cannot be used for indentation")
}

fn missing_colon(at: Position) -> SyntaxError {
    SyntaxError::new(at, "expected `:` after this key").with_help(
        "write `key: value`, with a space after the colon; indent the further lines of a value deeper than its key",
    )
}
