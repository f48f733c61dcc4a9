//! How objects are written down: as a stream, as a folder, and beside the golden files.

mod folder;
mod golden;

use crate::object::Object;
use crate::parallel;
use crate::yaml::{self, json};

pub use folder::{Folder, INDEX};
pub use golden::{Difference, compare, remove, strangers};

/// The objects as one YAML stream.
pub fn stream(objects: &[Object]) -> String {
    let documents = parallel::map(objects, |object| yaml::write(&object.root));
    documents.join("---\n")
}

/// The objects as JSON, one a line.
pub fn json_lines(objects: &[Object]) -> String {
    let lines = parallel::map(objects, |object| json::write(&object.root) + "\n");
    lines.concat()
}
