//! Compares the versions of payloads, so that a downgrade is noticed.

use std::cmp::Ordering;

/// Whether the payload may be older than the one that the clusters run (`--allow-downgrade`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Downgrade {
    /// An older payload is an error.
    #[default]
    Refuse,
    /// An older payload is applied.
    Allow,
}

/// Returns whether one version is older than another. A text that is not a version such as `4.22.0-rc.1` is never older.
pub(crate) fn is_older(version: &str, than: &str) -> bool {
    match (parse(version), parse(than)) {
        (Some(version), Some(than)) => compare(&version, &than) == Ordering::Less,
        _ => false,
    }
}

/// A version as in <https://semver.org>, without its build.
struct ReleaseVersion<'v> {
    numbers: [u64; 3],
    /// The part after the first `-`; empty for a release.
    pre_release: &'v str,
}

fn parse(version: &str) -> Option<ReleaseVersion<'_>> {
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, pre_release) = version.split_once('-').unwrap_or((version, ""));
    let mut parts = numbers.split('.');
    let mut next = || parts.next()?.parse().ok();
    let numbers = [next()?, next()?, next()?];
    parts.next().is_none().then_some(ReleaseVersion { numbers, pre_release })
}

fn compare(one: &ReleaseVersion<'_>, other: &ReleaseVersion<'_>) -> Ordering {
    one.numbers.cmp(&other.numbers).then_with(|| match (one.pre_release, other.pre_release) {
        ("", "") => Ordering::Equal,
        ("", _) => Ordering::Greater,
        (_, "") => Ordering::Less,
        (one, other) => compare_pre_releases(one, other),
    })
}

/// Compares identifier by identifier. Numbers are lower than words, and fewer identifiers lower than more.
fn compare_pre_releases(one: &str, other: &str) -> Ordering {
    let (mut ones, mut others) = (one.split('.'), other.split('.'));
    loop {
        let ordering = match (ones.next(), others.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(one), Some(other)) => match (one.parse::<u64>(), other.parse::<u64>()) {
                (Ok(one), Ok(other)) => one.cmp(&other),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => one.cmp(other),
            },
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn versions_are_ordered_as_semver_orders_them() {
        let ordered = [
            "4.9.9",
            "4.22.0-alpha",
            "4.22.0-alpha.1",
            "4.22.0-alpha.beta",
            "4.22.0-ec.2",
            "4.22.0-ec.10",
            "4.22.0-rc.1",
            "4.22.0",
            "4.22.1",
            "5.0.0",
        ];
        for (index, version) in ordered.iter().enumerate() {
            for (other_index, other) in ordered.iter().enumerate() {
                assert_eq!(is_older(version, other), index < other_index, "{version} {other}");
            }
        }
    }

    #[test]
    fn what_is_not_a_version_is_never_older() {
        for text in ["", "4.22", "latest", "4.22.0.1", "v4.22.0"] {
            assert!(!is_older(text, "4.22.0") && !is_older("4.22.0", text), "{text}");
        }
        assert!(!is_older("4.22.0+one", "4.22.0+two"));
    }
}
