//! Composes block collections: lists with `-`, and maps whose structure is indentation.

use super::{Composer, Context, Key, KeyValue, Result};
use crate::read::collections::{Composed, Entries, Items};
use crate::read::cursor::Position;
use crate::read::scan::TokenKind;
use crate::{SyntaxError, Value};

impl Composer<'_, '_> {
    pub(super) fn block_sequence(&mut self, _: Position) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut items = Items::new(&self.pending);
        loop {
            let token = self.scanner.next()?;
            match token.kind {
                TokenKind::BlockEntry => {
                    let item = match self.scanner.peek()?.kind {
                        TokenKind::BlockEntry | TokenKind::BlockEnd => self.null(token.at),
                        _ => self.compose(Context::Block)?,
                    };
                    items.push(item, &mut self.pending);
                }
                TokenKind::BlockEnd => return Ok(items.finish(&mut self.pending)),
                _ => {
                    return Err(SyntaxError::new(token.at, "expected a list item that starts with `-`")
                        .with_help("check that this line is indented like the list it belongs to"));
                }
            }
        }
    }

    /// Composes a list in the column of its key. It ends at the first token that is no item.
    pub(super) fn unindented_sequence(&mut self, _: Position) -> Result<(Value, usize)> {
        let mut items = Items::new(&self.pending);
        while matches!(self.scanner.peek()?.kind, TokenKind::BlockEntry) {
            let at = self.scanner.next()?.at;
            let item = self.unindented_item(at)?;
            items.push(item, &mut self.pending);
        }
        Ok(items.finish(&mut self.pending))
    }

    fn unindented_item(&mut self, at: Position) -> Result<Composed> {
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                Ok(self.null(at))
            }
            _ => self.compose(Context::Block),
        }
    }

    pub(super) fn block_mapping(&mut self, _: Position) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut entries = Entries::new(&self.pending);
        loop {
            let token = self.scanner.peek()?;
            let at = token.at;
            match token.kind {
                TokenKind::BlockEnd => {
                    self.scanner.next()?;
                    return Ok(entries.finish(&mut self.pending, self.duplicates));
                }
                TokenKind::Key => {
                    self.scanner.next()?;
                    let key = self.block_key()?;
                    self.block_entry(key, at, &mut entries)?;
                }
                TokenKind::Value => {
                    let key = self.null_key();
                    self.block_entry(key, at, &mut entries)?;
                }
                _ => {
                    return Err(SyntaxError::new(at, "expected a key")
                        .with_help("check that this line is indented like the map it belongs to"));
                }
            }
        }
    }

    fn block_key(&mut self) -> Result<Key> {
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => Ok(self.null_key()),
            _ => self.key(Context::BlockValue),
        }
    }

    fn block_entry(&mut self, key: Key, key_at: Position, entries: &mut Entries) -> Result<()> {
        if !matches!(self.scanner.peek()?.kind, TokenKind::Value) {
            return self.add_entry(key, key_at, KeyValue::Missing(key_at), entries);
        }
        let at = self.scanner.next()?.at;
        let value = match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => KeyValue::Missing(at),
            _ => KeyValue::Next(Context::BlockValue),
        };
        self.add_entry(key, key_at, value, entries)
    }
}
