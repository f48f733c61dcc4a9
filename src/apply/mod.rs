//! Where the network begins: everything that talks to a cluster, and nothing else does.

mod client;
mod wait_for;

pub use client::connect;
pub use wait_for::{Awaited, Progress, Seen, wait_for};
