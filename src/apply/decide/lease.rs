//! The Lease that makes sure that only one command writes: who holds it, and its content.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::apply::decide::event::single_line;
use crate::apply::decide::inventory::InventoryLocation;

/// The longest time that a Lease of another client is respected without a renewal.
const MAX_DURATION: Duration = Duration::from_secs(600);

/// Who holds a Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeaseHolder {
    pub(crate) identity: String,
    /// When the holder acquired it, as the holder says.
    pub(crate) since: String,
    /// When the holder renewed it last, as the holder says.
    pub(crate) renewed: String,
    /// How long it is valid after a renewal.
    pub(crate) duration: Duration,
}

impl LeaseHolder {
    /// Returns the holder of a Lease; `None` if it is free.
    pub(crate) fn of(lease: &Value) -> Option<Self> {
        let spec = &lease["spec"];
        let text = |key: &str| single_line(spec[key].as_str().unwrap_or_default());
        let identity = text("holderIdentity");
        if identity.is_empty() {
            return None;
        }
        let seconds = spec["leaseDurationSeconds"].as_u64().unwrap_or_default();
        let duration = Duration::from_secs(seconds).min(MAX_DURATION);
        Some(Self { identity, since: text("acquireTime"), renewed: text("renewTime"), duration })
    }
}

impl fmt::Display for LeaseHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} since {}, last renewed {}", self.identity, self.since, self.renewed)
    }
}

/// The content of a Lease that transship holds.
#[derive(Clone, Debug)]
pub(crate) struct HeldLease<'l> {
    pub(crate) identity: &'l str,
    pub(crate) acquired: &'l str,
    pub(crate) renewed: &'l str,
    pub(crate) duration: Duration,
}

impl HeldLease<'_> {
    /// Returns the Lease. `previous` is the Lease as it was read; its resource version makes the API server reject the write
    /// if someone else wrote the Lease since.
    pub(crate) fn object(&self, location: &InventoryLocation, previous: Option<&Value>) -> Value {
        let mut lease = empty(location, previous);
        let before = previous.map(|lease| &lease["spec"]);
        let transitions = before.map_or(0, |spec| spec["leaseTransitions"].as_u64().unwrap_or_default());
        let is_same = before.is_some_and(|spec| spec["holderIdentity"] == self.identity);
        lease["spec"] = json!({
            "holderIdentity": self.identity,
            "leaseDurationSeconds": self.duration.as_secs().max(1),
            "acquireTime": self.acquired,
            "renewTime": self.renewed,
            "leaseTransitions": if is_same || before.is_none() { transitions } else { transitions + 1 },
        });
        lease
    }
}

/// Returns the Lease without a holder.
pub(crate) fn released(location: &InventoryLocation, previous: &Value) -> Value {
    let mut lease = empty(location, Some(previous));
    let transitions = previous["spec"]["leaseTransitions"].as_u64().unwrap_or_default();
    lease["spec"] = json!({"leaseTransitions": transitions});
    lease
}

fn empty(location: &InventoryLocation, previous: Option<&Value>) -> Value {
    let mut lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": location.name, "namespace": location.namespace},
    });
    if let Some(version) = previous.and_then(|lease| lease["metadata"]["resourceVersion"].as_str()) {
        lease["metadata"]["resourceVersion"] = json!(version);
    }
    lease
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::{HeldLease, LeaseHolder, MAX_DURATION, released};
    use crate::apply::decide::inventory::InventoryLocation;

    fn location() -> InventoryLocation {
        InventoryLocation { namespace: "ns".to_owned(), name: "transship-x".to_owned() }
    }

    fn held(identity: &'static str) -> HeldLease<'static> {
        HeldLease { identity, acquired: "t1", renewed: "t2", duration: Duration::from_secs(15) }
    }

    #[test]
    fn a_lease_names_its_holder_until_it_is_released() {
        let mut lease = held("a").object(&location(), None);
        assert_eq!(lease["spec"]["leaseTransitions"], 0);
        let holder = LeaseHolder::of(&lease).unwrap();
        assert_eq!(holder.to_string(), "a since t1, last renewed t2");
        assert_eq!(holder.duration, Duration::from_secs(15));
        lease["metadata"]["resourceVersion"] = json!("7");
        let renewed = held("a").object(&location(), Some(&lease));
        assert_eq!(renewed["spec"]["leaseTransitions"], 0);
        assert_eq!(renewed["metadata"]["resourceVersion"], "7");
        let taken_over = held("b").object(&location(), Some(&lease));
        assert_eq!(taken_over["spec"]["leaseTransitions"], 1);
        let free = released(&location(), &taken_over);
        assert_eq!(LeaseHolder::of(&free), None);
        assert_eq!(free["spec"]["leaseTransitions"], 1);
    }

    #[test]
    fn a_lease_of_another_client_does_not_block_for_ever() {
        let lease = json!({"spec": {"holderIdentity": "x\nforged", "leaseDurationSeconds": u64::MAX}});
        let holder = LeaseHolder::of(&lease).unwrap();
        assert_eq!((holder.identity.as_str(), holder.duration), ("x forged", MAX_DURATION));
        assert_eq!(LeaseHolder::of(&json!({"spec": {"holderIdentity": ""}})), None);
        assert_eq!(LeaseHolder::of(&json!([])), None);
    }
}
