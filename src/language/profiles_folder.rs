//! Reads the files of the profiles folder. The path of a file determines its kind:
//!
//! ```text
//!  profiles/*.yaml                           profiles, declarations of parameters, declarations for the checks
//!           fragments/*.yaml                 fragments
//!           fragments/<name>/fragment.yaml   a fragment with manifests, which are beside it
//!           components/*.yaml                pages
//!           sets/*.yaml                      parameter sets
//! ```

use std::path::{Path, PathBuf};

use super::fragment::FragmentManifest;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::sha256::{Hasher, Sha256};
use crate::yaml::{Node, Sources, json};

/// The file that makes a folder below `fragments/` a fragment with manifests.
const FRAGMENT_FILE: &str = "fragment.yaml";

/// The documents of the folder, before they are read into their types.
pub(super) struct FolderDocuments {
    pub(super) profiles: Vec<Node>,
    /// The files of fragments, with the manifests beside each if it has a folder.
    pub(super) fragments: Vec<(Node, Vec<FragmentManifest>)>,
    pub(super) pages: Vec<Node>,
    /// Parameter sets, with the names of their files without the extension.
    pub(super) sets: Vec<(String, Node)>,
}

impl FolderDocuments {
    /// Returns the digest of all files except parameter sets. A render depends on the values of parameters, and not on
    /// the files that set them.
    pub(super) fn sha256(&self) -> Sha256 {
        let mut hasher = Hasher::default();
        for node in self.profiles.iter().chain(&self.pages) {
            hasher.add(&json::write(node));
        }
        for (fragment, manifests) in &self.fragments {
            hasher.add(&json::write(fragment));
            for manifest in manifests {
                // The file name decides the order of the manifests. Where the folder is does not count.
                let name = manifest.file.rsplit('/').next().unwrap_or_default();
                hasher.add_all(&[name, &json::write(&manifest.root)]);
            }
        }
        hasher.finish()
    }
}

impl FolderDocuments {
    /// Reads all files. Errors in single files are collected; only an unreadable folder is returned as an error.
    pub(super) fn read(
        folder: &Path,
        sources: &mut Sources,
        errors: &mut Diagnostics,
    ) -> Result<Self, Diagnostic> {
        let mut loader = Loader { sources, errors, root: folder };
        let mut sets = Vec::new();
        for path in optional_files(&folder.join("sets"))? {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            sets.extend(loader.document(&path).map(|node| (stem, node)));
        }
        let mut fragments = Vec::new();
        for path in optional_files(&folder.join("fragments"))? {
            fragments.extend(loader.document(&path).map(|node| (node, Vec::new())));
        }
        for fragment in fragment_folders(&folder.join("fragments"))? {
            let manifests = loader.fragment_manifests(&fragment)?;
            fragments.extend(loader.document(&fragment.join(FRAGMENT_FILE)).map(|node| (node, manifests)));
        }
        Ok(Self {
            profiles: loader.documents(&files(folder)?),
            pages: loader.documents(&optional_files(&folder.join("components"))?),
            fragments,
            sets,
        })
    }
}

struct Loader<'l> {
    /// The profiles folder, which no link may leave.
    root: &'l Path,
    sources: &'l mut Sources,
    errors: &'l mut Diagnostics,
}

impl Loader<'_> {
    fn document(&mut self, path: &Path) -> Option<Node> {
        self.errors.ok_or_record(check_inside(path, self.root))?;
        match read_document(path, self.sources) {
            Ok(node) => Some(node),
            Err(errors) => {
                self.errors.append(errors);
                None
            }
        }
    }

    fn documents(&mut self, paths: &[PathBuf]) -> Vec<Node> {
        paths.iter().filter_map(|path| self.document(path)).collect()
    }

    fn fragment_manifests(&mut self, folder: &Path) -> Result<Vec<FragmentManifest>, Diagnostic> {
        let mut manifests = Vec::new();
        for path in files(folder)?.iter().filter(|path| !path.ends_with(FRAGMENT_FILE)) {
            if self.errors.ok_or_record(check_inside(path, self.root)).is_none() {
                continue;
            }
            let file = path.display().to_string();
            let source = self.sources.add(file.clone());
            let documents = self.errors.ok_or_record(file::read_documents(path, source)).unwrap_or_default();
            for (index, document) in documents.into_iter().enumerate() {
                manifests.push(FragmentManifest {
                    file: file.clone(),
                    document: index + 1,
                    root: document.root,
                });
            }
        }
        Ok(manifests)
    }
}

/// Returns the folders of fragments with manifests.
fn fragment_folders(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut folders = Vec::new();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(&error, folder))? {
            let path = entry.map_err(|error| unreadable(&error, folder))?.path();
            if path.join(FRAGMENT_FILE).is_file() {
                folders.push(path);
            }
        }
    }
    folders.sort_unstable();
    Ok(folders)
}

/// Returns the YAML and JSON files of a folder, or none if the folder does not exist.
fn optional_files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    if folder.is_dir() { files(folder) } else { Ok(Vec::new()) }
}

/// Returns the YAML and JSON files of a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(&error, folder))? {
        let path = entry.map_err(|error| unreadable(&error, folder))?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("yaml" | "yml" | "json")) && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Refuses a link that leaves the profiles folder. A file that cannot be opened is reported elsewhere.
fn check_inside(path: &Path, root: &Path) -> Result<(), Diagnostic> {
    match (std::fs::canonicalize(path), std::fs::canonicalize(root)) {
        (Ok(target), Ok(root)) if !target.starts_with(&root) => {
            Err(Diagnostic::error("the link leaves the profiles folder")
                .at(Location::file(path.display().to_string()))
                .note("a project cannot read other files of the host")
                .help("replace the link with a copy of its target"))
        }
        _ => Ok(()),
    }
}

fn unreadable(error: &std::io::Error, folder: &Path) -> Diagnostic {
    Diagnostic::error(format!("cannot open the profiles: {error}"))
        .at(Location::file(folder.display().to_string()))
        .help("set the folder of the profiles with --profiles")
}

/// Reads a file with one document and without duplicate keys.
pub(super) fn read_document(path: &Path, sources: &mut Sources) -> Result<Node, Diagnostics> {
    let source = sources.add(path.display().to_string());
    file::read_without_duplicate_keys(path, source)
}
