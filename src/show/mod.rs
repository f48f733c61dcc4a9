//! How things are shown to people and to the machines that work for them.

mod color;
mod diff;
mod explain;
mod field_diff;
mod findings;
mod golden;
mod list;
mod mask_secrets;
mod rendered;

pub use color::Paint;
pub use diff::{Side, diff, fields};
pub use explain::{explain, find, is_called};
pub use field_diff::{Change, changes};
pub use findings::{json, merge, sarif, text};
pub use golden::{github, report};
pub use list::{Row, added, orphans, rows, selected, summary, table, to_json};
pub use rendered::rendered;
