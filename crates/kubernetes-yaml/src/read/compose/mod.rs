//! Composes tokens to a tree: anchors and aliases, keys, and the type of every scalar.

mod block;
mod flow;
mod refused;

use std::collections::HashMap;

use super::collections::{Composed, Entries, MergeOrigin, Pending};
use super::cursor::Position;
use super::scan::{Scanner, Token, TokenKind};
use super::{Document, Limits, MAX_DEPTH, too_deep, too_many_nodes};
use crate::resolve::{self, Scalar};
use crate::{DuplicateKey, Entry, Mark, Node, Number, ScalarStyle, SourceId, SyntaxError, Text, Value};

type Result<T> = std::result::Result<T, SyntaxError>;

/// Reads the document in `text`, which begins at line `first_line` of its file, counted from zero. Text after the end
/// of the document is ignored, as in Kubernetes, and reported.
pub(super) fn compose_document(
    text: &str,
    first_line: u32,
    source: SourceId,
    limits: &mut Limits,
) -> Result<Document> {
    let mut duplicates = Vec::new();
    let mut composer = Composer {
        scanner: Scanner::new(text, first_line)?,
        source,
        anchors: HashMap::new(),
        decoded: 1,
        aliased: 0,
        bytes: 0,
        aliased_bytes: 0,
        limits,
        depth: 0,
        last: LastScalar::default(),
        may_be_refused: false,
        pending: Pending::new(),
        duplicates: &mut duplicates,
    };
    let root = composer.document()?;
    composer.limits.nodes -= composer.decoded.min(composer.limits.nodes);
    composer.limits.aliased_bytes -= composer.aliased_bytes;
    let dropped = composer.scanner.text_after_document()?.map(|at| composer.mark(at));
    if composer.may_be_refused {
        refused::check(&root)?;
    }
    Ok(Document { root, json: None, duplicates, dropped })
}

struct Composer<'a, 'd> {
    scanner: Scanner<'a>,
    source: SourceId,
    anchors: HashMap<&'a str, Anchor>,
    /// The number of nodes that were made.
    decoded: u64,
    /// The number of nodes that aliases made.
    aliased: u64,
    /// The bytes in all strings.
    bytes: u64,
    /// The bytes in strings that aliases repeat.
    aliased_bytes: u64,
    limits: &'d mut Limits,
    depth: usize,
    /// The last scalar, in case it is a key.
    last: LastScalar,
    /// Whether the document has a value or key that JSON does not have.
    may_be_refused: bool,
    pending: Pending,
    duplicates: &'d mut Vec<DuplicateKey>,
}

enum Anchor {
    /// The node of the anchor, which starts here, is still being read. An alias to it would contain itself.
    Open(Position),
    Closed(ClosedAnchor),
}

struct ClosedAnchor {
    composed: Composed,
    /// The number of nodes in it.
    size: u64,
    /// The bytes in its strings.
    bytes: u64,
    /// The scalar, if it is one.
    scalar: LastScalar,
}

/// Features of a scalar that matter if it is a key, and that its node does not have.
#[derive(Clone, Copy, Default)]
struct LastScalar {
    /// Whether it merges other maps.
    is_merge_key: bool,
    /// The number, if it is a float. A node has a float without a fraction as an integer.
    float: Option<f64>,
}

/// The context of a node. It decides which tokens may start the node.
#[derive(Clone, Copy, PartialEq)]
enum Context {
    Flow,
    Block,
    /// The value of a key in a block mapping, where a list need not be indented.
    BlockValue,
}

/// A key of a map.
enum Key {
    Name(Text),
    /// `<<`, which merges other maps into this one.
    Merge,
}

