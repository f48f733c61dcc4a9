//! Patterns with `*`, for file names, annotations and the names of objects.

/// Returns whether a text matches a pattern in which `*` matches any text, including none.
///
/// Takes at most `pattern.len() * text.len()` steps: if the pattern after a `*` does not match, only the last `*` is
/// extended by one character.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut in_pattern, mut in_text) = (0, 0);
    // The position after the last `*`, and the position in the text up to which that `*` matches.
    let mut last_star: Option<(usize, usize)> = None;
    while in_text < text.len() {
        if pattern.get(in_pattern) == Some(&b'*') {
            in_pattern += 1;
            last_star = Some((in_pattern, in_text));
        } else if pattern.get(in_pattern) == Some(&text[in_text]) {
            in_pattern += 1;
            in_text += 1;
        } else if let Some((after_star, star_end)) = last_star {
            in_pattern = after_star;
            in_text = star_end + 1;
            last_star = Some((after_star, in_text));
        } else {
            return false;
        }
    }
    pattern[in_pattern..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text) in [
            ("include.release.openshift.io/*", "include.release.openshift.io/hypershift"),
            ("*-hypershift.yaml", "04_sa-hypershift.yaml"),
            ("a*b*c", "a--b--c"),
            ("a*b*c", "abbcbc"),
            ("*", ""),
            ("**", "a"),
            ("a*", "a"),
            ("*é*", "café au lait"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn everything_else_must_be_equal() {
        assert!(matches("a", "a") && matches("", ""));
        for (pattern, text) in
            [("a*b", "a-c"), ("a", "ab"), ("ab", "a"), ("*.yaml", "a.yml"), ("", "a"), ("a*b*c", "a--c--b")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_few() {
        // Backtracking over every `*` would take longer than the age of the universe.
        let pattern = "a*".repeat(64) + "b";
        assert!(!matches(&pattern, &"a".repeat(4096)));
        assert!(matches(&pattern, &("a".repeat(4096) + "b")));
    }
}
