//! Sensitive values in texts that others wrote, such as the message with which an API server rejects an object.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::mask::is_sensitive;
use crate::yaml::json::{self, HIDDEN};
use crate::yaml::{Node, Value};

/// The length in bytes of the shortest string to search for. Shorter strings occur in words that are not secret.
const MIN_LENGTH: usize = 4;

/// The texts of sensitive values, in all forms in which a message may quote them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SensitiveTexts {
    /// The longest first, because one text may contain another.
    texts: Vec<String>,
    has_short: bool,
}

impl SensitiveTexts {
    /// Collects the sensitive values in nodes.
    pub(crate) fn of<'n>(nodes: impl IntoIterator<Item = &'n Node>) -> Self {
        let mut collector = Collector::default();
        for node in nodes {
            collector.collect(node, false);
        }
        let mut texts: Vec<String> = collector.texts.into_iter().collect();
        texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Self { texts, has_short: collector.has_short }
    }

    /// Returns whether some values are too short to search for. A message that may quote them must not be shown.
    pub(crate) fn has_short(&self) -> bool {
        self.has_short
    }

    /// Replaces the values in a text.
    pub(crate) fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in self.texts.iter().filter(|secret| text.contains(secret.as_str())) {
            masked = masked.replace(secret, HIDDEN);
        }
        masked
    }

    /// Marks the texts below a node that contain one of the values as sensitive.
    pub(crate) fn protect(&self, node: &mut Node) {
        let is_found = |text: &str| self.texts.iter().any(|secret| text.contains(secret.as_str()));
        match &mut node.value {
            Value::String(text) if is_found(text) => node.protect(crate::yaml::Sensitivity::Masked),
            Value::List(items) => items.iter_mut().for_each(|item| self.protect(item)),
            Value::Map(map) if !self.texts.is_empty() => {
                map.values_mut().for_each(|value| self.protect(value));
            }
            _ => {}
        }
    }
}

#[derive(Default)]
struct Collector {
    texts: BTreeSet<String>,
    has_short: bool,
}

impl Collector {
    fn collect(&mut self, node: &Node, inside: bool) {
        let inside = inside || is_sensitive(node);
        match &node.value {
            Value::List(items) => items.iter().for_each(|item| self.collect(item, inside)),
            Value::Map(map) => {
                for entry in map {
                    if inside {
                        self.add(&entry.key);
                    }
                    self.collect(&entry.value, inside);
                }
            }
            _ if !inside => {}
            Value::String(text) => self.add_with_forms(text),
            Value::Number(_) | Value::Bool(_) => self.add(&json::write(node)),
            Value::Null => {}
        }
    }

    /// Adds a string, its lines, its forms in JSON, Go and base64, and, if the string is base64, the decoded string.
    fn add_with_forms(&mut self, text: &str) {
        self.add(text);
        for line in text.lines().map(str::trim) {
            // Short lines, such as closing brackets, tell nothing.
            if line.len() >= 2 * MIN_LENGTH {
                self.add(line);
            }
        }
        let plain = Node::from(Value::String(text.into()));
        for quoted in [json::write(&plain), json::show(&plain), format!("{text:?}")] {
            self.add(quoted.trim_matches('"'));
        }
        self.add(STANDARD.encode(text).trim_end_matches('='));
        if let Some(decoded) =
            STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        {
            self.add(&decoded);
        }
    }

    fn add(&mut self, text: &str) {
        match text.len() {
            0 => {}
            length if length < MIN_LENGTH => self.has_short = true,
            _ if matches!(text, "true" | "false" | "null") => self.has_short = true,
            _ => drop(self.texts.insert(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SensitiveTexts;
    use crate::yaml::{Node, Sensitivity, SourceId, read};

    fn texts(yaml: &str) -> SensitiveTexts {
        let mut node: Node = read(yaml, SourceId(0)).unwrap().remove(0).root;
        node.protect(Sensitivity::Secret);
        SensitiveTexts::of([&node])
    }

    #[test]
    fn a_value_is_masked_in_every_form_in_which_a_message_may_quote_it() {
        let texts = texts(r#"["two\nlong lines", 'quo"ted', 8443, aHVudGVyMg==, {long-key: 1}]"#);
        for (message, masked) in [
            (r#"Invalid value: "two\nlong lines": no"#, r#"Invalid value: "<hidden>": no"#),
            ("only long lines here", "only <hidden> here"),
            (r#"{"a":"quo\"ted"}"#, r#"{"a":"<hidden>"}"#),
            ("port 8443 is taken", "port <hidden> is taken"),
            ("hunter2 or aHVudGVyMg==", "<hidden> or <hidden>"),
            ("cXVvInRlZA==", "<hidden>=="),
            ("the key long-key", "the key <hidden>"),
            ("nothing of it", "nothing of it"),
        ] {
            assert_eq!(texts.mask(message), masked);
        }
    }

    #[test]
    fn short_values_are_not_searched_for() {
        for yaml in ["abc", "7", "true", "[long enough, x]"] {
            assert!(texts(yaml).has_short(), "{yaml}");
        }
        assert!(!texts("abcd").has_short());
        assert_eq!(texts("abc").mask("abcdef"), "abcdef");
    }
}
