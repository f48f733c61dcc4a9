//! Loads a payload: finds its files, and reads and checks their documents as the cluster-version-operator does.

mod cvo_hash;
mod find_files;
mod inputs_digest;
mod page;
mod parse;
mod patch_target;
mod release;
mod run_level;
mod with_fragments;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::{Marked, Page, Parameter};
use crate::object::{Cluster, ObjectId, Schema, Scopes};
use crate::parallel::{self, MIN_FILES_PER_THREAD};
use crate::sha256::{Hasher, Sha256};
use crate::yaml::{Mark, Node, Sources, Text};

pub use cvo_hash::cvo_hash;
pub(crate) use patch_target::{PatchSelector, deletes_object};
pub(crate) use release::{BuildVersions, Images, Release};
pub(crate) use run_level::RunLevel;
pub(crate) use with_fragments::ExpandedManifest;

/// The component of the objects that a profile declares for its signers.
pub(crate) const SIGNERS: &str = "signers";

/// A payload, with its manifests in the order of the cluster-version-operator.
#[derive(Clone, Debug)]
pub struct Payload {
    /// The files with manifests, in order.
    pub(crate) files: Vec<File>,
    /// The documents of all files, in order.
    pub manifests: Vec<Manifest>,
    /// The version and the images, if the payload is a release.
    pub(crate) release: Option<Release>,
    /// The pages, by component.
    pub(crate) pages: BTreeMap<String, Page>,
    root: PathBuf,
    /// The documents of the pages, by component, for the render digest.
    page_documents: BTreeMap<String, Node>,
    patch_files: BTreeMap<String, Vec<page::PatchFile>>,
    by_component: BTreeMap<String, Vec<usize>>,
    /// The images of clusters that run another release.
    images_of_cluster: BTreeMap<Cluster, Images>,
    /// The images of parameters, if there is no release.
    images_without_release: Option<Images>,
    /// The source repository of each image tag, by folder.
    pub(crate) image_sources: ImageSources,
    /// All files that were read.
    pub(crate) sources: Sources,
    /// Warnings about files.
    pub warnings: Vec<Diagnostic>,
}

/// A file of the payload.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// The path below the payload's folder, with `/` as separator on every system.
    pub(crate) path: String,
    /// The component: its folder, or in a flat payload the component in its name. Empty if there is neither.
    pub(crate) component: String,
    /// The file name from which the run level is read: its own, or for a file of a fragment that of the manifest after it.
    pub(crate) ordered_as: String,
    /// The text of the file, for the digest of the payload. Most commands need no digest, so it is not computed here.
    text: Arc<str>,
    /// Whether the cluster-version-operator fills in values before it uses the file.
    pub(crate) is_go_template: bool,
}

/// One document of a payload file.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The object.
    pub root: Node,
    /// Its identity.
    pub id: ObjectId,
    /// The version of its API.
    pub(crate) version: String,
    /// The index of its file in [`Payload::files`].
    pub(crate) file: usize,
    /// The number of the document in the file, from one.
    pub(crate) document: usize,
    /// Its text in JSON, if the file is JSON or if its page adds annotations.
    pub(crate) json: Option<String>,
    /// Where text starts after the document that Kubernetes ignores.
    pub(crate) ignored_text: Option<Mark>,
    /// Annotations of its page, which the filters see and which are not rendered.
    pub(crate) page_annotations: Vec<Text>,
}

/// For each folder with an `image-references` file: the source repositories in its manifests, and their image tags.
pub(crate) type ImageSources = BTreeMap<String, Images>;

