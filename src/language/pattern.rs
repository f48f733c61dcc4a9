//! Regular expressions that users write, and the rules for the keys of a map. Their size is limited, because the time that
//! a regular expression takes grows with its compiled size.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};
use serde_json::{Value as Json, json};

use super::typed::{Reader, Typed};
use crate::yaml::{Node, Value};

/// The longest regular expression, in bytes.
const MAX_LENGTH: usize = 1000;
/// The largest compiled regular expression, in bytes: about 1,000 states.
const MAX_COMPILED_SIZE: usize = 32 << 10;
/// The longest text that can match, in bytes. The time to match a text is its length times the number of states.
const MAX_TEXT_LENGTH: usize = 256 << 10;

/// Why a text cannot be used as a regular expression. Displayed as "is not a regular expression: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvalidPattern {
    /// It has an error.
    Syntax(String),
    /// It is longer than the limit.
    TooLong,
    /// It is larger than the limit when it is compiled.
    TooLarge,
}

impl InvalidPattern {
    /// Returns what to do about it.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            Self::Syntax(_) => None,
            Self::TooLong => Some("write a shorter one"),
            Self::TooLarge => Some("write smaller numbers in `{…}`"),
        }
    }
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "is not a regular expression: {error}"),
            Self::TooLong => write!(f, "is a regular expression with more than {MAX_LENGTH} bytes"),
            Self::TooLarge => f.write_str("is a regular expression with too many repetitions"),
        }
    }
}

/// Compiles a regular expression that must match the whole text.
fn compile(text: &str) -> Result<Regex, InvalidPattern> {
    if text.len() > MAX_LENGTH {
        return Err(InvalidPattern::TooLong);
    }
    let build = |text: &str| RegexBuilder::new(text).size_limit(MAX_COMPILED_SIZE).build();
    // On its own first: `a)|(?:b` would be valid inside the group, and would match a part of the text.
    let compiled = build(text).and_then(|_| build(&format!("^(?:{text})$")));
    compiled.map_err(|error| match error.to_string() {
        error if error.contains("size limit") => InvalidPattern::TooLarge,
        error => InvalidPattern::Syntax(error),
    })
}

/// A regular expression that must match the whole text. It is compiled once, when its file is read.
#[derive(Clone, Debug)]
pub(crate) struct TextPattern {
    text: String,
    /// `None` if the pattern matches only itself, as most names do. Compiling takes long.
    regex: Option<Regex>,
}

impl TextPattern {
    /// Compiles a pattern.
    pub(crate) fn new(text: &str) -> Result<Self, InvalidPattern> {
        let regex = if is_literal(text) { None } else { Some(compile(text)?) };
        Ok(Self { text: text.to_owned(), regex })
    }

    /// Returns whether a text matches. A very long text never does.
    pub(crate) fn matches(&self, text: &str) -> bool {
        match &self.regex {
            Some(regex) => text.len() <= MAX_TEXT_LENGTH && regex.is_match(text),
            None => self.text == text,
        }
    }
}

/// Returns whether a regular expression matches only itself.
pub(crate) fn is_literal(regex: &str) -> bool {
    regex.len() <= MAX_LENGTH && regex.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Typed for TextPattern {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = String::read(node, reader)?;
        match Self::new(&text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                reader.field_error(node.mark, &error.to_string()).help = error.help().map(str::to_owned);
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"type": "string", "format": "regex"})
    }
}

/// The allowed keys of a map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Keys {
    /// All keys that match.
    Matching(TextPattern),
    /// Only these keys.
    Listed(Vec<String>),
}

impl Keys {
    /// Returns whether a key is allowed.
    pub(crate) fn allow(&self, key: &str) -> bool {
        match self {
            Self::Matching(pattern) => pattern.matches(key),
            Self::Listed(keys) => keys.iter().any(|allowed| allowed == key),
        }
    }
}

/// Displayed as "keys that match `[a-z]+`" or "the keys `a`, `b`".
impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Matching(pattern) => write!(f, "keys that match `{pattern}`"),
            Self::Listed(keys) => write!(f, "the keys `{}`", keys.join("`, `")),
        }
    }
}

impl Typed for Keys {
    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::read(node, reader).map(Self::Listed),
            Value::String(_) => TextPattern::read(node, reader).map(Self::Matching),
            _ => {
                reader.wrong_type(node, "a regular expression or a list of keys");
                None
            }
        }
    }

    fn schema() -> Json {
        json!({"oneOf": [TextPattern::schema(), Vec::<String>::schema()]})
    }
}

#[cfg(test)]
mod tests {
    use super::{InvalidPattern, TextPattern, compile};

    #[test]
    fn the_compiled_size_is_limited() {
        for large in ["(?:a?){20000}a{20000}", "(?:){4000000000}", "((a{100}){100}){100}", r"(\w|ü){3000}"] {
            assert_eq!(compile(large).err(), Some(InvalidPattern::TooLarge), "{large}");
        }
        assert_eq!(compile(&"a".repeat(1001)).err(), Some(InvalidPattern::TooLong));
        for small in ["[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?", "a{900}", &"a".repeat(1000)] {
            assert!(compile(small).is_ok(), "{small}");
        }
    }

    #[test]
    fn a_very_long_text_never_matches() {
        let pattern = TextPattern::new("(?:(?:a?){200})*").unwrap();
        assert!(pattern.matches(&"a".repeat(1000)));
        assert!(!pattern.matches(&"a".repeat(100_000_000)));
    }

    #[test]
    fn a_pattern_matches_the_whole_text() {
        let pattern = TextPattern::new("a|b").unwrap();
        assert!(pattern.matches("a") && pattern.matches("b"));
        for text in ["ab", "xa", "bx", "a\n", "\na", ""] {
            assert!(!pattern.matches(text), "{text:?}");
        }
        assert!(matches!(compile("a)|(?:b"), Err(InvalidPattern::Syntax(_))));
        assert!(!TextPattern::new("(?m)a$").unwrap().matches("a\nb"));
    }
}
