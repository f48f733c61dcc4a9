//! Replaces images in texts by the pullspecs of a release, by the rules of `oc adm release new`.
//!
//! An image starts with the source of a release's tag. An image tag or a digest can follow the source. No letter, digit
//! or underscore comes before it. White space, a quote or the end of the text comes after it.

use std::collections::BTreeMap;

/// The longest tag of an image.
const MAX_TAG: usize = 128;

/// The pullspecs that replace the sources of images.
#[derive(Debug, Default)]
pub(super) struct ImageMapper {
    /// The sources with their pullspecs. The longest comes first, because it wins if one source starts with another.
    pullspecs: Vec<(String, String)>,
}

struct Match<'m> {
    start: usize,
    end: usize,
    pullspec: &'m str,
}

impl ImageMapper {
    /// Creates a mapper from the pullspecs by source.
    pub(super) fn new(pullspecs: BTreeMap<String, String>) -> Self {
        let mut pullspecs: Vec<(String, String)> = pullspecs.into_iter().collect();
        pullspecs.sort_by_key(|(source, _)| std::cmp::Reverse(source.len()));
        Self { pullspecs }
    }

    /// Replaces all images in a text. Returns `None` if it has none.
    pub(super) fn replace(&self, text: &str) -> Option<String> {
        let matches = self.matches(text);
        if matches.is_empty() {
            return None;
        }
        let mut replaced = String::with_capacity(text.len());
        let mut copied = 0;
        for found in matches {
            replaced.push_str(&text[copied..found.start]);
            replaced.push_str(found.pullspec);
            copied = found.end;
        }
        replaced.push_str(&text[copied..]);
        Some(replaced)
    }

    /// Returns the images in a text, in order and without overlaps.
    fn matches<'m>(&'m self, text: &str) -> Vec<Match<'m>> {
        let mut matches = Vec::new();
        for (source, pullspec) in &self.pullspecs {
            let mut from = 0;
            // Most texts are shorter than a source; comparing lengths is much cheaper than searching.
            while text.len() - from >= source.len() {
                let Some(offset) = text[from..].find(source) else { break };
                let start = from + offset;
                from = start + 1;
                if let Some(end) = image_end(text, start, source) {
                    matches.push(Match { start, end, pullspec });
                    from = end;
                }
                while !text.is_char_boundary(from) {
                    from += 1;
                }
            }
        }
        // The sort is stable, so the longest source stays first.
        matches.sort_by_key(|found| found.start);
        let mut end = 0;
        matches.retain(|found| {
            let is_free = found.start >= end;
            if is_free {
                end = found.end;
            }
            is_free
        });
        matches
    }
}

/// Returns the end of an image that starts with a source, or `None` if the text is not an image there.
fn image_end(text: &str, start: usize, source: &str) -> Option<usize> {
    let follows_word = text[..start].ends_with(is_word);
    let end = start + source.len();
    let end = end + suffix_length(&text[end..]);
    let ends =
        text[end..].chars().next().is_none_or(|next| next.is_ascii_whitespace() || "\"'".contains(next));
    (!follows_word && ends).then_some(end)
}

/// Returns whether a character is part of a word, as in regular expressions.
pub(super) fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Returns the length of the tag or the digest at the start of a text.
fn suffix_length(text: &str) -> usize {
    if let Some(tag) = text.strip_prefix(':') {
        let length = tag.find(|next| !is_word(next) && !".-".contains(next)).unwrap_or(tag.len());
        let is_tag = tag.starts_with(is_word) && length <= MAX_TAG;
        return if is_tag { 1 + length } else { 0 };
    }
    let Some((algorithm, digits)) = text.strip_prefix('@').and_then(|digest| digest.split_once(':')) else {
        return 0;
    };
    let length = digits.find(|next: char| !next.is_ascii_hexdigit()).unwrap_or(digits.len());
    if is_algorithm(algorithm) && length >= 2 { 1 + algorithm.len() + 1 + length } else { 0 }
}