impl Payload {
    /// Loads a payload: a folder of manifests, flat or nested, or the two folders of a release image.
    pub fn load(root: &Path) -> Result<Self, Diagnostics> {
        let found = find_files::find_files(root)?;
        let mut payload = Self {
            files: Vec::with_capacity(found.manifests.len()),
            manifests: Vec::new(),
            release: None,
            pages: BTreeMap::new(),
            root: root.to_owned(),
            page_documents: BTreeMap::new(),
            patch_files: BTreeMap::new(),
            by_component: BTreeMap::new(),
            images_of_cluster: BTreeMap::new(),
            images_without_release: None,
            image_sources: ImageSources::new(),
            sources: Sources::default(),
            warnings: Vec::new(),
        };
        let mut errors = Diagnostics(found.errors);
        let patches = payload.load_pages(root, &found.pages, &mut errors);
        // A patch file beside its page is not a manifest.
        let manifests = found.manifests.into_iter().filter(|path| !patches.contains(&root.join(path)));
        let inputs: Vec<_> = manifests
            .map(|path| {
                let name = root.join(&path).display().to_string();
                parse::Input { source: payload.sources.add(name.clone()), name, path }
            })
            .collect();
        let parsed = parallel::map(MIN_FILES_PER_THREAD, &inputs, |input| parse::manifests(root, input));
        for (input, result) in inputs.into_iter().zip(parsed) {
            match result {
                Ok(parsed) => payload.add(input.path, parsed),
                Err(diagnostics) => errors.append(diagnostics),
            }
        }
        payload.index_components();
        payload.release = release::load(root, found.layout, &mut errors);
        payload.image_sources = release::image_sources(root, &found.image_references, &mut errors);
        errors.into_result(payload)
    }

