//! Digests that tell one version of an object from another.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes of a SHA-256 digest that are kept.
const LENGTH: usize = 8;

/// Returns the digest of a JSON value.
pub(crate) fn of_value(value: &Value) -> String {
    of_hash(Sha256::new_with_prefix(value.to_string()))
}

/// Returns the first bytes of a hash as hexadecimal digits.
pub(crate) fn of_hash(hash: Sha256) -> String {
    let mut text = String::with_capacity(2 * LENGTH);
    for byte in hash.finalize().iter().take(LENGTH) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
