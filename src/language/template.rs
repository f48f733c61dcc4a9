//! `${name}`: fills values into parsed scalars.
//!
//! A scalar that is one `${name}` becomes the value itself, with its type. A list inside a list is spliced, and a field
//! whose value is absent is left out. `${name}` inside a longer text must be a scalar. `$${` is an escape for `${`.
//! `$(X)` and `$X` belong to Kubernetes and shells and are not touched. Values are filled in after parsing, so they
//! cannot change the structure around them.

use crate::diagnostic::{Diagnostic, Location};
use crate::object::NAMES_ARE_PUBLIC;
use crate::yaml::{Entry, Map, Mark, Node, ScalarStyle, Sensitivity, Sources, Value, json};

/// The names that `${…}` knows at one place.
pub(crate) trait Names {
    /// Returns the value of a name.
    fn get(&self, name: &str) -> Result<Lookup, NotDefined>;
}

/// The value of a name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    /// It has a value. Where it is filled in, it keeps its sensitivity.
    Value(Node),
    /// It is optional and has no value. A field that consists of it alone is left out.
    Absent,
}

/// A name that is not defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotDefined {
    /// The help for the user.
    pub(crate) help: String,
}

impl NotDefined {
    /// Creates the error with its help.
    pub(crate) fn new(help: impl Into<String>) -> Self {
        Self { help: help.into() }
    }
}

impl From<NotDefined> for String {
    fn from(error: NotDefined) -> Self {
        error.help
    }
}

/// A piece of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Name(&'t str),
}

/// Splits a text at its names. Returns `None` if a `${` is not closed or does not contain a dotted name.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            pieces.push(Piece::Text(&rest[..start - 1]));
            pieces.push(Piece::Text("${"));
            rest = &rest[start + 2..];
            continue;
        }
        let (name, after) = rest[start + 2..].split_once('}')?;
        if !is_name(name) {
            return None;
        }
        pieces.push(Piece::Text(&rest[..start]));
        pieces.push(Piece::Name(name));
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    pieces.retain(|piece| *piece != Piece::Text(""));
    Some(pieces)
}

fn is_name(name: &str) -> bool {
    name.split('.').all(|segment| {
        !segment.is_empty()
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    })
}

/// Returns the names in a text.
pub(crate) fn names_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for piece in pieces(text).unwrap_or_default() {
        if let Piece::Name(name) = piece {
            names.push(name.to_owned());
        }
    }
    names
}

/// Collects every name in a tree, with its position.
pub(crate) fn names(node: &Node, found: &mut Vec<(String, Mark)>) {
    match &node.value {
        Value::String(text) if text.contains("${") => {
            found.extend(names_in(text).into_iter().map(|name| (name, node.mark)));
        }
        Value::List(items) => items.iter().for_each(|item| names(item, found)),
        Value::Map(map) => map.iter().for_each(|entry| names(&entry.value, found)),
        _ => {}
    }
}

/// Returns the position of every `${` in a tree that is not closed or contains no name.
pub(crate) fn malformed(node: &Node) -> Vec<Mark> {
    match &node.value {
        Value::String(text) if text.contains("${") && pieces(text).is_none() => vec![node.mark],
        Value::List(items) => items.iter().flat_map(malformed).collect(),
        Value::Map(map) => map.iter().flat_map(|entry| malformed(&entry.value)).collect(),
        _ => Vec::new(),
    }
}

/// Fills in values. Returns `None` if the node itself is absent. Nodes without names stay shared.
pub(crate) fn substitute(
    node: &Node,
    names: &dyn Names,
    sources: &Sources,
) -> Result<Option<Node>, Diagnostic> {
    Ok(match changed(node, names, sources)? {
        Change::Same => Some(node.clone()),
        Change::Gone => None,
        Change::New(node) => Some(node),
    })
}

/// Fills values into a text that must stay a text, such as a name.
pub(crate) fn substitute_text(
    text: &str,
    mark: Mark,
    names: &dyn Names,
    sources: &Sources,
) -> Result<String, Diagnostic> {
    let node = Node::new(Value::String(text.into()), mark);
    let filled = substitute(&node, names, sources)?;
    if filled.as_ref().is_some_and(|node| node.sensitivity > Sensitivity::Public) {
        return Err(Diagnostic::error(format!("`{text}` has the value of a secret parameter"))
            .at(Location::of(mark, sources))
            .note(NAMES_ARE_PUBLIC)
            .help("use a parameter that is not secret"));
    }
    match filled.map(|node| node.value) {
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(Value::Number(number)) => Ok(json::write(&Node::new(Value::Number(number), mark))),
        other => {
            let kind = other.map_or("absent", |value| value.kind());
            Err(Diagnostic::error(format!("`{text}` must be text, not {kind}"))
                .at(Location::of(mark, sources)))
        }
    }
}

