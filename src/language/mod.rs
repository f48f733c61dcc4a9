//! What the user chose: the files of the language, typed.
//!
//! `typed` declares structs with their reader and schema; `template` and `when` are the two things that files say with
//! parameters; the rest is one file a kind.

mod checks;
mod common;
mod component;
mod filters;
mod fragment;
mod intents;
mod parameter_sets;
mod parameters;
#[expect(clippy::module_inception, reason = "a profile is what this room is named after")]
mod profile;
mod profiles;
mod read_folder;
mod schema;
mod selector;
pub mod template;
mod typed;
mod when;

pub use checks::{Allowance, Check, Checks, External, Pattern};
pub use common::{Label, Omission, Omissions};
pub use component::{Component, ImageHomes, ItemPosition, PatchEntry, PatchTarget, Place};
pub use filters::{Capabilities, Filters, Override};
pub use fragment::{Addition, Fragment, FragmentFile, FragmentManifest, Input, InputType, Use};
pub use intents::{Intent, IntentRule, Intents};
pub use parameter_sets::{DEFAULT_SET, ParameterSet, ValueSources};
pub use parameters::{Parameter, Parameters, Readable};
pub use profile::{FieldRule, Pins, PolicyRule, PolicyTarget, Profile};
pub use profiles::Profiles;
pub use schema::schema;
pub use selector::Selector;
pub use typed::Marked;
pub use when::{Condition, When, unmet};
