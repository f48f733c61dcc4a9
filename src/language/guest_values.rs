//! Checks that a parameter limits its values if they are read from the guest, whose administrator can write anything into
//! the objects there.

use super::check_code::Check;
use super::parameters::Parameter;
use super::pattern::{Keys, TextPattern};
use super::typed::{Marked, Reader};
use super::value_type::ValueType;
use crate::yaml::{Mark, Node, Value};

/// The maximum number of characters of a text from the guest, unless the declaration has its own.
pub(super) const MAX_LENGTH: u64 = 1024;
/// The maximum number of items of a list or map from the guest, unless the declaration has its own.
pub(super) const MAX_ITEMS: u64 = 64;

/// Characters that end a line, hide text, start an expression, or change the structure of YAML and JSON. No pattern for a
/// value of the guest may accept one of them.
const REFUSED: [(&str, &str); 5] = [
    ("\n", "line breaks"),
    ("\u{1b}", "control characters"),
    ("\u{202e}", "invisible characters"),
    ("{", "`{`"),
    ("$", "`$`"),
];
/// Characters that some values need: paths, URLs, names that people give. A pattern that accepts all of them accepts
/// almost any text.
const NEEDED_BY_SOME: [&str; 5] = [" ", ":", "/", "..", "ü"];
/// Texts that patterns often accept. Hostile characters are tried before, after and between them.
const COMMON: [&str; 13] =
    ["", "a", "A", "1", "aa1", "a-1", "a.b", "a=b", "a,b", "/a", "a@b", "http://a", "https://a"];

/// Reports what a declaration does not limit.
pub(super) fn check(name: &str, declared: &Parameter, mark: Mark, reader: &mut Reader<'_>) {
    let is_limited = declared.r#type.0.is_bounded() || !declared.choices.is_empty();
    if declared.sources_in_guest().next().is_none() || is_limited {
        return;
    }
    let mut report = |mark: Mark, accepts: &str, help: &str| {
        let error = reader
            .error(mark, format!("the parameter `{name}` is read from the guest and accepts {accepts}"));
        error.code = Some(Check::UnvalidatedGuestValue.code());
        error.notes.push("the guest's administrator decides what the value is".to_owned());
        error.help = Some(help.to_owned());
    };
    let r#type = declared.r#type.0;
    let mut examples: Vec<&str> = COMMON.to_vec();
    declared.default.iter().for_each(|default| texts_in(default, &mut examples));
    if r#type == ValueType::Map {
        match &declared.keys {
            None => report(mark, "any key", "limit the keys with `keys`"),
            Some(keys) => {
                if let Keys::Matching(pattern) = &keys.value
                    && let Some(accepted) = accepts_too_much(pattern, &examples)
                {
                    report(keys.mark, &format!("keys with {accepted}"), HELP_FOR_PATTERN);
                }
            }
        }
    }
    match &declared.pattern {
        None => report(mark, "any value", help_for_missing_pattern(r#type)),
        Some(Marked { value: pattern, mark }) => {
            if let Some(accepted) = accepts_too_much(pattern, &examples) {
                report(*mark, &format!("values with {accepted}"), HELP_FOR_PATTERN);
            }
        }
    }
}

const HELP_FOR_PATTERN: &str = "list the allowed characters, as in `[A-Za-z0-9.-]+`";

fn help_for_missing_pattern(r#type: ValueType) -> &'static str {
    match r#type {
        ValueType::List => "limit the items with `pattern`",
        ValueType::Map => "limit the values with `pattern`",
        _ => "limit it with `pattern` or `enum`",
    }
}

/// Collects the texts and keys of a default, which its pattern accepts.
fn texts_in<'n>(node: &'n Node, texts: &mut Vec<&'n str>) {
    match &node.value {
        Value::String(text) => texts.push(text),
        Value::List(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Value::Map(map) => {
            for entry in map {
                texts.push(&entry.key);
                texts_in(&entry.value, texts);
            }
        }
        _ => {}
    }
}

/// Returns which hostile characters a pattern accepts.
fn accepts_too_much(pattern: &TextPattern, examples: &[&str]) -> Option<String> {
    let accepts = |hostile: &str| {
        examples.iter().any(|text| {
            let probes =
                [format!("{text}{hostile}"), format!("{hostile}{text}"), format!("{text}{hostile}{text}")];
            probes.iter().any(|probe| pattern.matches(probe))
        })
    };
    let refused = REFUSED.into_iter().filter(|(hostile, _)| accepts(hostile));
    let accepted: Vec<&str> = refused.map(|(_, description)| description).collect();
    match accepted.split_last() {
        None if NEEDED_BY_SOME.into_iter().all(accepts) => Some("almost any character".to_owned()),
        None => None,
        Some((last, [])) => Some((*last).to_owned()),
        Some((last, others)) => Some(format!("{} and {last}", others.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::{COMMON, TextPattern, accepts_too_much};

    fn accepted(pattern: &str) -> Option<String> {
        accepts_too_much(&TextPattern::new(pattern).unwrap(), &COMMON)
    }

    #[test]
    fn patterns_that_accept_everything_are_no_limit() {
        let all = "line breaks, control characters, invisible characters, `{` and `$`";
        for pattern in
            ["(?s).*", r"[\s\S]*", r"[\w\W]+", "(?s).+", r"(.|\n)*", r"\D*", "[^ ]*", "https?://[^ ]+"]
        {
            assert_eq!(accepted(pattern).as_deref(), Some(all), "{pattern}");
        }
        for pattern in [".*", ".+", ".{0,100}", "^.*$", "a?.*b?"] {
            let most = "control characters, invisible characters, `{` and `$`";
            assert_eq!(accepted(pattern).as_deref(), Some(most), "{pattern}");
        }
        assert_eq!(accepted(r"[^\n]{1,9}").as_deref(), accepted(".*").as_deref());
        assert_eq!(accepted(r"[a-z\s]+").as_deref(), Some("line breaks"));
        assert_eq!(accepted("[a-z$]+").as_deref(), Some("`$`"));
        assert_eq!(accepted(r"[ -#%-z|~\u{80}-\u{1000}]*").as_deref(), Some("almost any character"));
    }

    #[test]
    fn patterns_that_list_characters_are_limits() {
        for pattern in [
            "[a-z]{2,}(-[a-z]+)+-[0-9]+",
            "[A-Za-z0-9 ._/:-]*",
            r"https?://[A-Za-z0-9.:/@%_-]+",
            "arn:aws:kms:[a-z0-9-]+:[0-9]{12}:key/[a-f0-9-]+",
            "|a",
            "(?i)[a-z]+",
        ] {
            assert_eq!(accepted(pattern), None, "{pattern}");
        }
    }
}
