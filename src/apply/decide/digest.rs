//! Digests that tell one version of an object from another.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes of a SHA-256 digest that are kept.
const LENGTH: usize = 8;
/// The number of characters of a digest.
pub(crate) const SIZE: usize = 2 * LENGTH;

/// Returns the digest of a JSON value.
pub(crate) fn of_value(value: &Value) -> String {
    of_hash(Sha256::new_with_prefix(value.to_string()))
}

/// Returns the first bytes of a hash as hexadecimal digits.
pub(crate) fn of_hash(hash: Sha256) -> String {
    let mut text = String::with_capacity(SIZE);
    for byte in hash.finalize().iter().take(LENGTH) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::of_value;

    #[test]
    fn a_digest_has_the_first_bytes_of_the_hash_of_the_json() {
        // `printf '{"a":1}' | sha256sum` starts with these digits.
        assert_eq!(of_value(&json!({"a": 1})), "015abd7f5cc57a2d");
        assert_ne!(of_value(&json!({"a": 1})), of_value(&json!({"a": 2})));
    }
}
