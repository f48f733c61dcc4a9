//! The three patch formats: strategic merge, JSON merge patch (RFC 7386) and JSON patch (RFC 6902).

mod directives;
mod json;
mod merge;
mod strategic;

pub use json::{Operation, apply as apply_operations, operations};
pub use merge::merge;
pub use strategic::{refuse_emptied_lists, strategic};

use crate::object::path::PathError;
use crate::yaml::Mark;

/// The reason why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// The error message.
    pub message: String,
    /// The position in the patch.
    pub mark: Mark,
    /// How to fix it.
    pub help: Option<String>,
}

impl PatchError {
    fn new(mark: Mark, message: impl Into<String>) -> Self {
        Self { message: message.into(), mark, help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<PathError> for PatchError {
    fn from(error: PathError) -> Self {
        Self { message: error.message, mark: error.mark, help: error.help }
    }
}

type Result<T> = std::result::Result<T, PatchError>;
