//! The metadata of a release: its version, and the images of its tags.

use std::collections::BTreeMap;
use std::path::Path;

use super::ImageSources;
use super::find_files::{IMAGE_REFERENCES, Layout, OWN_MANIFESTS, RELEASE_MANIFESTS, RELEASE_METADATA};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::file;
use crate::yaml::{Mark, Node, SourceId};

/// The annotation with the versions of programs in an image.
const BUILD_VERSIONS: &str = "io.openshift.build.versions";

/// The version and the images of a release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Release {
    /// The version, from `release-metadata`.
    pub(crate) version: Option<String>,
    /// The images, from `image-references`.
    pub(crate) images: Images,
}

/// Versions of programs, by the name of the program, such as `kubernetes`.
pub(crate) type BuildVersions = BTreeMap<String, String>;

/// The tags of an `image-references` file. In a release each tag has a pullspec, in a component's folder a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Images {
    /// The name of the image stream. In a release it is the version.
    pub(crate) name: String,
    /// The pullspec or source of each tag.
    pub(crate) tags: BTreeMap<String, String>,
    /// The versions of programs in the image of each tag.
    pub(crate) builds: BTreeMap<String, BuildVersions>,
    /// The versions of programs that no tag declares.
    pub(crate) default_builds: BuildVersions,
    /// The file, as messages show it.
    pub(crate) file: String,
    marks: BTreeMap<String, Mark>,
}

impl Images {
    /// Returns the position of a tag.
    pub(crate) fn location(&self, tag: &str) -> Location {
        Location::in_file(self.marks.get(tag).copied().unwrap_or_default(), &self.file)
    }
}

/// Loads `release-metadata` and `image-references`. A release image must have both, a folder may have either.
pub(super) fn load(root: &Path, layout: Layout, errors: &mut Diagnostics) -> Option<Release> {
    let is_release = layout == Layout::Release;
    if is_release && !root.join(OWN_MANIFESTS).is_dir() {
        let note = "a release image has the cluster-version-operator's own manifests there";
        errors.0.push(missing(&root.join(OWN_MANIFESTS), note));
    }
    let folder = if is_release { root.join(RELEASE_MANIFESTS) } else { root.to_owned() };
    let (metadata, references) = (folder.join(RELEASE_METADATA), folder.join(IMAGE_REFERENCES));
    if is_release {
        for path in [&metadata, &references].into_iter().filter(|path| !path.exists()) {
            let note = "the cluster-version-operator does not load a release without it";
            errors.0.push(missing(path, note));
        }
    }
    if !metadata.exists() && !references.exists() {
        return None;
    }
    let version = if metadata.exists() { errors.ok_or_record(load_version(&metadata)) } else { None };
    let images = if references.exists() { errors.ok_or_record(load_images(&references)) } else { None };
    if let (Some(version), Some(images)) = (&version, &images)
        && *version != images.name
    {
        errors.0.push(
            Diagnostic::error(format!(
                "image-references is of the release `{}`, but release-metadata is of `{version}`",
                images.name
            ))
            .at(Location::file(references.display().to_string()))
            .help("take image-references and release-metadata from the same release"),
        );
    }
    Some(Release { version, images: images.unwrap_or_default() })
}

/// Loads the `image-references` of components, by folder.
pub(super) fn image_sources(root: &Path, files: &[String], errors: &mut Diagnostics) -> ImageSources {
    let mut image_sources = ImageSources::new();
    for path in files {
        if let Some(images) = errors.ok_or_record(load_images(&root.join(path))) {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            image_sources.insert(folder.to_owned(), images);
        }
    }
    image_sources
}

/// Reads the version in a `release-metadata` file.
fn load_version(path: &Path) -> Result<String, Diagnostic> {
    let root = single_document(path)?;
    let wrong = |message: &str, help: &str| {
        let mark = root.get("version").map_or(root.mark, |version| version.mark);
        Err(Diagnostic::error(message).at(Location::in_file(mark, &path.display().to_string())).help(help))
    };
    if root.get("kind").and_then(Node::as_str) != Some("cincinnati-metadata-v0") {
        return wrong("this is not release metadata", "its `kind` must be `cincinnati-metadata-v0`");
    }
    match root.get("version").and_then(Node::as_str) {
        Some(version) if is_semantic_version(version) => Ok(version.to_owned()),
        Some(version) => {
            wrong(&format!("`{version}` is not a semantic version"), "write it as 4.22.0 or 4.22.0-rc.1")
        }
        None => wrong("the release metadata has no `version`", "add one, such as \"version\": \"4.22.0\""),
    }
}

