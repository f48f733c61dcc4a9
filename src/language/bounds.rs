//! Limits of a value that its type does not have: how long it is, and which keys and characters it contains.

use super::pattern::Keys;
use super::value_rules::{InvalidValue, Visibility};
use crate::printable;
use crate::yaml::{Mark, Node, Value, is_unprintable};

/// The limits of a value. The default has no limits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds<'d> {
    /// The allowed keys of a map.
    pub(crate) keys: Option<&'d Keys>,
    /// The maximum number of items of a list or entries of a map.
    pub(crate) max_items: Option<u64>,
    /// The maximum number of characters of each text and key.
    pub(crate) max_length: Option<u64>,
    /// Whether texts and keys cannot contain line breaks, control characters and invisible characters.
    pub(crate) only_printable: bool,
}

impl Bounds<'_> {
    /// Checks a value against the limits.
    pub(super) fn validate(&self, value: &Node, visibility: Visibility) -> Result<(), InvalidValue> {
        let count = match &value.value {
            Value::List(items) => items.len(),
            Value::Map(map) => map.len(),
            _ => 0,
        };
        if let Some(max) = self.max_items
            && count as u64 > max
        {
            return Err(problem(value.mark, format!("must have at most {max} items, not {count}")));
        }
        self.validate_texts(value)?;
        if let (Some(keys), Some(map)) = (self.keys, value.as_map())
            && let Some(entry) = map.iter().find(|entry| !keys.allow(&entry.key))
        {
            let actual = match visibility {
                Visibility::Shown => format!(", not the key `{}`", printable::excerpt(&entry.key)),
                Visibility::Hidden => String::new(),
            };
            return Err(problem(entry.mark, format!("must have only {keys}{actual}")));
        }
        Ok(())
    }

    /// Checks the texts and keys in a value.
    fn validate_texts(&self, value: &Node) -> Result<(), InvalidValue> {
        match &value.value {
            Value::String(text) => self.validate_text(text, value.mark),
            Value::List(items) => items.iter().try_for_each(|item| self.validate_texts(item)),
            Value::Map(map) => map.iter().try_for_each(|entry| {
                self.validate_text(&entry.key, entry.mark)?;
                self.validate_texts(&entry.value)
            }),
            _ => Ok(()),
        }
    }

    fn validate_text(&self, text: &str, mark: Mark) -> Result<(), InvalidValue> {
        if let Some(max) = self.max_length
            && text.chars().count() as u64 > max
        {
            return Err(problem(mark, format!("must have at most {max} characters")));
        }
        if self.only_printable && text.contains(is_unprintable) {
            let allowed = "must be text without line breaks, control characters and invisible characters";
            return Err(problem(mark, allowed.to_owned()));
        }
        Ok(())
    }
}

fn problem(mark: Mark, problem: String) -> InvalidValue {
    InvalidValue { mark, problem }
}
