//! The `Warning` headers with which an API server or an admission webhook comments on a request that it accepts.

use http::HeaderMap;
use http::header::WARNING;

/// The code of warnings of the API server (RFC 7234).
const PERSISTENT_WARNING: &str = "299 ";
/// The largest number of warnings of one response. The guest's administrator decides how many there are.
const MAX_WARNINGS: usize = 20;
/// The number of characters that a message quotes from a warning.
const QUOTED_CHARACTERS: usize = 1_000;

/// Returns the texts of the warnings of a response.
pub(super) fn warnings(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(WARNING).into_iter().take(MAX_WARNINGS);
    values.filter_map(|value| parse(&String::from_utf8_lossy(value.as_bytes()))).collect()
}

/// Reads a warning such as `299 - "text"`. The text may have escaped quotation marks.
fn parse(value: &str) -> Option<String> {
    let (_, quoted) = value.strip_prefix(PERSISTENT_WARNING)?.split_once('"')?;
    let (mut text, mut chars) = (String::new(), quoted.chars());
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => text.extend(chars.next()),
            char => text.push(char),
        }
    }
    let text: String = text.chars().take(QUOTED_CHARACTERS).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use http::header::{HeaderMap, HeaderValue, WARNING};

    use super::warnings;

    #[test]
    fn only_warnings_of_the_api_server_are_read() {
        let mut headers = HeaderMap::new();
        for value in [
            "299 - \"v1 Endpoints is deprecated\"",
            "299 - \"say \\\"no\\\"\" \"Mon, 01 Jan 2024 00:00:00 GMT\"",
            "110 - \"stale\"",
            "299 - \"\"",
            "299 -",
            "",
        ] {
            headers.append(WARNING, HeaderValue::from_static(value));
        }
        assert_eq!(warnings(&headers), ["v1 Endpoints is deprecated", "say \"no\""]);
        let long = format!("299 - \"{}\"", "x".repeat(5000));
        let mut headers = HeaderMap::new();
        for _ in 0..50 {
            headers.append(WARNING, HeaderValue::from_str(&long).unwrap());
        }
        let read = warnings(&headers);
        assert_eq!((read.len(), read[0].len()), (20, 1000));
    }
}
