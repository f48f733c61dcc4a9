//! Patterns with `*`, for file names and annotations.

/// Whether a text matches a pattern in which `*` stands for anything.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(head) else { return false };
    text.char_indices().map(|(at, _)| at).chain([text.len()]).any(|at| matches(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_anything() {
        assert!(matches("include.release.openshift.io/*", "include.release.openshift.io/hypershift"));
        assert!(matches("*-hypershift.yaml", "04_sa-hypershift.yaml"));
        assert!(matches("a*b*c", "a--b--c") && matches("*", "") && matches("a", "a"));
        assert!(!matches("a*b", "a-c") && !matches("a", "ab") && !matches("*.yaml", "a.yml"));
    }
}
