//! The pages of components, and the patch files they name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{File, Manifest, Payload};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::glob;
use crate::language::{Component, Marked, Parameter, PatchEntry, Profiles};
use crate::object::{ObjectId, Schema, Scopes};
use crate::yaml::{self, Entry, Map, Mark, Node, Sources, Value};

/// The page of a component lies in its folder under this name.
pub(super) const PAGE: &str = "component.yaml";

/// A patch file that a page names.
#[derive(Clone, Debug)]
pub(super) struct PatchFile {
    pub(super) path: String,
    /// Where it lies.
    pub(super) found: PathBuf,
    pub(super) documents: Vec<Node>,
}

/// A page with the patch files it names.
pub(super) struct Loaded {
    pub(super) page: Component,
    pub(super) patch_files: Vec<PatchFile>,
}

pub(super) fn load(root: &Path, path: &str, sources: &mut Sources) -> Result<Loaded, Diagnostics> {
    let path_shown = root.join(path);
    let source = sources.add(path_shown.display().to_string());
    let root_node = file::read_without_repeats(&path_shown, source)?;
    let page = Component::read_page(&root_node, sources)?;
    in_its_place(&page, path, root_node.mark, sources)?;
    let folder = root.join(path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let patch_files = patch_files(root, &folder, &page, sources)?;
    Ok(Loaded { page, patch_files })
}

/// A page in the payload is about the folder it lies in.
fn in_its_place(page: &Component, path: &str, mark: Mark, sources: &Sources) -> Result<(), Diagnostics> {
    let wrong = |mark: Mark, message: String| Diagnostic::error(message).at(Location::of(mark, sources));
    let mut errors = Diagnostics::default();
    if let Some(pattern) = page.files.first() {
        let error = wrong(pattern.mark, "a page in the payload is about its folder".to_owned());
        errors.0.push(error.help("remove `files`, or move the page to profiles/components/"));
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    if !folder.is_empty() && page.name() != folder {
        let error = wrong(mark, format!("the page of `{}` lies in the folder `{folder}`", page.name()));
        errors.0.push(error.help(format!("call it `{folder}`, or the folder `{}`", page.name())));
    }
    errors.or(())
}

/// Reads the patch files that a page names.
fn patch_files(
    root: &Path,
    folder: &Path,
    page: &Component,
    sources: &mut Sources,
) -> Result<Vec<PatchFile>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let mut patch_files = Vec::new();
    for name in page.patches.iter().filter_map(|entry| entry.value.path.as_ref()) {
        match find(root, folder, page.name(), &name.value) {
            Some(found) => match documents(&found, sources) {
                Ok(documents) => {
                    patch_files.push(PatchFile { path: name.value.clone(), found, documents });
                }
                Err(error) => errors.0.push(error),
            },
            None => errors.0.push(
                Diagnostic::error(format!("there is no patch file `{}`", name.value))
                    .at(Location::of(name.mark, sources))
                    .help(format!("it must be beside the page, or in patches/{}/", page.name())),
            ),
        }
    }
    errors.or(patch_files)
}

/// A patch file is looked for beside the page, then in `patches/<component>/` beside the payload.
fn find(root: &Path, folder: &Path, component: &str, name: &str) -> Option<PathBuf> {
    let beside = folder.join(name);
    let patches = root.parent().unwrap_or(Path::new("")).join("patches").join(component).join(name);
    [beside, patches].into_iter().find(|path| path.is_file())
}

fn documents(path: &Path, sources: &mut Sources) -> Result<Vec<Node>, Diagnostic> {
    let source = sources.add(path.display().to_string());
    let documents = file::read_documents(path, source)?;
    Ok(documents.into_iter().map(|document| document.root).collect())
}

impl File {
    /// The file's own name, without folders.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl Payload {
    /// Takes over pages that lie beside the profiles, for manifests that cannot hold one: each says which files are its.
    pub fn adopt(&mut self, profiles: &Profiles) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        for page in &profiles.pages {
            match self.adopt_page(page, profiles) {
                Ok(()) => {}
                Err(found) => errors.0.extend(found.0),
            }
        }
        self.index();
        errors.or(())
    }

    fn adopt_page(&mut self, page: &Marked<Component>, profiles: &Profiles) -> Result<(), Diagnostics> {
        let wrong = |mark: Mark, message: String| {
            Diagnostic::error(message).at(Location::of(mark, &profiles.sources))
        };
        let (mark, page) = (page.mark, &page.value);
        let component = page.name().to_owned();
        if page.files.is_empty() {
            return Err(wrong(mark, "nobody says which files this page is about".to_owned())
                .help("name them under `files`, with `*` for any text")
                .into());
        }
        if self.pages.contains_key(&component) {
            return Err(wrong(mark, format!("a second page of the component `{component}`")).into());
        }
        let mut errors = Diagnostics::default();
        for pattern in &page.files {
            let hit = |file: &File| {
                glob::matches(&pattern.value, &file.path) || glob::matches(&pattern.value, file.name())
            };
            if !self.files.iter().any(hit) {
                let message = format!("no file of the payload matches `{}`", pattern.value);
                errors
                    .0
                    .push(wrong(pattern.mark, message).help("check the pattern; `*` stands for any text"));
            }
            for file in self.files.iter_mut().filter(|file| hit(file)) {
                if self.pages.contains_key(&file.component) {
                    let message =
                        format!("`{}` belongs to the component `{}` already", file.path, file.component);
                    errors.0.push(wrong(pattern.mark, message));
                }
                file.component.clone_from(&component);
            }
        }
        let own = |manifest: &&mut Manifest| self.files[manifest.file].component == component;
        self.manifests.iter_mut().filter(own).for_each(|manifest| lend_annotations(manifest, page));
        let folder = PathBuf::from(profiles.sources.name(mark.source));
        let folder = folder.parent().unwrap_or(Path::new(""));
        let files = patch_files(&self.root.clone(), folder, page, &mut self.sources)?;
        self.patch_files.insert(component.clone(), files);
        self.pages.insert(component, page.clone());
        errors.or(())
    }

    /// The parameters that pages declare for themselves.
    pub fn private_parameters(&self) -> BTreeMap<String, Marked<Parameter>> {
        let all = self.pages.values().flat_map(|page| &page.parameters);
        all.map(|(name, parameter)| (name.clone(), parameter.clone())).collect()
    }

    /// The page of a component.
    pub fn page(&self, component: &str) -> Option<&Component> {
        self.pages.get(component)
    }

    /// Where a component's page is or should be, for messages.
    pub fn page_file(&self, component: &str) -> String {
        if component.is_empty() { PAGE.to_owned() } else { format!("{component}/{PAGE}") }
    }

    /// What is known about the scope of kinds, from Kubernetes and from the payload's CRDs.
    pub fn scopes(&self) -> Scopes {
        Scopes::with_crds(self.manifests.iter().map(|manifest| &manifest.root))
    }

    /// The shape of a custom kind, from the CRD in the payload.
    pub fn custom_schema(&self, id: &ObjectId, version: &str) -> Option<Schema<'_>> {
        let crd = self.manifests.iter().find(|manifest| {
            let spec = |field: &[&str]| {
                let node = field.iter().try_fold(manifest.root.get("spec")?, |node, key| node.get(key))?;
                node.as_str()
            };
            manifest.id.kind == "CustomResourceDefinition"
                && spec(&["group"]) == Some(&id.group)
                && spec(&["names", "kind"]) == Some(&id.kind)
        })?;
        let versions = crd.root.get("spec")?.get("versions")?.as_list()?;
        let named = |node: &&Node| node.get("name").and_then(Node::as_str) == Some(version);
        let version = versions.iter().find(named)?;
        version.get("schema")?.get("openAPIV3Schema").map(Schema::CustomRoot)
    }

    /// The patches of an entry: from its file, or written in the page, as a tree or as text.
    pub fn patches(
        &self,
        component: &str,
        page: &Component,
        entry: &Marked<PatchEntry>,
    ) -> Result<Vec<Node>, Diagnostic> {
        let wrong = |message: &str| {
            Diagnostic::error(message)
                .at(Location::of(entry.mark, &self.sources))
                .help("give it `path` or `patch`, and not both")
        };
        match (&entry.value.path, &entry.value.patch) {
            (Some(_), Some(_)) => Err(wrong("a patch with two bodies")),
            (None, None) => Err(wrong("a patch without a body")),
            (Some(path), None) => {
                let files = self.patch_files.get(component).map(Vec::as_slice).unwrap_or_default();
                let file = files.iter().find(|file| file.path == path.value);
                file.map(|file| file.documents.clone())
                    .ok_or_else(|| wrong("a patch file that was not loaded"))
            }
            (None, Some(node)) => match &node.value {
                Value::String(text) => self.inline(text, node, page),
                _ => Ok(vec![node.clone()]),
            },
        }
    }

    /// A patch that is written as text, as kustomize has it. Its lines are those of the page.
    fn inline(&self, text: &str, node: &Node, page: &Component) -> Result<Vec<Node>, Diagnostic> {
        let file = self.sources.name(node.mark.source);
        let shifted = format!("{}{text}", "\n".repeat(node.mark.line as usize));
        let documents = yaml::read(&shifted, node.mark.source).map_err(|error| {
            Diagnostic::syntax(error, file).note(format!("in a patch of the component `{}`", page.name()))
        })?;
        Ok(documents.into_iter().map(|document| document.root).collect())
    }
}

