//! Deletes one object. The inventory, the uid and the label must all say that it belongs to transship.

use std::time::Duration;

use kube::api::{DeleteParams, Preconditions};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::apply::cluster::crd::{self, CRD};
use crate::apply::cluster::error::object_error;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::NotOurs;
use crate::apply::wire::backoff::Backoff;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::memory::HeldMemory;
use crate::apply::wire::request::ObjectPath;
use crate::object::ObjectId;

/// How often to try to delete an object that someone else keeps changing. The last attempt has only the uid as a
/// precondition, so it deletes the object even if it changed.
const MAX_ATTEMPTS: usize = 5;
const FIRST_POLL: Duration = Duration::from_millis(100);
const MAX_POLL: Duration = Duration::from_secs(2);

/// An object to delete.
pub(crate) struct Deletion<'d> {
    pub(crate) cluster: &'d LiveCluster<'d>,
    pub(crate) id: &'d ObjectId,
    pub(crate) path: &'d ObjectPath,
    pub(crate) deadline: Instant,
    /// The memory of the object, which is read several times.
    pub(crate) memory: HeldMemory,
}

/// The outcome of deleting the object of an inventory entry.
pub(crate) enum EntryOutcome {
    /// The object was deleted.
    Deleted,
    /// The object did not exist.
    Missing,
    /// The object stays, because it is not transship's.
    Released(NotOurs, Value),
}

/// The response to a delete request.
enum DeleteResponse {
    Gone,
    /// The object still exists, for example because of a finalizer.
    Deleting,
    /// The preconditions do not hold.
    Changed,
}

/// Deletes the object of an inventory entry, if it belongs to transship. The resource version is a precondition: if someone
/// changes the object meanwhile, for example to take it over, it is read and checked again.
pub(crate) async fn delete_entry(
    cluster: &LiveCluster<'_>,
    entry: &InventoryEntry,
    deadline: Instant,
) -> Result<EntryOutcome, ObjectError> {
    let Some(path) = cluster.locate_entry(entry).await? else {
        // There are no objects of a kind that is not served.
        return Ok(EntryOutcome::Missing);
    };
    let deletion = Deletion { cluster, id: &entry.id, path: &path, deadline, memory: HeldMemory::default() };
    // The first attempt uses the object as it was at the start, which saves a request.
    let mut known = cluster.labelled(&entry.id);
    for attempt in 1..=MAX_ATTEMPTS {
        let live = match known.take() {
            Some(live) => Some(live),
            None => deletion.read().await?,
        };
        let Some(live) = live else {
            return Ok(if attempt == 1 { EntryOutcome::Missing } else { EntryOutcome::Deleted });
        };
        if let Some(reason) = cluster.reason_not_to_delete(entry, &live) {
            return Ok(EntryOutcome::Released(reason, live));
        }
        if attempt == 1 && entry.id.kind == CRD && !is_being_deleted(&live) {
            crd::list_before_delete(cluster, &live).await;
        }
        if try_delete(&deletion, &live, attempt).await? {
            return Ok(EntryOutcome::Deleted);
        }
    }
    Err(ObjectError::KeepsChanging { action: "delete it" })
}

/// Returns what [`delete_entry`] would do. Sends no request that writes.
pub(crate) async fn predict_entry(
    cluster: &LiveCluster<'_>,
    entry: &InventoryEntry,
) -> Result<EntryOutcome, ObjectError> {
    let live = match cluster.labelled(&entry.id) {
        Some(live) => Some(live),
        None => match cluster.locate_entry(entry).await? {
            Some(path) => {
                let read = cluster.get(&path, &HeldMemory::default()).await;
                read.map_err(|error| object_error(&error, &entry.id))?
            }
            None => None,
        },
    };
    let Some(live) = live else { return Ok(EntryOutcome::Missing) };
    Ok(match cluster.reason_not_to_delete(entry, &live) {
        Some(reason) => EntryOutcome::Released(reason, live),
        None => EntryOutcome::Deleted,
    })
}

/// Deletes an object and waits until it is gone. Returns `false` if someone changed the object since it was read.
async fn try_delete(deletion: &Deletion<'_>, live: &Value, attempt: usize) -> Result<bool, ObjectError> {
    let metadata = &live["metadata"];
    // The API server rejects a request to delete a namespace twice.
    if is_being_deleted(live) {
        wait_until_gone(deletion, &metadata["uid"]).await?;
        return Ok(true);
    }
    let mut preconditions = same_uid(&metadata["uid"]);
    if attempt < MAX_ATTEMPTS {
        preconditions.resource_version = metadata["resourceVersion"].as_str().map(str::to_owned);
    }
    match deletion.send(preconditions).await? {
        DeleteResponse::Gone => Ok(true),
        DeleteResponse::Deleting => {
            wait_until_gone(deletion, &metadata["uid"]).await?;
            Ok(true)
        }
        DeleteResponse::Changed => Ok(false),
    }
}

