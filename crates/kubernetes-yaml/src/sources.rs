//! The names of the texts that nodes come from.

use std::collections::BTreeMap;

use crate::node::{Mark, SourceId};

/// The names behind [`SourceId`]s.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    names: BTreeMap<u32, String>,
    next: u32,
}

impl Sources {
    /// Names whose numbers begin at `first`, so that two lists of them can be joined.
    pub fn from(first: u32) -> Self {
        Self { names: BTreeMap::new(), next: first }
    }

    /// Registers a text under the name that messages show.
    pub fn add(&mut self, name: impl Into<String>) -> SourceId {
        let id = self.next;
        self.names.insert(id, name.into());
        self.next += 1;
        SourceId(id)
    }

    /// The names of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let names = self.names.iter().chain(&other.names).map(|(id, name)| (*id, name.clone())).collect();
        Self { names, next: self.next.max(other.next) }
    }

    /// The name of a text.
    pub fn name(&self, source: SourceId) -> &str {
        self.names.get(&source.0).map_or("?", String::as_str)
    }

    /// `file:line:column`, as editors open it.
    pub fn show(&self, mark: Mark) -> String {
        format!("{}:{}:{}", self.name(mark.source), mark.line, mark.column)
    }
}
