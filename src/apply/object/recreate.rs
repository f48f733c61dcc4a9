//! Recreates an object that the API server does not change: deletes it and creates it again. The API server has no reason
//! code for an immutable field, and its words differ between kinds and versions. So a dry run of a create decides: if the
//! object can be created as it is rendered, only the change is the problem.

use serde_json::Value;
use tracing::info;

use crate::apply::decide::event::EventKind;
use crate::apply::decide::json_fields::merge;
use crate::apply::decide::managed_fields::{MANAGER, SEED_MANAGER};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{Adoption, OnConflict};
use crate::apply::decide::prune::deletion_cascade;
use crate::apply::decide::recreation::without_allocated_fields;
use crate::apply::object::object_task::{Mode, ObjectTask, Written};
use crate::apply::object::rejection::others_in_the_way;
use crate::apply::wire::error::{ApiError, RequestError};
use crate::object::ObjectId;

/// Decides whether to recreate an object after the API server rejected a change of it. Returns the reason, or `None` if
/// that does not help. Fails if the object may not be recreated.
pub(crate) async fn reason_to_recreate(
    task: &ObjectTask<'_>,
    fields: &Value,
    error: &ApiError,
    on_conflict: OnConflict,
) -> Result<Option<String>, ObjectError> {
    if error.code != 422 {
        return Ok(None);
    }
    let (id, adopts) = (&task.object.id, task.options.adoption == Adoption::On);
    let immutable = error.immutable_fields().join(", ");
    if on_conflict == OnConflict::Fail || task.existed_before() && !adopts {
        let not_ours = ObjectError::ImmutableNotOurs { fields: immutable.clone() };
        return if immutable.is_empty() { Ok(None) } else { Err(not_ours) };
    }
    let may_recreate = may_recreate(task, error);
    let rejected = || task.api_error(error).to_string();
    match deletion_cascade(&id.kind) {
        Some(consequence) if !immutable.is_empty() => {
            return Err(ObjectError::ImmutableCascades { fields: immutable, consequence });
        }
        Some(consequence) if may_recreate => {
            return Err(ObjectError::RejectedCascades { message: rejected(), consequence });
        }
        Some(_) => return Ok(None),
        None => {}
    }
    let flags = || format!("--recreate {}/{}{}", id.kind, id.name, if adopts { " with --adopt" } else { "" });
    if !immutable.is_empty() && !may_recreate {
        return Err(ObjectError::ImmutableNeedsRecreate { fields: immutable, flags: flags() });
    }
    let Some(live) = task.read().await? else { return Ok(None) };
    let is_in_the_way = !others_in_the_way(&live, fields, error).is_empty();
    match check_can_be_created(task, fields, &live).await {
        None if may_recreate && immutable.is_empty() => Ok(Some(rejected())),
        None if may_recreate => Ok(Some(format!("{immutable} is immutable"))),
        // To delete the fields of others with the object is no advice.
        None if is_in_the_way => Ok(None),
        None => Err(ObjectError::RejectedNeedsRecreate { message: rejected(), flags: flags() }),
        Some(invalid) if may_recreate => Err(task.error(&invalid)),
        // The object is invalid in any case, or transship may not create it. The first error says why.
        Some(_) => Ok(None),
    }
}

/// Returns whether an object may be recreated: the user named it, or it is a Job and the API server does not accept a
/// field. An admission policy that rejects a change of a Job names no field.
fn may_recreate(task: &ObjectTask<'_>, error: &ApiError) -> bool {
    let id: &ObjectId = &task.object.id;
    let is_named = task.options.recreate.iter().any(|selector| selector.matches(id));
    let names_field = error.causes().iter().any(|cause| !cause.field.is_empty());
    is_named || task.options.may_recreate(id) && names_field
}

/// Asks the API server with a dry run whether an object can be created, before transship deletes it. Returns the error if
/// it cannot. A 409 means that the object is valid: the API server validates an object before it reports that it exists.
async fn check_can_be_created(task: &ObjectTask<'_>, fields: &Value, live: &Value) -> Option<RequestError> {
    let object = without_allocated_fields(with_kept_fields(task, fields, live), live);
    match task.post(&object, MANAGER, Mode::DryRun).await {
        Ok(_) => None,
        Err(error) => (!error.is_conflict()).then_some(error),
    }
}

/// Returns the fields of a new object: the desired ones, and the live values of those that belong to others.
fn with_kept_fields(task: &ObjectTask<'_>, fields: &Value, live: &Value) -> Value {
    let mut all = fields.clone();
    if let Some(kept) = task.cluster.field_rules.fields_to_keep(task.object, live) {
        merge(&mut all, &kept);
    }
    all
}

/// Deletes an object and creates it again. Fields that belong to others keep their live values, and `transship-seed` owns
/// them. As after any creation with seeds, the caller makes `transship-seed` give up all other fields.
pub(crate) async fn recreate(task: &ObjectTask<'_>, fields: &Value) -> Result<Written, ObjectError> {
    info!(object = %task.object.id, "recreating an object");
    if let Some(live) = task.read().await? {
        let all = with_kept_fields(task, fields, &live);
        task.delete(&live).await?;
        if all != *fields {
            let response = task.patch_latest(&all, SEED_MANAGER, OnConflict::Force).await;
            response.map_err(|error| task.error(&error))?;
        }
    }
    let response = task.patch_latest(fields, MANAGER, OnConflict::Force).await;
    let response = response.map_err(|error| task.error(&error))?;
    Ok(Written { kind: EventKind::Recreated, live: response.value })
}
