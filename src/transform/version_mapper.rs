//! Replaces the placeholder of a version in texts by versions of a release, by the rules of `oc adm release new`.
//!
//! `0.0.1-snapshot` is the version of the release. `0.0.1-snapshot-kubernetes` is the version of Kubernetes in the images
//! of the component. Neither is a part of a longer word.

use std::collections::BTreeMap;
use std::fmt;

use super::image_mapper::is_word;

/// The placeholder of the release's version.
pub(crate) const PLACEHOLDER: &str = "0.0.1-snapshot";

/// The versions that replace placeholders.
#[derive(Debug, Default)]
pub(super) struct VersionMapper {
    /// The version of the release.
    pub(super) release: Option<String>,
    /// The versions of programs in the release's images, by the name of the program.
    pub(super) builds: BTreeMap<String, BuildVersion>,
}

/// The version of a program in images of the release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BuildVersion {
    /// The version.
    pub(super) version: String,
    /// The tags of the component's images that declare it.
    pub(super) tags: Vec<String>,
}

/// The reason why a placeholder has no version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NoVersion {
    /// `0.0.1-snapshot-` without a name.
    WithoutName,
    /// No image of the component declares the version.
    Unknown(String),
    /// Several images declare the version.
    Ambiguous(String, Vec<String>),
}

impl VersionMapper {
    /// Replaces all placeholders in a text. Returns `None` if it has none.
    pub(super) fn replace(&self, text: &str) -> Result<Option<String>, NoVersion> {
        if text.len() < PLACEHOLDER.len() || !text.contains(PLACEHOLDER) {
            return Ok(None);
        }
        let mut replaced = String::with_capacity(text.len());
        let mut copied = 0;
        for (start, _) in text.match_indices(PLACEHOLDER) {
            let end = start + PLACEHOLDER.len();
            if text[..start].ends_with(is_word) || text[end..].starts_with(is_word) {
                continue;
            }
            let build = build_name(&text[end..]);
            let version = match build {
                Some(name) => Some(self.build_version(name)?),
                None => self.release.as_deref(),
            };
            let Some(version) = version else { continue };
            replaced.push_str(&text[copied..start]);
            replaced.push_str(version);
            copied = end + build.map_or(0, |name| 1 + name.len());
        }
        replaced.push_str(&text[copied..]);
        Ok((copied > 0).then_some(replaced))
    }

    fn build_version(&self, name: &str) -> Result<&str, NoVersion> {
        if name.is_empty() {
            return Err(NoVersion::WithoutName);
        }
        let build = self.builds.get(name).ok_or_else(|| NoVersion::Unknown(name.to_owned()))?;
        if build.tags.len() > 1 {
            return Err(NoVersion::Ambiguous(name.to_owned(), build.tags.clone()));
        }
        Ok(&build.version)
    }
}

/// Returns the name in the text after a placeholder: `kubernetes` in `-kubernetes`.
fn build_name(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix('-')?;
    let is_in_name = |next: char| next.is_ascii_lowercase() || next.is_ascii_digit() || next == '-';
    Some(&rest[..rest.find(|next| !is_in_name(next)).unwrap_or(rest.len())])
}

impl fmt::Display for NoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithoutName => write!(f, "`{PLACEHOLDER}-` needs the name of a program after it"),
            Self::Unknown(name) => {
                write!(
                    f,
                    "no image of the component declares the version of `{name}` for `{PLACEHOLDER}-{name}`"
                )
            }
            Self::Ambiguous(name, tags) => {
                write!(f, "several images declare the version of `{name}`: {}", tags.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BuildVersion, NoVersion, VersionMapper};

    fn mapper() -> VersionMapper {
        let build = |version: &str, tags: &[&str]| BuildVersion {
            version: version.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        };
        VersionMapper {
            release: Some("4.22.0".to_owned()),
            builds: [
                ("kubernetes".to_owned(), build("1.33.2", &["hyperkube"])),
                ("a-2".to_owned(), build("2.0.0", &[])),
                ("both".to_owned(), build("1.0.0", &["a", "b"])),
            ]
            .into(),
        }
    }

    #[test]
    fn every_placeholder_of_a_text_is_replaced() {
        for (text, expected) in [
            ("0.0.1-snapshot", Some("4.22.0")),
            ("--v=0.0.1-snapshot", Some("--v=4.22.0")),
            ("a-0.0.1-snapshot/b.0.0.1-snapshot.c", Some("a-4.22.0/b.4.22.0.c")),
            ("0.0.1-snapshot 0.0.1-snapshot", Some("4.22.0 4.22.0")),
            ("0.0.1-snapshot-kubernetes", Some("1.33.2")),
            ("k 0.0.1-snapshot-kubernetes, 0.0.1-snapshot", Some("k 1.33.2, 4.22.0")),
            ("0.0.1-snapshot-a-2_x", Some("2.0.0_x")),
            ("v0.0.1-snapshot", None),
            ("0.0.1-snapshots", None),
            ("0.0.1-snapsho", None),
        ] {
            assert_eq!(mapper().replace(text).unwrap().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_placeholder_with_an_unknown_empty_or_ambiguous_name_is_an_error() {
        assert_eq!(mapper().replace("0.0.1-snapshot-x"), Err(NoVersion::Unknown("x".to_owned())));
        assert_eq!(mapper().replace("0.0.1-snapshot-"), Err(NoVersion::WithoutName));
        assert_eq!(mapper().replace("0.0.1-snapshot-K"), Err(NoVersion::WithoutName));
        let tags = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(
            mapper().replace("0.0.1-snapshot-both"),
            Err(NoVersion::Ambiguous("both".to_owned(), tags))
        );
    }

    #[test]
    fn without_a_release_only_names_are_replaced() {
        let mapper = VersionMapper { release: None, ..mapper() };
        assert_eq!(mapper.replace("0.0.1-snapshot"), Ok(None));
        let replaced = mapper.replace("0.0.1-snapshot 0.0.1-snapshot-kubernetes").unwrap();
        assert_eq!(replaced.unwrap(), "0.0.1-snapshot 1.33.2");
    }
}
