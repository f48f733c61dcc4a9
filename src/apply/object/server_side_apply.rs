//! Server-side apply of one object, and what to do if the API server rejects it.

use std::time::Duration;

use http::StatusCode;
use kube::core::response::StatusCause;
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tracing::{debug, info};

use crate::apply::decide::displaced_items::{DisplacedItem, displaced_items, takeover_patch, without_items};
use crate::apply::decide::event::EventKind;
use crate::apply::decide::json_fields::without_server_fields;
use crate::apply::decide::managed_fields::{self, MANAGER};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::OnConflict;
use crate::apply::object::object_task::{MAX_ATTEMPTS, Mode, ObjectTask, Written};
use crate::apply::object::recreate::{reason_to_recreate, recreate};
use crate::apply::object::rejection::rejection;
use crate::apply::object::replacement::{dry_run_replacement, strategic_merge};
use crate::apply::wire::api_server::Response;
use crate::apply::wire::error::{ApiError, RequestError};
use crate::object::ObjectId;

const RETRY_INTERVAL: Duration = Duration::from_millis(300);
/// How many attempts may take over a union field.
const MAX_UNION_ATTEMPTS: usize = 3;

/// The outcome of a dry run.
pub(crate) enum DryRunOutcome {
    /// The object after the write.
    Written(Value),
    /// The object would be recreated for this reason.
    Recreated { reason: String },
    /// Unknown: managed fields are recorded in this API version, which is no longer served.
    VersionNotServed(String),
}

/// A server-side apply request.
pub(crate) struct ApplyRequest<'f> {
    pub(crate) fields: &'f Value,
    pub(crate) manager: &'f str,
    pub(crate) on_conflict: OnConflict,
    pub(crate) extent: Extent,
}

/// Whether a request has all fields of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All fields that transship applies.
    Whole,
    /// Only the pinned fields. The object cannot be recreated from them.
    Pinned,
}

/// The reaction to a rejected apply.
enum Recovery {
    /// Send the request again.
    Repeat,
    /// Send the request again after a short delay.
    RepeatLater,
    /// Delete the object and create it again.
    Recreate,
}

/// Applies fields to an object. `before` is the object as it was read; `None` if it did not exist.
pub(crate) async fn write(
    task: &ObjectTask<'_>,
    request: &ApplyRequest<'_>,
    before: Option<&Value>,
) -> Result<Written, ObjectError> {
    let deadline = Instant::now() + task.options.retry_timeout;
    let mut attempt = 0;
    loop {
        attempt += 1;
        let error = match task.patch_latest(request.fields, request.manager, request.on_conflict).await {
            Ok(response) => {
                return Ok(Written { kind: event_kind(&response, before), live: response.value });
            }
            Err(RequestError::Api(error)) => error,
            Err(error) => return Err(task.error(&error)),
        };
        let recovery = recover(task, request, &error, attempt).await?;
        info!(object = %task.object.id, code = error.code, reason = error.status.reason, attempt, "apply was rejected");
        match recovery {
            Some(Recovery::Repeat) => {}
            Some(Recovery::Recreate) => return recreate(task, request.fields).await,
            Some(Recovery::RepeatLater) if error.code == 409 || Instant::now() < deadline => {
                sleep(RETRY_INTERVAL).await;
            }
            Some(Recovery::RepeatLater) | None => return Err(rejection(task, request.fields, &error).await),
        }
    }
}

/// Decides what to do after the API server rejected an apply, and prepares the next attempt. `None` if another attempt does
/// not help.
async fn recover(
    task: &ObjectTask<'_>,
    request: &ApplyRequest<'_>,
    error: &ApiError,
    attempt: usize,
) -> Result<Option<Recovery>, ObjectError> {
    if error.is_field_conflict() {
        return Err(conflict(error.causes()));
    }
    if let Some(field) = UnionField::find(error, &task.object.id) {
        take_over_union_field(task, request.fields, field).await?;
        if attempt < MAX_UNION_ATTEMPTS {
            return Ok(Some(Recovery::Repeat));
        }
    }
    if let Some(version) = error.version_not_served()
        && attempt < MAX_ATTEMPTS
    {
        migrate_api_version(task, version, request.fields).await?;
        return Ok(Some(Recovery::Repeat));
    }
    if attempt < MAX_ATTEMPTS && take_over_displaced_items(task, request, error).await? {
        return Ok(Some(Recovery::Repeat));
    }
    if request.extent == Extent::Whole
        && reason_to_recreate(task, request.fields, error, request.on_conflict).await?.is_some()
    {
        return Ok(Some(Recovery::Recreate));
    }
    // A CRD can be established some time before its resource is served. To authorize a binding, the API server looks up
    // the role in a cache, which may not contain a new role yet.
    let not_served_yet = error.code == 404 && (error.status.reason.is_empty() || error.is_role_missing());
    // This run changed the CRD, and the API server may still use the previous schema.
    let has_old_schema = error.is_unknown_field() && task.cluster.has_changed_crd(&task.object.id);
    // Another client wrote the object at the same time.
    let overtaken = error.code == 409 && attempt < MAX_ATTEMPTS;
    Ok((not_served_yet || has_old_schema || overtaken).then_some(Recovery::RepeatLater))
}

