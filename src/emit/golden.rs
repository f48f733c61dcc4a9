//! What is on disk beside what should be.

use std::path::Path;

use walkdir::WalkDir;

use super::Folder;
use crate::diagnostic::{Diagnostic, Location};

/// A file that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// It is not there.
    Missing {
        /// Its path below the folder.
        path: String,
    },
    /// Nothing is rendered to it any more.
    Stale {
        /// Its path below the folder.
        path: String,
    },
    /// It holds something else.
    Changed {
        /// Its path below the folder.
        path: String,
        /// What it holds.
        golden: String,
        /// What is rendered.
        rendered: String,
    },
}

/// Compares a folder on disk with what it should hold, file by file.
pub fn compare(expected: &Folder, folder: &Path) -> Result<Vec<Difference>, Diagnostic> {
    let mut found = read(folder)?;
    let mut differences = Vec::new();
    for (path, rendered) in &expected.files {
        match found.files.remove(path) {
            None => differences.push(Difference::Missing { path: path.clone() }),
            Some(golden) if golden != *rendered => {
                differences.push(Difference::Changed {
                    path: path.clone(),
                    golden,
                    rendered: rendered.clone(),
                });
            }
            Some(_) => {}
        }
    }
    differences.extend(found.files.into_keys().map(|path| Difference::Stale { path }));
    differences.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(differences)
}

impl Difference {
    /// The file's path below the folder.
    pub fn path(&self) -> &str {
        match self {
            Self::Missing { path } | Self::Stale { path } | Self::Changed { path, .. } => path,
        }
    }
}

fn read(folder: &Path) -> Result<Folder, Diagnostic> {
    let mut found = Folder::default();
    if !folder.exists() {
        return Ok(found);
    }
    for entry in WalkDir::new(folder) {
        let failed = |path: &Path, error: &dyn std::fmt::Display| {
            Diagnostic::error(format!("cannot be read: {error}"))
                .at(Location::file(path.display().to_string()))
        };
        let entry = entry.map_err(|error| failed(error.path().unwrap_or(folder), &error))?;
        if entry.file_type().is_dir() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).map_err(|error| failed(entry.path(), &error))?;
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let path = path.to_string_lossy().replace('\\', "/");
        found.files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(found)
}
