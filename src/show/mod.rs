//! Output for people and tools: lists, explanations, diffs and findings as text.

mod aligned;
mod color;
mod credentials;
mod cvo_omit;
mod diff;
mod explain;
mod field_diff;
mod findings;
mod golden;
mod list;
mod reach;
mod rendered;
mod revised_field;
mod roles;
mod unified_diff;

pub(crate) use aligned::aligned;
pub(crate) use color::Paint;
pub(crate) use credentials::{CredentialState, credentials, credentials_json, credentials_table};
pub(crate) use cvo_omit::CvoOmit;
pub(crate) use diff::{ProfileObjects, diff, fields};
pub(crate) use explain::{excluded, explain, find, is_called};
pub(crate) use field_diff::{Change, changes};
pub(crate) use findings::{errors_json, errors_sarif, json, sarif, text};
pub(crate) use golden::{github, report, stale_folder, stale_folder_github};
pub(crate) use list::{Row, added, orphans, rows, selected, summary, table, to_json};
pub(crate) use reach::{reach_json, reach_text};
pub(crate) use rendered::rendered;
pub(crate) use roles::roles;
