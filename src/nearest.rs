//! Suggestions for misspelt names: "did you mean `x`?".

/// The number of candidates that are compared. With more, a suggestion costs more than it helps.
const MAX_CANDIDATES: usize = 500;

/// Returns the candidate that is closest to a name, if one is close enough to be a misspelling of it.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = 1 + name.chars().count() / 3;
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .map(|candidate| (strsim::damerau_levenshtein(&name, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_the_closest_candidate_or_none() {
        let fields = ["topology", "cluster", "select", "namespace"];
        assert_eq!(nearest("topologie", fields), Some("topology"));
        assert_eq!(nearest("Select", fields), Some("select"));
        assert_eq!(nearest("patches", fields), None);
    }
}
