//! One live cluster: which one it is, what it serves, what is in it, its inventory, and whether this command may write to it.

pub(super) mod applied_uids;
pub(super) mod authorities;
pub(super) mod clock;
pub(super) mod contact;
pub(super) mod crd;
pub(super) mod error;
pub(super) mod installing_crds;
pub(super) mod inventory_store;
pub(super) mod issuer;
pub(super) mod labelled_object;
pub(super) mod listing;
pub(super) mod live_cluster;
pub(super) mod options;
pub(super) mod read_issued;
pub(super) mod target;
pub(super) mod write_lock;
pub(super) mod writer;
