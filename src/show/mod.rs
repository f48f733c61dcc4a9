//! How things are shown to people and to the machines that work for them.

mod change;
mod diff;
mod explain;
mod findings;
mod golden;
mod list;
mod mask;
mod paint;

pub use change::{Change, changes};
pub use diff::{Side, diff, fields};
pub use explain::{explain, find, is_called};
pub use findings::{json, merge, sarif, text};
pub use golden::{github, report};
pub use list::{Row, added, decided, orphans, rows, summary, table, to_json};
pub use paint::Paint;
