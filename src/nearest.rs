//! "Did you mean": the word that a misspelt one was probably meant to be.

/// So many candidates are looked at: among more, a suggestion costs more than it helps.
const MOST: usize = 500;

/// The candidate nearest to a word, if one is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance =
        |candidate: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &candidate.to_lowercase());
    let limit = 1 + word.chars().count() / 3;
    candidates
        .into_iter()
        .take(MOST)
        .map(|candidate| (distance(candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_what_was_meant_or_nothing() {
        let fields = ["topology", "cluster", "select", "namespace"];
        assert_eq!(nearest("topologie", fields), Some("topology"));
        assert_eq!(nearest("Select", fields), Some("select"));
        assert_eq!(nearest("patches", fields), None);
    }
}