/// Asks the API server what an apply would do.
pub(crate) async fn dry_run(
    task: &ObjectTask<'_>,
    fields: &Value,
    on_conflict: OnConflict,
) -> Result<DryRunOutcome, ObjectError> {
    let error = match task.dry_run_patch(fields, on_conflict).await {
        Ok(response) => return Ok(DryRunOutcome::Written(response.value)),
        Err(RequestError::Api(error)) => error,
        Err(error) => return Err(task.error(&error)),
    };
    if let Some(field) = UnionField::find(&error, &task.object.id) {
        let live = task.read().await?.unwrap_or_default();
        if let Some(unchanged) = field.keep_live_value(fields, &live) {
            let response = task.dry_run_patch(&unchanged, OnConflict::Force).await;
            let mut written = response.map_err(|error| task.error(&error))?.value;
            if let Some(spec) = written.get_mut("spec").and_then(Value::as_object_mut) {
                spec.insert(field.parent.to_owned(), fields["spec"][field.parent].clone());
            }
            return Ok(DryRunOutcome::Written(written));
        }
    }
    if let Some((live, items)) = find_displaced_items(task, fields, &error, on_conflict).await?
        && takeover_patch(&live, &items).is_some()
        && let Some(after) = strategic_merge(&without_items(&live, &items), fields)
        && let Ok(response) = dry_run_replacement(task, &live, &after).await
    {
        return Ok(DryRunOutcome::Written(response.value));
    }
    dry_run_error(task, fields, &error, on_conflict).await
}

/// Converts an error of a dry run to the outcome or the error of the real apply.
pub(crate) async fn dry_run_error(
    task: &ObjectTask<'_>,
    fields: &Value,
    error: &ApiError,
    on_conflict: OnConflict,
) -> Result<DryRunOutcome, ObjectError> {
    if error.is_field_conflict() {
        return Err(conflict(error.causes()));
    }
    if let Some(reason) = reason_to_recreate(task, fields, error, on_conflict).await? {
        return Ok(DryRunOutcome::Recreated { reason });
    }
    match error.version_not_served() {
        Some(version) => Ok(DryRunOutcome::VersionNotServed(version.to_owned())),
        None => Err(rejection(task, fields, error).await),
    }
}

/// Finds items of the live object that have the name of a rendered item and another key, if that may be why the API server
/// rejects an apply.
async fn find_displaced_items(
    task: &ObjectTask<'_>,
    fields: &Value,
    error: &ApiError,
    on_conflict: OnConflict,
) -> Result<Option<(Value, Vec<DisplacedItem>)>, ObjectError> {
    let is_duplicate = error.causes().iter().any(|cause| cause.reason == "FieldValueDuplicate");
    if error.code != 422 || !is_duplicate || on_conflict == OnConflict::Fail {
        return Ok(None);
    }
    let Some(live) = task.read().await? else { return Ok(None) };
    let items = displaced_items(&live, fields);
    Ok((!items.is_empty()).then_some((live, items)))
}

/// Takes over list items that someone renumbered, so that the next attempt removes them. Returns whether it did. A dry run
/// finds out first whether the object is valid without them.
async fn take_over_displaced_items(
    task: &ObjectTask<'_>,
    request: &ApplyRequest<'_>,
    error: &ApiError,
) -> Result<bool, ObjectError> {
    let ApplyRequest { fields, on_conflict, .. } = *request;
    let Some((live, items)) = find_displaced_items(task, fields, error, on_conflict).await? else {
        return Ok(false);
    };
    let after = strategic_merge(&without_items(&live, &items), fields);
    let (Some(after), Some(_)) = (after, takeover_patch(&live, &items)) else { return Ok(false) };
    if dry_run_replacement(task, &live, &after).await.is_err() {
        return Ok(false);
    }
    let patch = |live: &Value| takeover_patch(live, &displaced_items(live, fields));
    patch_managed_fields(task, live, patch).await?;
    Ok(true)
}

/// Rewrites managed fields from an API version that is no longer served to the one that transship applies.
async fn migrate_api_version(task: &ObjectTask<'_>, from: &str, fields: &Value) -> Result<(), ObjectError> {
    let to = fields["apiVersion"].as_str().unwrap_or_default();
    let live = task.read().await?.unwrap_or_default();
    patch_managed_fields(task, live, |live| managed_fields::api_version_patch(live, from, to)).await
}

/// Changes the managed fields of an object, if `patch` returns a change.
pub(crate) async fn patch_managed_fields(
    task: &ObjectTask<'_>,
    mut live: Value,
    patch: impl Fn(&Value) -> Option<Value>,
) -> Result<(), ObjectError> {
    for _ in 0..MAX_ATTEMPTS {
        let Some(change) = patch(&live) else { return Ok(()) };
        debug!(object = %task.object.id, "changing managed fields");
        match task.merge_patch(&change, Mode::Write).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_conflict() => live = task.read().await?.unwrap_or_default(),
            Err(error) => return Err(task.error(&error)),
        }
    }
    Err(ObjectError::KeepsChanging { action: "change its managed fields" })
}

