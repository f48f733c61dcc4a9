//! What a scalar means: the type that Kubernetes' reader gives to a word without quotes, and to a tagged one.

use std::borrow::Cow;

use base64::Engine;

use crate::Number;

/// A scalar's meaning. Text is not copied: it is the scalar's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Integer(Number),
    /// May be infinite or not a number: fine as a key, impossible in JSON.
    Float(f64),
    Text,
}

/// What a word without quotes and tag means.
pub(crate) fn plain(text: &str) -> Scalar {
    let Some(first) = text.bytes().next() else { return Scalar::Null };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' => not_finite(text).or_else(|| dotted_float(text)).unwrap_or(Scalar::Text),
        b'0'..=b'9' => number(text).unwrap_or(Scalar::Text),
        b'+' | b'-' => not_finite(text).or_else(|| number(text)).unwrap_or(Scalar::Text),
        _ => Scalar::Text,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Text,
    }
}

fn not_finite(text: &str) -> Option<Scalar> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(Scalar::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(Scalar::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => Some(Scalar::Float(f64::NEG_INFINITY)),
        _ => None,
    }
}

/// A word that begins with a sign or a digit. Underscores are for the eye only.
fn number(text: &str) -> Option<Scalar> {
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')) {
        return None;
    }
    let digits: Cow<'_, str> = if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    integer(&digits).map(Scalar::Integer).or_else(|| float(&digits))
}

/// Go's `strconv.ParseInt` with base zero: `0x`, `0o`, `0b`, and a leading zero for octal.
fn integer(digits: &str) -> Option<Number> {
    let (negative, unsigned) = match digits.as_bytes().first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => (false, digits),
    };
    let signed = unsigned.len() < digits.len();
    let (radix, body) = match unsigned.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, &unsigned[2..]),
        [b'0', b'o' | b'O', _, ..] => (8, &unsigned[2..]),
        [b'0', b'b' | b'B', _, ..] => (2, &unsigned[2..]),
        [b'0', _, ..] => (8, &unsigned[1..]),
        _ => (10, unsigned),
    };
    if body.is_empty() || !body.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(body, radix).ok()?;
    match i64::try_from(size) {
        Ok(int) => Some(Number::Int(if negative { -int } else { int })),
        Err(_) if negative && size == i64::MIN.unsigned_abs() => Some(Number::Int(i64::MIN)),
        Err(_) if !signed => Some(Number::Uint(size)),
        Err(_) => None,
    }
}

/// Digits with a point or an exponent. What no 64-bit float can hold stays text.
fn float(digits: &str) -> Option<Scalar> {
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_digits = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    let well_formed = all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent_digits.is_none_or(|text| !text.is_empty() && all_digits(text));
    let float: f64 = if well_formed { digits.parse().ok()? } else { return None };
    float.is_finite().then_some(Scalar::Float(float))
}

/// A word that begins with a point: here underscores must stand between digits.
fn dotted_float(text: &str) -> Option<Scalar> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let separated = bytes
        .iter()
        .enumerate()
        .all(|(at, byte)| *byte != b'_' || digit(at.checked_sub(1)) && digit(Some(at + 1)));
    if !separated || !digit(Some(1)) {
        return None;
    }
    float(&text.replace('_', ""))
}

/// The text or meaning of a scalar with a tag, or nothing if the scalar is not what its tag says.
pub(crate) fn tagged<'a>(tag: &str, text: Cow<'a, str>) -> Option<(Scalar, Cow<'a, str>)> {
    let meaning = || plain(&text);
    let scalar = match tag.strip_prefix("tag:yaml.org,2002:") {
        Some("binary") => return decode_binary(&text).map(|text| (Scalar::Text, text.into())),
        Some("null") => (meaning() == Scalar::Null).then_some(Scalar::Null),
        Some("bool") => Some(meaning()).filter(|scalar| matches!(scalar, Scalar::Bool(_))),
        Some("int") => Some(meaning()).filter(|scalar| matches!(scalar, Scalar::Integer(_))),
        Some("float") => {
            Some(meaning()).filter(|scalar| matches!(scalar, Scalar::Integer(_) | Scalar::Float(_)))
        }
        Some("timestamp") => is_date(&text).then_some(Scalar::Text),
        _ => Some(Scalar::Text),
    };
    scalar.map(|scalar| (scalar, text))
}

fn decode_binary(text: &str) -> Option<String> {
    let packed: String = text.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).ok()?;
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // One for each byte that is not UTF-8, as Go has it.
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

/// Whether some YAML 1.1 reader takes the text for a date or a point in time.
pub(crate) fn is_date(text: &str) -> bool {
    let Some(day_end) = date_length(text) else { return false };
    let rest = &text[day_end..];
    if rest.is_empty() {
        return true;
    }
    let time = rest.strip_prefix(['T', 't']).unwrap_or_else(|| rest.trim_start_matches([' ', '\t']));
    time.len() < rest.len() && is_time(time)
}

/// How many bytes of `text` are a date such as `2001-12-4`.
fn date_length(text: &str) -> Option<usize> {
    let mut at = digits_at(text, 0, 4..=4)?;
    for _ in 0..2 {
        at = text[at..].starts_with('-').then_some(at + 1)?;
        at = digits_at(text, at, 1..=2)?;
    }
    Some(at)
}

/// `15:04:05`, with a fraction and a zone where there are any.
fn is_time(text: &str) -> bool {
    let clock = || {
        let mut at = digits_at(text, 0, 1..=2)?;
        for _ in 0..2 {
            at = text[at..].starts_with(':').then_some(at + 1)?;
            at = digits_at(text, at, 1..=2)?;
        }
        Some(at)
    };
    let Some(at) = clock() else { return false };
    let fraction = text[at..].strip_prefix('.').unwrap_or(&text[at..]);
    let zone =
        fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start_matches([' ', '\t']);
    match zone.strip_prefix(['+', '-']) {
        Some(offset) => {
            !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        }
        None => zone.is_empty() || zone == "Z",
    }
}

/// Where a run of digits that starts at `from` ends, if it is as long as `length` says.
fn digits_at(text: &str, from: usize, length: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let run = text.get(from..)?.bytes().take_while(u8::is_ascii_digit).count();
    length.contains(&run).then_some(from + run)
}

/// Whether some YAML 1.1 reader takes the text for a number in base 60, such as `12:30:45`.
pub(crate) fn is_base60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let mut parts = whole.split(':');
    let head = parts.next().unwrap_or_default();
    let mut tail = parts.peekable();
    tail.peek().is_some()
        && head.starts_with(|first: char| first.is_ascii_digit())
        && digits(head)
        && digits(fraction)
        && tail.all(|part| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']))
}
