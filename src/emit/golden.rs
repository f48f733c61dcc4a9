//! What is on disk beside what should be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::{Folder, folder};
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
        /// What it holds; what is not UTF-8 in it is replaced.
        golden: String,
        /// What is rendered.
        rendered: String,
    },
    /// It is another, and holds something that no message may show.
    Hidden {
        /// The file's path below the folder.
        path: String,
    },
}

/// Compares a folder on disk with what it should hold, byte by byte.
pub fn compare(expected: &Folder, folder: &Path) -> Result<Vec<Difference>, Diagnostic> {
    let mut found = read(folder)?;
    let mut differences = Vec::new();
    for (path, rendered) in &expected.files {
        match found.remove(path) {
            None => differences.push(Difference::Missing { path: path.clone() }),
            Some(golden) if golden != rendered.as_bytes() => {
                let golden = String::from_utf8_lossy(&golden).into_owned();
                differences.push(Difference::Changed {
                    path: path.clone(),
                    golden,
                    rendered: rendered.clone(),
                });
            }
            Some(_) => {}
        }
    }
    differences.extend(found.into_keys().map(|path| Difference::Stale { path }));
    differences.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(differences)
}

/// Folders of ours at `root/<set>/<profile>` that nobody knows: a set or a profile that is gone leaves them.
pub fn strangers(root: &Path, known: impl Fn(&str, &str) -> bool) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut strangers = Vec::new();
    if !root.exists() {
        return Ok(strangers);
    }
    for entry in WalkDir::new(root).min_depth(2).max_depth(2).sort_by_file_name() {
        let entry = entry.map_err(|error| unreadable(root, &error))?;
        let set = entry.path().parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let profile = entry.file_name().to_string_lossy();
        if !known(&set, &profile) && folder::is_written_by_us(entry.path()) {
            strangers.push(entry.into_path());
        }
    }
    Ok(strangers)
}

/// Takes away a folder of ours.
pub fn remove(folder: &Path) -> Result<(), Diagnostic> {
    std::fs::remove_dir_all(folder).map_err(|error| unreadable(folder, &error))
}

impl Difference {
    /// Without its texts, if one of them holds a secret.
    #[must_use]
    pub fn without(self, secrets: &[String]) -> Self {
        let holds = |text: &str| secrets.iter().any(|secret| text.contains(secret.as_str()));
        match self {
            Self::Changed { path, golden, rendered } if holds(&golden) || holds(&rendered) => {
                Self::Hidden { path }
            }
            other => other,
        }
    }

    /// The file's path below the folder.
    pub fn path(&self) -> &str {
        match self {
            Self::Missing { path }
            | Self::Stale { path }
            | Self::Changed { path, .. }
            | Self::Hidden { path } => path,
        }
    }
}

fn read(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Diagnostic> {
    let mut found = BTreeMap::new();
    if !folder.exists() {
        return Ok(found);
    }
    for entry in WalkDir::new(folder) {
        let entry = entry.map_err(|error| unreadable(error.path().unwrap_or(folder), &error))?;
        if entry.file_type().is_dir() {
            continue;
        }
        let bytes = std::fs::read(entry.path()).map_err(|error| unreadable(entry.path(), &error))?;
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        found.insert(path.to_string_lossy().replace('\\', "/"), bytes);
    }
    Ok(found)
}

fn unreadable(path: &Path, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::error(format!("cannot be opened: {error}")).at(Location::file(path.display().to_string()))
}
