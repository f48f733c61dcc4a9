//! Exceptions, written down: strategic merge, merge patch and RFC 6902, each with its own semantics to the letter.

mod json;
mod merge;
mod path;
mod strategic;

pub use json::{Operation, apply as apply_operations, operations};
pub use merge::merge;
pub use path::Step;
pub use strategic::{Position, no_empty_lists, strategic};

use crate::yaml::{Mark, Node};

/// Why a patch cannot be applied, and which line of it is at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError {
    /// What is wrong.
    pub message: String,
    /// Where the patch says it.
    pub mark: Mark,
    /// What to do.
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

type Result<T> = std::result::Result<T, PatchError>;

/// The places that a path means in a tree; none where it leads nowhere.
pub fn places(root: &Node, path: &str) -> Vec<Vec<Step>> {
    path::Path::parse(path, root.mark).and_then(|path| path.find(root)).unwrap_or_default()
}

/// The nodes that a path means in a tree; there is at least one, or an error.
pub fn resolve<'n>(root: &'n Node, path: &str) -> Result<Vec<&'n Node>> {
    let places = path::Path::parse(path, root.mark)?.find(root)?;
    Ok(places.iter().filter_map(|place| path::at(root, place)).collect())
}
