//! JSON, as Go's `encoding/json` writes it.

use crate::{Node, Value};

/// Writes a node as JSON, byte for byte as Go's `encoding/json` does: no spaces, keys sorted, and the characters `<`,
/// `>` and `&` escaped.
///
/// ```
/// use kubernetes_yaml::{SourceId, json, read};
///
/// let root = &read("b: <a>\na: 1e21\n", SourceId::default())?[0].root;
/// assert_eq!(json::write(root), r#"{"a":1e+21,"b":"\u003ca\u003e"}"#);
/// # Ok::<(), kubernetes_yaml::SyntaxError>(())
/// ```
pub fn write(node: &Node) -> String {
    let mut out = String::new();
    write_value(&node.value, Html::Escaped, &mut out);
    out
}

/// Writes a node as JSON for people to read: as [`write()`] does, but with `<`, `>` and `&` as they are.
pub fn show(node: &Node) -> String {
    let mut out = String::new();
    write_value(&node.value, Html::Plain, &mut out);
    out
}

/// How to write the characters that have a meaning in HTML.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Html {
    Escaped,
    Plain,
}

fn write_value(value: &Value, html: Html, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(number) => number.write_json(out),
        Value::String(text) => write_string(text, html, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(&item.value, html, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(&entry.key, html, out);
                out.push(':');
                write_value(&entry.value.value, html, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, html: Html, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            '<' | '>' | '&' if html == Html::Plain => out.push(character),
            '\0'..'\x20' | '<' | '>' | '&' => {
                let code = character as usize;
                out.push_str("\\u00");
                out.push(char::from(HEX[code >> 4]));
                out.push(char::from(HEX[code & 15]));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}
