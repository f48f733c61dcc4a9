//! How objects are written down: as a stream, as a folder, and beside the golden files.

mod folder;
mod golden;

use crate::object::Object;
use crate::parallel::{self, MIN_TEXTS_PER_THREAD};
use crate::yaml::{self, json};

pub use folder::{Folder, INDEX};
pub use golden::{Difference, compare, remove, strangers};

/// How many objects are written at once: enough to fill a text, few enough to share among cores.
const SHARE: usize = 64;

/// The objects as one YAML stream, in pieces.
pub fn stream(objects: &[Object]) -> Vec<String> {
    pieces(objects, |index, object, out| {
        if index > 0 {
            out.push_str("---\n");
        }
        yaml::write_into(&object.root, out);
    })
}

/// The objects as JSON, one a line, in pieces.
pub fn json_lines(objects: &[Object]) -> Vec<String> {
    pieces(objects, |_, object, out| {
        out.push_str(&json::write(&object.root));
        out.push('\n');
    })
}

/// Writes shares of the objects on all cores, each into one text.
fn pieces(objects: &[Object], write: impl Fn(usize, &Object, &mut String) + Sync) -> Vec<String> {
    let shares: Vec<(usize, &[Object])> = objects.chunks(SHARE).enumerate().collect();
    parallel::map(MIN_TEXTS_PER_THREAD, shares, |(share, objects)| {
        let mut out = String::with_capacity(objects.len() * 1024);
        for (index, object) in objects.iter().enumerate() {
            write(share * SHARE + index, object, &mut out);
        }
        out
    })
}