/// Returns whether an object has a deletion timestamp.
pub(crate) fn is_being_deleted(live: &Value) -> bool {
    live["metadata"].get("deletionTimestamp").is_some()
}

fn same_uid(uid: &Value) -> Preconditions {
    Preconditions { uid: uid.as_str().map(str::to_owned), resource_version: None }
}

/// Deletes an object, even if someone else created it, and waits until it is gone.
pub(crate) async fn delete_and_wait(deletion: &Deletion<'_>, uid: &Value) -> Result<(), ObjectError> {
    match deletion.send(same_uid(uid)).await? {
        DeleteResponse::Gone => Ok(()),
        // It is being deleted already, or another object with its name exists.
        DeleteResponse::Deleting | DeleteResponse::Changed => wait_until_gone(deletion, uid).await,
    }
}

/// Waits until the object with this uid is gone, even if another object with its name exists.
pub(crate) async fn wait_until_gone(deletion: &Deletion<'_>, uid: &Value) -> Result<(), ObjectError> {
    let mut backoff = Backoff::new(FIRST_POLL, MAX_POLL);
    loop {
        sleep(backoff.next_delay()).await;
        let live = deletion.read().await?;
        let Some(live) = live.filter(|live| live["metadata"]["uid"] == *uid) else { return Ok(()) };
        if Instant::now() >= deletion.deadline {
            return Err(ObjectError::StillDeleting(describe_pending_deletion(&live)));
        }
    }
}

impl Deletion<'_> {
    async fn read(&self) -> Result<Option<Value>, ObjectError> {
        self.cluster.get(self.path, &self.memory).await.map_err(|error| self.error(&error))
    }

    fn error(&self, error: &RequestError) -> ObjectError {
        object_error(error, self.id)
    }

    async fn send(&self, preconditions: Preconditions) -> Result<DeleteResponse, ObjectError> {
        let params = DeleteParams::background().preconditions(preconditions);
        let request = self.path.delete(&params).map_err(|error| self.error(&error))?;
        match self.cluster.write(self.id, request).await {
            // If the object still exists, the response has a deletion timestamp. For some kinds, the response is the object
            // that is already gone, without a deletion timestamp.
            Ok(response) if is_being_deleted(&response.value) => Ok(DeleteResponse::Deleting),
            Ok(_) => Ok(DeleteResponse::Gone),
            Err(error) if error.is_not_found() => Ok(DeleteResponse::Gone),
            Err(error) if error.is_conflict() => Ok(DeleteResponse::Changed),
            Err(error) => Err(self.error(&error)),
        }
    }
}

/// Describes why an object that was deleted still exists: its finalizers, and the conditions of a CRD or namespace.
fn describe_pending_deletion(live: &Value) -> String {
    let mut finalizers = Vec::new();
    for list in [&live["metadata"]["finalizers"], &live["spec"]["finalizers"]] {
        finalizers.extend(list.as_array().into_iter().flatten().filter_map(Value::as_str));
    }
    let mut message = if finalizers.is_empty() {
        "it was deleted but still exists".to_owned()
    } else {
        format!("it is being deleted and waits for its finalizers: {}", finalizers.join(", "))
    };
    for condition in live["status"]["conditions"].as_array().into_iter().flatten() {
        let (kind, details) = (&condition["type"], &condition["message"]);
        let (Some(kind), Some(details)) = (kind.as_str(), details.as_str()) else { continue };
        let is_about_deletion = kind == "Terminating" || kind.starts_with("Namespace");
        if condition["status"] == "True" && is_about_deletion && !details.is_empty() {
            message.push_str("; ");
            message.push_str(details);
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::describe_pending_deletion;

    #[test]
    fn a_pending_deletion_names_finalizers_and_conditions() {
        let condition =
            |kind: &str, message: &str| json!({"type": kind, "status": "True", "message": message});
        for (live, expected) in [
            (json!({"metadata": {}}), "it was deleted but still exists"),
            (
                json!({"metadata": {"finalizers": ["a.b/c", "foregroundDeletion"]},
                    "status": {"conditions": [condition("Available", "Deployment has minimum availability.")]}}),
                "it is being deleted and waits for its finalizers: a.b/c, foregroundDeletion",
            ),
            (
                json!({"metadata": {}, "spec": {"finalizers": ["kubernetes"]}, "status": {"conditions": [
                    {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "all is found"},
                    condition("NamespaceContentRemaining", "pods. has 1 resource instances")]}}),
                "it is being deleted and waits for its finalizers: kubernetes; pods. has 1 resource instances",
            ),
            (
                json!({"metadata": {"finalizers": ["customresourcecleanup.apiextensions.k8s.io"]}, "status": {"conditions": [
                    condition("NamesAccepted", "no conflicts found"),
                    condition("Terminating", "could not list instances")]}}),
                "it is being deleted and waits for its finalizers: customresourcecleanup.apiextensions.k8s.io; could not list instances",
            ),
        ] {
            assert_eq!(describe_pending_deletion(&live), expected);
        }
    }
}
