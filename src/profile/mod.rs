//! What the user chose: the files of the language, typed.
//!
//! `typed` declares structs with their reader and schema; `template` and `when` are the two things that files say with
//! parameters; the rest is one file a kind.

mod common;
mod component;
mod filters;
mod folder;
mod fragment;
mod names;
mod parameters;
#[expect(clippy::module_inception, reason = "a profile is what this room is named after")]
mod profile;
mod schema;
pub mod template;
mod typed;
mod when;

pub use common::{Label, Omission, Omissions};
pub use component::{Component, ItemPosition, PatchEntry, Place, Target};
pub use filters::{Capabilities, Filters, Override};
pub use folder::Profiles;
pub use fragment::{Fragment, Input, InputType, Part, Use};
pub use names::Selector;
pub use parameters::{Parameter, Parameters};
pub use profile::{Every, Of, Profile};
pub use schema::schema;
pub use typed::Marked;
pub use when::{Condition, When, unmet};
