//! Images and versions from the release: what `oc adm release new` does to an operator's manifests, on parsed values
//! instead of text.
//!
//! An `image-references` file says which repository stands for which tag of the release, for the manifests of its
//! folder and of those below it. Such a repository in a value, whatever its tag or digest, becomes the release's
//! pullspec. The placeholder version becomes the release's.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::language::ImageHomes;
use crate::nearest::nearest;
use crate::object::Cluster;
use crate::payload::{Images, Payload};
use crate::yaml::Node;

const PLACEHOLDER_VERSION: &str = "0.0.1-snapshot";

/// What values become, by the folder of the manifest.
#[derive(Debug)]
pub(super) struct Catalogues {
    by_folder: BTreeMap<String, Vec<Replacement>>,
    version: Option<Replacement>,
}

/// A word that is looked for in every text, and what takes its place.
#[derive(Debug)]
struct Replacement {
    word: String,
    new: String,
    /// How many bytes behind the word belong to it.
    extend: fn(&str) -> usize,
}

impl Replacement {
    fn new(word: &str, new: &str, extend: fn(&str) -> usize) -> Self {
        Self { word: word.to_owned(), new: new.to_owned(), extend }
    }

    /// The text with the word replaced, where it stands with no letter of another word beside it.
    fn apply(&self, text: &str) -> Option<String> {
        let in_word = |character: char| character.is_ascii_alphanumeric() || "-_./".contains(character);
        if text.len() < self.word.len() || !text.contains(&self.word) {
            return None;
        }
        text.match_indices(&self.word).find_map(|(from, _)| {
            let end = from + self.word.len();
            let to = end + (self.extend)(&text[end..]);
            let alone = !text[..from].ends_with(in_word) && !text[to..].starts_with(in_word);
            alone.then(|| format!("{}{}{}", &text[..from], self.new, &text[to..]))
        })
    }
}

impl Catalogues {
    /// The images of the release that a cluster runs.
    pub(super) fn of(payload: &Payload, cluster: Cluster) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let no_images = Images::default();
        let of = |cluster: Cluster| payload.images(cluster).unwrap_or(&no_images);
        let by_folder = payload
            .image_sources
            .iter()
            .map(|(folder, sources)| {
                (folder.clone(), {
                    let component = folder.split('/').next().unwrap_or_default();
                    let homes =
                        payload.page(component).and_then(|page| page.images.clone()).unwrap_or_default();
                    check_homes(&homes, sources, payload, &mut errors);
                    let release = |tag: &str| of(home(&homes, tag).unwrap_or(cluster));
                    pullspecs(sources, release, &mut errors)
                })
            })
            .collect();
        let version = payload.version();
        errors.or(Self {
            by_folder,
            version: version.map(|version| Replacement::new(PLACEHOLDER_VERSION, version, |_| 0)),
        })
    }

    /// Replaces what is known in the values of a manifest from `path`.
    pub(super) fn fill_in(&self, root: &mut Node, path: &str) {
        let replacements: Vec<&Replacement> = self.version.iter().chain(self.nearest(path)).collect();
        let new = |text: &str| replacements.iter().find_map(|replacement| replacement.apply(text));
        if !replacements.is_empty()
            && let Some(changed) = root.with_texts(&new)
        {
            *root = changed;
        }
    }

    /// The catalogue of the folder, or of the next one above it that has one.
    fn nearest(&self, path: &str) -> &[Replacement] {
        let mut folder = path;
        while let Some((above, _)) = folder.rsplit_once('/') {
            if let Some(replacements) = self.by_folder.get(above) {
                return replacements;
            }
            folder = above;
        }
        &[]
    }
}

/// The release that a tag's image always comes from, where the page says so.
fn home(homes: &ImageHomes, tag: &str) -> Option<Cluster> {
    let lists = [(&homes.guest, Cluster::Guest), (&homes.management, Cluster::Management)];
    lists
        .into_iter()
        .find(|(tags, _)| tags.iter().any(|other| other.value == tag))
        .map(|(_, cluster)| cluster)
}

/// A tag that the component does not have would silently mean nothing.
fn check_homes(homes: &ImageHomes, sources: &Images, payload: &Payload, errors: &mut Diagnostics) {
    for tag in homes.guest.iter().chain(&homes.management) {
        if !sources.tags.contains_key(&tag.value) {
            let error = Diagnostic::error(format!("the component has no image `{}`", tag.value))
                .at(Location::of(tag.mark, &payload.sources));
            errors.0.push(match nearest(&tag.value, sources.tags.keys().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(format!("its tags are in {}", sources.file)),
            });
        }
    }
}

fn pullspecs<'i>(
    sources: &Images,
    release: impl Fn(&str) -> &'i Images,
    errors: &mut Diagnostics,
) -> Vec<Replacement> {
    let mut pullspecs = BTreeMap::new();
    for (tag, source) in &sources.tags {
        let Some(pullspec) = release(tag).tags.get(tag) else {
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
        .iter()
        .map(|(repository, pullspec)| Replacement::new(repository, pullspec, tag_length))
        .collect()
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
    use super::{PLACEHOLDER_VERSION, Replacement, repository, tag_length};

    #[test]
    fn a_port_is_no_tag() {
        assert_eq!(repository("quay.io/a/b"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:latest"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:4.22@sha256:00"), "quay.io/a/b");
        assert_eq!(repository("localhost:5000/a"), "localhost:5000/a");
    }

    #[test]
    fn images_and_versions_within_a_text() {
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
