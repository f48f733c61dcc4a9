//! Everything that needs no cluster, one module a capability.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::too_many_lines,
    reason = "a test fails by panicking, and a table may be long"
)]

mod architecture;
mod bad_input;
mod checks;
mod commands;
mod compatibility;
mod corners;
mod corpus;
mod docs;
mod events;
mod explain;
mod fragments;
#[path = "../../benches/generate.rs"]
mod generate;
mod golden;
mod honours;
mod language;
mod list;
mod misuse;
mod moves;
mod namespace;
mod order;
mod parameters;
mod patches;
mod policy;
mod profiles;
mod prune;
mod pure;
mod readiness;
mod readme;
mod required;
mod required_driver;
mod required_snapshots;
mod rollout;
mod select;
mod shapes;
mod storage;
mod storage_page;
mod support;
mod transform;
mod words;
mod yaml_properties;
mod yaml_truth;
mod yaml_write;
