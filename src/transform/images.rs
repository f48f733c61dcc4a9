//! Images and versions from the release: what `oc adm release new` does to an operator's manifests, on parsed values
//! instead of text.
//!
//! An `image-references` file says which repository stands for which tag of the release, for the manifests of its
//! folder and of those below it. Such a repository in a value, whatever its tag or digest, becomes the release's
//! pullspec. The placeholder version becomes the release's.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::payload::{Images, Payload, Release};
use crate::yaml::{Node, Value};

const PLACEHOLDER_VERSION: &str = "0.0.1-snapshot";

/// What values become, by the folder of the manifest.
#[derive(Debug)]
pub(super) struct Catalogues {
    by_folder: BTreeMap<String, Pullspecs>,
    version: Option<String>,
}

/// Source repositories and the pullspecs that stand for them.
type Pullspecs = BTreeMap<String, String>;

impl Catalogues {
    pub(super) fn of(payload: &Payload) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let no_release = Release::default();
        let release = payload.release.as_ref().unwrap_or(&no_release);
        let by_folder = payload
            .image_sources
            .iter()
            .map(|(folder, sources)| (folder.clone(), pullspecs(sources, release, &mut errors)))
            .collect();
        errors.or(Self { by_folder, version: release.version.clone() })
    }

    /// Replaces what is known in the values of a manifest from `path`.
    pub(super) fn fill_in(&self, root: &mut Node, path: &str) {
        let pullspecs = self.nearest(path);
        if self.version.is_some() || pullspecs.is_some() {
            fill_in(root, pullspecs, self.version.as_deref());
        }
    }

    /// The catalogue of the folder, or of the next one above it that has one.
    fn nearest(&self, path: &str) -> Option<&Pullspecs> {
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            if let Some(pullspecs) = self.by_folder.get(above) {
                return Some(pullspecs);
            }
            folder = above;
        }
        None
    }
}

fn pullspecs(sources: &Images, release: &Release, errors: &mut Diagnostics) -> Pullspecs {
    let mut pullspecs = Pullspecs::new();
    for (tag, source) in &sources.tags {
        let Some(pullspec) = release.images.tags.get(tag) else {
            errors.0.push(
                Diagnostic::error(format!("the release has no image `{tag}`"))
                    .at(sources.location(tag))
                    .note("its manifests would keep an image that only exists while developing")
                    .help("add the tag to the payload's image-references, or remove it here"),
            );
            continue;
        };
        if pullspecs.insert(repository(source).to_owned(), pullspec.clone()).is_some() {
            errors.0.push(
                Diagnostic::error(format!("the repository `{}` stands for two tags", repository(source)))
                    .at(sources.location(tag))
                    .help("give each tag a repository of its own"),
            );
        }
    }
    pullspecs
}

fn fill_in(node: &mut Node, pullspecs: Option<&Pullspecs>, version: Option<&str>) {
    match &mut node.value {
        Value::String(text) => {
            if let Some(new) = replacement(text, pullspecs, version) {
                *text = new.into();
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| fill_in(item, pullspecs, version)),
        Value::Map(map) => map.values_mut().for_each(|value| fill_in(value, pullspecs, version)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a text becomes, if anything in it is known.
fn replacement(text: &str, pullspecs: Option<&Pullspecs>, version: Option<&str>) -> Option<String> {
    if let Some(version) = version
        && let Some(found) = find_bounded(text, PLACEHOLDER_VERSION, |_| 0)
    {
        return Some(replace(text, found, version));
    }
    // Every image has a repository with a slash; looking nothing else up keeps this cheap.
    let pullspecs = pullspecs.filter(|_| text.contains('/'))?;
    pullspecs.iter().find_map(|(repository, pullspec)| {
        let found = find_bounded(text, repository, tag_length)?;
        Some(replace(text, found, pullspec))
    })
}

fn replace(text: &str, (from, to): (usize, usize), new: &str) -> String {
    format!("{}{new}{}", &text[..from], &text[to..])
}

/// Where a word stands in a text, with what `extend` adds to it, and with no letter of another word beside it.
fn find_bounded(text: &str, word: &str, extend: fn(&str) -> usize) -> Option<(usize, usize)> {
    if text.len() < word.len() {
        return None;
    }
    let in_word = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
    text.match_indices(word).find_map(|(from, _)| {
        let end = from + word.len();
        let to = end + extend(&text[end..]);
        let alone = !text[..from].ends_with(in_word) && !text[to..].starts_with(in_word);
        alone.then_some((from, to))
    })
}

/// How many bytes behind a repository are its tag and digest.
fn tag_length(rest: &str) -> usize {
    let word = |text: &str| {
        text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte)).count()
    };
    let tag = rest.strip_prefix(':').map(word).filter(|length| *length > 0).map_or(0, |length| length + 1);
    let digest = rest[tag..].strip_prefix("@sha256:").map_or(0, |digest| "@sha256:".len() + word(digest));
    tag + digest
}

/// An image without its tag and digest.
fn repository(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    match image.rsplit_once(':') {
        Some((repository, tag)) if !tag.contains('/') => repository,
        _ => image,
    }
}

#[cfg(test)]
mod tests {
    use super::{Pullspecs, replacement, repository};

    #[test]
    fn a_port_is_no_tag() {
        assert_eq!(repository("quay.io/a/b"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:latest"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:4.22@sha256:00"), "quay.io/a/b");
        assert_eq!(repository("localhost:5000/a"), "localhost:5000/a");
    }

    #[test]
    fn images_and_versions_within_a_text() {
        let pullspecs = Pullspecs::from([("quay.io/o/a".to_owned(), "R@sha256:1".to_owned())]);
        for (text, expected) in [
            ("quay.io/o/a", Some("R@sha256:1")),
            ("quay.io/o/a:latest", Some("R@sha256:1")),
            ("quay.io/o/a:v1@sha256:00ff", Some("R@sha256:1")),
            ("--image=quay.io/o/a:v1", Some("--image=R@sha256:1")),
            ("use quay.io/o/a:v1, please", Some("use R@sha256:1, please")),
            ("quay.io/o/a-b:v1", None),
            ("quay.io/o/a/b", None),
            ("x.quay.io/o/a", None),
            ("--v=0.0.1-snapshot", Some("--v=4.22.0")),
            ("0.0.1-snapshot", Some("4.22.0")),
            ("0.0.1-snapshot-kubernetes", None),
        ] {
            assert_eq!(replacement(text, Some(&pullspecs), Some("4.22.0")).as_deref(), expected, "{text}");
        }
    }
}
