pub(super) mod crd;
pub(super) mod inventory_store;
pub(super) mod live_cluster;
