//! One release payload, every topology, the right cluster.
//!
//! ```text
//!  payload/ ─┐
//!  profiles/ ┴─▶ load ─▶ select ─▶ transform ─▶ check ─▶ order ─┬─▶ emit   YAML, JSON, folder, golden
//!                                                              └─▶ show   list, diff
//! ```
//!
//! Data flows one way. Everything here is a function of its inputs: no clock, no network, no randomness; so the same
//! input gives the same bytes.

pub mod check;
pub mod diagnostic;
pub mod emit;
mod file;
mod glob;
mod nearest;
pub mod object;
pub mod order;
mod parallel;
pub mod payload;
pub mod profile;
pub mod select;
pub mod show;
pub mod transform;
pub mod yaml;

pub use file::{read_document, read_stream, read_text};

use diagnostic::Diagnostics;
use order::Plan;
use transform::Context;

/// Renders a payload for one profile: the objects, in the order in which they are applied.
pub fn render(context: &Context<'_>) -> Result<Plan, Diagnostics> {
    let out = select::decide(context.payload, context.profile, context.parameters, context.sources)?;
    let objects = transform::all(context, &out)?;
    check::unique(&objects, context.sources)?;
    Ok(order::plan(objects))
}
