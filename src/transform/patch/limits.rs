//! Limits for the result of a JSON patch. Few operations suffice to double an object again and again, or to nest it in
//! itself, so the limits are those of the YAML reader.

use super::{PatchError, Result};
use crate::yaml::{Mark, Node, Value};

/// How many values an object and everything that operations insert into it may have.
const MAX_NODES: usize = 2_000_000;
/// How many bytes the texts and keys of these values may have.
const MAX_BYTES: usize = 64 << 20;
/// How deep an object may be nested.
const MAX_DEPTH: usize = 500;

/// The size of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

/// Counts what operations insert into an object.
pub(super) struct Budget {
    nodes: usize,
    bytes: usize,
}

impl Budget {
    /// Creates the budget for an object.
    pub(super) fn of(object: &Node) -> Self {
        let size = Size::of(object);
        Self { nodes: size.nodes, bytes: size.bytes }
    }

    /// Counts a value that an operation inserts below `depth` other values. Fails if the object becomes too large.
    pub(super) fn insert(&mut self, value: &Node, depth: usize, mark: Mark) -> Result<()> {
        let size = Size::of(value);
        self.nodes = self.nodes.saturating_add(size.nodes);
        self.bytes = self.bytes.saturating_add(size.bytes);
        let message = if self.nodes > MAX_NODES {
            format!("the patch makes the object larger than {MAX_NODES} values")
        } else if self.bytes > MAX_BYTES {
            format!("the patch makes the object larger than {} MiB", MAX_BYTES >> 20)
        } else if depth + size.depth > MAX_DEPTH {
            format!("the patch nests the object more than {MAX_DEPTH} levels deep")
        } else {
            return Ok(());
        };
        Err(PatchError::new(mark, message).help("an API server rejects such an object; check the paths"))
    }
}

impl Size {
    /// Returns the size of a value. The recursion ends, because neither the reader nor a patch nests values deeper than
    /// [`MAX_DEPTH`].
    fn of(node: &Node) -> Self {
        let mut size = Self { nodes: 1, bytes: 0, depth: 1 };
        match &node.value {
            Value::String(text) => size.bytes = text.len(),
            Value::List(items) => items.iter().for_each(|item| size.contain(Self::of(item))),
            Value::Map(map) => {
                for entry in map {
                    size.bytes += entry.key.len();
                    size.contain(Self::of(&entry.value));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        size
    }

    /// Adds the size of a value inside of this one.
    fn contain(&mut self, inner: Self) {
        self.nodes += inner.nodes;
        self.bytes += inner.bytes;
        self.depth = self.depth.max(inner.depth + 1);
    }
}
