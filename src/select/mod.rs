//! Which manifests are in, and why the others are not.

mod capability;
mod include;

use crate::payload::Payload;
use crate::profile::Filters;

pub use capability::implicitly_enabled;
pub use include::{Code, Reason, include};

/// What became of a payload's manifests: for each one, in order, nothing if it is in, or the reason why it is out.
pub fn by(filters: &Filters, payload: &Payload) -> Vec<Option<Reason>> {
    payload.manifests.iter().map(|manifest| include(manifest, filters).err()).collect()
}
