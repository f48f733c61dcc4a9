//! Patterns with `*`, for file names, annotations and the names of objects.

/// Returns whether a text matches a pattern in which `*` matches any text, including none.
///
/// Takes linear time: each part between two `*` is searched once, where the part before it ends.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((prefix, rest)) = pattern.split_once('*') else { return pattern == text };
    let (middle, suffix) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(text) = text.strip_prefix(prefix).and_then(|text| text.strip_suffix(suffix)) else {
        return false;
    };
    let mut unmatched = text;
    for part in middle.split('*') {
        // The first occurrence leaves the most text for the next parts.
        let Some((_, after)) = unmatched.split_once(part) else { return false };
        unmatched = after;
    }
    true
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

    #[test]
    fn long_parts_take_linear_time() {
        // Comparing the part at each position of the text would take 10^12 steps.
        let part = "a".repeat(1_000_000);
        assert!(!matches(&format!("*{part}b*"), &"a".repeat(2_000_000)));
        assert!(matches(&format!("*{part}b*"), &format!("{part}{part}b")));
    }
}
