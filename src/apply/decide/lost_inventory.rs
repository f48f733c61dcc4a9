//! Restores an inventory that someone deleted or emptied, from the objects that carry its label.

use serde_json::Value;

use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::managed_fields;
use crate::object::ObjectId;

/// Returns the entry of a labelled object; `None` if transship did not write it. Controllers copy labels, for example from a
/// Service to its `EndpointSlices`.
pub(crate) fn restored_entry(live: &Value) -> Option<InventoryEntry> {
    if !managed_fields::is_written_by_us(live) {
        return None;
    }
    let (api_version, metadata) = (live["apiVersion"].as_str()?, &live["metadata"]);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let id = ObjectId {
        group: group.to_owned(),
        kind: live["kind"].as_str()?.to_owned(),
        namespace: metadata["namespace"].as_str().unwrap_or_default().to_owned(),
        name: metadata["name"].as_str()?.to_owned(),
    };
    let live_digest = managed_fields::digest(live).unwrap_or_default();
    let uid = metadata["uid"].as_str()?.to_owned();
    // Without a digest of the desired object, the next apply compares it.
    Some(InventoryEntry { uid, live_digest, ..InventoryEntry::planned(&id, version) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::restored_entry;

    #[test]
    fn only_objects_that_transship_wrote_are_restored() {
        let mut live = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "op", "namespace": "ns", "uid": "u", "managedFields": [
                {"manager": "transship", "operation": "Apply", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
            ]},
            "spec": {"replicas": 1},
        });
        let entry = restored_entry(&live).unwrap();
        assert_eq!(
            (entry.id.to_string().as_str(), entry.version.as_str(), entry.uid.as_str()),
            ("Deployment.apps/op in ns", "v1", "u")
        );
        assert!(entry.desired_digest.is_empty() && !entry.live_digest.is_empty());
        live["metadata"]["managedFields"][0]["manager"] = json!("kube-controller-manager");
        assert_eq!(restored_entry(&live), None);
    }
}
