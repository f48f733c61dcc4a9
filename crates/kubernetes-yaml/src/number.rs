//! Numbers, and how Go's libraries print them.

use std::fmt::Write;

/// A number. Integers of 64 bits keep all their digits; every other number is a 64-bit float, as in Kubernetes.
///
/// An integer and a float are equal if they have the same value: `1` equals `1.0`.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// An integer that fits into an `i64`.
    Int(i64),
    /// An integer above [`i64::MAX`] that fits into a `u64`.
    Uint(u64),
    /// A finite float.
    Float(f64),
}

/// Go prints floats from this size on with an exponent in JSON.
const LARGE: f64 = 1e21;
/// Go prints floats below this size with an exponent in JSON.
const SMALL: f64 = 1e-6;

impl Number {
    /// Converts a float as Kubernetes does when it prints the float to JSON and reads it again: a float without a
    /// fraction becomes an integer if it fits. Minus zero stays a float, because integers have no minus zero.
    pub(crate) fn from_float(float: f64) -> Self {
        let printed = float.to_string();
        if printed == "-0" {
            return Self::Float(float);
        }
        let integer = printed.parse().map(Self::Int).or_else(|_| printed.parse().map(Self::Uint));
        integer.unwrap_or(Self::Float(float))
    }

    /// Appends the number as Go's `encoding/json` writes it.
    pub(crate) fn write_json(self, out: &mut String) {
        match self {
            Self::Int(int) => push(out, int),
            Self::Uint(uint) => push(out, uint),
            Self::Float(float) => {
                let size = float.abs();
                if size != 0.0 && !(SMALL..LARGE).contains(&size) {
                    let (digits, exponent) = digits_and_exponent(format!("{float:e}"));
                    let sign = if exponent < 0 { '-' } else { '+' };
                    push(out, format_args!("{digits}e{sign}{}", exponent.abs()));
                } else {
                    push(out, float);
                }
            }
        }
    }

    /// Appends the number as `sigs.k8s.io/yaml` writes it: Go's `%g` with the fewest digits.
    pub(crate) fn write_yaml(self, out: &mut String) {
        match self {
            Self::Float(float) => out.push_str(&format_as_go_g(float, format!("{float:e}"))),
            int => int.write_json(out),
        }
    }

    /// Returns the number as a key of a map. Kubernetes prints a float key with the precision of a 32-bit float.
    #[expect(clippy::cast_possible_truncation, reason = "Kubernetes loses the same digits")]
    pub(crate) fn to_key(self) -> String {
        match self {
            Self::Float(float) => {
                let float = float as f32;
                format_as_go_g(f64::from(float), format!("{float:e}"))
            }
            int => {
                let mut out = String::new();
                int.write_json(&mut out);
                out
            }
        }
    }
}

impl PartialEq for Number {
    #[expect(clippy::cast_precision_loss, reason = "1 and 1.0 are the same value in JSON")]
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Uint(a), Self::Uint(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b,
            (Self::Int(int), Self::Float(float)) | (Self::Float(float), Self::Int(int)) => {
                int as f64 == float
            }
            (Self::Uint(uint), Self::Float(float)) | (Self::Float(float), Self::Uint(uint)) => {
                uint as f64 == float
            }
            (Self::Int(_), Self::Uint(_)) | (Self::Uint(_), Self::Int(_)) => false,
        }
    }
}

/// Formats as Go's `strconv.FormatFloat(x, 'g', -1, …)`, from the shortest digits in Rust's scientific notation.
fn format_as_go_g(float: f64, scientific: String) -> String {
    if float.is_nan() {
        return ".nan".into();
    }
    if float.is_infinite() {
        return if float > 0.0 { ".inf".into() } else { "-.inf".into() };
    }
    let (digits, exponent) = digits_and_exponent(scientific);
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    without_exponent(&digits, exponent)
}

/// Splits `-1.25e7` into `-1.25` and `7`.
fn digits_and_exponent(mut scientific: String) -> (String, i32) {
    let at = scientific.find('e').unwrap_or(scientific.len());
    let exponent = scientific[at..].trim_start_matches('e').parse().unwrap_or(0);
    scientific.truncate(at);
    (scientific, exponent)
}

/// Formats digits and exponent without an exponent: `-1.25` and `3` become `-1250`.
fn without_exponent(digits: &str, exponent: i32) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut plain: String = digits.chars().filter(char::is_ascii_digit).collect();
    let point = exponent + 1;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let length = i32::try_from(plain.len()).unwrap_or(i32::MAX);
    if point <= 0 {
        plain = format!("0.{}{plain}", zeros(-point));
    } else if point < length {
        plain.insert(usize::try_from(point).unwrap_or(0), '.');
    } else {
        plain.push_str(&zeros(point - length));
    }
    format!("{sign}{plain}")
}

fn push(out: &mut String, value: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = write!(out, "{value}");
}
