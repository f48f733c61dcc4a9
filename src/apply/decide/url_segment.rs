//! Percent-encoding of names in URL paths.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Bytes that are escaped in a URL path segment: everything except letters, digits and `.-_:@`.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_').remove(b':').remove(b'@');

/// Escapes a name for a URL path. The names of some kinds, such as `ClusterRole`, may contain nearly any character.
pub(crate) fn escape(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

/// Reads a name that [`escape`] wrote. Returns `None` for a name that would lead to another path.
pub(crate) fn unescape(segment: &str) -> Option<String> {
    let name = percent_decode_str(segment).decode_utf8().ok()?.into_owned();
    let leads_elsewhere = name.is_empty() || name == "." || name == ".." || name.contains(['/', '%']);
    (!leads_elsewhere && escape(&name) == segment).then_some(name)
}