/// Returns whether a write created, changed or did not change an object. Someone else may have written it meanwhile, for
/// example its status; that does not count as a change.
fn event_kind(response: &Response, before: Option<&Value>) -> EventKind {
    if response.status == StatusCode::CREATED {
        return EventKind::Created;
    }
    let Some(before) = before else { return EventKind::Changed };
    let now = &response.value;
    let is_same = before["metadata"]["resourceVersion"] == now["metadata"]["resourceVersion"]
        || managed_fields::ours(before) == managed_fields::ours(now)
            && without_server_fields(before.clone()) == without_server_fields(now.clone());
    if is_same { EventKind::Unchanged } else { EventKind::Changed }
}

/// Returns the error for fields that other managers own.
pub(crate) fn conflict<'c>(causes: impl IntoIterator<Item = &'c StatusCause>) -> ObjectError {
    let describe = |cause: &StatusCause| format!("{} ({})", cause.field, cause.message);
    ObjectError::Conflict(causes.into_iter().map(describe).collect())
}

/// A field that the API server sets for one update strategy and forbids for another: `spec.PARENT.rollingUpdate`. It is a
/// union: the `type` next to it decides whether it may exist.
#[derive(Clone, Copy)]
pub(crate) struct UnionField {
    parent: &'static str,
}

impl UnionField {
    const NAME: &'static str = "rollingUpdate";

    /// Returns the field if the API server rejected an apply because of it.
    pub(crate) fn find(error: &ApiError, id: &ObjectId) -> Option<Self> {
        let parent = match (id.group.as_str(), id.kind.as_str()) {
            ("apps", "Deployment") => "strategy",
            ("apps", "DaemonSet" | "StatefulSet") => "updateStrategy",
            _ => return None,
        };
        let field = format!("spec.{parent}.{}", Self::NAME);
        let is_forbidden =
            |cause: &StatusCause| cause.field == field && cause.reason == "FieldValueForbidden";
        (error.code == 422 && error.causes().iter().any(is_forbidden)).then_some(Self { parent })
    }

    /// Returns `fields` with the live value of the strategy; `None` if the live object does not have the field.
    fn keep_live_value(self, fields: &Value, live: &Value) -> Option<Value> {
        let strategy = &live["spec"][self.parent];
        strategy.get(Self::NAME)?;
        let mut unchanged = fields.clone();
        unchanged["spec"][self.parent] = strategy.clone();
        Some(unchanged)
    }
}

/// Takes over a union field with its live value. Server-side apply removes only fields that its manager owns. After
/// this, transship owns the field, so the next apply removes the field by leaving it out.
async fn take_over_union_field(
    task: &ObjectTask<'_>,
    fields: &Value,
    field: UnionField,
) -> Result<(), ObjectError> {
    let live = task.read().await?.unwrap_or_default();
    if let Some(unchanged) = field.keep_live_value(fields, &live) {
        match task.patch(&unchanged, MANAGER, OnConflict::Force).await {
            // If someone wrote the object meanwhile, the next attempt takes over the new value.
            Err(error) if !error.is_overtaken() => return Err(task.error(&error)),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use serde_json::{Value, json};

    use super::{EventKind, Response, event_kind};
    use crate::apply::wire::memory::Reservation;

    fn object(version: &str, mode: &str, replicas: u64) -> Value {
        let ours =
            json!({"manager": "transship", "operation": "Apply", "fieldsV1": {"f:data": {"f:mode": {}}}});
        json!({
            "metadata": {"resourceVersion": version, "managedFields": [ours]},
            "data": {"mode": mode}, "status": {"replicas": replicas},
        })
    }

    fn response(status: StatusCode, value: Value) -> Response {
        Response { status, value, memory: Reservation::default(), warnings: Vec::new() }
    }

    #[test]
    fn writes_of_others_do_not_count_as_a_change() {
        let before = object("1", "one", 0);
        let mut more_fields = object("2", "one", 0);
        more_fields["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]["f:other"] = json!({});
        for (status, value, expected) in [
            (StatusCode::OK, object("1", "one", 0), EventKind::Unchanged),
            (StatusCode::OK, object("2", "one", 3), EventKind::Unchanged),
            (StatusCode::OK, object("2", "two", 0), EventKind::Changed),
            (StatusCode::OK, more_fields, EventKind::Changed),
            (StatusCode::CREATED, object("1", "one", 0), EventKind::Created),
        ] {
            let response = response(status, value);
            assert_eq!(event_kind(&response, Some(&before)), expected);
        }
        let response = response(StatusCode::OK, before);
        assert_eq!(event_kind(&response, None), EventKind::Changed);
    }
}
