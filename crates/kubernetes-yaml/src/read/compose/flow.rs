//! Composes flow collections: lists in brackets, and maps in braces.

use super::{Composer, Context, Key, KeyValue, Result};
use crate::read::collections::{Entries, Items};
use crate::read::cursor::Position;
use crate::read::scan::TokenKind;
use crate::{SyntaxError, Value};

impl Composer<'_, '_> {
    pub(super) fn flow_sequence(&mut self, _: Position) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut items = Items::new(&self.pending);
        let mut first = true;
        loop {
            if !first && self.scanner.peek()?.kind != TokenKind::FlowSequenceEnd {
                self.expect_comma("]")?;
            }
            first = false;
            let token = self.scanner.peek()?;
            let at = token.at;
            match token.kind {
                TokenKind::FlowSequenceEnd => {
                    self.scanner.next()?;
                    return Ok(items.finish(&mut self.pending));
                }
                TokenKind::Key => {
                    self.scanner.next()?;
                    self.decoded += 1;
                    let pair = self.nested(at, Self::flow_pair)?;
                    items.push(pair, &mut self.pending);
                }
                _ => {
                    let item = self.compose(Context::Flow)?;
                    items.push(item, &mut self.pending);
                }
            }
        }
    }

    /// Composes a map of one key without braces, as in `[a: 1]`.
    fn flow_pair(&mut self, at: Position) -> Result<(Value, usize)> {
        let mut entries = Entries::new(&self.pending);
        let key = self.flow_key(&TokenKind::FlowSequenceEnd)?;
        self.flow_entry(key, at, &mut entries)?;
        Ok(entries.finish(&mut self.pending, self.duplicates))
    }

    pub(super) fn flow_mapping(&mut self, _: Position) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut entries = Entries::new(&self.pending);
        let mut first = true;
        loop {
            if !first && self.scanner.peek()?.kind != TokenKind::FlowMappingEnd {
                self.expect_comma("}")?;
            }
            first = false;
            let token = self.scanner.peek()?;
            let at = token.at;
            match token.kind {
                TokenKind::FlowMappingEnd => {
                    self.scanner.next()?;
                    return Ok(entries.finish(&mut self.pending, self.duplicates));
                }
                TokenKind::Key => {
                    self.scanner.next()?;
                    let key = self.flow_key(&TokenKind::FlowMappingEnd)?;
                    self.flow_entry(key, at, &mut entries)?;
                }
                // A key without a value, as in `{a, b}`.
                _ => {
                    let key = self.key(Context::Flow)?;
                    self.add_entry(key, at, KeyValue::Missing(at), &mut entries)?;
                }
            }
        }
    }

    fn expect_comma(&mut self, closing: &str) -> Result<()> {
        let token = self.scanner.next()?;
        if token.kind == TokenKind::FlowEntry {
            return Ok(());
        }
        Err(SyntaxError::new(token.at, format!("expected `,` or `{closing}`"))
            .with_help("close the bracket or brace; if this is text, put it in quotes"))
    }

    fn flow_key(&mut self, closing: &TokenKind<'_>) -> Result<Key> {
        match &self.scanner.peek()?.kind {
            TokenKind::Value | TokenKind::FlowEntry => Ok(self.null_key()),
            kind if kind == closing => Ok(self.null_key()),
            _ => self.key(Context::Flow),
        }
    }

    fn flow_entry(&mut self, key: Key, key_at: Position, entries: &mut Entries) -> Result<()> {
        if !matches!(self.scanner.peek()?.kind, TokenKind::Value) {
            return self.add_entry(key, key_at, KeyValue::Missing(key_at), entries);
        }
        let at = self.scanner.next()?.at;
        let value = match self.scanner.peek()?.kind {
            TokenKind::FlowEntry | TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd => {
                KeyValue::Missing(at)
            }
            _ => KeyValue::Next(Context::Flow),
        };
        self.add_entry(key, key_at, value, entries)
    }
}
