//! Chooses how to write a string, so that every YAML 1.1 reader reads the same string.

use crate::byte_set;
use crate::is_unprintable;
use crate::resolve::{self, Scalar};

/// A way to write a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// Returns whether a text needs no quotes, by a quick test that most keys and values pass. Other texts need a closer
/// look.
pub(super) fn is_plain_word(text: &str) -> bool {
    let Some(first) = text.as_bytes().first() else { return false };
    let plain_start = first.is_ascii_alphabetic() || *first == b'/';
    plain_start
        && (text.len() > LONGEST_KEYWORD || !STARTS_KEYWORD[*first as usize])
        && text.bytes().all(|byte| HARMLESS[byte as usize])
}

/// Returns the style of a value: the plainest that is possible, and a literal block for a text of several lines.
pub(super) fn of_value(text: &str) -> Style {
    if is_plain_word(text) {
        return Style::Plain;
    }
    let features = Features::of(text);
    if features.breaks && text.contains('\n') {
        return if features.literal_allowed() { Style::Literal } else { Style::Double };
    }
    if misread_when_plain(text) {
        return Style::Double;
    }
    features.on_one_line()
}

/// Returns the style of a key that is on one line with its `:`.
pub(super) fn of_key(text: &str) -> Style {
    if text == "<<" || misread_when_plain(text) {
        return Style::Double;
    }
    Features::of(text).on_one_line()
}

/// Returns whether a key can be on one line with its `:`. Other keys need `?`.
pub(super) fn is_simple_key(text: &str) -> bool {
    text.len() <= 128 && !text.chars().any(is_break)
}

/// Returns whether a YAML 1.1 reader may read the text as something else than a string if it has no quotes.
fn misread_when_plain(text: &str) -> bool {
    match text.bytes().next() {
        None => true,
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            resolve::plain(text) != Scalar::Text || is_base60(text) || resolve::is_date(text)
        }
        Some(b'=') => text == "=",
        Some(first) => {
            text.len() <= LONGEST_KEYWORD
                && STARTS_KEYWORD[first as usize]
                && resolve::plain(text) != Scalar::Text
        }
    }
}

/// Returns whether a YAML 1.1 reader may read the text as a number in base 60, such as `12:30:45`.
fn is_base60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let Some((head, tail)) = whole.split_once(':') else { return false };
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    head.starts_with(|first: char| first.is_ascii_digit())
        && are_digits(head)
        && are_digits(fraction)
        && tail.split(':').all(|part| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
}

/// The length of `false`, the longest word that YAML 1.1 reads as a boolean or null.
const LONGEST_KEYWORD: usize = 5;

/// The first characters of booleans, null and the merge key.
const STARTS_KEYWORD: [bool; 256] = byte_set::only(b"yYnNtTfFoO~<");

/// Features of a text that rule out some styles.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "the features are independent")]
struct Features {
    /// Starts or ends with a space or a line break.
    blank_edge: bool,
    ends_with_space: bool,
    space_after_break: bool,
    space_before_break: bool,
    /// A character that must be escaped.
    special: bool,
    breaks: bool,
    /// A character that is syntax in its place.
    indicator: bool,
}

/// Bytes that are allowed in every style, except `-` at the start. Most texts have no others.
const HARMLESS: [bool; 256] =
    byte_set::only(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_=()$-");

impl Features {
    fn of(text: &str) -> Self {
        // Kubernetes reads a text that starts with `{` as JSON, even after blanks that YAML does not know.
        let indicator =
            text.starts_with("---") || text.starts_with("...") || text.trim_start().starts_with('{');
        let mut features = Self { indicator, ..Self::default() };
        if let Some(rest) = text.strip_prefix('-') {
            features.add(None, '-', rest.chars().next());
        }
        for at in (0..text.len()).filter(|at| !HARMLESS[text.as_bytes()[*at] as usize]) {
            // Only the first byte of a character is at a boundary.
            let Some((before, rest)) = text.split_at_checked(at) else { continue };
            let mut following = rest.chars();
            if let Some(character) = following.next() {
                features.add(before.chars().next_back(), character, following.next());
            }
        }
        features
    }

    fn add(&mut self, before: Option<char>, character: char, after: Option<char>) {
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
            self.blank_edge |= edge;
            self.ends_with_space |= after.is_none();
            self.space_after_break |= before.is_some_and(is_break);
        } else if is_break(character) {
            self.breaks = true;
            self.blank_edge |= edge;
            self.space_before_break |= before == Some(' ');
        }
    }

    fn on_one_line(&self) -> Style {
        if self.special || self.space_before_break || self.space_after_break {
            Style::Double
        } else if self.blank_edge || self.breaks || self.indicator {
            Style::Single
        } else {
            Style::Plain
        }
    }

    fn literal_allowed(&self) -> bool {
        !(self.ends_with_space || self.space_before_break || self.special)
    }
}

/// Returns whether YAML 1.1 reads the character as a line break.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a character needs no escape. YAML 1.1 does not allow characters outside the basic plane. A reviewer
/// cannot see characters that are invisible or reorder the text.
fn is_printable(character: char) -> bool {
    match character {
        '\n' | ' '..='~' => true,
        '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' => !is_unprintable(character),
        _ => false,
    }
}

/// Appends the text in single quotes.
pub(super) fn write_single(text: &str, out: &mut String) {
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
pub(super) fn write_double(text: &str, out: &mut String) {
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
