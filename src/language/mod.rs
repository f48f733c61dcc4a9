//! The files that users write: one module per kind, and the types of their fields.
//!
//! `typed` declares structs with their reader and schema. `template` fills in `${…}`, `when` evaluates conditions.

mod checks;
mod filters;
mod fragment;
mod header;
mod intents;
mod omission;
mod page;
mod parameter_set;
mod parameters;
mod profile;
mod profiles;
mod profiles_folder;
mod schema;
mod selector;
pub mod template;
mod typed;
mod value_type;
mod when;

pub use crate::object::Selector;
pub use checks::{Allowance, Check, Checks, External};
pub use filters::{Capabilities, Filters, Override, OverrideError};
pub use fragment::{Addition, Fragment, FragmentFile, FragmentManifest, Input, Use};
pub use header::DnsLabel;
pub use intents::{Intent, IntentRule, Intents};
pub use omission::{Omission, Omissions};
pub use page::{ImageReleases, ItemPosition, Page, PatchEntry, PatchTarget, Place};
pub use parameter_set::{DEFAULT_SET, ParameterSet, ValueSources};
pub use parameters::{Parameter, ParameterObject, Parameters};
pub use profile::{FieldRule, Pins, PolicyRule, PolicyTarget, Profile};
pub use profiles::Profiles;
pub use schema::schema;
pub use typed::Marked;
pub use value_type::{InvalidValue, ParameterType, TextPattern, ValueRules, ValueType, Visibility};
pub use when::{Condition, When, unmet};
