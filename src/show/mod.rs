//! Output for people and tools: lists, explanations, diffs and findings as text.

mod color;
mod diff;
mod explain;
mod field_diff;
mod findings;
mod golden;
mod list;
mod mask_secrets;
mod rendered;
mod unified_diff;

pub use color::Paint;
pub use diff::{ProfileObjects, diff, fields};
pub use explain::{explain, find, is_called};
pub use field_diff::{Change, changes};
pub use findings::{json, sarif, text};
pub use golden::{github, report, stale_folder, stale_folder_github};
pub use list::{Row, added, orphans, rows, selected, summary, table, to_json};
pub use rendered::rendered;
