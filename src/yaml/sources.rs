//! The names of the texts that nodes come from.

use super::node::{Mark, SourceId};

/// The names behind [`SourceId`]s, in the order in which the texts were registered.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    names: Vec<String>,
}

impl Sources {
    /// Registers a text under the name that messages show.
    pub fn add(&mut self, name: impl Into<String>) -> SourceId {
        self.names.push(name.into());
        SourceId(u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX))
    }

    /// The name of a text.
    pub fn name(&self, source: SourceId) -> &str {
        self.names.get(source.0 as usize).map_or("?", String::as_str)
    }

    /// `file:line:column`, as editors open it.
    pub fn show(&self, mark: Mark) -> String {
        format!("{}:{}:{}", self.name(mark.source), mark.line, mark.column)
    }
}
