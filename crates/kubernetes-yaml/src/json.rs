//! JSON, as Go's `encoding/json` writes it.

use crate::{Node, Sensitivity, Value};

/// The text that [`show`] writes in place of a value that is not public.
pub const HIDDEN: &str = "<hidden>";

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
    write_node(node, Reader::Program, &mut out);
    out
}

/// Writes a node as JSON for people to read: as [`write()`] does, but with `<`, `>` and `&` as they are, and with
/// [`HIDDEN`] in place of values that are not [public](Sensitivity::Public).
///
/// ```
/// use kubernetes_yaml::{Sensitivity, SourceId, json, read};
///
/// let mut root = read("user: <me>\npassword: s3cret\n", SourceId::default())?.remove(0).root;
/// root.get_mut("password").unwrap().protect(Sensitivity::Secret);
/// assert_eq!(json::show(&root), r#"{"password":<hidden>,"user":"<me>"}"#);
/// # Ok::<(), kubernetes_yaml::SyntaxError>(())
/// ```
pub fn show(node: &Node) -> String {
    let mut out = String::new();
    write_node(node, Reader::Person, &mut out);
    out
}

/// Who reads the JSON. A program gets every value, and characters with a meaning in HTML are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Program,
    Person,
}

fn write_node(node: &Node, reader: Reader, out: &mut String) {
    if reader == Reader::Person && node.sensitivity > Sensitivity::Public {
        out.push_str(HIDDEN);
        return;
    }
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(bool) => out.push_str(if *bool { "true" } else { "false" }),
        Value::Number(number) => number.write_json(out),
        Value::String(text) => write_string(text, reader, out),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_node(item, reader, out);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (index, entry) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(&entry.key, reader, out);
                out.push(':');
                write_node(&entry.value, reader, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, reader: Reader, out: &mut String) {
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
            '<' | '>' | '&' if reader == Reader::Person => out.push(character),
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