/// The result of substitution for one value.
enum Change {
    Same,
    Gone,
    New(Node),
}

fn changed(node: &Node, names: &dyn Names, sources: &Sources) -> Result<Change, Diagnostic> {
    match &node.value {
        Value::String(text) if text.contains("${") => Ok(match evaluate(text, node, names, sources)? {
            Lookup::Value(value) => Change::New(Node { mark: node.mark, style: filled_style(node), ..value }),
            Lookup::Absent => Change::Gone,
        }),
        Value::List(items) => Ok(new_value(node, list(items, names, sources)?.map(Value::List))),
        Value::Map(entries) => Ok(new_value(node, map(entries, names, sources)?.map(Value::Map))),
        _ => Ok(Change::Same),
    }
}

/// Returns the style of a value that replaces `${…}`. If the type of the field is not known, quotes make it a string.
fn filled_style(template: &Node) -> ScalarStyle {
    match template.style {
        ScalarStyle::Quoted => ScalarStyle::Quoted,
        ScalarStyle::Plain | ScalarStyle::Filled => ScalarStyle::Filled,
    }
}

/// Converts a number or boolean to a string if `${…}` inserted it. Does not change numbers and booleans in the file.
pub(crate) fn filled_as_text(node: &mut Node) {
    if node.style != ScalarStyle::Plain && matches!(node.value, Value::Number(_) | Value::Bool(_)) {
        node.value = Value::String(json::write(node).into());
    }
}

fn new_value(node: &Node, value: Option<Value>) -> Change {
    value.map_or(Change::Same, |value| Change::New(node.with_value(value)))
}

/// Substitutes names in the items of a list. Splices in an item that becomes a list, and leaves out an absent item.
/// Returns `None` if nothing changes.
fn list(items: &[Node], names: &dyn Names, sources: &Sources) -> Result<Option<Vec<Node>>, Diagnostic> {
    let mut out: Option<Vec<Node>> = None;
    for (index, item) in items.iter().enumerate() {
        let change = changed(item, names, sources)?;
        if let (Change::Same, None) = (&change, &out) {
            continue;
        }
        let out = out.get_or_insert_with(|| items[..index].to_vec());
        match change {
            Change::Same => out.push(item.clone()),
            Change::Gone => {}
            Change::New(Node { value: Value::List(spliced), .. }) if item.as_str().is_some() => {
                out.extend(spliced);
            }
            Change::New(node) => out.push(node),
        }
    }
    Ok(out)
}

/// Fills in the values of a map. An absent one is left out. Returns `None` if nothing changes.
fn map(entries: &Map, names: &dyn Names, sources: &Sources) -> Result<Option<Map>, Diagnostic> {
    let mut out: Option<Vec<Entry>> = None;
    for (index, entry) in entries.iter().enumerate() {
        let change = changed(&entry.value, names, sources)?;
        if let (Change::Same, None) = (&change, &out) {
            continue;
        }
        let out = out.get_or_insert_with(|| entries.iter().take(index).cloned().collect());
        match change {
            Change::Same => out.push(entry.clone()),
            Change::Gone => {}
            Change::New(value) => out.push(Entry { value, ..entry.clone() }),
        }
    }
    Ok(out.map(Map::of))
}

fn evaluate(text: &str, node: &Node, names: &dyn Names, sources: &Sources) -> Result<Lookup, Diagnostic> {
    let fail = |message: String| Diagnostic::error(message).at(Location::of(node.mark, sources));
    let pieces = pieces(text).ok_or_else(|| {
        fail("`${` must contain a name and end with `}`".to_owned()).help("write `$${` for the text `${`")
    })?;
    let lookup = |name: &str| {
        names.get(name).map_err(|error| fail(format!("`${{{name}}}` is not defined")).help(error.help))
    };
    if let [Piece::Name(name)] = pieces[..] {
        return lookup(name);
    }
    let mut out = String::new();
    // A text is as sensitive as the most sensitive value in it.
    let mut sensitivity = node.sensitivity;
    for piece in pieces {
        let name = match piece {
            Piece::Text(text) => {
                out.push_str(text);
                continue;
            }
            Piece::Name(name) => name,
        };
        let Lookup::Value(value) = lookup(name)? else {
            return Err(fail(format!("`${{{name}}}` has no value and is part of a text"))
                .help("give it a value, or make it the whole value, which is then left out"));
        };
        sensitivity = sensitivity.max(value.sensitivity);
        match &value.value {
            Value::String(text) => out.push_str(text),
            Value::Bool(_) | Value::Number(_) => out.push_str(&json::write(&value)),
            other => {
                let message = format!("`${{{name}}}` is {} and cannot be part of a text", other.kind());
                return Err(fail(message).help("make it the whole value"));
            }
        }
    }
    Ok(Lookup::Value(Node { sensitivity, ..Node::new(Value::String(out.into()), node.mark) }))
}
