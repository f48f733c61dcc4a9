//! Reading a typed file: every field taken by name and type, and what is left over is an error.

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::nearest::nearest;
use crate::yaml::{Map, Mark, Node, Number, Sources, Value};

/// The fields of one map. All that is wrong with them is collected, so that a file's author sees it at once.
pub(super) struct Fields<'a, 'e> {
    map: &'a Map,
    mark: Mark,
    /// What the map is, for messages: "a profile".
    what: &'static str,
    known: Vec<&'static str>,
    sources: &'e Sources,
    errors: &'e mut Diagnostics,
}

impl<'a, 'e> Fields<'a, 'e> {
    /// The fields of a node that must be a map.
    pub(super) fn of(
        node: &'a Node,
        what: &'static str,
        sources: &'e Sources,
        errors: &'e mut Diagnostics,
    ) -> Option<Self> {
        let Some(map) = node.as_map() else {
            errors.0.push(
                Diagnostic::error(format!("{what} is a map, not {}", node.value.kind()))
                    .at(Location::of(node.mark, sources)),
            );
            return None;
        };
        Some(Self { map, mark: node.mark, what, known: Vec::new(), sources, errors })
    }

    /// A map among the fields.
    pub(super) fn map(&mut self, key: &'static str, what: &'static str) -> Option<Fields<'a, '_>> {
        let node = self.take(key)?;
        Fields::of(node, what, self.sources, self.errors)
    }

    /// A text.
    pub(super) fn text(&mut self, key: &'static str) -> Option<String> {
        let node = self.take(key)?;
        let text = node.as_str().map(str::to_owned);
        if text.is_none() {
            self.wrong_type(key, "text", node);
        }
        text
    }

    /// A text that must be there.
    pub(super) fn required_text(&mut self, key: &'static str) -> Option<String> {
        if self.required(key) { self.text(key) } else { None }
    }

    /// Whether a field is there; that it is not is an error.
    pub(super) fn required(&mut self, key: &'static str) -> bool {
        let there = self.map.get(key).is_some();
        if !there {
            self.known.push(key);
            let message = format!("{} needs the field `{key}`", self.what);
            self.errors.0.push(Diagnostic::error(message).at(Location::of(self.mark, self.sources)));
        }
        there
    }

    /// A name as Kubernetes gives it to namespaces: it also becomes part of a path.
    pub(super) fn label(&mut self, key: &'static str) -> Option<String> {
        let at = self.map.get(key).map_or(self.mark, |node| node.mark);
        let label = self.text(key)?;
        let fine = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let well_formed = !label.is_empty() && label.len() <= 63 && label.bytes().all(fine);
        if !well_formed || label.starts_with('-') || label.ends_with('-') {
            let error = Diagnostic::error(format!("`{key}` cannot be `{label}`"))
                .at(Location::of(at, self.sources))
                .help("it is at most 63 lower-case letters, digits and `-`, and neither begins nor ends with `-`");
            self.errors.0.push(error);
            return None;
        }
        Some(label)
    }

    /// A whole number that is not negative.
    pub(super) fn whole(&mut self, key: &'static str) -> Option<u64> {
        let node = self.take(key)?;
        let whole = match node.value {
            Value::Number(Number::Int(int)) => u64::try_from(int).ok(),
            Value::Number(Number::Uint(uint)) => Some(uint),
            _ => None,
        };
        if whole.is_none() {
            self.wrong_type(key, "a whole number", node);
        }
        whole
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let node = self.take(key)?;
        let texts = node.as_list().and_then(|items| {
            items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        });
        if texts.is_none() {
            self.wrong_type(key, "a list of texts", node);
        }
        texts
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&'static str, T)]) -> Option<T> {
        let at = self.map.get(key).map_or(self.mark, |node| node.mark);
        let word = self.required_text(key)?;
        let chosen = choices.iter().find(|(name, _)| *name == word).map(|(_, choice)| *choice);
        if chosen.is_none() {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            let error = Diagnostic::error(format!("`{key}` cannot be `{word}`"))
                .at(Location::of(at, self.sources))
                .help(format!("it is one of {}", names.join(", ")));
            self.errors.0.push(error);
        }
        chosen
    }

    /// Reports every field that nobody took.
    pub(super) fn finish(self) {
        for entry in self.map {
            if self.known.contains(&&*entry.key) {
                continue;
            }
            let help = match nearest(&entry.key, self.known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("its fields are {}", self.known.join(", ")),
            };
            self.errors.0.push(
                Diagnostic::error(format!("{} has no field `{}`", self.what, entry.key))
                    .at(Location::of(entry.mark, self.sources))
                    .help(help),
            );
        }
    }

    fn take(&mut self, key: &'static str) -> Option<&'a Node> {
        self.known.push(key);
        self.map.get(key)
    }

    fn wrong_type(&mut self, key: &str, expected: &str, node: &Node) {
        let message = format!("`{key}` must be {expected}, not {}", node.value.kind());
        self.errors.0.push(Diagnostic::error(message).at(Location::of(node.mark, self.sources)));
    }
}
