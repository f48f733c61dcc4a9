//! The golden file that lists how the clusters of a topology reach each other, one per parameter set.

use std::path::{Path, PathBuf};

use super::folder::File;
use super::golden::{Difference, DifferenceKind, cannot_open, exists_without_links};
use crate::diagnostic::{Diagnostic, Location};
use crate::file;

/// The name of the file.
pub(crate) const REACH: &str = "reach.txt";

/// The first line, by which transship knows that it wrote the file.
const HEADER: &str = "# How the clusters reach each other: from -> through -> to: what the path allows.\n";

/// The file of one parameter set.
pub(crate) struct ReachFile {
    /// The folder of the parameter set.
    pub(crate) folder: PathBuf,
    /// The content. `None` if there is no topology with two clusters, and so no file.
    expected: Option<String>,
}

impl ReachFile {
    /// Returns the file in a folder with these paths, one per line. `None` means that there is no file.
    pub(crate) fn new(folder: PathBuf, paths: Option<&str>) -> Self {
        Self { folder, expected: paths.map(|paths| format!("{HEADER}{paths}")) }
    }

    /// Compares the file on disk with the content that it should have.
    pub(crate) fn compare(&self) -> Result<Option<Difference>, Diagnostic> {
        let kind = match (self.read()?, &self.expected) {
            (OnDisk::Nothing, None) => return Ok(None),
            (OnDisk::File(golden), Some(rendered)) if golden == *rendered => return Ok(None),
            (OnDisk::File(golden), None) if !golden.starts_with(HEADER) => return Ok(None),
            (OnDisk::Nothing, Some(_)) => DifferenceKind::Missing,
            (OnDisk::File(_), None) => DifferenceKind::Stale,
            (OnDisk::Other, _) => DifferenceKind::NotAFile,
            (OnDisk::File(golden), Some(rendered)) => {
                let rendered = File { text: rendered.clone(), object: None };
                DifferenceKind::Changed { golden, rendered }
            }
        };
        Ok(Some(Difference { path: REACH.to_owned(), kind }))
    }

    /// Writes or deletes the file, if it differs.
    pub(crate) fn write(&self) -> Result<(), Diagnostic> {
        let Some(difference) = self.compare()? else { return Ok(()) };
        let path = self.folder.join(REACH);
        let is_foreign = match &difference.kind {
            DifferenceKind::Changed { golden, .. } => !golden.starts_with(HEADER),
            DifferenceKind::NotAFile => true,
            DifferenceKind::Missing | DifferenceKind::Stale => false,
        };
        if is_foreign {
            return Err(Diagnostic::error("the file exists, and transship did not write it")
                .at(Location::file(path.display().to_string()))
                .help("move it, or delete it"));
        }
        let result = match &self.expected {
            Some(expected) => {
                std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(&path, expected))
            }
            None => std::fs::remove_file(&path),
        };
        result.map_err(|error| {
            Diagnostic::error(format!("cannot be written: {error}"))
                .at(Location::file(path.display().to_string()))
        })
    }

    fn read(&self) -> Result<OnDisk, Diagnostic> {
        let path = self.folder.join(REACH);
        if !exists_without_links(&self.folder)? {
            return Ok(OnDisk::Nothing);
        }
        match std::fs::symlink_metadata(&path) {
            Err(_) => Ok(OnDisk::Nothing),
            Ok(metadata) if !metadata.is_file() => Ok(OnDisk::Other),
            Ok(_) => {
                let bytes = file::read_bytes(&path).map_err(|error| cannot_open(&path, &error))?;
                Ok(OnDisk::File(String::from_utf8_lossy(&bytes).into_owned()))
            }
        }
    }
}

/// The entry on disk at the path of the file.
enum OnDisk {
    Nothing,
    /// The content of a regular file.
    File(String),
    /// A folder, a link, a pipe or a device.
    Other,
}

/// Returns the names of the folders below `<root>` that have such a file.
pub(crate) fn sets_with_reach(root: &Path) -> Vec<String> {
    let Ok(folders) = std::fs::read_dir(root) else { return Vec::new() };
    let mut sets = Vec::new();
    for folder in folders.flatten() {
        if folder.path().join(REACH).is_file() {
            sets.push(folder.file_name().to_string_lossy().into_owned());
        }
    }
    sets.sort();
    sets
}
