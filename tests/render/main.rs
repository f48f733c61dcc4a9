//! Everything that needs no cluster, one module a capability.

mod yaml_truth;
