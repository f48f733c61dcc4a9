//! Which files of the folder are what: their place says it.
//!
//! ```text
//!  profiles/*.yaml              profiles, declarations of parameters, what the checks are told
//!           fragments/*.yaml    words        fragments/<shape>/fragment.yaml  a shape, its manifests beside it
//!           components/*.yaml   pages        sets/*.yaml                      parameter sets
//! ```

use std::path::{Path, PathBuf};

use super::fragment::FragmentManifest;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::yaml::{Node, Sources};

/// The file that makes a folder a shape.
const FRAGMENT: &str = "fragment.yaml";

/// The documents of the folder, read but not yet understood.
pub(super) struct Found {
    pub(super) profiles: Vec<Node>,
    /// A fragment's file, and the manifests beside it if it has a folder of its own.
    pub(super) fragments: Vec<(Node, Vec<FragmentManifest>)>,
    pub(super) pages: Vec<Node>,
    /// Parameter sets with the names of their files.
    pub(super) sets: Vec<(String, Node)>,
}

impl Found {
    pub(super) fn below(
        folder: &Path,
        sources: &mut Sources,
        errors: &mut Diagnostics,
    ) -> Result<Self, Diagnostic> {
        let mut loader = Loader { sources, errors };
        let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut sets = Vec::new();
        for path in files_in(&folder.join("sets"))? {
            sets.extend(loader.document(&path).map(|node| (stem(&path), node)));
        }
        let mut fragments = Vec::new();
        for path in files_in(&folder.join("fragments"))? {
            fragments.extend(loader.document(&path).map(|node| (node, Vec::new())));
        }
        for shape in shapes(&folder.join("fragments"))? {
            let manifests = loader.shape_manifests(&shape)?;
            fragments.extend(loader.document(&shape.join(FRAGMENT)).map(|node| (node, manifests)));
        }
        Ok(Self {
            profiles: loader.documents(&files(folder)?),
            pages: loader.documents(&files_in(&folder.join("components"))?),
            fragments,
            sets,
        })
    }
}

struct Loader<'l> {
    sources: &'l mut Sources,
    errors: &'l mut Diagnostics,
}

impl Loader<'_> {
    fn document(&mut self, path: &Path) -> Option<Node> {
        match document(path, self.sources) {
            Ok(node) => Some(node),
            Err(found) => {
                self.errors.0.extend(found.0);
                None
            }
        }
    }

    fn documents(&mut self, paths: &[PathBuf]) -> Vec<Node> {
        paths.iter().filter_map(|path| self.document(path)).collect()
    }

    fn shape_manifests(&mut self, folder: &Path) -> Result<Vec<FragmentManifest>, Diagnostic> {
        let mut manifests = Vec::new();
        for path in files(folder)?.iter().filter(|path| !path.ends_with(FRAGMENT)) {
            let file = path.display().to_string();
            let source = self.sources.add(file.clone());
            let documents = self.errors.collect(file::read_documents(path, source)).unwrap_or_default();
            manifests.extend(documents.into_iter().enumerate().map(|(index, document)| FragmentManifest {
                file: file.clone(),
                document: index + 1,
                root: document.root,
            }));
        }
        Ok(manifests)
    }
}

/// The folders that are shapes.
fn shapes(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut shapes = Vec::new();
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(&error, folder))? {
            let path = entry.map_err(|error| unreadable(&error, folder))?.path();
            if path.join(FRAGMENT).is_file() {
                shapes.push(path);
            }
        }
    }
    shapes.sort_unstable();
    Ok(shapes)
}

/// The files of a folder that need not be there.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    if folder.is_dir() { files(folder) } else { Ok(Vec::new()) }
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Diagnostic> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(&error, folder))? {
        let path = entry.map_err(|error| unreadable(&error, folder))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yaml" | "yml" | "json")) && path.is_file() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn unreadable(error: &std::io::Error, folder: &Path) -> Diagnostic {
    Diagnostic::error(format!("the profiles cannot be opened: {error}"))
        .at(Location::file(folder.display().to_string()))
        .help("name the folder that holds them with --profiles")
}

/// Reads a file with one document, in which no key is written twice.
pub(super) fn document(path: &Path, sources: &mut Sources) -> Result<Node, Diagnostics> {
    let source = sources.add(path.display().to_string());
    file::read_without_repeats(path, source)
}
