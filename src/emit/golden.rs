//! The files of a folder compared with the files that it should contain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::folder::{File, Folder, is_written_by_transship};
use crate::diagnostic::{Diagnostic, Location};

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
            Some(golden) if golden == rendered.text.as_bytes() => continue,
            Some(golden) => DifferenceKind::Changed {
                golden: String::from_utf8_lossy(&golden).into_owned(),
                rendered: rendered.clone(),
            },
        };
        differences.push(Difference { path: path.clone(), kind });
    }
    for path in on_disk.into_keys() {
        differences.push(Difference { path, kind: DifferenceKind::Stale });
    }
    differences.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(differences)
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
        if !is_current(&set, &profile) && is_written_by_transship(entry.path()) {
            stale.push(entry.into_path());
        }
    }
    Ok(stale)
}

/// Deletes a folder.
pub(crate) fn remove(folder: &Path) -> Result<(), Diagnostic> {
    std::fs::remove_dir_all(folder).map_err(|error| {
        Diagnostic::error(format!("cannot delete the folder: {error}"))
            .at(Location::file(folder.display().to_string()))
    })
}

/// Reads all files below a folder. A folder that does not exist has none.
fn read(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Diagnostic> {
    let mut files = BTreeMap::new();
    if !folder.exists() {
        return Ok(files);
    }
    for entry in WalkDir::new(folder) {
        let entry = entry.map_err(|error| cannot_open(error.path().unwrap_or(folder), &error))?;
        if entry.file_type().is_dir() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).map_err(|error| cannot_open(entry.path(), &error))?;
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        files.insert(path.to_string_lossy().replace('\\', "/"), bytes);
    }
    Ok(files)
}

fn cannot_open(path: &Path, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(format!("cannot be opened: {error}")).at(Location::file(path.display().to_string()))
}