    /// Loads the pages, and returns the files that are their patches.
    fn load_pages(&mut self, root: &Path, paths: &[String], errors: &mut Diagnostics) -> BTreeSet<PathBuf> {
        let mut patches = BTreeSet::new();
        for path in paths {
            match page::load(root, path, &mut self.sources) {
                Ok(loaded) => {
                    let component = find_files::component(path).to_owned();
                    patches.extend(loaded.patch_files.iter().map(|file| file.found.clone()));
                    self.patch_files.insert(component.clone(), loaded.patch_files);
                    self.page_documents.insert(component.clone(), loaded.document);
                    self.pages.insert(component, loaded.page);
                }
                Err(found) => errors.append(found),
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
                page::add_page_annotations(&mut manifest, page);
            }
            manifest
        }));
        let ordered_as = find_files::base_name(&path).to_owned();
        self.files.push(File {
            component,
            path,
            ordered_as,
            text: parsed.text,
            is_go_template: parsed.is_go_template,
        });
    }

    /// Returns whether the payload has a folder or a page of this component.
    pub(crate) fn knows_component(&self, name: &str) -> bool {
        self.by_component.contains_key(name) || self.pages.contains_key(name)
    }

    /// Checks that a component exists.
    pub(crate) fn has_component(&self, name: &str) -> Result<(), Diagnostic> {
        if self.knows_component(name) || name == SIGNERS {
            return Ok(());
        }
        let components: Vec<&str> = self.by_component.keys().map(String::as_str).collect();
        Err(Diagnostic::error(format!("there is no component `{name}`"))
            .help(format!("use one of {}", components.join(", ")))
            .suggest(name, components))
    }

    /// Returns the manifests of a component, with their indexes in [`Payload::manifests`].
    pub(crate) fn of_component<'p>(
        &'p self,
        component: &str,
    ) -> impl Iterator<Item = (usize, &'p Manifest)> + use<'p> {
        let indexes = self.by_component.get(component).map(Vec::as_slice).unwrap_or_default();
        indexes.iter().map(|index| (*index, &self.manifests[*index]))
    }

    /// Records which manifests belong to which component.
    fn index_components(&mut self) {
        self.by_component.clear();
        for (index, manifest) in self.manifests.iter().enumerate() {
            let component = &self.files[manifest.file].component;
            // Looked up before it is inserted, because `entry` would copy the name for each manifest.
            match self.by_component.get_mut(component) {
                Some(indexes) => indexes.push(index),
                None => {
                    self.by_component.insert(component.clone(), vec![index]);
                }
            }
        }
    }

    /// Returns the parameters that pages declare for themselves.
    pub(crate) fn page_parameters(&self) -> BTreeMap<String, Marked<Parameter>> {
        let all = self.pages.values().flat_map(|page| &page.parameters);
        all.map(|(name, parameter)| (name.clone(), parameter.clone())).collect()
    }

    /// Returns the page of a component.
    pub(crate) fn page(&self, component: &str) -> Option<&Page> {
        self.pages.get(component)
    }

    /// Uses the images of an `image-references` file for one cluster, which may run another release.
    pub(crate) fn use_images(&mut self, cluster: Cluster, path: &Path) -> Result<(), Diagnostic> {
        let images = release::load_images(path)?;
        self.images_of_cluster.insert(cluster, images);
        Ok(())
    }

    /// Returns the images of the release that a cluster runs.
    pub(crate) fn images(&self, cluster: Cluster) -> Option<&Images> {
        let of_release = self.release.as_ref().map(|release| &release.images);
        self.images_of_cluster.get(&cluster).or(of_release).or(self.images_without_release.as_ref())
    }

    /// Adds an image that a parameter gives, to the releases of all clusters. It replaces the image with this tag.
    pub(crate) fn supply_image(&mut self, tag: &str, pullspec: &str) {
        let of_release = self.release.as_mut().map(|release| &mut release.images);
        let mut releases: Vec<&mut Images> = self.images_of_cluster.values_mut().chain(of_release).collect();
        if releases.is_empty() {
            releases.push(self.images_without_release.get_or_insert_default());
        }
        for images in releases {
            images.tags.insert(tag.to_owned(), pullspec.to_owned());
        }
    }

    /// Returns the pullspecs of the releases of all clusters.
    pub(crate) fn pullspecs(&self) -> impl Iterator<Item = &str> {
        let releases =
            self.release.iter().map(|release| &release.images).chain(self.images_of_cluster.values());
        releases.flat_map(|images| images.tags.values().map(String::as_str))
    }

    /// Returns the version that the cluster reports, which is the guest's if it runs another release.
    pub fn version(&self) -> Option<&str> {
        match self.images_of_cluster.get(&Cluster::Guest) {
            Some(images) => Some(&images.name),
            None => self.release.as_ref()?.version.as_deref(),
        }
    }

    /// Returns the scopes of the kinds of Kubernetes and of the payload's CRDs.
    pub(crate) fn scopes(&self) -> Scopes {
        Scopes::with_crds(self.manifests.iter().map(|manifest| &manifest.root))
    }

    /// Returns the schema of a custom kind, from its CRD in the payload.
    pub(crate) fn custom_schema(&self, id: &ObjectId, version: &str) -> Option<Schema<'_>> {
        let crd = self.manifests.iter().find(|manifest| defines(manifest, id))?;
        let versions = crd.root.get("spec")?.get("versions")?.as_list()?;
        let is_version = |node: &&Node| node.get("name").and_then(Node::as_str) == Some(version);
        versions.iter().find(is_version)?.get("schema")?.get("openAPIV3Schema").map(Schema::CustomRoot)
    }

    /// Returns the file of a manifest.
    pub(crate) fn file(&self, manifest: &Manifest) -> &File {
        &self.files[manifest.file]
    }

    /// Returns the digest of the payload: of the paths and digests of all files, in order.
    pub(crate) fn sha256(&self) -> Sha256 {
        let mut digest = Hasher::default();
        for file in &self.files {
            let of_file = Sha256::of(file.text.as_bytes());
            digest.update(format!("{of_file}  {}\n", file.path).as_bytes());
        }
        digest.finish()
    }
}

impl File {
    /// Returns the file name without folders.
    pub(crate) fn name(&self) -> &str {
        find_files::base_name(&self.path)
    }
}

/// Returns whether a manifest is the CRD of an object's kind.
fn defines(manifest: &Manifest, id: &ObjectId) -> bool {
    if manifest.id.kind != "CustomResourceDefinition" {
        return false;
    }
    let Some(spec) = manifest.root.get("spec") else { return false };
    let kind = spec.get("names").and_then(|names| names.get("kind"));
    spec.get("group").and_then(Node::as_str) == Some(&id.group)
        && kind.and_then(Node::as_str) == Some(&id.kind)
}

/// Returns the path of a component's page for messages, whether it exists or not.
pub(crate) fn page_file(component: &str) -> String {
    if component.is_empty() { page::PAGE.to_owned() } else { format!("{component}/{}", page::PAGE) }
}
