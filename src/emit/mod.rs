//! Writes objects: as a YAML or JSON stream, as a folder of files, and compared with golden files.

mod folder;
mod golden;
mod reach_file;

use crate::object::Object;
use crate::parallel::{self, MIN_TEXTS_PER_THREAD};
use crate::yaml::{self, json};

pub(crate) use folder::{File, Folder, INDEX};
pub(crate) use golden::{Difference, DifferenceKind, compare, remove, stale_folders, update};
pub(crate) use reach_file::{REACH, ReachFile, sets_with_reach};

/// The number of objects that one thread writes into one text.
const CHUNK: usize = 64;

/// Returns the objects as a YAML stream, in several texts that follow each other.
pub(crate) fn stream(objects: &[Object]) -> Vec<String> {
    write_chunks(objects, |index, object, out| {
        if index > 0 {
            out.push_str("---\n");
        }
        yaml::write_into(&object.root, out);
    })
}

/// Returns the objects as JSON, one per line, in several texts that follow each other.
pub(crate) fn json_lines(objects: &[Object]) -> Vec<String> {
    write_chunks(objects, |_, object, out| {
        out.push_str(&json::write(&object.root));
        out.push('\n');
    })
}

/// Writes the objects on all cores, each chunk into one text. `write` gets the index of the object.
fn write_chunks(objects: &[Object], write: impl Fn(usize, &Object, &mut String) + Sync) -> Vec<String> {
    let chunks: Vec<(usize, &[Object])> = objects.chunks(CHUNK).enumerate().collect();
    parallel::map(MIN_TEXTS_PER_THREAD, chunks, |(chunk, objects)| {
        let mut out = String::with_capacity(objects.len() * 1024);
        for (index, object) in objects.iter().enumerate() {
            write(chunk * CHUNK + index, object, &mut out);
        }
        out
    })
}
