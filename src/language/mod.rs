//! What the user chose: the files of the language, typed.
//!
//! `typed` declares structs with their reader and schema; `template` and `when` are the two things that files say with
//! parameters; the rest is one file a kind.

mod checks;
mod common;
mod component;
mod read_folder;
mod filters;
mod profiles;
mod fragment;
mod intents;
mod selector;
mod parameters;
#[expect(clippy::module_inception, reason = "a profile is what this room is named after")]
mod profile;
mod schema;
mod parameter_sets;
pub mod template;
mod typed;
mod when;

pub use checks::{Allowance, Check, Checks, External, Pattern};
pub use common::{Label, Omission, Omissions};
pub use component::{Component, ImageHomes, ItemPosition, PatchEntry, Place, Target};
pub use filters::{Capabilities, Filters, Override};
pub use profiles::Profiles;
pub use fragment::{Fragment, FragmentFile, Input, InputType, Addition, ShapeManifest, Use};
pub use intents::{Intent, IntentRule, Intents};
pub use selector::Selector;
pub use parameters::{Parameter, Parameters, Readable};
pub use profile::{PolicyRule, Left, PolicyTarget, Pins, Profile};
pub use schema::schema;
pub use parameter_sets::{DEFAULT_SET, Given, Set};
pub use typed::Marked;
pub use when::{Condition, When, unmet};
