//! Where the inventory of a profile is.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::apply::decide::inventory_shards::ShardNames;
use crate::language::{INVENTORY_NAMESPACE, Profile};
use crate::object::ObjectId;
use crate::order::Plan;

/// The namespace and name of an inventory's `ConfigMap`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InventoryLocation {
    /// The namespace.
    pub(crate) namespace: String,
    /// The name.
    pub(crate) name: String,
}

impl InventoryLocation {
    /// Returns the location of a profile's inventory: in the namespace of the hosted control plane, if the plan has one.
    /// In a guest, its name contains that of the hosted control plane, so that two hosted control planes never share a
    /// set.
    pub(crate) fn of(profile: &Profile, plan: &Plan) -> Self {
        let namespace = plan.namespace.clone().unwrap_or_else(|| INVENTORY_NAMESPACE.to_owned());
        Self { namespace, name: profile.inventory_name(plan.hosted_control_plane.as_deref()) }
    }

    /// Returns whether an object is this `ConfigMap`, or may become one of its shards.
    pub(crate) fn is_of(&self, id: &ObjectId) -> bool {
        id.kind == "ConfigMap"
            && id.group.is_empty()
            && id.namespace == self.namespace
            && (id.name == self.name || ShardNames::of(&self.name).contains(&id.name))
    }

    /// Returns the ID of the `ApplySet`: the value of the label `applyset.kubernetes.io/part-of`.
    pub(crate) fn apply_set_id(&self) -> String {
        let parent = format!("{}.{}.ConfigMap.", self.name, self.namespace);
        format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(Sha256::digest(parent)))
    }
}

impl fmt::Display for InventoryLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigMap/{} in {}", self.name, self.namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::InventoryLocation;

    fn location() -> InventoryLocation {
        InventoryLocation {
            namespace: "openshift-config-managed".into(),
            name: "transship-standalone".into(),
        }
    }

    #[test]
    fn the_location_names_the_config_map() {
        assert_eq!(location().to_string(), "ConfigMap/transship-standalone in openshift-config-managed");
    }

    #[test]
    fn the_set_is_named_like_an_apply_set() {
        let set = location().apply_set_id();
        assert!(set.starts_with("applyset-") && set.ends_with("-v1") && set.len() == 55, "{set}");
    }
}
