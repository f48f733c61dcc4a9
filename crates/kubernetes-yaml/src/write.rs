//! A tree to canonical YAML: keys in the order of `sigs.k8s.io/yaml`, lists not indented under their key, long lines
//! not folded, text of several lines as literal blocks.

use std::cmp::Ordering;

use crate::node::{Entry, Map, Node, Value};
use crate::style::{self, Style};

/// Writes a node as one YAML document, with a line break at the end.
pub fn write(node: &Node) -> String {
    let mut out = String::new();
    write_into(node, &mut out);
    out
}

/// Appends a node as one YAML document, with a line break at the end.
pub fn write_into(node: &Node, out: &mut String) {
    match &node.value {
        // The lines of a block are indented, even where nothing is around it.
        Value::String(_) => write_inline(&node.value, 2, out),
        value => write_inline(value, 0, out),
    }
}

/// Writes the entries of a map that is not empty, the first of them where `out` stands.
fn write_map(map: &Map, column: usize, out: &mut String) {
    let natural: Vec<&Entry>;
    let entries: &mut dyn Iterator<Item = &Entry> =
        if map.iter().is_sorted_by(|a, b| natural_less(&a.key, &b.key)) {
            &mut map.iter()
        } else {
            natural = merge_sort(map.iter().collect(), &|a, b| natural_less(&a.key, &b.key));
            &mut natural.iter().copied()
        };
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

/// Writes what stands behind a key, up to the end of its last line.
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

/// Writes the items of a list that is not empty, the first of them where `out` stands.
fn write_list(items: &[Node], column: usize, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            indent(column, out);
        }
        out.push_str("- ");
        write_inline(&item.value, column + 2, out);
    }
}

/// Writes a value that begins where `out` stands, up to the end of its last line.
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

/// Writes a scalar or an empty collection; the lines of a block are indented to `column`.
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

/// A block: the header says how it ends, and how deep it is where its first line begins with a space.
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

/// go-yaml's order of keys: letters behind everything else, runs of digits by their number.
fn natural_less(a: &str, b: &str) -> bool {
    natural_order(a, b) == Ordering::Less
}

fn natural_order(a: &str, b: &str) -> Ordering {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let mut at = same;
    while !a.is_char_boundary(at) {
        at -= 1;
    }
    let (rest_a, rest_b) = (&a[at..], &b[at..]);
    let (Some(first_a), Some(first_b)) = (rest_a.chars().next(), rest_b.chars().next()) else {
        return rest_a.len().cmp(&rest_b.len());
    };
    match (first_a.is_alphabetic(), first_b.is_alphabetic()) {
        (true, true) => return first_a.cmp(&first_b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero behind other digits of the same number is not a leading one.
    let inside_number = (first_a == '0' || first_b == '0')
        && a[..at].bytes().rev().take_while(u8::is_ascii_digit).any(|digit| digit != b'0');
    let run = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        let start = i64::from(inside_number);
        digits.fold((start, 0), |(number, length), digit| {
            (number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0')), length + 1)
        })
    };
    run(rest_a).cmp(&run(rest_b)).then(first_a.cmp(&first_b))
}

/// A stable sort that cannot panic: go-yaml's order is not transitive for every set of keys, and the standard
/// library's sort may notice.
fn merge_sort<T: Copy>(mut items: Vec<T>, less: &impl Fn(&T, &T) -> bool) -> Vec<T> {
    if items.len() < 2 {
        return items;
    }
    let right = merge_sort(items.split_off(items.len() / 2), less);
    let left = merge_sort(items, less);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        merged.extend(if less(b, a) { right.next() } else { left.next() });
    }
    merged.extend(left);
    merged.extend(right);
    merged
}
