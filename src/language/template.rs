//! `${name}`: the only substitution, on parsed scalars, typed.
//!
//! Written as a whole scalar it takes the value as it is: a list inside a list is spliced, an absent one leaves its
//! field out. Inside a text it must be a scalar. `$${` writes `${`; `$(X)` and `$X` belong to others and are not touched.
//! A value is put in after parsing, so it can never change the structure around it.

use crate::diagnostic::{Diagnostic, Location};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value, json};

/// What names stand for.
pub trait Scope {
    /// The value of a name, or why there is none.
    fn get(&self, name: &str) -> Result<Lookup, String>;

    /// Whether a name stands for something that no message may show.
    fn is_secret(&self, name: &str) -> bool;
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// A value.
    Value(Value),
    /// Nothing, on purpose: the field it is written in is left out.
    Absent,
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Cuts a text at its names. Nothing if a `${` is not closed or holds something else than a dotted name.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            pieces.push(Piece::Text(&rest[..at - 1]));
            pieces.push(Piece::Text("${"));
            rest = &rest[at + 2..];
            continue;
        }
        let (name, behind) = rest[at + 2..].split_once('}')?;
        if !is_name(name) {
            return None;
        }
        pieces.push(Piece::Text(&rest[..at]));
        pieces.push(Piece::Name(name));
        rest = behind;
    }
    pieces.push(Piece::Text(rest));
    pieces.retain(|piece| *piece != Piece::Text(""));
    Some(pieces)
}

fn is_name(name: &str) -> bool {
    let segment = |segment: &str| {
        !segment.is_empty()
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    name.split('.').all(segment)
}

/// Every name that a tree mentions, with its line.
pub fn names(node: &Node, found: &mut Vec<(String, Mark)>) {
    match &node.value {
        Value::String(text) if text.contains("${") => {
            for piece in pieces(text).unwrap_or_default() {
                if let Piece::Name(name) = piece {
                    found.push((name.to_owned(), node.mark));
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| names(item, found)),
        Value::Map(map) => map.iter().for_each(|entry| names(&entry.value, found)),
        _ => {}
    }
}

/// Where a tree has a `${` that holds no name.
pub fn malformed(node: &Node) -> Vec<Mark> {
    match &node.value {
        Value::String(text) if text.contains("${") && pieces(text).is_none() => vec![node.mark],
        Value::List(items) => items.iter().flat_map(malformed).collect(),
        Value::Map(map) => map.iter().flat_map(|entry| malformed(&entry.value)).collect(),
        _ => Vec::new(),
    }
}

/// Puts values in. Nothing if the node itself is absent; what mentions no name stays shared.
pub fn substitute(node: &Node, scope: &dyn Scope, sources: &Sources) -> Result<Option<Node>, Diagnostic> {
    Ok(match changed(node, scope, sources)? {
        Change::Same => Some(node.clone()),
        Change::Gone => None,
        Change::New(value) => Some(Node { value, mark: node.mark }),
    })
}

/// Puts values into a text that must stay one, such as a name.
pub fn substitute_text(
    text: &str,
    mark: Mark,
    scope: &dyn Scope,
    sources: &Sources,
) -> Result<String, Diagnostic> {
    let node = Node { value: Value::String(text.into()), mark };
    match substitute(&node, scope, sources)?.map(|node| node.value) {
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(Value::Number(number)) => Ok(json::write(&Node { value: Value::Number(number), mark })),
        other => {
            let kind = other.map_or("absent", |value| value.kind());
            Err(Diagnostic::error(format!("`{text}` must be a text here, and is {kind}"))
                .at(Location::of(mark, sources)))
        }
    }
}

/// What substitution does to a value.
enum Change {
    Same,
    Gone,
    New(Value),
}

fn changed(node: &Node, scope: &dyn Scope, sources: &Sources) -> Result<Change, Diagnostic> {
    match &node.value {
        Value::String(text) if text.contains("${") => Ok(match evaluate(text, node, scope, sources)? {
            Lookup::Value(value) => Change::New(value),
            Lookup::Absent => Change::Gone,
        }),
        Value::List(items) => list(items, scope, sources),
        Value::Map(entries) => map(entries, scope, sources),
        _ => Ok(Change::Same),
    }
}

/// A list: items that are lists by substitution are spliced, absent ones left out.
fn list(items: &[Node], scope: &dyn Scope, sources: &Sources) -> Result<Change, Diagnostic> {
    let mut out: Option<Vec<Node>> = None;
    for (index, item) in items.iter().enumerate() {
        let change = changed(item, scope, sources)?;
        if let (Change::Same, None) = (&change, &out) {
            continue;
        }
        let out = out.get_or_insert_with(|| items[..index].to_vec());
        match change {
            Change::Same => out.push(item.clone()),
            Change::Gone => {}
            Change::New(Value::List(spliced)) if item.as_str().is_some() => out.extend(spliced),
            Change::New(value) => out.push(Node { value, mark: item.mark }),
        }
    }
    Ok(out.map_or(Change::Same, |items| Change::New(Value::List(items))))
}

fn map(entries: &Map, scope: &dyn Scope, sources: &Sources) -> Result<Change, Diagnostic> {
    let mut out: Option<Vec<Entry>> = None;
    for (index, entry) in entries.iter().enumerate() {
        let change = changed(&entry.value, scope, sources)?;
        if let (Change::Same, None) = (&change, &out) {
            continue;
        }
        let out = out.get_or_insert_with(|| entries.iter().take(index).cloned().collect());
        match change {
            Change::Same => out.push(entry.clone()),
            Change::Gone => {}
            Change::New(value) => {
                let value = Node { value, mark: entry.value.mark };
                out.push(Entry { value, ..entry.clone() });
            }
        }
    }
    Ok(out.map_or(Change::Same, |entries| Change::New(Value::Map(Map::from_entries(entries, |_, _| {})))))
}

fn evaluate(text: &str, node: &Node, scope: &dyn Scope, sources: &Sources) -> Result<Lookup, Diagnostic> {
    let fail = |message: String| Diagnostic::error(message).at(Location::of(node.mark, sources));
    let pieces = pieces(text).ok_or_else(|| {
        fail("`${` must hold a name and end with `}`".to_owned())
            .help("write `$${` where the text `${` is meant")
    })?;
    let lookup = |name: &str| {
        scope.get(name).map_err(|why| fail(format!("`${{{name}}}` stands for nothing")).help(why))
    };
    if let [Piece::Name(name)] = pieces[..] {
        return lookup(name);
    }
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Name(name) => match lookup(name)? {
                Lookup::Value(Value::String(text)) => out.push_str(&text),
                Lookup::Value(value @ (Value::Bool(_) | Value::Number(_))) => {
                    out.push_str(&json::write(&Node { value, mark: node.mark }));
                }
                Lookup::Value(other) => {
                    return Err(fail(format!(
                        "`${{{name}}}` is {}, and cannot be part of a text",
                        other.kind()
                    ))
                    .help("write it as the whole value"));
                }
                Lookup::Absent => {
                    return Err(fail(format!("`${{{name}}}` is absent, and the text around it is not"))
                        .help("write it as the whole value, which is then left out, or give it a value"));
                }
            },
        }
    }
    Ok(Lookup::Value(Value::String(out.into())))
}
