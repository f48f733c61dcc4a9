//! Digests: SHA-256 of files, and the cluster-version-operator's hash of a payload.

use std::fmt;

use base64::Engine;
use sha2::Digest;

use super::Manifest;
use crate::yaml::json;

/// A SHA-256 digest, printed in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sha256([u8; 32]);

#[derive(Default)]
pub(super) struct Hasher(sha2::Sha256);

impl Sha256 {
    /// Computes the digest of bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }
}

impl Hasher {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the ClusterVersion's `status.versionHash` for the included manifests: 64-bit FNV-1 over their JSON, in base64.
pub fn cvo_hash<'a>(included: impl IntoIterator<Item = &'a Manifest>) -> String {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = OFFSET;
    for manifest in included {
        let raw = manifest.json.clone().unwrap_or_else(|| json::write(&manifest.root));
        for byte in raw.bytes() {
            hash = hash.wrapping_mul(PRIME) ^ u64::from(byte);
        }
    }
    base64::engine::general_purpose::URL_SAFE.encode(hash.to_be_bytes())
}
