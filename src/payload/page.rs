//! Loads the pages of components and the patch files that they name.

use std::path::{Path, PathBuf};

use super::{Manifest, Payload};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::glob;
use crate::language::{Marked, Page, PatchEntry, Profiles};
use crate::yaml::{self, Entry, Map, Mark, Node, Sources, Value};

/// The file name of a page in the folder of its component.
pub(super) const PAGE: &str = "component.yaml";

/// A patch file of a page.
#[derive(Clone, Debug)]
pub(super) struct PatchFile {
    /// The path in the page.
    pub(super) path: String,
    /// The path of the file that was found.
    pub(super) found: PathBuf,
    pub(super) documents: Vec<Node>,
}

/// A page with its patch files.
pub(super) struct LoadedPage {
    pub(super) page: Page,
    pub(super) patch_files: Vec<PatchFile>,
    /// The page as it was read.
    pub(super) document: Node,
}

/// Loads a page and its patch files. The path is below the payload's folder.
pub(super) fn load(root: &Path, path: &str, sources: &mut Sources) -> Result<LoadedPage, Diagnostics> {
    let file = root.join(path);
    let source = sources.add(file.display().to_string());
    let node = file::read_without_duplicate_keys(&file, source)?;
    let page = Page::read_page(&node, sources)?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    check_folder(&page, folder, node.mark, sources)?;
    let patch_files = load_patch_files(root, &root.join(folder), &page, sources)?;
    Ok(LoadedPage { page, patch_files, document: node })
}

/// Checks that a page in the payload is for the folder in which it is.
fn check_folder(page: &Page, folder: &str, mark: Mark, sources: &Sources) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    if let Some(pattern) = page.files.first() {
        errors.0.push(
            Diagnostic::error("a page in the payload cannot have `files`")
                .at(Location::of(pattern.mark, sources))
                .note("it is for the files of its folder")
                .help("remove `files`, or move the page to profiles/components/"),
        );
    }
    if !folder.is_empty() && page.name() != folder {
        errors.0.push(
            Diagnostic::error(format!("the page of `{}` is in the folder `{folder}`", page.name()))
                .at(Location::of(mark, sources))
                .help(format!("rename it to `{folder}`, or the folder to `{}`", page.name())),
        );
    }
    errors.into_result(())
}

/// Reads the patch files of a page.
fn load_patch_files(
    root: &Path,
    folder: &Path,
    page: &Page,
    sources: &mut Sources,
) -> Result<Vec<PatchFile>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut patch_files = Vec::new();
    for name in page.patches.iter().filter_map(|entry| entry.value.path.as_ref()) {
        let location = Location::of(name.mark, sources);
        let help = format!(
            "create it beside the page, in patches/{}/, or for several pages in patches/",
            page.name()
        );
        let found = match find_patch_file(root, folder, page.name(), &name.value) {
            Ok(Some(found)) => found,
            Ok(None) => {
                let message = format!("there is no patch file `{}`", name.value);
                errors.0.push(Diagnostic::error(message).at(location).help(help));
                continue;
            }
            Err(reason) => {
                let error = Diagnostic::error(format!("{reason}: `{}`", name.value)).at(location);
                errors.0.push(error.note("a page cannot read other files of the host").help(help));
                continue;
            }
        };
        if let Some(documents) = errors.ok_or_record(read_documents(&found, sources)) {
            patch_files.push(PatchFile { path: name.value.clone(), found, documents });
        }
    }
    errors.into_result(patch_files)
}

