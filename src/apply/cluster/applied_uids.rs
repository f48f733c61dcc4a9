//! The uids of the objects that a run applied. Some API servers serve one object in two API groups, such as `Event`. The uid
//! tells that both names are the same object.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::object::ObjectId;

/// The uids of the objects that this run applied, or found to be as desired.
#[derive(Default)]
pub(crate) struct AppliedUids(Mutex<HashMap<String, ObjectId>>);

impl AppliedUids {
    /// Records an object that was applied.
    pub(crate) fn record(&self, uid: &str, id: &ObjectId) {
        if !uid.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uid.to_owned(), id.clone());
        }
    }

    /// Returns all uids with their objects.
    pub(crate) fn all(&self) -> HashMap<String, ObjectId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the other name under which this run applied the object with this uid.
    pub(crate) fn other_name(&self, uid: &str, id: &ObjectId) -> Option<ObjectId> {
        let uids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uids.get(uid).filter(|applied| *applied != id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::AppliedUids;
    use crate::object::ObjectId;

    fn event(group: &str) -> ObjectId {
        let [kind, namespace, name] = ["Event", "ns", "e"].map(str::to_owned);
        ObjectId { group: group.to_owned(), kind, namespace, name }
    }

    #[test]
    fn an_object_is_found_under_its_other_name() {
        let uids = AppliedUids::default();
        uids.record("u", &event("events.k8s.io"));
        uids.record("", &event("example.test"));
        assert_eq!(uids.other_name("u", &event("")), Some(event("events.k8s.io")));
        assert_eq!(uids.other_name("u", &event("events.k8s.io")), None, "it is the same name");
        assert_eq!(uids.other_name("v", &event("")), None);
        assert_eq!(uids.other_name("", &event("")), None, "an empty uid names no object");
    }
}
