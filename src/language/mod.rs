//! The files that users write: one module per kind, and the types of their fields.
//!
//! `typed` declares structs with their reader and schema. `template` fills in `${…}`, `when` evaluates conditions.

mod bounds;
mod check_code;
mod checks;
mod conversion;
mod fillable;
mod filters;
mod fragment;
mod guest_values;
mod header;
mod intents;
mod issued;
mod needs;
mod omission;
mod page;
mod parameter_set;
mod parameter_source;
mod parameters;
mod pattern;
mod profile;
mod profiles;
mod profiles_folder;
mod replacements;
mod schema;
mod selector;
pub(crate) mod template;
mod typed;
mod value_rules;
mod value_type;
mod when;

pub(crate) use crate::object::Selector;
pub use check_code::Check;
pub(crate) use checks::{Allowance, Checks};
pub use filters::{Capabilities, Filters, Override, OverrideError};
pub(crate) use fragment::{Addition, Fragment, FragmentFile, Input, Use};
pub(crate) use header::DnsLabel;
pub(crate) use intents::{Intent, IntentRule, Intents};
pub(crate) use issued::{read_certificate, read_kubeconfig};
pub(crate) use needs::{Need, NeedCluster, NeededRule};
pub(crate) use omission::{Omission, Omissions};
pub(crate) use page::{CreatedItem, ImageReleases, Page, PatchEntry, PatchPosition, PatchTarget, Place};
pub(crate) use parameter_set::{DEFAULT_SET, ParameterSet, ValueSources};
pub(crate) use parameter_source::ParameterObject;
pub(crate) use parameters::{Parameter, ParameterOfGuest, Parameters};
pub(crate) use pattern::{TextPattern, is_literal};
pub use profile::Profile;
pub(crate) use profile::{
    FieldRule, INVENTORY_NAMESPACE, INVENTORY_SHARDS, PolicyRule, PolicyTarget, Signer,
};
pub use profiles::Profiles;
pub(crate) use schema::schema;
pub(crate) use typed::Marked;
pub(crate) use value_rules::{ValueRules, Visibility};
pub(crate) use value_type::ValueType;
pub(crate) use when::{Condition, When, unmet};
