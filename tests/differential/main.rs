//! Compares patches with the results of Kubernetes' and kustomize's own Go code.
//!
//! `TRANSSHIP_DIFFERENTIAL` is the number of pairs of an object and a patch, for each format, and `TRANSSHIP_SEED` the first
//! seed. `make fuzz` compares 100,000.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking, and says why it is skipped"
)]

mod generate;
#[path = "../../crates/kubernetes-yaml/tests/differential/oracle.rs"]
mod oracle;
mod patches;
#[path = "../../crates/kubernetes-yaml/tests/differential/random.rs"]
mod random;
mod shapes;

use std::path::Path;

use oracle::Oracle;

/// Builds the program that answers for Kubernetes, in one mode.
fn oracle(mode: &'static str) -> Option<Oracle> {
    Oracle::build(Path::new(env!("CARGO_MANIFEST_DIR")), mode)
}

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}
