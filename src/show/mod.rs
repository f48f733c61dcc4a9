//! How things are shown to people and to the machines that work for them.

mod change;
mod explain;
mod findings;
mod golden;
mod list;
mod mask;
mod paint;

pub use change::{Change, changes};
pub use explain::{explain, find};
pub use findings::{json, merge, sarif, text};
pub use golden::{github, report};
pub use list::{Row, added, orphans, rows, summary, table, to_json};
pub use paint::Paint;
