//! Inserts the images and the versions of the release, as `oc adm release new` does, but in parsed values instead of text.
//!
//! An `image-references` file maps the sources of images to tags of the release, for the manifests of its folder and of the
//! folders below it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::image_mapper::ImageMapper;
use super::version_mapper::{BuildVersion, NoVersion, VersionMapper};
use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::{ImageReleases, Marked};
use crate::object::Cluster;
use crate::payload::{BuildVersions, Images, Payload};
use crate::yaml::{Mark, Node, Sources, Value};

/// The replacements for the manifests of a payload.
#[derive(Debug)]
pub(super) struct ImageReplacements {
    by_folder: BTreeMap<String, Replacements>,
    /// The replacements for folders without `image-references`.
    outside: Replacements,
}

/// The replacements for the manifests of one folder.
#[derive(Debug, Default)]
struct Replacements {
    images: ImageMapper,
    versions: VersionMapper,
}

impl ImageReplacements {
    /// Returns the replacements for a cluster, which runs the images of its own release.
    pub(super) fn of(payload: &Payload, cluster: Cluster) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let no_images = Images::default();
        let release = payload.version().map(without_build);
        let mut by_folder = BTreeMap::new();
        for (folder, sources) in &payload.image_sources {
            let component = folder.split('/').next().unwrap_or_default();
            let declared = payload.page(component).and_then(|page| page.images.clone()).unwrap_or_default();
            refuse_unknown_tags(&declared, sources, payload, &mut errors);
            let release_of = |tag: &str| {
                payload.images(declared_cluster(&declared, tag).unwrap_or(cluster)).unwrap_or(&no_images)
            };
            let images = image_mapper(sources, release_of, &mut errors);
            let mut builds = errors.ok_or_record(build_versions(sources, release_of)).unwrap_or_default();
            add_defaults(&mut builds, &payload.images(cluster).unwrap_or(&no_images).default_builds);
            let versions = VersionMapper { release: release.clone(), builds };
            by_folder.insert(folder.clone(), Replacements { images, versions });
        }
        let versions = VersionMapper { release, ..VersionMapper::default() };
        let outside = Replacements { versions, ..Replacements::default() };
        errors.into_result(Self { by_folder, outside })
    }

    /// Replaces images and versions in the values of the manifest from `path`.
    pub(super) fn replace(&self, root: &mut Node, path: &str, sources: &Sources) -> Result<(), Diagnostics> {
        let Replacements { images, versions } = self.for_path(path);
        let errors = RefCell::new(Vec::new());
        let replaced = root.with_texts(&|text| {
            let with_images = images.replace(text);
            match versions.replace(with_images.as_deref().unwrap_or(text)) {
                Ok(with_versions) => with_versions.or(with_images),
                Err(error) => {
                    errors.borrow_mut().push((text.to_owned(), error));
                    None
                }
            }
        });
        let errors = errors.into_inner();
        if !errors.is_empty() {
            let errors = errors.iter().map(|(text, error)| {
                let mark = mark_of(root, text).unwrap_or(root.mark);
                no_version(error, Location::of(mark, sources))
            });
            return Err(Diagnostics(errors.collect()));
        }
        if let Some(changed) = replaced {
            *root = changed;
        }
        Ok(())
    }

    /// Returns the replacements for a file: those of the innermost folder around it that has some.
    fn for_path(&self, path: &str) -> &Replacements {
        let mut folder = path;
        while let Some((parent, _)) = folder.rsplit_once('/') {
            if let Some(replacements) = self.by_folder.get(parent) {
                return replacements;
            }
            folder = parent;
        }
        &self.outside
    }
}

/// Returns a version without its build metadata, the part behind `+`.
fn without_build(version: &str) -> String {
    version.split_once('+').map_or(version, |(version, _)| version).to_owned()
}

fn no_version(error: &NoVersion, location: Location) -> Diagnostic {
    let help = match error {
        NoVersion::WithoutName => "write a name after it, or remove the `-`",
        NoVersion::Unknown(_) => {
            "add it to the annotation `io.openshift.build.versions` of a tag in the release's image-references"
        }
        NoVersion::Ambiguous(..) => {
            "remove all but one of these tags from the image-references of the component"
        }
    };
    Diagnostic::error(error.to_string())
        .at(location)
        .note("`oc adm release new` refuses such a manifest")
        .help(help)
}

