//! The files of a folder compared with the files that it should contain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::folder::{File, Folder, is_written_by_transship, path_below, refuse_foreign_files};
use crate::diagnostic::{Diagnostic, Location};
use crate::file;

/// A file that differs from the expected one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The path of the file below the folder.
    pub(crate) path: String,
    /// How it differs.
    pub(crate) kind: DifferenceKind,
}

/// How a file differs from the expected one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DifferenceKind {
    /// The file does not exist.
    Missing,
    /// The file exists, and no object is rendered to it.
    Stale,
    /// It is a link, a pipe or a device. These are not opened, because they may lead anywhere.
    NotAFile,
    /// The file has other content.
    Changed {
        /// The content on disk, with invalid UTF-8 replaced.
        golden: String,
        /// The rendered content.
        rendered: File,
    },
}

/// Compares a folder with the files that it should contain, byte by byte.
pub(crate) fn compare(expected: &Folder, folder: &Path) -> Result<Vec<Difference>, Diagnostic> {
    let mut on_disk = read(folder)?;
    let mut differences = Vec::new();
    for (path, rendered) in &expected.files {
        let kind = match on_disk.remove(path) {
            None => DifferenceKind::Missing,
            Some(Entry::Other) => DifferenceKind::NotAFile,
            Some(Entry::File(golden)) if golden == rendered.text.as_bytes() => continue,
            Some(Entry::File(golden)) => DifferenceKind::Changed {
                golden: String::from_utf8_lossy(&golden).into_owned(),
                rendered: rendered.clone(),
            },
        };
        differences.push(Difference { path: path.clone(), kind });
    }
    for (path, entry) in on_disk {
        let kind = match entry {
            Entry::File(_) => DifferenceKind::Stale,
            Entry::Other => DifferenceKind::NotAFile,
        };
        differences.push(Difference { path, kind });
    }
    differences.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(differences)
}

/// Replaces a folder of golden files.
pub(crate) fn update(expected: &Folder, folder: &Path) -> Result<(), Diagnostic> {
    exists_without_links(folder)?;
    expected.write(folder)
}

/// Returns the folders `<root>/<parameter set>/<profile>` that transship wrote and that are no longer current.
pub(crate) fn stale_folders(
    root: &Path,
    is_current: impl Fn(&str, &str) -> bool,
) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut stale = Vec::new();
    if !root.exists() {
        return Ok(stale);
    }
    for entry in WalkDir::new(root).min_depth(2).max_depth(2).sort_by_file_name() {
        let entry = entry.map_err(|error| cannot_open(root, &error))?;
        let set = entry.path().parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let profile = entry.file_name().to_string_lossy();
        let is_folder = entry.file_type().is_dir();
        if is_folder && !is_current(&set, &profile) && is_written_by_transship(entry.path()) {
            stale.push(entry.into_path());
        }
    }
    Ok(stale)
}

/// Deletes a folder that transship wrote. Refuses to delete files of others.
pub(crate) fn remove(folder: &Path) -> Result<(), Diagnostic> {
    refuse_foreign_files(folder)?;
    std::fs::remove_dir_all(folder).map_err(|error| {
        Diagnostic::error(format!("cannot delete the folder: {error}"))
            .at(Location::file(folder.display().to_string()))
    })
}

/// An entry of a folder that is not a folder.
enum Entry {
    /// The content of a regular file.
    File(Vec<u8>),
    /// Something else.
    Other,
}

/// Reads all files below a folder. A folder that does not exist has none, and links are not followed.
fn read(folder: &Path) -> Result<BTreeMap<String, Entry>, Diagnostic> {
    let mut files = BTreeMap::new();
    if !exists_without_links(folder)? {
        return Ok(files);
    }
    for entry in WalkDir::new(folder) {
        let entry = entry.map_err(|error| cannot_open(error.path().unwrap_or(folder), &error))?;
        if entry.file_type().is_dir() {
            continue;
        }
        let content = if entry.file_type().is_file() {
            Entry::File(file::read_bytes(entry.path()).map_err(|error| cannot_open(entry.path(), &error))?)
        } else {
            Entry::Other
        };
        files.insert(path_below(folder, entry.path()), content);
    }
    Ok(files)
}

/// Returns whether a folder of golden files exists. Refuses a link in place of it or of the folder that it is in.
pub(super) fn exists_without_links(folder: &Path) -> Result<bool, Diagnostic> {
    for path in folder.parent().into_iter().chain([folder]) {
        match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(Diagnostic::error("this is not a folder")
                    .at(Location::file(path.display().to_string()))
                    .note("golden files are not read or written through links, which may lead anywhere")
                    .help("replace it with a folder"));
            }
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

pub(super) fn cannot_open(path: &Path, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(format!("cannot be opened: {error}")).at(Location::file(path.display().to_string()))
}
