//! Tokens to a tree: collections, anchors and aliases, merge keys, and the type of every scalar.

use std::collections::HashMap;

use crate::collections::{Composed, Entries, Items, Open};
use crate::cursor::Place;
use crate::error::SyntaxError;
use crate::node::{DuplicateKey, Entry, Mark, Node, SourceId, Text, Value};
use crate::resolve::{self, Scalar};
use crate::scan::{Scanner, Token, TokenKind};
use crate::{MAX_DEPTH, Number};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads the one document of `text`, whose first line is line `first_line` of its file (from zero). What stands
/// behind the document's end is not looked at, as in Kubernetes.
pub(crate) fn document(
    text: &str,
    first_line: u32,
    source: SourceId,
    duplicates: &mut Vec<DuplicateKey>,
) -> Result<Node> {
    let mut composer = Composer {
        scanner: Scanner::new(text, first_line),
        source,
        anchors: HashMap::new(),
        decoded: 1,
        aliased: 0,
        depth: 0,
        merge_key: false,
        open: Open::new(),
        duplicates,
    };
    composer.document()
}

struct Composer<'a, 'd> {
    scanner: Scanner<'a>,
    source: SourceId,
    anchors: HashMap<&'a str, Anchor>,
    /// How many nodes have been made, and how many of them by following an alias.
    decoded: u64,
    aliased: u64,
    depth: usize,
    /// Whether the last scalar, were it a key, would be a merge key.
    merge_key: bool,
    open: Open,
    duplicates: &'d mut Vec<DuplicateKey>,
}

enum Anchor {
    /// The anchored node is still being read: an alias to it would contain itself.
    Open,
    Closed(Composed, u64),
}

/// Where a node stands decides which tokens may begin it.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Flow,
    Block,
    /// The value of a block mapping's key, where a list need not be indented.
    BlockValue,
}

/// What a mapping's key turned out to be.
enum Key {
    Name(Text),
    Merge,
}

