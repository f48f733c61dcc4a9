//! Where a node was written: the text, the line and the column.

use std::collections::BTreeMap;

/// The text that a node was read from. [`Sources`] maps it to a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A position in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mark {
    /// The text.
    pub source: SourceId,
    /// The line, counted from one.
    pub line: u32,
    /// The column in characters, counted from one.
    pub column: u32,
}

/// The names of texts, usually file names, by [`SourceId`].
///
/// ```
/// use kubernetes_yaml::{Sources, read};
///
/// let mut sources = Sources::default();
/// let id = sources.add("deployment.yaml");
/// let documents = read("spec:\n  replicas: 2\n", id)?;
/// let replicas = documents[0].root.get("spec").and_then(|spec| spec.get("replicas")).unwrap();
/// assert_eq!(sources.show(replicas.mark), "deployment.yaml:2:13");
/// # Ok::<(), kubernetes_yaml::SyntaxError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sources {
    names: BTreeMap<u32, String>,
    next: u32,
}

impl Sources {
    /// Creates an empty list that assigns ids from `first` on. Two lists with different ranges of ids can be joined
    /// with [`and`](Self::and).
    pub fn from(first: u32) -> Self {
        Self { names: BTreeMap::new(), next: first }
    }

    /// Adds a text under the name that messages show, and returns its id.
    pub fn add(&mut self, name: impl Into<String>) -> SourceId {
        let id = self.next;
        self.names.insert(id, name.into());
        self.next += 1;
        SourceId(id)
    }

    /// Returns a list with the names of both. Where both use an id, the name in `other` wins.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let names = self.names.iter().chain(&other.names).map(|(id, name)| (*id, name.clone())).collect();
        Self { names, next: self.next.max(other.next) }
    }

    /// Returns the name of a text, or `?` if the id is not in this list.
    pub fn name(&self, source: SourceId) -> &str {
        self.names.get(&source.0).map_or("?", String::as_str)
    }

    /// Formats a position as `file:line:column`, which editors can open.
    pub fn show(&self, mark: Mark) -> String {
        format!("{}:{}:{}", self.name(mark.source), mark.line, mark.column)
    }
}
