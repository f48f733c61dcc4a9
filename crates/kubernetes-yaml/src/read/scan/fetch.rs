//! Reads one token, and decides by its first character what it is.

use super::block::BlockStyle;
use super::quoted::Quote;
use super::{KeyCandidate, Result, Scanner, Token, TokenKind, tab_in_indentation};
use crate::SyntaxError;

impl<'a> Scanner<'a> {
    /// Reads one more token, and the start and end tokens of block collections that come with it.
    pub(super) fn fetch(&mut self) -> Result<()> {
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
        let token = self.taken + self.waiting();
        self.candidates.push(KeyCandidate { token, ..KeyCandidate::default() });
        self.key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.drop_candidate()?;
        if self.in_flow()
            && let Some(inner) = self.candidates.pop()
            && let Some(outer) = self.candidates.last_mut()
        {
            outer.abandoned |= outer.token == inner.token;
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
            let index = match candidate.token.checked_sub(self.taken) {
                Some(ahead) => self.head + ahead,
                None => self.tokens.len(),
            };
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
            let is_key = self.candidates.last().is_some_and(|candidate| {
                candidate.possible && candidate.at == at && at.line == self.cursor.position().line
            });
            if is_key {
                return self.fetch_value();
            }
        }
        Ok(())
    }
}
