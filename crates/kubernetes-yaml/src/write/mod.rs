//! Writes a tree as YAML.

mod key_order;
mod style;

use crate::{Entry, Map, Node, Value};
use style::Style;

/// Writes a node as a YAML document, as `sigs.k8s.io/yaml` does. The document ends with a newline.
///
/// Keys are sorted, lists are not indented under their key, and strings of several lines are literal blocks. Long lines
/// are not folded.
///
/// ```
/// use kubernetes_yaml::{SourceId, read, write};
///
/// let root = &read(r#"{"args": ["-v", "on"], "a10": 1, "a9": "x\ny\n"}"#, SourceId::default())?[0].root;
/// assert_eq!(write(root), "a9: |\n  x\n  y\na10: 1\nargs:\n- -v\n- \"on\"\n");
/// # Ok::<(), kubernetes_yaml::SyntaxError>(())
/// ```
pub fn write(node: &Node) -> String {
    let mut out = String::new();
    write_into(node, &mut out);
    out
}

/// Appends a node to a text as [`write()`] writes it.
pub fn write_into(node: &Node, out: &mut String) {
    match &node.value {
        // The lines of a block are indented even at the top level.
        Value::String(_) => write_inline(&node.value, 2, out),
        value => write_inline(value, 0, out),
    }
}

/// Writes the entries of a map that is not empty. The first one continues the last line of `out`.
fn write_map(map: &Map, column: usize, out: &mut String) {
    // The order of keys in a map is nearly always their order in YAML as well.
    if map.iter().is_sorted_by(|a, b| key_order::is_less(&a.key, &b.key)) {
        write_entries(map.iter(), column, out);
    } else {
        let sorted = key_order::sort(map.iter().collect(), &|a, b| key_order::is_less(&a.key, &b.key));
        write_entries(sorted.into_iter(), column, out);
    }
}

fn write_entries<'a>(entries: impl Iterator<Item = &'a Entry>, column: usize, out: &mut String) {
    for (index, entry) in entries.enumerate() {
        if index > 0 {
            indent(column, out);
        }
        write_entry(entry, column, out);
    }
}

fn write_entry(entry: &Entry, column: usize, out: &mut String) {
    if entry.key.len() <= 128 && style::is_plain_word(&entry.key) {
        out.push_str(&entry.key);
        out.push(':');
        return write_value(&entry.value.value, column, out);
    }
    if style::is_simple_key(&entry.key) {
        write_text(&entry.key, style::of_key(&entry.key), column, out);
        out.push(':');
        return write_value(&entry.value.value, column, out);
    }
    out.push_str("? ");
    write_text(&entry.key, style::of_value(&entry.key), column + 2, out);
    out.push('\n');
    indent(column, out);
    out.push_str(": ");
    write_inline(&entry.value.value, column + 2, out);
}

/// Writes what follows a key and its `:`, up to the end of the last line.
fn write_value(value: &Value, column: usize, out: &mut String) {
    match value {
        Value::Map(map) if !map.is_empty() => {
            out.push('\n');
            indent(column + 2, out);
            write_map(map, column + 2, out);
        }
        Value::List(items) if !items.is_empty() => {
            out.push('\n');
            indent(column, out);
            write_list(items, column, out);
        }
        scalar => {
            out.push(' ');
            write_scalar(scalar, column + 2, out);
            out.push('\n');
        }
    }
}

/// Writes the items of a list that is not empty. The first one continues the last line of `out`.
fn write_list(items: &[Node], column: usize, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(column, out);
        }
        out.push_str("- ");
        write_inline(&item.value, column + 2, out);
    }
}

/// Writes a value that continues the last line of `out`, up to the end of its own last line.
fn write_inline(value: &Value, column: usize, out: &mut String) {
    match value {
        Value::Map(map) if !map.is_empty() => write_map(map, column, out),
        Value::List(items) if !items.is_empty() => write_list(items, column, out),
        scalar => {
            write_scalar(scalar, column, out);
            out.push('\n');
        }
    }
}

/// Writes a scalar or an empty collection. The lines of a block are indented to `column`.
fn write_scalar(value: &Value, column: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(number) => number.write_yaml(out),
        Value::String(text) => write_text(text, style::of_value(text), column, out),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

fn write_text(text: &str, style: Style, column: usize, out: &mut String) {
    match style {
        Style::Plain => out.push_str(text),
        Style::Single => style::write_single(text, out),
        Style::Double => style::write_double(text, out),
        Style::Literal => write_literal(text, column, out),
    }
}

/// Writes a literal block. Its header gives the indentation if the first line begins with a space, and says which line
/// breaks at the end belong to the text.
fn write_literal(text: &str, column: usize, out: &mut String) {
    out.push('|');
    if text.starts_with(|first: char| first == ' ' || style::is_break(first)) {
        out.push('2');
    }
    let body = text.strip_suffix(style::is_break);
    match body {
        None => out.push('-'),
        Some(body) if body.is_empty() || body.ends_with(style::is_break) => out.push('+'),
        Some(_) => {}
    }
    for line in body.unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            indent(column, out);
            out.push_str(line);
        }
    }
}

fn indent(columns: usize, out: &mut String) {
    const SPACES: &str = "                                                                ";
    let mut left = columns;
    while left > 0 {
        let step = left.min(SPACES.len());
        out.push_str(&SPACES[..step]);
        left -= step;
    }
}
