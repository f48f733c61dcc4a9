//! Which files of a folder are the payload's, and in which order.

use std::fs::FileType;
use std::path::Path;

use walkdir::{DirEntry, WalkDir};

use super::RunLevel;
use super::page::PAGE;
use crate::diagnostic::{Diagnostic, Diagnostics, Location};

/// The cluster-version-operator's own manifests in a release image.
pub(super) const OWN_MANIFESTS: &str = "manifests";
/// Everybody else's.
pub(super) const RELEASE_MANIFESTS: &str = "release-manifests";
pub(super) const IMAGE_REFERENCES: &str = "image-references";
pub(super) const RELEASE_METADATA: &str = "release-metadata";

/// How the folder is laid out.
pub(super) enum Layout {
    /// Manifests in a folder, and in folders below it.
    Folder,
    /// The two folders of a release image.
    Release,
}

pub(super) struct Found {
    pub(super) layout: Layout,
    /// Paths below the root, in order.
    pub(super) manifests: Vec<String>,
    /// Pages of components, below the root.
    pub(super) pages: Vec<String>,
    /// `image-references` files of components, below the root.
    pub(super) image_references: Vec<String>,
    pub(super) errors: Vec<Diagnostic>,
}

/// Finds the payload's files. Problems with single files are collected; only an unusable root is returned as an error.
pub(super) fn files(root: &Path) -> Result<Found, Diagnostics> {
    let canonical = std::fs::canonicalize(root).map_err(|error| {
        Diagnostic::error(format!("the payload cannot be opened: {error}"))
            .at(Location::file(root.display().to_string()))
            .help("name a folder of manifests with --payload")
    })?;
    if !canonical.is_dir() {
        return Err(Diagnostic::error("the payload is not a folder")
            .at(Location::file(root.display().to_string()))
            .help("name the folder that holds the manifests, not one of them")
            .into());
    }
    let release = root.join(RELEASE_MANIFESTS).is_dir();
    let layout = if release { Layout::Release } else { Layout::Folder };
    let mut found = Found {
        layout,
        manifests: Vec::new(),
        pages: Vec::new(),
        image_references: Vec::new(),
        errors: Vec::new(),
    };
    if release {
        for folder in [OWN_MANIFESTS, RELEASE_MANIFESTS] {
            let from = found.manifests.len();
            match inside(&root.join(folder), &canonical) {
                Ok(()) => walk(root, &canonical, folder, 1, &mut found),
                Err(error) => found.errors.push(error),
            }
            found.manifests[from..].sort_unstable();
        }
    } else {
        walk(root, &canonical, "", usize::MAX, &mut found);
        found.manifests.sort_by_cached_key(|path| (base_name(path).to_owned(), path.clone()));
        found.image_references.sort_unstable();
        found.pages.sort_unstable();
    }
    if found.manifests.is_empty() && found.errors.is_empty() {
        return Err(Diagnostic::error("no manifest in this folder")
            .at(Location::file(root.display().to_string()))
            .help("manifests are files that end in .yaml, .yml or .json")
            .into());
    }
    Ok(found)
}

/// A link must not leave the payload. What is not there at all is somebody else's error.
fn inside(path: &Path, root: &Path) -> Result<(), Diagnostic> {
    match std::fs::canonicalize(path) {
        Ok(target) if !target.starts_with(root) => Err(Diagnostic::error("a link that leaves the payload")
            .at(Location::file(path.display().to_string()))
            .note("a payload is self-contained: its digest must name all there is in it")
            .help("copy what it leads to into the payload")),
        _ => Ok(()),
    }
}

fn walk(root: &Path, canonical: &Path, below: &str, depth: usize, found: &mut Found) {
    let start = root.join(below);
    let mut entries = WalkDir::new(&start).min_depth(1).max_depth(depth).into_iter();
    while let Some(next) = entries.next() {
        let entry = match next {
            Ok(entry) => entry,
            Err(error) => {
                found.errors.push(unreadable(root, &error));
                continue;
            }
        };
        // The cluster-version-operator knows no hidden files; in other folders they are an editor's or a mount's.
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if hidden && matches!(found.layout, Layout::Folder) {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
        } else if let Err(error) = sort_in(root, canonical, &entry, found) {
            found.errors.push(error);
        }
    }
}

fn sort_in(root: &Path, canonical: &Path, entry: &DirEntry, found: &mut Found) -> Result<(), Diagnostic> {
    let mut file_type = entry.file_type();
    if file_type.is_symlink() {
        file_type = target_type(entry, canonical)?;
    }
    if file_type.is_dir() {
        return Ok(());
    }
    let shown = || Location::file(entry.path().display().to_string());
    let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
    let Some(path) = relative.to_str().map(|path| path.replace('\\', "/")) else {
        return Err(Diagnostic::error("the file's name is not UTF-8").at(shown()).help("rename the file"));
    };
    let images = path.ends_with("/image-references") && matches!(found.layout, Layout::Folder);
    if !images && !is_manifest(&path) {
        return Ok(());
    }
    if !file_type.is_file() {
        return Err(Diagnostic::error("not a regular file")
            .at(shown())
            .help("remove the pipe, socket or device, or give it another name"));
    }
    let is_page = matches!(found.layout, Layout::Folder) && base_name(&path) == PAGE;
    let list = match (images, is_page) {
        (true, _) => &mut found.image_references,
        (_, true) => &mut found.pages,
        _ => &mut found.manifests,
    };
    list.push(path);
    Ok(())
}

/// What a link leads to. It must stay in the payload, and name a file: a folder's files would be there twice.
fn target_type(entry: &DirEntry, root: &Path) -> Result<FileType, Diagnostic> {
    let wrong =
        |message: String| Diagnostic::error(message).at(Location::file(entry.path().display().to_string()));
    let broken =
        |error: std::io::Error| wrong(format!("a link that leads nowhere: {error}")).help("remove it");
    let target = std::fs::canonicalize(entry.path()).map_err(broken)?;
    inside(entry.path(), root)?;
    let file_type = std::fs::metadata(&target).map_err(broken)?.file_type();
    if file_type.is_dir() {
        return Err(wrong("a link to a folder of the payload".to_owned())
            .note("every manifest in it would be there twice")
            .help("link single files, or remove it"));
    }
    Ok(file_type)
}

fn is_manifest(path: &str) -> bool {
    let extension = base_name(path).rsplit_once('.').map(|(_, extension)| extension);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

pub(super) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The component that owns a file, from its path below the payload.
pub(super) fn component(path: &str) -> &str {
    match path.split_once('/') {
        Some((folder, _)) if folder != OWN_MANIFESTS && folder != RELEASE_MANIFESTS => folder,
        _ => RunLevel::of(base_name(path)).map_or("", |level| level.component),
    }
}

fn unreadable(root: &Path, error: &walkdir::Error) -> Diagnostic {
    let path = error.path().unwrap_or(root).display().to_string();
    let reason = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
    Diagnostic::error(format!("cannot be opened: {reason}"))
        .at(Location::file(path))
        .help("make it readable, or take it out of the payload")
}

/// The path as messages show it: as the user would type it.
pub(super) fn shown(root: &Path, path: &str) -> String {
    root.join(path).display().to_string()
}
