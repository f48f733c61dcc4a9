//! Resolves the type of a scalar, as Kubernetes does for plain scalars and for scalars with a tag.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use crate::Number;
use crate::timestamp::is_timestamp;

/// Base64 as Go decodes it: the bits after the last byte may be anything.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// The type of a scalar, and its value if it is not a string.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    Integer(Number),
    /// May be infinity or NaN, which can be keys but not values.
    Float(f64),
    Text,
}

/// Resolves a scalar without quotes and tag.
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

/// Resolves a scalar that begins with a sign or a digit. Underscores are ignored.
fn number(text: &str) -> Option<Scalar> {
    if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_')) {
        return None;
    }
    let digits: Cow<'_, str> = if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    integer(&digits)
        .map(Scalar::Integer)
        .or_else(|| float(&digits))
        .or_else(|| binary_with_inner_sign(&digits).map(Scalar::Integer))
}

/// Parses `0b+1` and `0b-1`, which Kubernetes accepts because it parses the part after `0b` as a number of its own.
fn binary_with_inner_sign(digits: &str) -> Option<Number> {
    let signed = digits.strip_prefix("0b").filter(|signed| signed.starts_with(['+', '-']))?;
    i64::from_str_radix(signed, 2).ok().map(Number::Int)
}

/// Parses an integer as Go's `strconv.ParseInt` with base zero: `0x`, `0o` and `0b`, and a leading zero for octal.
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

/// Parses digits with a point or an exponent. A number that is too large for a 64-bit float stays a string.
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

/// Parses a float that begins with a point. Unlike elsewhere, each underscore must be between two digits.
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

/// Resolves a scalar with a tag. Returns its type and its text, or `None` if the scalar does not match the tag.
pub(crate) fn tagged<'a>(tag: &str, text: Cow<'a, str>) -> Option<(Scalar, Cow<'a, str>)> {
    let scalar = match tag.strip_prefix("tag:yaml.org,2002:") {
        Some("binary") => return decode_binary(&text).map(|text| (Scalar::Text, text.into())),
        Some("timestamp") if is_timestamp(&text) => Scalar::Text,
        Some("timestamp") => return None,
        Some(name @ ("null" | "bool" | "int" | "float")) => match (name, plain(&text)) {
            ("null", Scalar::Null) => Scalar::Null,
            ("bool", Scalar::Bool(bool)) => Scalar::Bool(bool),
            ("int", Scalar::Integer(number)) => Scalar::Integer(number),
            ("float", Scalar::Integer(Number::Int(int))) =>
            {
                #[expect(clippy::cast_precision_loss, reason = "Kubernetes loses the same digits")]
                Scalar::Float(int as f64)
            }
            ("float", Scalar::Float(float)) => Scalar::Float(float),
            _ => return None,
        },
        _ => Scalar::Text,
    };
    Some((scalar, text))
}

fn decode_binary(text: &str) -> Option<String> {
    let packed: String = text.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    let bytes = BASE64.decode(packed).ok()?;
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Go writes one replacement character for each invalid byte.
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Some(text)
}

/// Returns whether a YAML 1.1 reader may read the text as a date or time.
pub(crate) fn is_date(text: &str) -> bool {
    let Some(day_end) = date_length(text) else { return false };
    let rest = &text[day_end..];
    if rest.is_empty() {
        return true;
    }
    let time = rest.strip_prefix(['T', 't']).unwrap_or_else(|| rest.trim_start_matches([' ', '\t']));
    // There must be a separator between date and time.
    time.len() < rest.len() && is_time(time)
}

/// Returns the length of the date that `text` begins with, such as `2001-12-4`.
fn date_length(text: &str) -> Option<usize> {
    let year_end = digits_end(text, 0, 4..=4)?;
    two_more_numbers(text, year_end, '-')
}

/// Returns whether the text is a time such as `15:04:05`, with an optional fraction and time zone.
fn is_time(text: &str) -> bool {
    let seconds_end = digits_end(text, 0, 1..=2).and_then(|end| two_more_numbers(text, end, ':'));
    let Some(end) = seconds_end else { return false };
    let fraction = text[end..].strip_prefix('.').unwrap_or(&text[end..]);
    let zone =
        fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()).trim_start_matches([' ', '\t']);
    match zone.strip_prefix(['+', '-']) {
        Some(offset) => {
            !offset.is_empty() && offset.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
        }
        None => zone.is_empty() || zone == "Z",
    }
}

/// Returns the end of two numbers of one or two digits after `start`, each after a separator.
fn two_more_numbers(text: &str, start: usize, separator: char) -> Option<usize> {
    let mut end = start;
    for _ in 0..2 {
        end = text[end..].starts_with(separator).then_some(end + 1)?;
        end = digits_end(text, end, 1..=2)?;
    }
    Some(end)
}

/// Returns the end of the digits that start at `from`, if there are as many as `length` allows.
fn digits_end(text: &str, from: usize, length: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let run = text.get(from..)?.bytes().take_while(u8::is_ascii_digit).count();
    length.contains(&run).then_some(from + run)
}