/// Returns whether a text is the algorithm of a digest, such as `sha256`.
fn is_algorithm(text: &str) -> bool {
    text.split(['-', '_', '+', '.']).all(|part| {
        part.starts_with(|first: char| first.is_ascii_alphabetic())
            && part.chars().all(|next| next.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::ImageMapper;

    fn mapper(pullspecs: &[(&str, &str)]) -> ImageMapper {
        let pullspecs =
            pullspecs.iter().map(|(source, pullspec)| ((*source).to_owned(), (*pullspec).to_owned()));
        ImageMapper::new(pullspecs.collect())
    }

    #[test]
    fn an_image_has_an_optional_tag_or_digest_and_ends_at_a_space_or_quote() {
        let mapper = mapper(&[("quay.io/o/a", "R@sha256:01")]);
        for (text, expected) in [
            ("quay.io/o/a", Some("R@sha256:01")),
            ("quay.io/o/a:latest", Some("R@sha256:01")),
            ("quay.io/o/a@sha256:00ff", Some("R@sha256:01")),
            ("--image=quay.io/o/a:v1", Some("--image=R@sha256:01")),
            ("docker://quay.io/o/a:v1", Some("docker://R@sha256:01")),
            ("mirror.quay.io/o/a", Some("mirror.R@sha256:01")),
            (r#"{"a":"quay.io/o/a:v1"}"#, Some(r#"{"a":"R@sha256:01"}"#)),
            ("quay.io/o/a:v1\n", Some("R@sha256:01\n")),
            ("xquay.io/o/a", None),
            ("quay.io/o/a-b:v1", None),
            ("quay.io/o/a/b", None),
            ("quay.io/o/a:v1, please", None),
            ("quay.io/o/a:v1@sha256:00ff", None),
            ("quay.io/o/a@sha256:0", None),
            ("quay.io/o/a:", None),
        ] {
            assert_eq!(mapper.replace(text).as_deref(), expected, "{text}");
        }
        let tag = "x".repeat(128);
        assert!(mapper.replace(&format!("quay.io/o/a:{tag}")).is_some());
        assert!(mapper.replace(&format!("quay.io/o/a:{tag}x")).is_none());
    }

    #[test]
    fn every_image_of_a_text_is_replaced() {
        let mapper = mapper(&[("quay.io/o/a", "A"), ("quay.io/o/b", "B")]);
        let text =
            r#"{"b": "quay.io/o/b", "a": "quay.io/o/a:1", "c": "quay.io/o/b:2"} quay.io/o/a quay.io/o/a"#;
        assert_eq!(mapper.replace(text).unwrap(), r#"{"b": "B", "a": "A", "c": "B"} A A"#);
    }

    #[test]
    fn a_source_with_a_tag_is_another_image_than_other_tags() {
        let mapper =
            mapper(&[("r/openshift:ironic", "I"), ("r/openshift:baremetal", "M"), ("r/etcd:v1", "E")]);
        assert_eq!(mapper.replace("r/openshift:ironic r/openshift:baremetal").unwrap(), "I M");
        assert_eq!(mapper.replace("r/etcd:v1@sha256:00").unwrap(), "E");
        for other in ["r/etcd:v2", "r/etcd", "r/etcd:v10"] {
            assert_eq!(mapper.replace(other), None, "{other}");
        }
    }

    #[test]
    fn the_longest_source_wins() {
        let mapper = mapper(&[("r/o", "short"), ("r/o:v1", "long")]);
        assert_eq!(mapper.replace("r/o:v1 r/o:v2").unwrap(), "long short");
    }

    #[test]
    fn a_source_that_overlaps_itself_is_found() {
        assert_eq!(mapper(&[("a/a", "X")]).replace("a/a/a").unwrap(), "a/X");
        assert_eq!(mapper(&[("é/é", "X")]).replace("é/é/é").unwrap(), "é/X");
    }
}
