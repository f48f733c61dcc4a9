//! Finds the files of a payload, and orders them.

use std::fs::FileType;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::RunLevel;
use super::page::PAGE;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};

/// The cluster-version-operator's own manifests in a release image.
pub(super) const OWN_MANIFESTS: &str = "manifests";
/// The manifests of all other components in a release image.
pub(super) const RELEASE_MANIFESTS: &str = "release-manifests";
pub(super) const IMAGE_REFERENCES: &str = "image-references";
pub(super) const RELEASE_METADATA: &str = "release-metadata";

/// The layout of a payload folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Manifests in a folder, and in folders below it.
    Folder,
    /// The two folders of a release image.
    Release,
}

/// The files of a payload. All paths are below the root.
pub(super) struct PayloadFiles {
    pub(super) layout: Layout,
    /// Files with manifests, in order.
    pub(super) manifests: Vec<String>,
    /// Pages of components.
    pub(super) pages: Vec<String>,
    /// `image-references` files of components.
    pub(super) image_references: Vec<String>,
    pub(super) errors: Vec<Diagnostic>,
}

/// Finds the files of a payload. Errors in single files are collected; only an unusable root is returned as an error.
pub(super) fn find_files(root: &Path) -> Result<PayloadFiles, Diagnostics> {
    let canonical = std::fs::canonicalize(root).map_err(|error| {
        Diagnostic::error(format!("cannot open the payload: {error}"))
            .at(Location::file(root.display().to_string()))
            .help("set the folder of the manifests with --payload")
    })?;
    if !canonical.is_dir() {
        return Err(Diagnostic::error("the payload is not a folder")
            .at(Location::file(root.display().to_string()))
            .help("set --payload to the folder of the manifests, not to one of them")
            .into());
    }
    let is_release = root.join(RELEASE_MANIFESTS).is_dir();
    let layout = if is_release { Layout::Release } else { Layout::Folder };
    let found = PayloadFiles {
        layout,
        manifests: Vec::new(),
        pages: Vec::new(),
        image_references: Vec::new(),
        errors: Vec::new(),
    };
    let mut finder = Finder { root, canonical, found };
    match layout {
        Layout::Release => finder.find_in_release(),
        Layout::Folder => finder.find_in_folder(),
    }
    let found = finder.found;
    if found.manifests.is_empty() && found.errors.is_empty() {
        return Err(Diagnostic::error("the folder has no manifests")
            .at(Location::file(root.display().to_string()))
            .help("manifests are files with the extension .yaml, .yml or .json")
            .into());
    }
    Ok(found)
}

/// Finds files below the root of a payload.
struct Finder<'r> {
    root: &'r Path,
    /// The root without links, which no link may leave.
    canonical: PathBuf,
    found: PayloadFiles,
}

