//! Turns the selected manifests of a profile into its final objects.
//!
//! ```text
//!  assemble        manifests with the release's images, contributions of pages and fragments, tombstones
//!     │
//!  handle_intents  all clusters of a topology together; fragments that replace intents are expanded on demand
//!     │
//!  finish          issued Secrets, policy, patches, pins, namespace, annotations to strip
//! ```
//!
//! This module calls [`expand`](crate::expand) only in `handle_intents`, for the fragments that replace intents. They are
//! known only after the contributions of pages were added, because contributions can have intents as well.

mod additive_merge;
mod assemble;
mod component;
mod conflict;
mod contribute;
mod empty_metadata;
mod filled_texts;
mod finish;
mod handle_intents;
mod image_mapper;
mod images;
mod intents;
mod issued;
mod issued_credentials;
mod manifest_object;
mod namespace;
mod new_items;
mod new_object;
mod page_patches;
pub mod patch;
mod patch_address;
mod patch_uses;
mod pins;
mod policy;
mod replaced_fields;
mod set_fields;
mod signers;
mod strip_annotations;
mod tombstones;
mod unknown_containers;
mod version_mapper;

pub(crate) use assemble::assemble;
pub(crate) use finish::{Rendered, finish};
pub(crate) use handle_intents::handle_intents;
pub(crate) use version_mapper::PLACEHOLDER as PLACEHOLDER_VERSION;
