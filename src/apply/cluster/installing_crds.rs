//! CRDs that stay at `Installing`. The API server establishes a CRD after an update of it. If it is killed in between, it
//! establishes the CRD only after the next update, or after minutes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::object::ObjectId;

/// How long a CRD may be installing. With several API servers, each waits for five seconds.
const PATIENCE: Duration = Duration::from_secs(7);

/// When transship first saw that a CRD is installing.
#[derive(Default)]
pub(crate) struct InstallingCrds(Mutex<HashMap<ObjectId, Instant>>);

impl InstallingCrds {
    /// Returns whether a CRD has been installing for so long that it needs an update. Returns it once, and again only after
    /// the same time.
    pub(crate) fn needs_update(&self, id: &ObjectId, live: &Value, now: Instant) -> bool {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_installing(live) {
            seen.remove(id);
            return false;
        }
        let since = seen.entry(id.clone()).or_insert(now);
        let needs_update = now.duration_since(*since) >= PATIENCE;
        if needs_update {
            *since = now;
        }
        needs_update
    }
}

/// Returns whether the names of a CRD are accepted, but it is not established.
fn is_installing(live: &Value) -> bool {
    let has = |name: &str, status: &str| {
        let conditions = live["status"]["conditions"].as_array().into_iter().flatten();
        conditions.into_iter().any(|condition| condition["type"] == name && condition["status"] == status)
    };
    has("NamesAccepted", "True") && !has("Established", "True")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::{InstallingCrds, PATIENCE};
    use crate::object::ObjectId;

    fn crd(accepted: &str, established: &str) -> Value {
        let condition = |name: &str, status: &str| json!({"type": name, "status": status});
        json!({"status": {"conditions": [
            condition("NamesAccepted", accepted), condition("Established", established),
        ]}})
    }

    #[test]
    fn a_crd_needs_an_update_after_some_time() {
        let [group, kind, namespace, name] =
            ["apiextensions.k8s.io", "CustomResourceDefinition", "", "a"].map(str::to_owned);
        let (id, crds) = (ObjectId { group, kind, namespace, name }, InstallingCrds::default());
        let (installing, start) = (crd("True", "False"), Instant::now());
        let needs_update =
            |live: &Value, patience: u32| crds.needs_update(&id, live, start + PATIENCE * patience);
        assert!(!needs_update(&installing, 0));
        assert!(needs_update(&installing, 1));
        assert!(!needs_update(&installing, 1), "only once");
        assert!(needs_update(&installing, 2), "again after the same time");
        for (index, other) in [crd("True", "True"), crd("False", "False"), json!({})].iter().enumerate() {
            let patience = 3 + u32::try_from(index).unwrap();
            assert!(!needs_update(other, patience), "{other}");
            assert!(!needs_update(&installing, patience), "the time starts again");
            assert!(!crds.needs_update(
                &id,
                &installing,
                start + PATIENCE * patience + Duration::from_secs(1)
            ));
        }
    }
}
