//! Comparisons with Kubernetes' and OpenShift's own Go code, on generated input or on the cases of a file.
//! `tests/tools/differential` is the Go part.
//!
//! `TRANSSHIP_DIFFERENTIAL` is the number of comparisons, and `TRANSSHIP_SEED` the first seed. `make fuzz` makes many.

#![allow(clippy::print_stderr, reason = "a test says why it is skipped")]

mod crds;
mod inclusion;
mod kustomize;
#[path = "../../crates/kubernetes-yaml/tests/differential/oracle.rs"]
mod oracle;
#[path = "../../crates/kubernetes-yaml/tests/differential/random.rs"]
mod random;

/// Returns a number from the environment.
fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}