impl Finder<'_> {
    /// Finds the files of the two folders of a release image, without the folders below them.
    fn find_in_release(&mut self) {
        for folder in [OWN_MANIFESTS, RELEASE_MANIFESTS] {
            let first = self.found.manifests.len();
            let folder = self.root.join(folder);
            match self.check_inside(&folder) {
                Ok(()) => self.walk(WalkDir::new(folder).min_depth(1).max_depth(1)),
                Err(error) => self.found.errors.push(error),
            }
            self.found.manifests[first..].sort_unstable();
        }
    }

    /// Finds the files of a folder and of all folders below it.
    fn find_in_folder(&mut self) {
        self.walk(WalkDir::new(self.root).min_depth(1));
        self.found.manifests.sort_by_cached_key(|path| (base_name(path).to_owned(), path.clone()));
        self.found.image_references.sort_unstable();
        self.found.pages.sort_unstable();
    }

    fn walk(&mut self, walk: WalkDir) {
        let mut entries = walk.into_iter();
        while let Some(next) = entries.next() {
            let entry = match next {
                Ok(entry) => entry,
                Err(error) => {
                    self.found.errors.push(unreadable(self.root, &error));
                    continue;
                }
            };
            // The cluster-version-operator reads hidden files. In other folders, editors and mounts create them.
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if is_hidden && self.found.layout == Layout::Folder {
                if entry.file_type().is_dir() {
                    entries.skip_current_dir();
                }
            } else if let Err(error) = self.add_entry(&entry) {
                self.found.errors.push(error);
            }
        }
    }

    /// Adds a file to the list to which it belongs.
    fn add_entry(&mut self, entry: &DirEntry) -> Result<(), Diagnostic> {
        let file_type = match entry.file_type() {
            file_type if file_type.is_symlink() => self.target_type(entry)?,
            file_type => file_type,
        };
        if file_type.is_dir() {
            return Ok(());
        }
        let relative = entry.path().strip_prefix(self.root).unwrap_or(entry.path());
        let Some(path) = relative.to_str().map(|path| path.replace('\\', "/")) else {
            return Err(error_at(entry, "the file name is not UTF-8").help("rename the file"));
        };
        let is_folder = self.found.layout == Layout::Folder;
        if is_folder {
            check_name(entry, base_name(&path))?;
        }
        let list = if is_folder && path.ends_with("/image-references") {
            &mut self.found.image_references
        } else if is_folder && base_name(&path) == PAGE {
            &mut self.found.pages
        } else if is_manifest(&path) {
            &mut self.found.manifests
        } else {
            return Ok(());
        };
        if !file_type.is_file() {
            return Err(error_at(entry, "this is not a regular file")
                .help("remove the pipe, socket or device, or rename it"));
        }
        list.push(path);
        Ok(())
    }

    /// Returns the type of a link's target, which must be a file in the payload.
    fn target_type(&self, entry: &DirEntry) -> Result<FileType, Diagnostic> {
        let no_target = |error: std::io::Error| {
            error_at(entry, &format!("the link has no target: {error}")).help("remove it")
        };
        let target = std::fs::canonicalize(entry.path()).map_err(no_target)?;
        self.check_inside(entry.path())?;
        let file_type = std::fs::metadata(&target).map_err(no_target)?.file_type();
        if file_type.is_dir() {
            return Err(error_at(entry, "the link leads to a folder of the payload")
                .note("every manifest in the folder would exist twice")
                .help("remove the link, or link single files"));
        }
        Ok(file_type)
    }

    /// Refuses a link that leaves the payload. A missing file is reported elsewhere.
    fn check_inside(&self, path: &Path) -> Result<(), Diagnostic> {
        match std::fs::canonicalize(path) {
            Ok(target) if !target.starts_with(&self.canonical) => {
                Err(Diagnostic::error("the link leaves the payload")
                    .at(Location::file(path.display().to_string()))
                    .note("the digest of a payload must cover all of its content")
                    .help("replace the link with a copy of its target"))
            }
            _ => Ok(()),
        }
    }
}

/// Refuses misleading file names: a misspelled `component.yaml`, a file for kustomize, or a misspelled extension.
fn check_name(entry: &DirEntry, name: &str) -> Result<(), Diagnostic> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if name != PAGE && stem.eq_ignore_ascii_case("component") && is_near_yaml(extension) {
        return Err(error_at(entry, "the page of a component must be called component.yaml")
            .note("under this name, it would be read as a manifest")
            .help("rename it"));
    }
    if matches!(name, "kustomization.yaml" | "kustomization.yml" | "Kustomization") {
        return Err(error_at(entry, "a payload cannot contain a file for kustomize")
            .help("move it out of the payload; `patches` in a page can use its patch files"));
    }
    if !is_manifest(name) && is_near_yaml(extension) {
        return Err(error_at(entry, &format!("`.{extension}` is not the extension of a manifest"))
            .note("the file would be ignored")
            .help("rename it to .yaml, or remove it from the payload"));
    }
    Ok(())
}

/// Returns whether an extension is `yaml` or `yml`, or a misspelling of one of them.
fn is_near_yaml(extension: &str) -> bool {
    let extension = extension.to_lowercase();
    let is_near = |known| strsim::damerau_levenshtein(&extension, known) <= 1;
    extension.len() <= 5 && extension.starts_with('y') && (is_near("yaml") || is_near("yml"))
}

fn error_at(entry: &DirEntry, message: &str) -> Diagnostic {
    Diagnostic::error(message).at(Location::file(entry.path().display().to_string()))
}

fn is_manifest(path: &str) -> bool {
    let extension = base_name(path).rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the component of a file: its folder, or in a flat payload the component in its name.
pub(super) fn component(path: &str) -> &str {
    match path.split_once('/') {
        Some((folder, _)) if folder != OWN_MANIFESTS && folder != RELEASE_MANIFESTS => folder,
        _ => RunLevel::of(base_name(path)).map_or("", |level| level.component),
    }
}

fn unreadable(root: &Path, error: &walkdir::Error) -> Diagnostic {
    let path = error.path().unwrap_or(root).display().to_string();
    let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
    Diagnostic::error(format!("cannot open the file: {reason}"))
        .at(Location::file(path))
        .help("make it readable, or remove it from the payload")
}
