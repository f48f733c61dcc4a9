//! Images and versions from the release: what `oc adm release new` does to an operator's manifests, on parsed values
//! instead of text.
//!
//! An operator's own `image-references` says which repository stands for which tag of the release; a value that is
//! such a repository, whatever its tag or digest, becomes the release's pullspec. The placeholder version becomes the
//! release's.

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::payload::{Images, Payload, Release};
use crate::yaml::{Node, Value};

const PLACEHOLDER_VERSION: &str = "0.0.1-snapshot";

/// What the values of one component's manifests become.
#[derive(Debug)]
pub(super) struct Catalogue {
    /// Source repositories and the pullspecs that stand for them.
    pullspecs: HashMap<String, String>,
    version: Option<String>,
}

/// The catalogue of every component that has an `image-references` file.
pub(super) fn catalogues(payload: &Payload) -> Result<BTreeMap<String, Catalogue>, Diagnostics> {
    let mut errors = Diagnostics::default();
    let no_release = Release::default();
    let release = payload.release.as_ref().unwrap_or(&no_release);
    let mut catalogues = BTreeMap::new();
    for (component, sources) in &payload.image_sources {
        let pullspecs = pullspecs(component, sources, release, &mut errors);
        catalogues.insert(component.clone(), Catalogue { pullspecs, version: release.version.clone() });
    }
    errors.or(catalogues)
}

fn pullspecs(
    component: &str,
    sources: &Images,
    release: &Release,
    errors: &mut Diagnostics,
) -> HashMap<String, String> {
    let mut pullspecs = HashMap::new();
    let at = || Location::file(format!("{component}/image-references"));
    for (tag, source) in &sources.tags {
        let Some(pullspec) = release.images.tags.get(tag) else {
            errors.0.push(
                Diagnostic::error(format!("the release has no image `{tag}`"))
                    .at(at())
                    .note("its manifests would keep an image that only exists while developing")
                    .help("add the tag to the payload's image-references, or remove it here"),
            );
            continue;
        };
        if pullspecs.insert(repository(source).to_owned(), pullspec.clone()).is_some() {
            errors.0.push(
                Diagnostic::error(format!("the repository `{}` stands for two tags", repository(source)))
                    .at(at())
                    .help("give each tag a repository of its own"),
            );
        }
    }
    pullspecs
}

/// Replaces every value of an object that the catalogue knows.
pub(super) fn fill_in(node: &mut Node, catalogue: &Catalogue) {
    match &mut node.value {
        Value::String(text) => {
            if let Some(new) = catalogue.replacement(text) {
                *text = new.into();
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| fill_in(item, catalogue)),
        Value::Map(map) => map.values_mut().for_each(|value| fill_in(value, catalogue)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

impl Catalogue {
    fn replacement(&self, text: &str) -> Option<&str> {
        if text == PLACEHOLDER_VERSION {
            return self.version.as_deref();
        }
        // Every image has a repository with a slash; looking nothing else up keeps this cheap.
        if !text.contains('/') {
            return None;
        }
        self.pullspecs.get(repository(text)).map(String::as_str)
    }
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
    use super::repository;

    #[test]
    fn a_port_is_no_tag() {
        assert_eq!(repository("quay.io/a/b"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:latest"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b@sha256:00"), "quay.io/a/b");
        assert_eq!(repository("quay.io/a/b:4.22@sha256:00"), "quay.io/a/b");
        assert_eq!(repository("localhost:5000/a"), "localhost:5000/a");
    }
}