impl<'a> Composer<'a, '_> {
    fn document(&mut self) -> Result<Node> {
        let at = self.scanner.peek()?.at;
        let explicit = self.scanner.peek()?.kind == TokenKind::DocumentStart;
        if explicit {
            self.scanner.next()?;
        }
        let root = match self.scanner.peek()?.kind {
            TokenKind::StreamEnd => self.node(Value::Null, at),
            TokenKind::DocumentStart | TokenKind::DocumentEnd if explicit => self.node(Value::Null, at),
            _ => self.compose(Context::Block)?.node,
        };
        // The token behind the root must at least be readable.
        self.scanner.peek()?;
        Ok(root)
    }

    fn compose(&mut self, context: Context) -> Result<Composed> {
        self.decoded += 1;
        let token = self.scanner.peek()?;
        let start = token.at;
        if !matches!(token.kind, TokenKind::Alias(_) | TokenKind::Anchor(_) | TokenKind::Tag(_)) {
            return self.content(context, None, false, start);
        }
        let (mut anchor, mut tag) = (None, None);
        loop {
            let token = self.scanner.peek()?;
            match &token.kind {
                TokenKind::Alias(_) if anchor.is_none() && tag.is_none() => return self.alias(),
                TokenKind::Anchor(name) if anchor.is_none() => anchor = Some(*name),
                TokenKind::Tag(name) if tag.is_none() => tag = Some(name.clone().into_owned()),
                _ => break,
            }
            self.scanner.next()?;
        }
        let Some(name) = anchor else { return self.content(context, tag, false, start) };
        let before = self.decoded - 1;
        self.anchors.insert(name, Anchor::Open);
        let composed = self.content(context, tag, true, start)?;
        self.anchors.insert(name, Anchor::Closed(composed.clone(), self.decoded - before));
        Ok(composed)
    }

    fn content(
        &mut self,
        context: Context,
        tag: Option<String>,
        anchored: bool,
        start: Place,
    ) -> Result<Composed> {
        let token = self.scanner.peek()?;
        let at = token.at;
        match &token.kind {
            TokenKind::Scalar { .. } => {
                let token = self.scanner.next()?;
                self.scalar(token, tag)
            }
            TokenKind::FlowSequenceStart => self.nested(at, Self::flow_sequence),
            TokenKind::FlowMappingStart => self.nested(at, Self::flow_mapping),
            TokenKind::BlockEntry if context == Context::BlockValue => {
                self.nested(at, Self::unindented_sequence)
            }
            TokenKind::BlockSequenceStart if context != Context::Flow => {
                self.nested(at, Self::block_sequence)
            }
            TokenKind::BlockMappingStart if context != Context::Flow => self.nested(at, Self::block_mapping),
            _ if anchored || tag.is_some() => {
                let empty = TokenKind::Scalar { text: "".into(), plain: true };
                self.scalar(Token { kind: empty, at: start }, tag)
            }
            _ => {
                Err(SyntaxError::new(at, "a value is missing here")
                    .help("check the indentation of this line"))
            }
        }
    }

    fn nested(
        &mut self,
        at: Place,
        collection: fn(&mut Self, Place) -> Result<(Value, usize)>,
    ) -> Result<Composed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(at));
        }
        let (value, height) = collection(self, at)?;
        self.depth -= 1;
        Ok(Composed { node: self.node(value, at), height: height + 1 })
    }

    fn alias(&mut self) -> Result<Composed> {
        let Token { kind: TokenKind::Alias(name), at } = self.scanner.next()? else {
            return Ok(self.empty(Place::default()));
        };
        match self.anchors.get(name) {
            None => Err(SyntaxError::new(at, "no anchor of this name stands above this alias")
                .help("anchors do not reach beyond their document; quote a value that begins with `*`")),
            Some(Anchor::Open) => Err(SyntaxError::new(at, "this alias would contain itself")),
            Some(Anchor::Closed(composed, size)) => {
                self.decoded += size;
                self.aliased += size;
                if excessive(self.aliased, self.decoded) {
                    return Err(SyntaxError::new(
                        at,
                        "aliases make this document far larger than it is written",
                    )
                    .help("Kubernetes refuses it as well; write the values out"));
                }
                if self.depth + composed.height > MAX_DEPTH {
                    return Err(too_deep(at));
                }
                Ok(composed.clone())
            }
        }
    }

    fn block_sequence(&mut self, _: Place) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut items = Items::new(&self.open);
        loop {
            let token = self.scanner.next()?;
            match token.kind {
                TokenKind::BlockEntry => {
                    let ends =
                        |kind: &TokenKind<'_>| matches!(kind, TokenKind::BlockEntry | TokenKind::BlockEnd);
                    let item = self.item(ends, token.at)?;
                    items.push(item, &mut self.open);
                }
                TokenKind::BlockEnd => return Ok(items.finish(&mut self.open)),
                _ => {
                    return Err(SyntaxError::new(token.at, "a list item must start with `-` here")
                        .help("check that this line is indented as the list it belongs to"));
                }
            }
        }
    }

    /// A list that stands at its key's own column: it ends with the first thing that is no item.
    fn unindented_sequence(&mut self, _: Place) -> Result<(Value, usize)> {
        let mut items = Items::new(&self.open);
        while matches!(self.scanner.peek()?.kind, TokenKind::BlockEntry) {
            let at = self.scanner.next()?.at;
            let ends = |kind: &TokenKind<'_>| {
                matches!(
                    kind,
                    TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd
                )
            };
            let item = self.item(ends, at)?;
            items.push(item, &mut self.open);
        }
        Ok(items.finish(&mut self.open))
    }

    fn item(&mut self, ends: fn(&TokenKind<'_>) -> bool, at: Place) -> Result<Composed> {
        if ends(&self.scanner.peek()?.kind) {
            return Ok(self.empty(at));
        }
        self.compose(Context::Block)
    }

    fn block_mapping(&mut self, _: Place) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut entries = Entries::new(&self.open);
        loop {
            let token = self.scanner.peek()?;
            let at = token.at;
            match token.kind {
                TokenKind::BlockEnd => {
                    self.scanner.next()?;
                    return Ok(entries.finish(&mut self.open, self.duplicates));
                }
                TokenKind::Key => {
                    self.scanner.next()?;
                    let key = self.block_key(at)?;
                    self.block_value(key, at, &mut entries)?;
                }
                TokenKind::Value => {
                    let key = null_key(at)?;
                    self.block_value(key, at, &mut entries)?;
                }
                _ => {
                    return Err(SyntaxError::new(at, "a key must start here")
                        .help("check that this line is indented as the map it belongs to"));
                }
            }
        }
    }

    fn block_key(&mut self, at: Place) -> Result<Key> {
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => null_key(at),
            _ => self.key(Context::BlockValue),
        }
    }

    fn block_value(&mut self, key: Key, at: Place, entries: &mut Entries) -> Result<()> {
        let has_value = matches!(self.scanner.peek()?.kind, TokenKind::Value);
        let value_at = if has_value { self.scanner.next()?.at } else { at };
        let empty = !has_value
            || matches!(self.scanner.peek()?.kind, TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd);
        self.pair(key, at, entries, if empty { Err(value_at) } else { Ok(Context::BlockValue) })
    }

    fn flow_sequence(&mut self, _: Place) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut items = Items::new(&self.open);
        let mut first = true;
        loop {
            if !first && self.scanner.peek()?.kind != TokenKind::FlowSequenceEnd {
                self.flow_entry("]")?;
            }
            first = false;
            let token = self.scanner.peek()?;
            let at = token.at;
            match token.kind {
                TokenKind::FlowSequenceEnd => {
                    self.scanner.next()?;
                    return Ok(items.finish(&mut self.open));
                }
                TokenKind::Key => {
                    self.scanner.next()?;
                    self.decoded += 1;
                    let pair = self.nested(at, Self::flow_pair)?;
                    items.push(pair, &mut self.open);
                }
                _ => {
                    let item = self.compose(Context::Flow)?;
                    items.push(item, &mut self.open);
                }
            }
        }
    }

    /// A mapping of one key inside `[]`, without braces.
    fn flow_pair(&mut self, at: Place) -> Result<(Value, usize)> {
        let mut entries = Entries::new(&self.open);
        let ends = [TokenKind::Value, TokenKind::FlowEntry, TokenKind::FlowSequenceEnd];
        let key =
            if ends.contains(&self.scanner.peek()?.kind) { null_key(at)? } else { self.key(Context::Flow)? };
        self.flow_value(key, at, &mut entries)?;
        Ok(entries.finish(&mut self.open, self.duplicates))
    }

    fn flow_mapping(&mut self, _: Place) -> Result<(Value, usize)> {
        self.scanner.next()?;
        let mut entries = Entries::new(&self.open);
        let mut first = true;
        loop {
            if !first && self.scanner.peek()?.kind != TokenKind::FlowMappingEnd {
                self.flow_entry("}")?;
            }
            first = false;
            let token = self.scanner.peek()?;
            let at = token.at;
            match token.kind {
                TokenKind::FlowMappingEnd => {
                    self.scanner.next()?;
                    return Ok(entries.finish(&mut self.open, self.duplicates));
                }
                TokenKind::Key => {
                    self.scanner.next()?;
                    let ends = [TokenKind::Value, TokenKind::FlowEntry, TokenKind::FlowMappingEnd];
                    let key = if ends.contains(&self.scanner.peek()?.kind) {
                        null_key(at)?
                    } else {
                        self.key(Context::Flow)?
                    };
                    self.flow_value(key, at, &mut entries)?;
                }
                _ => {
                    let key = self.key(Context::Flow)?;
                    self.pair(key, at, &mut entries, Err(at))?;
                }
            }
        }
    }

    fn flow_entry(&mut self, closing: &str) -> Result<()> {
        let token = self.scanner.next()?;
        if token.kind == TokenKind::FlowEntry {
            return Ok(());
        }
        Err(SyntaxError::new(token.at, format!("`,` or `{closing}` is missing before this"))
            .help("close the bracket or brace, or put the text in quotes if it is meant as text"))
    }

    fn flow_value(&mut self, key: Key, at: Place, entries: &mut Entries) -> Result<()> {
        let has_value = matches!(self.scanner.peek()?.kind, TokenKind::Value);
        let value_at = if has_value { self.scanner.next()?.at } else { at };
        let empty = !has_value
            || matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd
            );
        self.pair(key, at, entries, if empty { Err(value_at) } else { Ok(Context::Flow) })
    }

    /// Reads a key's value, or makes it null where there is none, and adds both to the map.
    fn pair(
        &mut self,
        key: Key,
        at: Place,
        entries: &mut Entries,
        value: std::result::Result<Context, Place>,
    ) -> Result<()> {
        let aliased = matches!(key, Key::Merge)
            && value.is_ok()
            && matches!(self.scanner.peek()?.kind, TokenKind::Alias(_));
        let composed = match value {
            Ok(context) => self.compose(context)?,
            Err(nothing_at) => self.empty(nothing_at),
        };
        match key {
            Key::Name(key) => {
                let mark = self.mark(at);
                entries.push(Entry { key, mark, value: composed.node }, composed.height, &mut self.open);
                Ok(())
            }
            Key::Merge => entries.merge(composed, aliased, &mut self.open).ok_or_else(|| {
                SyntaxError::new(at, "`<<` needs a map or a list of maps")
                    .help("quote the key if `<<` is meant as text")
            }),
        }
    }

    /// A key: text, or what Kubernetes turns into text.
    fn key(&mut self, context: Context) -> Result<Key> {
        let token = self.scanner.peek()?;
        let at = token.at;
        if let TokenKind::Scalar { plain: true, .. } = token.kind {
            self.decoded += 1;
            let TokenKind::Scalar { text, .. } = self.scanner.next()?.kind else { return null_key(at) };
            if text == "<<" {
                self.decoded -= 1;
                return Ok(Key::Merge);
            }
            return scalar_key(resolve::plain(&text), &text, at).map(Key::Name);
        }
        self.merge_key = false;
        let node = self.compose(context)?.node;
        let scalar = match &node.value {
            Value::String(_) if self.merge_key => return Ok(Key::Merge),
            Value::String(text) => return Ok(Key::Name(text.clone())),
            Value::Null => Scalar::Null,
            Value::Bool(bool) => Scalar::Bool(*bool),
            Value::Number(Number::Float(float)) => Scalar::Float(*float),
            Value::Number(integer) => Scalar::Integer(*integer),
            Value::List(_) | Value::Map(_) => {
                return Err(SyntaxError::new(at, "a list or map cannot be a key")
                    .help("if this is a template such as {{ x }}, put it in quotes"));
            }
        };
        scalar_key(scalar, "", at).map(Key::Name)
    }

    fn scalar(&mut self, token: Token<'a>, tag: Option<String>) -> Result<Composed> {
        let at = token.at;
        let TokenKind::Scalar { text, plain } = token.kind else { return Ok(self.empty(at)) };
        // An anchor in front does not keep `<<` from merging; quotes and most tags do.
        self.merge_key = plain && text == "<<" && tag.as_deref().is_none_or(|tag| tag == "!");
        let (scalar, text) = match tag {
            Some(tag) => resolve::tagged(&tag, text).ok_or_else(|| {
                SyntaxError::new(at, format!("this value is not what its tag `{tag}` says"))
                    .help("remove the tag, or write a value of that type")
            })?,
            None if plain => (resolve::plain(&text), text),
            None => (Scalar::Text, text),
        };
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Integer(number) => Value::Number(number),
            Scalar::Text => Value::String(text.into()),
            Scalar::Float(float) if float.is_finite() => Value::Number(Number::from_yaml_float(float)),
            Scalar::Float(_) => {
                return Err(
                    SyntaxError::new(at, "a number that JSON cannot hold").help("quote it if text is meant")
                );
            }
        };
        Ok(Composed { node: self.node(value, at), height: 0 })
    }

    fn empty(&mut self, at: Place) -> Composed {
        self.decoded += 1;
        Composed { node: self.node(Value::Null, at), height: 0 }
    }

    fn node(&self, value: Value, at: Place) -> Node {
        Node { value, mark: self.mark(at) }
    }

    fn mark(&self, at: Place) -> Mark {
        Mark { source: self.source, line: at.line + 1, column: at.column + 1 }
    }
}

