//! The golden file that lists how the clusters of a topology reach each other, one per parameter set.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::golden::{Difference, DifferenceKind};
use crate::diagnostic::{Diagnostic, Location};

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
            (None, None) => return Ok(None),
            (Some(golden), Some(rendered)) if golden == *rendered => return Ok(None),
            (None, Some(_)) => DifferenceKind::Missing,
            (Some(golden), None) if !golden.starts_with(HEADER) => return Ok(None),
            (Some(_), None) => DifferenceKind::Stale,
            (Some(golden), Some(rendered)) => DifferenceKind::Changed { golden, rendered: rendered.clone() },
        };
        Ok(Some(Difference { path: REACH.to_owned(), kind }))
    }

    /// Writes or deletes the file, if it differs.
    pub(crate) fn write(&self) -> Result<(), Diagnostic> {
        let Some(difference) = self.compare()? else { return Ok(()) };
        let path = self.folder.join(REACH);
        let result = match (&difference.kind, &self.expected) {
            (DifferenceKind::Changed { golden, .. }, Some(_)) if !golden.starts_with(HEADER) => {
                return Err(Diagnostic::error("the file exists, and transship did not write it")
                    .at(Location::file(path.display().to_string()))
                    .help("move it, or delete it"));
            }
            (_, Some(expected)) => {
                std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(&path, expected))
            }
            (_, None) => std::fs::remove_file(&path),
        };
        result.map_err(|error| {
            Diagnostic::error(format!("cannot be written: {error}"))
                .at(Location::file(path.display().to_string()))
        })
    }

    fn read(&self) -> Result<Option<String>, Diagnostic> {
        let path = self.folder.join(REACH);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Diagnostic::error(format!("cannot be opened: {error}"))
                .at(Location::file(path.display().to_string()))),
        }
    }
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
