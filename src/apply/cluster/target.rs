//! A cluster to apply to, or to delete from.

use kube::Client;

use crate::language::Profile;
use crate::order::Plan;

/// A cluster to apply to, or to delete from.
pub struct TargetCluster<'a> {
    /// The client.
    pub client: Client,
    /// The profile.
    pub profile: &'a Profile,
    /// The objects that are rendered for the cluster.
    pub plan: &'a Plan,
    /// The digest of everything that the objects depend on, which the inventory records.
    pub render_digest: String,
    /// The version of the payload, which the inventory records; empty if it has none.
    pub payload_version: String,
}