fn null_key(at: Place) -> Result<Key> {
    scalar_key(Scalar::Null, "", at).map(Key::Name)
}

fn scalar_key(scalar: Scalar, text: &str, at: Place) -> Result<Text> {
    match scalar {
        Scalar::Text => Ok(text.into()),
        Scalar::Bool(bool) => Ok(if bool { "true" } else { "false" }.into()),
        Scalar::Integer(Number::Uint(_)) => Err(SyntaxError::new(at, "this integer is too large for a key")),
        Scalar::Integer(number) => Ok(number.to_key().into()),
        Scalar::Float(float) => Ok(Number::Float(float).to_key().into()),
        Scalar::Null => {
            Err(SyntaxError::new(at, "null cannot be a key").help("quote the key if text is meant"))
        }
    }
}

fn too_deep(at: Place) -> SyntaxError {
    SyntaxError::new(at, format!("nested more than {MAX_DEPTH} levels deep"))
}

/// Kubernetes' own limit: of many nodes, nearly all made by aliases. The larger the document, the lower the share.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
fn excessive(aliased: u64, decoded: u64) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    if aliased <= 100 || decoded <= 1000 {
        return false;
    }
    let decoded = decoded as f64;
    let allowed = 0.99 - 0.89 * ((decoded - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    aliased as f64 / decoded > allowed
}
