//! Suggestions for misspelled names: "did you mean `x`?".

/// The number of candidates that are compared. With more, a suggestion costs more than it helps.
const MAX_CANDIDATES: usize = 500;

/// The longest name that is compared, in characters. Names in Kubernetes have at most 253, with a kind and a group 400.
/// The comparison takes time that grows with the square of the length.
const MAX_LENGTH: usize = 400;

/// The largest number of edits. Names that differ in more are different names, such as those of two components.
const MAX_DISTANCE: usize = 5;

/// Returns the candidate that is closest to a name, if one is close enough to be a misspelling of it.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = length_within_limit(name)?;
    let name = name.to_lowercase();
    let max_distance = (1 + length / 3).min(MAX_DISTANCE);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().take(MAX_CANDIDATES) {
        let Some(candidate_length) = length_within_limit(candidate) else { continue };
        // Each character that one has and the other does not is one edit.
        if length.abs_diff(candidate_length) > max_distance {
            continue;
        }
        let distance = strsim::damerau_levenshtein(&name, &candidate.to_lowercase());
        if distance <= max_distance && best.is_none_or(|best| (distance, candidate) < best) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the number of characters, or `None` if there are too many to compare.
fn length_within_limit(text: &str) -> Option<usize> {
    let length = text.chars().take(MAX_LENGTH + 1).count();
    (length <= MAX_LENGTH).then_some(length)
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
        let certificates = ["controller-metrics-serving-cert"];
        assert_eq!(nearest("node-metrics-serving-cert", certificates), None);
        assert_eq!(nearest("contoller-metrics-servin-cert", certificates), Some(certificates[0]));
    }

    #[test]
    fn very_long_names_are_not_compared() {
        let (name, candidate) = ("a".repeat(401), "a".repeat(400));
        assert_eq!(nearest(&name, [candidate.as_str()]), None);
        assert_eq!(nearest(&candidate, [name.as_str()]), None);
        assert_eq!(nearest(&candidate[1..], [candidate.as_str()]), Some(candidate.as_str()));
    }
}
