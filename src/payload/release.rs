//! What makes a folder a release: its version, and the images behind their tags.

use std::collections::BTreeMap;
use std::path::Path;

use super::find_files::{IMAGE_REFERENCES, Layout, OWN_MANIFESTS, RELEASE_MANIFESTS, RELEASE_METADATA};
use super::{ImageSources, Payload};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::object::Cluster;
use crate::yaml::{Mark, Node, SourceId};

/// The release that a payload is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// The version, from `release-metadata`.
    pub version: Option<String>,
    /// The images, from `image-references`.
    pub images: Images,
}

/// Image tags and what each stands for: a pullspec in a release, a source repository in an operator's own file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Images {
    /// The name of the image stream: in a release, its version.
    pub name: String,
    /// What each tag stands for.
    pub tags: BTreeMap<String, String>,
    /// The file, as messages show it.
    pub file: String,
    marks: BTreeMap<String, Mark>,
}

impl Images {
    /// Where a tag is written.
    pub fn location(&self, tag: &str) -> Location {
        Location::in_file(self.marks.get(tag).copied().unwrap_or_default(), &self.file)
    }
}

impl Payload {
    /// Takes the images of one cluster from a file in the form of `image-references`: the control plane's release and
    /// the guest's may differ.
    pub fn use_images(&mut self, cluster: Cluster, path: &Path) -> Result<(), Diagnostic> {
        let images = images(path)?;
        self.catalogues.insert(cluster, images);
        Ok(())
    }

    /// The version that the cluster reports: the guest's release, where that is another.
    pub fn version(&self) -> Option<&str> {
        let guest = self.catalogues.get(&Cluster::Guest).map(|images| images.name.as_str());
        guest.or(self.release.as_ref().and_then(|release| release.version.as_deref()))
    }

    /// The images of the release that a cluster runs.
    pub fn images(&self, cluster: Cluster) -> Option<&Images> {
        self.catalogues.get(&cluster).or(self.release.as_ref().map(|release| &release.images))
    }
}

/// Loads the two metadata files. A release image must have both; a folder may have either.
pub(super) fn load(root: &Path, layout: &Layout, errors: &mut Diagnostics) -> Option<Release> {
    let release = matches!(layout, Layout::Release);
    if release && !root.join(OWN_MANIFESTS).is_dir() {
        errors.0.push(missing(&root.join(OWN_MANIFESTS), "a release image has its own manifests there"));
    }
    let folder = if release { root.join(RELEASE_MANIFESTS) } else { root.to_owned() };
    let mut present = |name: &str| {
        let path = folder.join(name);
        let exists = path.exists();
        if release && !exists {
            errors.0.push(missing(&path, "the cluster-version-operator does not load a release without it"));
        }
        exists.then_some(path)
    };
    let (metadata, references) = (present(RELEASE_METADATA), present(IMAGE_REFERENCES));
    if metadata.is_none() && references.is_none() {
        return None;
    }
    let version = metadata.and_then(|path| errors.collect(version(&path)));
    let images = references.as_ref().and_then(|path| errors.collect(images(path)));
    if let (Some(version), Some(images), Some(path)) = (&version, &images, &references)
        && *version != images.name
    {
        errors.0.push(
            Diagnostic::error(format!("the images are of `{}`, the release is `{version}`", images.name))
                .at(Location::file(path.display().to_string()))
                .help("take image-references and release-metadata from one release"),
        );
    }
    Some(Release { version, images: images.unwrap_or_default() })
}

/// Loads the `image-references` of components: which repository stands for which tag.
pub(super) fn image_sources(root: &Path, files: &[String], errors: &mut Diagnostics) -> ImageSources {
    let load = |path: &String| {
        let images = errors.collect(images(&root.join(path)))?;
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        Some((folder.to_owned(), images))
    };
    files.iter().filter_map(load).collect()
}

/// The version in a `release-metadata` file.
fn version(path: &Path) -> Result<String, Diagnostic> {
    let root = single_document(path)?;
    let wrong = |message: &str, help: &str| {
        let mark = root.get("version").map_or(root.mark, |version| version.mark);
        Err(Diagnostic::error(message).at(Location::in_file(mark, &path.display().to_string())).help(help))
    };
    if root.get("kind").and_then(Node::as_str) != Some("cincinnati-metadata-v0") {
        return wrong("this is no release metadata", "its `kind` must be `cincinnati-metadata-v0`");
    }
    match root.get("version").and_then(Node::as_str) {
        Some(version) if is_semantic_version(version) => Ok(version.to_owned()),
        Some(version) => {
            wrong(&format!("`{version}` is no semantic version"), "write it as 4.22.0 or 4.22.0-rc.1")
        }
        None => wrong("the release has no `version`", "add one, such as \"version\": \"4.22.0\""),
    }
}

/// The tags of an `image-references` file, which is an image stream.
fn images(path: &Path) -> Result<Images, Diagnostic> {
    let root = single_document(path)?;
    let is = |field: &str, value: &str| root.get(field).and_then(Node::as_str) == Some(value);
    if !is("kind", "ImageStream") || !is("apiVersion", "image.openshift.io/v1") {
        return Err(Diagnostic::error("this is no image stream")
            .at(Location::in_file(root.mark, &path.display().to_string()))
            .help("it must be an ImageStream of image.openshift.io/v1"));
    }
    let tags = root.get("spec").and_then(|spec| spec.get("tags")).and_then(Node::as_list).unwrap_or_default();
    let tag = |node: &Node| {
        let from = node.get("from")?;
        let image = from.get("kind").and_then(Node::as_str) == Some("DockerImage");
        let text = |node: Option<&Node>| Some(node?.as_str()?.to_owned());
        if image { Some((text(node.get("name"))?, text(from.get("name"))?, node.mark)) } else { None }
    };
    let name = root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
    let file = path.display().to_string();
    let mut images = Images { name: name.unwrap_or_default().to_owned(), file, ..Images::default() };
    for (name, image, mark) in tags.iter().filter_map(tag) {
        images.marks.insert(name.clone(), mark);
        images.tags.insert(name, image);
    }
    Ok(images)
}

fn single_document(path: &Path) -> Result<Node, Diagnostic> {
    if !path.is_file() {
        let at = Location::file(path.display().to_string());
        return Err(Diagnostic::error("not a regular file").at(at).help("it must be a file"));
    }
    Ok(file::read_document(path, SourceId::default())?.root)
}

fn missing(path: &Path, note: &str) -> Diagnostic {
    Diagnostic::error("missing from the release")
        .at(Location::file(path.display().to_string()))
        .note(note)
        .help("extract the release again, or name the folder that holds `manifests` and `release-manifests`")
}

/// `MAJOR.MINOR.PATCH`, with `-pre.release` and `+build` behind it.
fn is_semantic_version(text: &str) -> bool {
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
    let number = |part: &str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits && (part.len() == 1 || !part.starts_with('0'))
    };
    let words = |text: &str| {
        text.split('.').all(|word| {
            !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    };
    core.split('.').count() == 3
        && core.split('.').all(number)
        && pre.is_none_or(words)
        && build.is_none_or(words)
}
