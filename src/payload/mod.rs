//! What is in the payload: files found, read, cut into documents and checked as the cluster-version-operator does.

mod digest;
mod find_files;
mod page;
mod parse;
mod release;
mod run_level;
mod with_fragments;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::Component;
use crate::nearest::nearest;
use crate::object::{Cluster, ObjectId};
use crate::parallel::{self, MIN_FILES_PER_THREAD};
use crate::yaml::{Node, Sources, Text};

pub use digest::{Sha256, cvo_hash};
pub use release::{Images, Release};
pub use run_level::RunLevel;
pub use with_fragments::ExpandedManifest;

/// A payload: its manifests in the order in which the cluster-version-operator takes them.
#[derive(Clone, Debug)]
pub struct Payload {
    /// Every file that counts, in order.
    pub files: Vec<File>,
    /// Every document of every file, in order.
    pub manifests: Vec<Manifest>,
    /// The version and the images, where the payload is a release.
    pub release: Option<Release>,
    /// The pages, by component.
    pub pages: BTreeMap<String, Component>,
    root: PathBuf,
    patch_files: BTreeMap<String, Vec<page::PatchFile>>,
    by_component: BTreeMap<String, Vec<usize>>,
    catalogues: BTreeMap<Cluster, Images>,
    /// Which source repository stands for which image tag, by folder.
    pub image_sources: ImageSources,
    /// The names of the files that nodes come from.
    pub sources: Sources,
    /// What is not wrong but worth a look.
    pub warnings: Vec<Diagnostic>,
}

/// A file of the payload.
#[derive(Clone, Debug)]
pub struct File {
    /// The path below the payload's folder, with `/` on every system.
    pub path: String,
    /// The component that owns it: its folder, or in a flat payload what its name says. Empty if neither does.
    pub component: String,
    /// The name that its run-level is read from: its own, or that of the file it comes before.
    pub ordered_as: String,
    /// The digest of its bytes.
    pub sha256: Sha256,
}

/// One document of one file: an object as it was written.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The object.
    pub root: Node,
    /// Its identity.
    pub id: ObjectId,
    /// The version of its API.
    pub version: String,
    /// Its file: an index into [`Payload::files`].
    pub file: usize,
    /// Its place among the file's documents, from one.
    pub document: usize,
    /// Its text in JSON, if it was written so or its page lent it something.
    pub json: Option<String>,
    /// Annotations that its page lent it for being selected.
    pub lent: Vec<Text>,
}

/// For each folder with an `image-references` file of its own: the repositories that manifests name, and the tags of
/// the release that stand for them.
pub type ImageSources = BTreeMap<String, Images>;

impl Payload {
    /// Loads a payload: a folder of manifests, flat or nested, or the two folders of a release image.
    pub fn load(root: &Path) -> Result<Self, Diagnostics> {
        let found = find_files::files(root)?;
        let mut payload = Self {
            files: Vec::with_capacity(found.manifests.len()),
            manifests: Vec::new(),
            release: None,
            pages: BTreeMap::new(),
            root: root.to_owned(),
            patch_files: BTreeMap::new(),
            by_component: BTreeMap::new(),
            catalogues: BTreeMap::new(),
            image_sources: ImageSources::new(),
            sources: Sources::default(),
            warnings: Vec::new(),
        };
        let mut errors = Diagnostics(found.errors);
        let patches = payload.load_pages(root, &found.pages, &mut errors);
        // A patch that lies beside its page is no manifest, whatever its ending.
        let manifests = found.manifests.into_iter().filter(|path| !patches.contains(&root.join(path)));
        let inputs: Vec<_> = manifests
            .map(|path| {
                let name = find_files::shown(root, &path);
                parse::Input { source: payload.sources.add(name.clone()), name, path }
            })
            .collect();
        let parsed = parallel::map(MIN_FILES_PER_THREAD, &inputs, |input| parse::manifests(root, input));
        for (input, result) in inputs.into_iter().zip(parsed) {
            match result {
                Ok(parsed) => payload.add(input.path, parsed),
                Err(diagnostics) => errors.0.extend(diagnostics.0),
            }
        }
        payload.index();
        payload.release = release::load(root, &found.layout, &mut errors);
        payload.image_sources = release::image_sources(root, &found.image_references, &mut errors);
        errors.or(payload)
    }

    /// Loads the pages, and says which files are patches that they name.
    fn load_pages(&mut self, root: &Path, paths: &[String], errors: &mut Diagnostics) -> BTreeSet<PathBuf> {
        let mut patches = BTreeSet::new();
        for path in paths {
            match page::load(root, path, &mut self.sources) {
                Ok(loaded) => {
                    let component = find_files::component(path).to_owned();
                    patches.extend(loaded.patch_files.iter().map(|file| file.found.clone()));
                    self.patch_files.insert(component.clone(), loaded.patch_files);
                    self.pages.insert(component, loaded.page);
                }
                Err(found) => errors.0.extend(found.0),
            }
        }
        patches
    }

    fn add(&mut self, path: String, parsed: parse::Parsed) {
        let file = self.files.len();
        let component = find_files::component(&path).to_owned();
        let page = self.pages.get(&component);
        self.warnings.extend(parsed.warnings);
        self.manifests.extend(parsed.manifests.into_iter().map(|mut manifest| {
            manifest.file = file;
            if let Some(page) = page {
                page::lend_annotations(&mut manifest, page);
            }
            manifest
        }));
        let ordered_as = find_files::base_name(&path).to_owned();
        self.files.push(File { component, path, ordered_as, sha256: parsed.sha256 });
    }

    /// Checks that there is a component of this name.
    pub fn has_component(&self, name: &str) -> Result<(), Diagnostic> {
        let components: BTreeSet<&str> = self.by_component.keys().map(String::as_str).collect();
        if components.contains(name) || self.pages.contains_key(name) {
            return Ok(());
        }
        Err(Diagnostic::error(format!("there is no component `{name}`")).help(
            match nearest(name, components.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", components.into_iter().collect::<Vec<_>>().join(", ")),
            },
        ))
    }

    /// The file of a manifest.
    pub fn file(&self, manifest: &Manifest) -> &File {
        &self.files[manifest.file]
    }

    /// The digest of the whole: of every file's path and digest, in order.
    pub fn sha256(&self) -> Sha256 {
        let mut digest = digest::Hasher::default();
        for file in &self.files {
            digest.update(format!("{}  {}\n", file.sha256, file.path).as_bytes());
        }
        digest.finish()
    }
}