/// The value of a key, before it is read.
#[derive(Clone, Copy)]
enum KeyValue {
    /// A value that starts with the next token.
    Next(Context),
    /// Nothing: the value is null, and has this position.
    Missing(Position),
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
        Ok(root)
    }

    /// Composes a node with its anchor and tag, or the node that an alias refers to.
    fn compose(&mut self, context: Context) -> Result<Composed> {
        self.decoded += 1;
        let token = self.scanner.peek()?;
        let start = token.at;
        if self.decoded > self.limits.nodes {
            return Err(too_many_nodes(start));
        }
        if !matches!(token.kind, TokenKind::Alias(_) | TokenKind::Anchor(_) | TokenKind::Tag(_)) {
            return self.content(context, None, None);
        }
        let (mut anchor, mut tag) = (None, None);
        loop {
            let token = self.scanner.peek()?;
            match &token.kind {
                TokenKind::Alias(name) if anchor.is_none() && tag.is_none() => {
                    let name = *name;
                    self.scanner.next()?;
                    return self.alias(name, start);
                }
                TokenKind::Anchor(name) if anchor.is_none() => anchor = Some(*name),
                TokenKind::Tag(name) if tag.is_none() => tag = Some(name.clone().into_owned()),
                _ => break,
            }
            self.scanner.next()?;
        }
        let Some(name) = anchor else { return self.content(context, tag, Some(start)) };
        let (nodes_before, bytes_before) = (self.decoded - 1, self.bytes);
        self.anchors.insert(name, Anchor::Open(start));
        let composed = self.content(context, tag, Some(start))?;
        // An anchor of the same name inside this node has replaced it.
        if let Some(anchor @ Anchor::Open(_)) = self.anchors.get_mut(name)
            && matches!(anchor, Anchor::Open(open) if *open == start)
        {
            *anchor = Anchor::Closed(ClosedAnchor {
                composed: composed.clone(),
                size: self.decoded - nodes_before,
                bytes: self.bytes - bytes_before,
                scalar: self.last,
            });
        }
        Ok(composed)
    }

    /// Composes a node without its anchor and tag. `empty_at` is the position of a node that has an anchor or tag and
    /// no content; a node with neither must have content.
    fn content(
        &mut self,
        context: Context,
        tag: Option<String>,
        empty_at: Option<Position>,
    ) -> Result<Composed> {
        let token = self.scanner.peek()?;
        let at = token.at;
        match &token.kind {
            TokenKind::Scalar { .. } => {
                let token = self.scanner.next()?;
                return self.scalar(token, tag);
            }
            TokenKind::FlowSequenceStart => return self.nested(at, Self::flow_sequence),
            TokenKind::FlowMappingStart => return self.nested(at, Self::flow_mapping),
            TokenKind::BlockEntry if context == Context::BlockValue => {
                return self.nested(at, Self::unindented_sequence);
            }
            TokenKind::BlockSequenceStart if context != Context::Flow => {
                return self.nested(at, Self::block_sequence);
            }
            TokenKind::BlockMappingStart if context != Context::Flow => {
                return self.nested(at, Self::block_mapping);
            }
            _ => {}
        }
        match empty_at {
            Some(at) => {
                let empty = TokenKind::Scalar { text: "".into(), plain: true };
                self.scalar(Token { kind: empty, at }, tag)
            }
            None => Err(SyntaxError::new(at, "expected a value")
                .with_help("check the indentation of this line, and that every bracket and brace is closed")),
        }
    }

    fn nested(
        &mut self,
        at: Position,
        collection: fn(&mut Self, Position) -> Result<(Value, usize)>,
    ) -> Result<Composed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(too_deep(at));
        }
        let (value, height) = collection(self, at)?;
        self.depth -= 1;
        Ok(Composed { node: self.node(value, at), height: height + 1 })
    }

    fn alias(&mut self, name: &str, at: Position) -> Result<Composed> {
        match self.anchors.get(name) {
            None => Err(SyntaxError::new(at, "this alias refers to an unknown anchor").with_help(
                "define the anchor earlier in the same document; put a value that begins with `*` in quotes",
            )),
            Some(Anchor::Open(_)) => {
                Err(SyntaxError::new(at, "this alias refers to a value that contains it"))
            }
            Some(Anchor::Closed(ClosedAnchor { composed, size, bytes, scalar })) => {
                // An alias is never a merge key.
                self.last = LastScalar { is_merge_key: false, float: scalar.float };
                self.decoded += size;
                self.aliased += size;
                self.bytes += bytes;
                self.aliased_bytes += bytes;
                let message = "aliases expand this document to an excessive size";
                if is_excessive(self.aliased, self.decoded) {
                    return Err(SyntaxError::new(at, message)
                        .with_help("write the values out; Kubernetes refuses this document as well"));
                }
                if self.aliased_bytes > self.limits.aliased_bytes {
                    return Err(SyntaxError::new(at, message)
                        .with_help("use shorter strings; aliases may repeat 16 MiB of strings in one file"));
                }
                if self.depth + composed.height > MAX_DEPTH {
                    return Err(too_deep(at));
                }
                Ok(composed.clone())
            }
        }
    }

    /// Composes the value of a key, and adds both to the map.
    fn add_entry(&mut self, key: Key, at: Position, value: KeyValue, entries: &mut Entries) -> Result<()> {
        if self.decoded > self.limits.nodes {
            return Err(too_many_nodes(at));
        }
        let origin = match (&key, value) {
            (Key::Merge, KeyValue::Next(_)) if matches!(self.scanner.peek()?.kind, TokenKind::Alias(_)) => {
                MergeOrigin::Alias
            }
            _ => MergeOrigin::Written,
        };
        let composed = match value {
            KeyValue::Next(context) => self.compose(context)?,
            KeyValue::Missing(at) => self.null(at),
        };
        match key {
            Key::Name(key) => {
                let mark = self.mark(at);
                entries.push(Entry { key, mark, value: composed.node }, composed.height, &mut self.pending);
                Ok(())
            }
            Key::Merge => entries.merge(composed, origin, &mut self.pending).ok_or_else(|| {
                SyntaxError::new(at, "the merge key `<<` needs a map or a list of maps")
                    .with_help("put `<<` in quotes if it is an ordinary key")
            }),
        }
    }

    /// Composes a key. Kubernetes turns booleans and numbers into strings.
    fn key(&mut self, context: Context) -> Result<Key> {
        let token = self.scanner.peek()?;
        let at = token.at;
        if let TokenKind::Scalar { plain: true, .. } = token.kind {
            self.decoded += 1;
            let TokenKind::Scalar { text, .. } = self.scanner.next()?.kind else {
                return Ok(self.null_key());
            };
            self.bytes += text.len() as u64;
            if text == "<<" {
                self.decoded -= 1;
                return Ok(Key::Merge);
            }
            return Ok(self.scalar_key(resolve::plain(&text), &text));
        }
        let node = self.compose(context)?.node;
        let scalar = match &node.value {
            Value::String(_) if self.last.is_merge_key => return Ok(Key::Merge),
            Value::String(text) => return Ok(Key::Name(text.clone())),
            Value::Null => Scalar::Null,
            Value::Bool(bool) => Scalar::Bool(*bool),
            Value::Number(number) => self.last.float.map_or(Scalar::Integer(*number), Scalar::Float),
            Value::List(_) | Value::Map(_) => {
                return Err(SyntaxError::new(at, "a list or map cannot be a key")
                    .with_help("put a template such as `{{ x }}` in quotes"));
            }
        };
        Ok(self.scalar_key(scalar, ""))
    }

    fn null_key(&mut self) -> Key {
        self.scalar_key(Scalar::Null, "")
    }

    /// Returns a scalar as a key. Kubernetes refuses some keys, but only once it has dropped duplicate keys.
    fn scalar_key(&mut self, scalar: Scalar, text: &str) -> Key {
        let refused = match scalar {
            Scalar::Text => return Key::Name(text.into()),
            Scalar::Bool(bool) => return Key::Name(if bool { "true" } else { "false" }.into()),
            Scalar::Float(float) => return Key::Name(Number::Float(float).to_key().into()),
            Scalar::Integer(Number::Uint(_)) => refused::LARGE_KEY,
            Scalar::Integer(number) => return Key::Name(number.to_key().into()),
            Scalar::Null => refused::NULL_KEY,
        };
        self.may_be_refused = true;
        Key::Name(refused.into())
    }

    fn scalar(&mut self, token: Token<'a>, tag: Option<String>) -> Result<Composed> {
        let at = token.at;
        let TokenKind::Scalar { text, plain } = token.kind else { return Ok(self.null(at)) };
        self.bytes += text.len() as u64;
        // `<<` in quotes or with another tag is an ordinary key.
        let is_merge_key = text == "<<"
            && tag.as_deref().map_or(plain, |tag| matches!(tag, "!" | "tag:yaml.org,2002:merge"));
        self.last = LastScalar { is_merge_key, float: None };
        let (scalar, text) = match tag {
            Some(tag) => resolve::tagged(&tag, text).ok_or_else(|| {
                SyntaxError::new(at, format!("this value does not match its tag `{tag}`"))
                    .with_help("remove the tag, or write a value of that type")
            })?,
            None if plain => (resolve::plain(&text), text),
            None => (Scalar::Text, text),
        };
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(bool) => Value::Bool(bool),
            Scalar::Integer(number) => Value::Number(number),
            Scalar::Text => Value::String(text.into()),
            Scalar::Float(float) => {
                self.last.float = Some(float);
                self.may_be_refused |= !float.is_finite();
                Value::Number(Number::from_float(float))
            }
        };
        let style = if plain { ScalarStyle::Plain } else { ScalarStyle::Quoted };
        Ok(Composed { node: Node { style, ..self.node(value, at) }, height: 0 })
    }

    fn null(&mut self, at: Position) -> Composed {
        self.decoded += 1;
        Composed { node: self.node(Value::Null, at), height: 0 }
    }

    fn node(&self, value: Value, at: Position) -> Node {
        Node::new(value, self.mark(at))
    }

    fn mark(&self, at: Position) -> Mark {
        Mark { source: self.source, line: at.line + 1, column: at.column + 1 }
    }
}

/// Applies Kubernetes' limit for the share of nodes that aliases make. The limit falls as the document grows.
#[expect(clippy::cast_precision_loss, reason = "a ratio of counts")]
fn is_excessive(aliased: u64, decoded: u64) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    if aliased <= 100 || decoded <= 1000 {
        return false;
    }
    let decoded = decoded as f64;
    let allowed = 0.99 - 0.89 * ((decoded - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    aliased as f64 / decoded > allowed
}
