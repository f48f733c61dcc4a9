//! Inserts the images and the version of the release, as `oc adm release new` does, but in parsed values instead of text.
//!
//! An `image-references` file maps repositories to tags of the release, for the manifests of its folder and of the folders
//! below it. Such a repository in a value, with any tag or digest, is replaced by the pullspec of the release. The
//! placeholder version is replaced by the version of the release.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::{ImageReleases, Marked};
use crate::object::Cluster;
use crate::payload::{Images, Payload};
use crate::yaml::Node;

const PLACEHOLDER_VERSION: &str = "0.0.1-snapshot";

/// The replacements for the manifests of a payload.
#[derive(Debug)]
pub(super) struct ImageReplacements {
    by_folder: BTreeMap<String, Vec<Replacement>>,
    version: Option<Replacement>,
}

/// A text that is replaced in all values in which it occurs as a whole word.
#[derive(Debug)]
struct Replacement {
    old: String,
    new: String,
    /// Returns how many of the bytes after it are replaced too, such as the tag of an image.
    suffix_length: fn(&str) -> usize,
}

impl Replacement {
    fn new(old: &str, new: &str, suffix_length: fn(&str) -> usize) -> Self {
        Self { old: old.to_owned(), new: new.to_owned(), suffix_length }
    }

    /// Returns the text after the replacement, or `None` if it does not contain `old` as a whole word.
    fn apply(&self, text: &str) -> Option<String> {
        // Most texts are shorter; comparing lengths first is much cheaper than searching.
        if text.len() < self.old.len() {
            return None;
        }
        let in_word = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
        for (start, _) in text.match_indices(&self.old) {
            let end = start + self.old.len();
            let end = end + (self.suffix_length)(&text[end..]);
            if !text[..start].ends_with(in_word) && !text[end..].starts_with(in_word) {
                return Some(format!("{}{}{}", &text[..start], self.new, &text[end..]));
            }
        }
        None
    }
}

impl ImageReplacements {
    /// Returns the replacements for a cluster, which runs the images of its own release.
    pub(super) fn of(payload: &Payload, cluster: Cluster) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let no_images = Images::default();
        let mut by_folder = BTreeMap::new();
        for (folder, sources) in &payload.image_sources {
            let component = folder.split('/').next().unwrap_or_default();
            let declared = payload.page(component).and_then(|page| page.images.clone()).unwrap_or_default();
            refuse_unknown_tags(&declared, sources, payload, &mut errors);
            let release_of = |tag: &str| {
                payload.images(declared_cluster(&declared, tag).unwrap_or(cluster)).unwrap_or(&no_images)
            };
            by_folder.insert(folder.clone(), image_replacements(sources, release_of, &mut errors));
        }
        let version = payload.version();
        let version = version.map(|version| Replacement::new(PLACEHOLDER_VERSION, version, |_| 0));
        errors.into_result(Self { by_folder, version })
    }

    /// Replaces images and versions in the values of the manifest from `path`.
    pub(super) fn replace(&self, root: &mut Node, path: &str) {
        let replacements: Vec<&Replacement> = self.version.iter().chain(self.for_path(path)).collect();
        if replacements.is_empty() {
            return;
        }
        let replaced =
            root.with_texts(&|text| replacements.iter().find_map(|replacement| replacement.apply(text)));
        if let Some(changed) = replaced {
            *root = changed;
        }
    }

    /// Returns the replacements of the innermost folder around a file that has any.
    fn for_path(&self, path: &str) -> &[Replacement] {
        let mut folder = path;
        while let Some((parent, _)) = folder.rsplit_once('/') {
            if let Some(replacements) = self.by_folder.get(parent) {
                return replacements;
            }
            folder = parent;
        }
        &[]
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

fn image_replacements<'i>(
    sources: &Images,
    release_of: impl Fn(&str) -> &'i Images,
    errors: &mut Diagnostics,
) -> Vec<Replacement> {
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
        let repository = repository(source);
        if pullspecs.insert(repository.to_owned(), pullspec.clone()).is_some() {
            errors.0.push(
                Diagnostic::error(format!("two tags have the repository `{repository}`"))
                    .at(sources.location(tag))
                    .help("give each tag a repository of its own"),
            );
        }
    }
    let new = |(repository, pullspec): (&String, &String)| Replacement::new(repository, pullspec, tag_length);
    pullspecs.iter().map(new).collect()
}

/// Returns the length of the tag and digest after a repository.
fn tag_length(rest: &str) -> usize {
    let word_length = |text: &str| {
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte)).count()
    };
    let mut length = 0;
    if let Some(tag) = rest.strip_prefix(':')
        && word_length(tag) > 0
    {
        length += 1 + word_length(tag);
    }
    if let Some(digest) = rest[length..].strip_prefix("@sha256:") {
        length += "@sha256:".len() + word_length(digest);
    }
    length
}

/// Returns an image without its tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    match image.rsplit_once(':') {
        // `localhost:5000/a` has a port, not a tag.
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}

#[cfg(test)]
mod tests {
    use super::{PLACEHOLDER_VERSION, Replacement, repository, tag_length};

    #[test]
    fn a_port_is_not_a_tag() {
        assert_eq!(repository("quay.io/a/b"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:latest"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:4.22@sha256:00"), "quay.io/a/b");
        assert_eq!(repository("localhost:5000/a"), "localhost:5000/a");
    }

    #[test]
    fn images_and_versions_are_replaced_as_whole_words() {
        let all = [
            Replacement::new("quay.io/o/a", "R@sha256:1", tag_length),
            Replacement::new(PLACEHOLDER_VERSION, "4.22.0", |_| 0),
        ];
        for (text, expected) in [
            ("quay.io/o/a", Some("R@sha256:1")),
            ("quay.io/o/a:latest", Some("R@sha256:1")),
            ("quay.io/o/a:v1@sha256:00ff", Some("R@sha256:1")),
            ("--image=quay.io/o/a:v1", Some("--image=R@sha256:1")),
            ("use quay.io/o/a:v1, please", Some("use R@sha256:1, please")),
            ("quay.io/o/a: the image", Some("R@sha256:1: the image")),
            ("quay.io/o/a-b:v1", None),
            ("quay.io/o/a/b", None),
            ("x.quay.io/o/a", None),
            ("--v=0.0.1-snapshot", Some("--v=4.22.0")),
            ("0.0.1-snapshot", Some("4.22.0")),
            ("0.0.1-snapshot-kubernetes", None),
        ] {
            let replaced = all.iter().find_map(|replacement| replacement.apply(text));
            assert_eq!(replaced.as_deref(), expected, "{text}");
        }
    }
}