/// Returns the position of the first value with this text.
fn mark_of(node: &Node, text: &str) -> Option<Mark> {
    match &node.value {
        Value::String(value) if **value == *text => Some(node.mark),
        Value::List(items) => items.iter().find_map(|item| mark_of(item, text)),
        Value::Map(map) => map.iter().find_map(|entry| mark_of(&entry.value, text)),
        _ => None,
    }
}

/// Returns the versions of programs in the images of a component.
fn build_versions<'i>(
    sources: &Images,
    release_of: impl Fn(&str) -> &'i Images,
) -> Result<BTreeMap<String, BuildVersion>, Diagnostic> {
    let mut builds: BTreeMap<String, BuildVersion> = BTreeMap::new();
    for tag in sources.tags.keys() {
        let release = release_of(tag);
        let Some(declared) = release.builds.get(tag) else { continue };
        for (name, version) in declared {
            // Many images contain kubectl. Its version is that of the `cli` image.
            if name == "kubectl" && tag != "cli" && tag != "cli-artifacts" {
                continue;
            }
            let build = builds
                .entry(name.clone())
                .or_insert_with(|| BuildVersion { version: version.clone(), tags: Vec::new() });
            if build.version != *version {
                return Err(Diagnostic::error(format!(
                    "the images `{}` and `{tag}` declare different versions of `{name}`: {} and {version}",
                    build.tags.join(", "),
                    build.version
                ))
                .at(release.location(tag))
                .help("take all images from one release"));
            }
            build.tags.push(tag.clone());
        }
    }
    Ok(builds)
}

/// Adds the versions of the release for programs whose version no image declares.
fn add_defaults(builds: &mut BTreeMap<String, BuildVersion>, defaults: &BuildVersions) {
    for (name, version) in defaults {
        builds
            .entry(name.clone())
            .or_insert_with(|| BuildVersion { version: version.clone(), tags: Vec::new() });
    }
}

/// Returns the cluster whose release an image comes from, if the page declares it.
fn declared_cluster(declared: &ImageReleases, tag: &str) -> Option<Cluster> {
    let is_in = |tags: &[Marked<String>]| tags.iter().any(|other| other.value == tag);
    if is_in(&declared.guest) {
        Some(Cluster::Guest)
    } else if is_in(&declared.management) {
        Some(Cluster::Management)
    } else {
        None
    }
}

/// Refuses tags in a page that its component does not have: they would have no effect.
fn refuse_unknown_tags(
    declared: &ImageReleases,
    sources: &Images,
    payload: &Payload,
    errors: &mut Diagnostics,
) {
    for tag in declared.guest.iter().chain(&declared.management) {
        if !sources.tags.contains_key(&tag.value) {
            errors.0.push(
                Diagnostic::error(format!("the component has no image `{}`", tag.value))
                    .at(Location::of(tag.mark, &payload.sources))
                    .help(format!("its tags are in {}", sources.file))
                    .suggest(&tag.value, sources.tags.keys().map(String::as_str)),
            );
        }
    }
}

fn image_mapper<'i>(
    sources: &Images,
    release_of: impl Fn(&str) -> &'i Images,
    errors: &mut Diagnostics,
) -> ImageMapper {
    let mut tags: BTreeMap<&str, &str> = BTreeMap::new();
    let mut pullspecs = BTreeMap::new();
    for (tag, source) in &sources.tags {
        let Some(pullspec) = release_of(tag).tags.get(tag) else {
            errors.0.push(
                Diagnostic::error(format!("the release has no image `{tag}`"))
                    .at(sources.location(tag))
                    .note("its manifests would keep an image that exists only during development")
                    .help("add the tag to the payload's image-references, or remove it here"),
            );
            continue;
        };
        if let Some(other) = tags.insert(source, tag) {
            errors.0.push(
                Diagnostic::error(format!("the tags `{other}` and `{tag}` have the same source `{source}`"))
                    .at(sources.location(tag))
                    .help("give each tag a source of its own: another repository, or another tag of it"),
            );
        }
        pullspecs.insert(source.clone(), pullspec.clone());
    }
    ImageMapper::new(pullspecs)
}
