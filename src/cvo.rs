//! The rules by which the cluster-version-operator selects manifests.
//!
//! ```
//! use std::path::Path;
//! use transship::cvo::{self, Filters};
//!
//! let payload = transship::Payload::load(Path::new("payload"))?;
//! let filters = Filters { cluster_profile: Some("ibm-cloud-managed".to_owned()), ..Filters::default() };
//! let included = payload.manifests.iter().filter(|manifest| cvo::include(manifest, &filters).is_ok());
//! assert!(included.count() < payload.manifests.len());
//! # Ok::<(), transship::Diagnostics>(())
//! ```

pub use crate::language::{Capabilities, Filters, Override, OverrideError};
pub use crate::payload::cvo_hash;
pub use crate::select::{Exclusion, ExclusionFilter, implicitly_enabled, include};
