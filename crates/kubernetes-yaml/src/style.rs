//! How a string is written so that every YAML 1.1 reader gets the same string back.

use crate::bytes;
use crate::resolve::{self, Scalar};

/// The ways to write a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Whether a text is a word that nobody can misread. Nearly every key and most values are.
pub(crate) fn is_plain_word(text: &str) -> bool {
    let Some(first) = text.as_bytes().first() else { return false };
    let begins = first.is_ascii_alphabetic() || *first == b'/';
    begins
        && (text.len() > LONGEST_WORD || !WORDS_BEGIN[*first as usize])
        && text.bytes().all(|byte| HARMLESS[byte as usize])
}

/// The style of a value: as plain as it can be, text of several lines as a literal block.
pub(crate) fn of_value(text: &str) -> Style {
    if is_plain_word(text) {
        return Style::Plain;
    }
    let shape = Shape::of(text);
    if shape.breaks && text.contains('\n') {
        return if shape.literal_allowed() { Style::Literal } else { Style::Double };
    }
    if misread_when_plain(text) {
        return Style::Double;
    }
    shape.on_one_line()
}

/// The style of a key that stands before its `:` on one line.
pub(crate) fn of_key(text: &str) -> Style {
    if text == "<<" || misread_when_plain(text) {
        return Style::Double;
    }
    Shape::of(text).on_one_line()
}

/// Whether a key can stand before its `:` on one line, or needs `?`.
pub(crate) fn is_simple_key(text: &str) -> bool {
    text.len() <= 128 && !text.chars().any(is_break)
}

/// Whether some YAML 1.1 reader would take the bare word for something else than text.
fn misread_when_plain(text: &str) -> bool {
    match text.bytes().next() {
        None => true,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            resolve::plain(text) != Scalar::Text || resolve::is_base60(text) || resolve::is_date(text)
        }
        Some(b'=') => text == "=",
        // The longest of the words that mean something is `false`; few letters begin one.
        Some(first) => text.len() <= 5 && WORDS_BEGIN[first as usize] && resolve::plain(text) != Scalar::Text,
    }
}

/// The longest of the words that mean something is `false`.
const LONGEST_WORD: usize = 5;

/// First letters of the words that YAML 1.1 takes for booleans, null or a merge.
const WORDS_BEGIN: [bool; 256] = bytes::only(b"yYnNtTfFoO~<");

/// What there is in a text that keeps it from some style.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an observation of its own")]
struct Shape {
    /// Starts or ends with a space or a break.
    loose_ends: bool,
    ends_with_space: bool,
    space_after_break: bool,
    space_before_break: bool,
    special: bool,
    breaks: bool,
    /// An indicator that means something where it stands.
    indicator: bool,
}

/// Nearly everything in a manifest is made of these, and needs no closer look; only a `-` in front does.
const HARMLESS: [bool; 256] =
    bytes::only(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_=()$-");

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape =
            Self { indicator: text.starts_with("---") || text.starts_with("..."), ..Self::default() };
        if let Some(rest) = text.strip_prefix('-') {
            shape.see(None, '-', rest.chars().next());
        }
        for at in (0..text.len()).filter(|at| !HARMLESS[text.as_bytes()[*at] as usize]) {
            // The further bytes of a character are seen with its first.
            let Some((before, rest)) = text.split_at_checked(at) else { continue };
            let mut following = rest.chars();
            if let Some(character) = following.next() {
                shape.see(before.chars().next_back(), character, following.next());
                // What looks like JSON behind blanks of any script is read as JSON.
                shape.indicator |= character == '{' && before.trim_start().is_empty();
            }
        }
        shape
    }

    fn see(&mut self, before: Option<char>, character: char, after: Option<char>) {
        let blank_or_end =
            |next: Option<char>| next.is_none_or(|next| matches!(next, ' ' | '\t') || is_break(next));
        let edge = before.is_none() || after.is_none();
        self.indicator |= match character {
            '#' => blank_or_end(before),
            ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => {
                before.is_none()
            }
            ':' => blank_or_end(after),
            '?' | '-' => before.is_none() && blank_or_end(after),
            _ => false,
        };
        self.special |= !is_printable(character);
        if character == ' ' {
            self.loose_ends |= edge;
            self.ends_with_space |= after.is_none();
            self.space_after_break |= before.is_some_and(is_break);
        } else if is_break(character) {
            self.breaks = true;
            self.loose_ends |= edge;
            self.space_before_break |= before == Some(' ');
        }
    }

    fn on_one_line(&self) -> Style {
        if self.special || self.space_before_break || self.space_after_break {
            Style::Double
        } else if self.loose_ends || self.breaks || self.indicator {
            Style::Single
        } else {
            Style::Plain
        }
    }

    fn literal_allowed(&self) -> bool {
        !(self.ends_with_space || self.space_before_break || self.special)
    }
}

/// Line breaks of YAML 1.1.
pub(crate) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Characters that may stand for themselves. Those beyond the basic plane may not, in YAML 1.1's view, and its line
/// and paragraph separators are safest as escapes.
fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && !matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Appends the text in single quotes.
pub(crate) fn write_single(text: &str, out: &mut String) {
    out.push('\'');
    for (index, part) in text.split('\'').enumerate() {
        if index > 0 {
            out.push_str("''");
        }
        out.push_str(part);
    }
    out.push('\'');
}

/// Appends the text in double quotes, on one line.
pub(crate) fn write_double(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        let letter = match character {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            other if is_printable(other) => {
                out.push(other);
                continue;
            }
            other => {
                out.push_str(&escape_by_number(other));
                continue;
            }
        };
        out.push('\\');
        out.push(letter);
    }
    out.push('"');
}

fn escape_by_number(character: char) -> String {
    match u32::from(character) {
        code @ 0..=0xff => format!("\\x{code:02X}"),
        code @ 0x100..=0xffff => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    }
}
