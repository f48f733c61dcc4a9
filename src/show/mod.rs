//! How things are shown to people and to the machines that work for them.

mod field_diff;
mod diff;
mod explain;
mod findings;
mod golden;
mod list;
mod mask_secrets;
mod color;

pub use field_diff::{Change, changes};
pub use diff::{Side, diff, fields};
pub use explain::{explain, find, is_called};
pub use findings::{json, merge, sarif, text};
pub use golden::{github, report};
pub use list::{Row, added, decided, orphans, rows, summary, table, to_json};
pub use color::Paint;
