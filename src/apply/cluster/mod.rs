//! One live cluster: what it serves, what is in it, and its inventory.

pub(super) mod applied_uids;
pub(super) mod crd;
pub(super) mod error;
pub(super) mod installing_crds;
pub(super) mod inventory_store;
pub(super) mod live_cluster;
pub(super) mod options;
