//! The error for two different values of one field.

use crate::diagnostic::{Diagnostic, Location};
use crate::object::mask;
use crate::object::path::escape;
use crate::yaml::{Node, Sources, json};

/// The longest value that a message shows, in characters.
const MAX_SHOWN: usize = 100;

/// Two different values of one field: that of the object, and that of an addition.
#[derive(Debug)]
pub(super) struct Conflict {
    current: Node,
    added: Node,
    /// The path from the node that is merged to the field, the last segment first.
    segments: Vec<String>,
}

impl Conflict {
    /// Creates the conflict between two values.
    pub(super) fn new(current: &Node, added: &Node) -> Self {
        Self { current: current.clone(), added: added.clone(), segments: Vec::new() }
    }

    /// Adds the field in which the conflict was found.
    pub(super) fn in_field(self, key: &str) -> Self {
        let segment = escape(key).into_owned();
        self.in_item(segment)
    }

    /// Adds the item of a list in which the conflict was found, as a segment of a path.
    pub(super) fn in_item(mut self, segment: String) -> Self {
        self.segments.push(segment);
        self
    }

    /// Returns the error. `parent` is the path of the node that is merged.
    pub(super) fn diagnostic(&self, parent: &str, sources: &Sources) -> Diagnostic {
        let mut path = parent.to_owned();
        for segment in self.segments.iter().rev() {
            path.push('/');
            path.push_str(segment);
        }
        let (added, current) = (self.shown(&self.added), self.shown(&self.current));
        let message = format!("`{path}` cannot be set to `{added}`, because it is `{current}`");
        Diagnostic::error(message)
            .at(Location::of(self.added.mark, sources))
            .note(format!("the other value is at {}", sources.show(self.current.mark)))
            .help("give both the same value, or remove this one and change the field with `patches` in the page")
    }

    /// Returns one of the values for a message: a text as it is, unless the other value looks the same.
    fn shown(&self, value: &Node) -> String {
        let [current, added] = [&self.current, &self.added].map(plain);
        shorten(if current == added { json::show(value) } else { plain(value) })
    }
}

/// Returns a text as it is, and any other value as JSON, without secrets.
fn plain(value: &Node) -> String {
    match value.as_str() {
        Some(text) if !mask::is_sensitive(value) && !text.contains(char::is_control) => text.to_owned(),
        _ => json::show(value),
    }
}

fn shorten(text: String) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
