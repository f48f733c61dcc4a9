//! One release payload, every topology, the right cluster.
pub mod yaml;
