//! The render digest: identifies everything that a render depends on.

use crate::expand::Context;
use crate::language::template::Lookup;
use crate::sha256::{Hasher, Sha256};
use crate::yaml::{Sensitivity, json};

impl Context<'_> {
    /// Returns the digest of the payload, the pages, the patches, the images, the profiles, the fragments, the parameters
    /// and the version of transship. The same digest means the same rendered objects, if the values of secret
    /// parameters are the same too.
    ///
    /// The digest does not include these values: users of the guest can read the digest, and could guess a short value.
    pub(crate) fn render_digest(&self) -> Sha256 {
        let mut hasher = Hasher::default();
        hasher.add(env!("CARGO_PKG_VERSION"));
        hasher.add(&self.payload.inputs_sha256().to_string());
        hasher.add(&self.profiles.sha256.to_string());
        for (name, value) in self.parameters.iter() {
            match value {
                Lookup::Value(node) if node.highest_sensitivity() > Sensitivity::Public => {
                    hasher.add_all(&["secret", name]);
                }
                Lookup::Value(node) => hasher.add_all(&["parameter", name, &json::write(node)]),
                Lookup::Absent => hasher.add_all(&["absent", name]),
            }
        }
        hasher.finish()
    }
}
