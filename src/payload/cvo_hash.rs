//! The cluster-version-operator's hash of a payload.

use base64::Engine;

use super::Manifest;
use crate::yaml::json;

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