/// Finds a patch file beside the page, or else in `patches/<component>/` or `patches/` beside the payload.
fn find_patch_file(
    root: &Path,
    folder: &Path,
    component: &str,
    name: &str,
) -> Result<Option<PathBuf>, &'static str> {
    let patches = root.parent().unwrap_or(Path::new("")).join("patches");
    for folder in [folder, &patches.join(component), &patches] {
        if let Some(found) = file::find_below(folder, name)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn read_documents(path: &Path, sources: &mut Sources) -> Result<Vec<Node>, Diagnostic> {
    let source = sources.add(path.display().to_string());
    let documents = file::read_documents(path, source)?;
    Ok(documents.into_iter().map(|document| document.root).collect())
}

impl Payload {
    /// Adds the pages in `profiles/components/`. Each names its files with `files`.
    pub(crate) fn add_pages(&mut self, profiles: &Profiles) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        for page in &profiles.pages {
            if let Err(found) = self.add_page(page, profiles) {
                errors.append(found);
            }
        }
        self.index_components();
        errors.into_result(())
    }

    fn add_page(&mut self, page: &Marked<Page>, profiles: &Profiles) -> Result<(), Diagnostics> {
        let location = Location::of(page.mark, &profiles.sources);
        let component = page.value.name().to_owned();
        if page.value.files.is_empty() {
            return Err(Diagnostic::error("the page does not say which files belong to it")
                .at(location)
                .help("name them under `files`, with `*` for any text")
                .into());
        }
        if self.pages.contains_key(&component) {
            let message = format!("the component `{component}` has two pages");
            return Err(Diagnostic::error(message).at(location).into());
        }
        let assigned = self.assign_files(&page.value, &profiles.sources);
        for manifest in &mut self.manifests {
            if self.files[manifest.file].component == component {
                add_page_annotations(manifest, &page.value);
            }
        }
        let file = PathBuf::from(profiles.sources.name(page.mark.source));
        let folder = file.parent().unwrap_or(Path::new(""));
        let patch_files = load_patch_files(&self.root, folder, &page.value, &mut self.sources)?;
        self.patch_files.insert(component.clone(), patch_files);
        self.pages.insert(component, page.value.clone());
        assigned
    }

    /// Assigns the files that match `files` of a page to its component.
    fn assign_files(&mut self, page: &Page, sources: &Sources) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        for pattern in &page.files {
            let location = Location::of(pattern.mark, sources);
            let mut is_matched = false;
            for file in &mut self.files {
                if !glob::matches(&pattern.value, &file.path) && !glob::matches(&pattern.value, file.name()) {
                    continue;
                }
                is_matched = true;
                if self.pages.contains_key(&file.component) {
                    let message =
                        format!("`{}` already belongs to the component `{}`", file.path, file.component);
                    errors.0.push(Diagnostic::error(message).at(location.clone()));
                }
                page.name().clone_into(&mut file.component);
            }
            if !is_matched {
                errors.0.push(
                    Diagnostic::error(format!("no file of the payload matches `{}`", pattern.value))
                        .at(location)
                        .help("check the pattern; `*` matches any text"),
                );
            }
        }
        errors.into_result(())
    }

    /// Returns the patches of an entry: those in its file, or the one in the page, which may be a tree or text.
    pub(crate) fn patches(
        &self,
        component: &str,
        page: &Page,
        entry: &Marked<PatchEntry>,
    ) -> Result<Vec<Node>, Diagnostic> {
        let wrong = |message: &str| {
            Diagnostic::error(message).at(Location::of(entry.mark, &self.sources)).help("give it one of them")
        };
        match (&entry.value.path, &entry.value.patch) {
            (Some(_), Some(_)) => Err(wrong("the patch has both `path` and `patch`")),
            (None, None) => Err(wrong("the patch has neither `path` nor `patch`")),
            (Some(path), None) => {
                let files = self.patch_files.get(component).map(Vec::as_slice).unwrap_or_default();
                let file = files.iter().find(|file| file.path == path.value);
                file.map(|file| file.documents.clone()).ok_or_else(|| wrong("the patch file was not loaded"))
            }
            (None, Some(node)) => match &node.value {
                Value::String(text) => self.parse_patch(text, node, page),
                _ => Ok(vec![node.clone()]),
            },
        }
    }

    /// Parses a patch that is text, as in kustomize. Positions are those in the page.
    fn parse_patch(&self, text: &str, node: &Node, page: &Page) -> Result<Vec<Node>, Diagnostic> {
        let name = self.sources.name(node.mark.source);
        let shifted = format!("{}{text}", "\n".repeat(node.mark.line as usize));
        let documents = file::parse_documents(&shifted, node.mark.source, name)
            .map_err(|error| error.note(format!("in a patch of the component `{}`", page.name())))?;
        Ok(documents.into_iter().map(|document| document.root).collect())
    }
}

/// Adds the annotations of its page that a manifest lacks, and records them in `page_annotations`: the filters see them, but they are
/// not rendered.
pub(super) fn add_page_annotations(manifest: &mut Manifest, page: &Page) {
    if page.annotations.is_empty() {
        return;
    }
    // The payload's hash covers the file without them.
    manifest.json.get_or_insert_with(|| yaml::json::write(&manifest.root));
    let mark = manifest.root.mark;
    let Some(Value::Map(metadata)) = manifest.root.get_mut("metadata").map(|node| &mut node.value) else {
        return;
    };
    if metadata.get("annotations").is_none_or(|node| node.value == Value::Null) {
        let empty = Node::new(Value::Map(Map::default()), mark);
        metadata.insert(Entry { key: "annotations".into(), mark, value: empty });
    }
    let Some(Value::Map(annotations)) = metadata.get_mut("annotations").map(|node| &mut node.value) else {
        return;
    };
    for (key, text) in &page.annotations {
        if annotations.get(key).is_none() {
            let value = Node::new(Value::String(text.value.as_str().into()), text.mark);
            annotations.insert(Entry { key: key.as_str().into(), mark: text.mark, value });
            manifest.page_annotations.push(key.as_str().into());
        }
    }
}

impl Manifest {
    /// Returns the object as it is in its file, without the annotations of its page.
    pub(crate) fn object(&self) -> Node {
        let mut root = self.root.clone();
        if self.page_annotations.is_empty() {
            return root;
        }
        let metadata = root.get_mut("metadata").map(|node| &mut node.value);
        let Some(Value::Map(metadata)) = metadata else { return root };
        if let Some(Value::Map(annotations)) = metadata.get_mut("annotations").map(|node| &mut node.value) {
            for key in &self.page_annotations {
                annotations.remove(key);
            }
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        root
    }
}