/// Gives a manifest the annotations of its page that it lacks, and notes which, so that it can give them back: they
/// decide whether it is selected, and are no part of the object.
pub(super) fn lend_annotations(manifest: &mut Manifest, page: &Component) {
    if page.annotations.is_empty() {
        return;
    }
    // The payload's hash is of what the file says.
    manifest.json.get_or_insert_with(|| yaml::json::write(&manifest.root));
    let mark = manifest.root.mark;
    let Some(Value::Map(metadata)) = manifest.root.get_mut("metadata").map(|node| &mut node.value) else {
        return;
    };
    if metadata.get("annotations").is_none_or(|node| node.value == Value::Null) {
        let empty = Node { value: Value::Map(Map::default()), mark };
        metadata.insert(Entry { key: "annotations".into(), mark, value: empty });
    }
    let Some(Value::Map(annotations)) = metadata.get_mut("annotations").map(|node| &mut node.value) else {
        return;
    };
    for (key, text) in &page.annotations {
        if annotations.get(key).is_none() {
            let value = Node { value: Value::String(text.value.as_str().into()), mark: text.mark };
            annotations.insert(Entry { key: key.as_str().into(), mark: text.mark, value });
            manifest.lent.push(key.as_str().into());
        }
    }
}

impl Manifest {
    /// The object as its file has it, without what its page lent it.
    pub fn object(&self) -> Node {
        let mut root = self.root.clone();
        if self.lent.is_empty() {
            return root;
        }
        let metadata = root.get_mut("metadata").map(|node| &mut node.value);
        let Some(Value::Map(metadata)) = metadata else { return root };
        if let Some(Value::Map(annotations)) = metadata.get_mut("annotations").map(|node| &mut node.value) {
            for key in &self.lent {
                annotations.remove(key);
            }
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
        root
    }
}
