//! Finds the files of a payload, and orders them.

use std::fs::FileType;
use std::path::Path;

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
    let release = root.join(RELEASE_MANIFESTS).is_dir();
    let layout = if release { Layout::Release } else { Layout::Folder };
    let mut found = PayloadFiles {
        layout,
        manifests: Vec::new(),
        pages: Vec::new(),
        image_references: Vec::new(),
        errors: Vec::new(),
    };
    if release {
        for folder in [OWN_MANIFESTS, RELEASE_MANIFESTS] {
            let from = found.manifests.len();
            match check_inside(&root.join(folder), &canonical) {
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
        return Err(Diagnostic::error("the folder has no manifests")
            .at(Location::file(root.display().to_string()))
            .help("manifests are files with the extension .yaml, .yml or .json")
            .into());
    }
    Ok(found)
}

/// Rejects a link that leaves the payload. A missing file is reported elsewhere.
fn check_inside(path: &Path, root: &Path) -> Result<(), Diagnostic> {
    match std::fs::canonicalize(path) {
        Ok(target) if !target.starts_with(root) => Err(Diagnostic::error("the link leaves the payload")
            .at(Location::file(path.display().to_string()))
            .note("the digest of a payload must cover all of its content")
            .help("replace the link with a copy of its target")),
        _ => Ok(()),
    }
}

fn walk(root: &Path, canonical: &Path, below: &str, depth: usize, found: &mut PayloadFiles) {
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
        // The cluster-version-operator reads hidden files. In other folders, editors and mounts create them.
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if hidden && matches!(found.layout, Layout::Folder) {
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
        } else if let Err(error) = add_entry(root, canonical, &entry, found) {
            found.errors.push(error);
        }
    }
}

/// Adds a file to the list to which it belongs.
fn add_entry(
    root: &Path,
    canonical: &Path,
    entry: &DirEntry,
    found: &mut PayloadFiles,
) -> Result<(), Diagnostic> {
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
        return Err(Diagnostic::error("the file name is not UTF-8").at(shown()).help("rename the file"));
    };
    let is_image_references = path.ends_with("/image-references") && matches!(found.layout, Layout::Folder);
    if !is_image_references && !is_manifest(&path) {
        return Ok(());
    }
    if !file_type.is_file() {
        return Err(Diagnostic::error("this is not a regular file")
            .at(shown())
            .help("remove the pipe, socket or device, or rename it"));
    }
    let is_page = matches!(found.layout, Layout::Folder) && base_name(&path) == PAGE;
    if is_image_references {
        found.image_references.push(path);
    } else if is_page {
        found.pages.push(path);
    } else {
        found.manifests.push(path);
    }
    Ok(())
}

/// Returns the type of a link's target, which must be a file in the payload.
fn target_type(entry: &DirEntry, root: &Path) -> Result<FileType, Diagnostic> {
    let wrong =
        |message: String| Diagnostic::error(message).at(Location::file(entry.path().display().to_string()));
    let broken = |error: std::io::Error| wrong(format!("the link has no target: {error}")).help("remove it");
    let target = std::fs::canonicalize(entry.path()).map_err(broken)?;
    check_inside(entry.path(), root)?;
    let file_type = std::fs::metadata(&target).map_err(broken)?.file_type();
    if file_type.is_dir() {
        return Err(wrong("the link leads to a folder of the payload".to_owned())
            .note("every manifest in the folder would exist twice")
            .help("remove the link, or link single files"));
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