/// Reads the tags of an `image-references` file, which is an `ImageStream`.
pub(super) fn load_images(path: &Path) -> Result<Images, Diagnostic> {
    let root = single_document(path)?;
    let is = |field: &str, value: &str| root.get(field).and_then(Node::as_str) == Some(value);
    if !is("kind", "ImageStream") || !is("apiVersion", "image.openshift.io/v1") {
        return Err(Diagnostic::error("this is not an ImageStream")
            .at(Location::in_file(root.mark, &path.display().to_string()))
            .help("it must have `kind: ImageStream` and `apiVersion: image.openshift.io/v1`"));
    }
    let name = root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_str);
    let mut images = Images {
        name: name.unwrap_or_default().to_owned(),
        file: path.display().to_string(),
        ..Images::default()
    };
    let tags = root.get("spec").and_then(|spec| spec.get("tags")).and_then(Node::as_list);
    images.default_builds = build_versions(root.get("metadata"), &images.file)?;
    for tag in tags.unwrap_or_default() {
        let Some((name, image)) = image_tag(tag) else { continue };
        images.marks.insert(name.to_owned(), tag.mark);
        if image.is_empty() {
            return Err(Diagnostic::error(format!("the tag `{name}` has no image"))
                .at(images.location(name))
                .help("write the image under `from.name`"));
        }
        images.builds.insert(name.to_owned(), build_versions(Some(tag), &images.file)?);
        images.tags.insert(name.to_owned(), image.to_owned());
    }
    Ok(images)
}

/// Reads the annotation `io.openshift.build.versions`, such as `kubernetes=1.33.2,etcd=3.5.21`.
fn build_versions(annotated: Option<&Node>, file: &str) -> Result<BuildVersions, Diagnostic> {
    let annotations = annotated.and_then(|node| node.get("annotations"));
    let Some(node) = annotations.and_then(|annotations| annotations.get(BUILD_VERSIONS)) else {
        return Ok(BuildVersions::new());
    };
    let mut versions = BuildVersions::new();
    let text = node.as_str().unwrap_or_default().trim();
    for pair in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
        let Some((name, version)) = pair.split_once('=').filter(|pair| is_build_version(*pair)) else {
            return Err(Diagnostic::error(format!("`{pair}` is not a version of a program"))
                .at(Location::in_file(node.mark, file))
                .help("write name=version, such as kubernetes=1.33.2"));
        };
        let version = version.split_once('+').map_or(version, |(version, _)| version);
        versions.insert(name.to_owned(), version.to_owned());
    }
    Ok(versions)
}

/// Returns whether a name has two or more lower-case letters, digits and inner hyphens, and its version is semantic.
fn is_build_version((name, version): (&str, &str)) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() >= 2
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && is_semantic_version(version)
}

/// Returns the name and the image of a tag, if it is a `DockerImage`.
fn image_tag(tag: &Node) -> Option<(&str, &str)> {
    let from = tag.get("from")?;
    if from.get("kind").and_then(Node::as_str) != Some("DockerImage") {
        return None;
    }
    Some((tag.get("name")?.as_str()?, from.get("name")?.as_str()?))
}

fn single_document(path: &Path) -> Result<Node, Diagnostic> {
    if !path.is_file() {
        let at = Location::file(path.display().to_string());
        return Err(Diagnostic::error("this is not a regular file").at(at).help("replace it with a file"));
    }
    Ok(file::read_document(path, SourceId::default())?.root)
}

fn missing(path: &Path, note: &str) -> Diagnostic {
    Diagnostic::error("the release does not have this file or folder")
        .at(Location::file(path.display().to_string()))
        .note(note)
        .help("extract the release again, or set --payload to the folder with `manifests` and `release-manifests`")
}

/// Returns whether a text is `MAJOR.MINOR.PATCH`, with an optional `-pre.release` and `+build`.
fn is_semantic_version(text: &str) -> bool {
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
    core.split('.').count() == 3
        && core.split('.').all(is_version_number)
        && pre.is_none_or(are_identifiers)
        && build.is_none_or(are_identifiers)
}

/// Returns whether a text is a number without leading zeros.
fn is_version_number(text: &str) -> bool {
    let has_only_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    has_only_digits && (text.len() == 1 || !text.starts_with('0'))
}

/// Returns whether a text has identifiers of letters, digits and `-`, separated by dots.
fn are_identifiers(text: &str) -> bool {
    text.split('.').all(|identifier| {
        !identifier.is_empty() && identifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    })
}
