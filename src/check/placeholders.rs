//! Placeholders that are left in texts.

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::transform::PLACEHOLDER_VERSION;

/// Checks that a text has no placeholder that someone should have replaced.
pub(super) fn check_text(field: &Field<'_>, text: &str, report: &mut Report) {
    if text.contains(PLACEHOLDER_VERSION) {
        let message = format!("the placeholder `{PLACEHOLDER_VERSION}` has no version");
        report.add(
            Finding::new(Check::PlaceholderVersion, field, message)
                .note("a cluster would report the placeholder instead of the version of the release")
                .help(
                    "add release-metadata to the payload; a letter, digit or underscore next to the placeholder \
                     prevents the replacement",
                ),
        );
    }
    // Few texts have a `$`, and looking for a single byte is quick.
    if text.contains('$')
        && let Some(name) = first_placeholder(text)
    {
        // The name is not shown for a Secret: everything in it may be secret.
        let shown =
            if field.object.id.kind == "Secret" { "${…}".to_owned() } else { format!("${{{name}}}") };
        report.add(
            Finding::new(Check::UnfilledPlaceholder, field, format!("`{shown}` is not replaced by a value"))
                .note("transship inserts values in pages, fragments and profiles, not in manifests")
                .help("set the field with a patch or an addition; if a shell replaces it, allow the finding"),
        );
    }
}

/// Returns the name in the first `${name}` of a text. `${name:-default}` and the like are for a shell.
fn first_placeholder(text: &str) -> Option<&str> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("${") {
        let end = after
            .find(|next: char| !next.is_ascii_alphanumeric() && !"_.-".contains(next))
            .unwrap_or(after.len());
        let starts_as_name = after.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if starts_as_name && after[end..].starts_with('}') {
            return Some(&after[..end]);
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_placeholder;

    #[test]
    fn only_a_plain_name_is_a_placeholder() {
        for (text, expected) in [
            ("${NAME}", Some("NAME")),
            ("a ${hcp.namespace}-${b}", Some("hcp.namespace")),
            ("${a ${B}", Some("B")),
            ("${_x-1}", Some("_x-1")),
            ("$NAME $(NAME) ${} ${1} ${NAME:-x} ${#NAME} ${NAME", None),
        ] {
            assert_eq!(first_placeholder(text), expected, "{text}");
        }
    }
}
