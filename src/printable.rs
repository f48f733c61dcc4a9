//! Makes text safe to print: escapes characters that move the cursor of a terminal, reorder text or are invisible. Names and
//! values come from untrusted files and clusters.

use std::borrow::Cow;
use std::fmt::Write;

use crate::yaml::is_unprintable;

/// The escape sequences with which [`crate::show`] colors text for a terminal.
const COLORS: [&str; 5] = ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m"];

/// Escapes a text of several lines, as in `\u{202e}`. Line breaks and tabs stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |character| !matches!(character, '\n' | '\t'), escape_for_people)
}

/// Escapes a text of several lines, and keeps the colors in it.
pub(crate) fn colored(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\x1b') {
        out += &self::text(&rest[..start]);
        rest = &rest[start..];
        let color = COLORS.into_iter().find(|color| rest.starts_with(color));
        let sequence = color.unwrap_or("\x1b");
        out += &color.map_or_else(|| self::text(sequence), Cow::Borrowed);
        rest = &rest[sequence.len()..];
    }
    out + &self::text(rest)
}

/// Escapes a text that must stay in one line, with its line breaks and tabs.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, |_| true, escape_for_people)
}

/// Shortens a text that a message quotes. Others decide how long it is.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const LENGTH: usize = 100;
    match text.char_indices().nth(LENGTH) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Escapes JSON. Its strings keep their values. Line breaks and tabs, which JSON allows only between values, stay.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    escape(text, |character| !matches!(character, '\n' | '\t' | '\r'), escape_for_json)
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool, write: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let is_escaped = |character: char| is_unprintable(character) && is_escaped(character);
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_escaped(character) {
            write(character, &mut out);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

fn escape_for_people(character: char, out: &mut String) {
    out.extend(character.escape_default());
}

fn escape_for_json(character: char, out: &mut String) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, "\\u{unit:04x}");
    }
}

#[cfg(test)]
mod tests {
    use super::{colored, excerpt, json, line, text};

    const HOSTILE: &str = "a\x1b[2J\x07\u{9b}31m\u{202e}\u{200b}\u{2028}\u{e0041}\r\n\tz\x7f";

    #[test]
    fn every_character_that_hides_or_moves_text_is_escaped() {
        let escaped = r"a\u{1b}[2J\u{7}\u{9b}31m\u{202e}\u{200b}\u{2028}\u{e0041}\r";
        assert_eq!(text(HOSTILE), format!("{escaped}\n\tz\\u{{7f}}"));
        assert_eq!(line(HOSTILE), format!("{escaped}\\n\\tz\\u{{7f}}"));
        assert_eq!(text("ä 漢 ❤"), "ä 漢 ❤");
    }

    #[test]
    fn json_keeps_its_values() {
        let value = serde_json::json!([HOSTILE]);
        let printed = json(&value.to_string()).into_owned();
        assert_eq!(printed, r#"["a\u001b[2J\u0007\u009b31m\u202e\u200b\u2028\udb40\udc41\r\n\tz\u007f"]"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
    }

    #[test]
    fn a_long_text_is_shortened() {
        assert_eq!(excerpt(&"ü".repeat(100)), "ü".repeat(100));
        assert_eq!(excerpt(&"ü".repeat(101)), "ü".repeat(100) + "…");
    }

    #[test]
    fn only_the_sequences_of_transship_color_text() {
        assert_eq!(colored("\x1b[1mbold\x1b[0m \x1b[8mhidden"), "\x1b[1mbold\x1b[0m \\u{1b}[8mhidden");
    }
}
