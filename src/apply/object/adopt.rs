//! Adoption: takes over an object that someone else created, and releases fields that belong to others.

use kube::core::response::StatusCause;
use serde_json::{Value, json};
use tracing::debug;

use crate::apply::decide::inventory::PART_OF;
use crate::apply::decide::json_fields::{identity, merge};
use crate::apply::decide::managed_fields::{self, MANAGER, SEED_MANAGER, conflicting_manager};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::orphaned_fields::without_orphaned_fields;
use crate::apply::decide::ownership::{Adoption, OnConflict};
use crate::apply::decide::predecessors::{SUCCEEDS, adoption_patch};
use crate::apply::object::object_task::{MAX_ATTEMPTS, ObjectTask, Written};
use crate::apply::object::recreate::recreate;
use crate::apply::object::replacement::{dry_run_replacement, strategic_merge};
use crate::apply::object::server_side_apply::{
    DryRunOutcome, UnionField, conflict, dry_run, dry_run_error, patch_managed_fields,
};
use crate::apply::wire::error::RequestError;

/// Asks the API server what an apply would do to an existing object, including its adoption.
pub(crate) async fn dry_run_existing(
    task: &ObjectTask<'_>,
    fields: &Value,
    on_conflict: OnConflict,
    live: &Value,
) -> Result<DryRunOutcome, ObjectError> {
    // `release_fields` would keep the live values of these fields.
    let mut fields = fields.clone();
    let predecessors = task.predecessors();
    if let Some(released) = task.cluster.field_rules.fields_to_release(task.object, live, predecessors) {
        merge(&mut fields, &released);
    }
    if !predecessors.own_fields_of(live) {
        return dry_run(task, &fields, on_conflict).await;
    }
    if on_conflict == OnConflict::Fail {
        check_other_owners(task, &fields).await?;
    }
    dry_run_adoption(task, &fields, live).await
}

/// Fails if others than the managers that transship succeeds own fields that transship would change.
async fn check_other_owners(task: &ObjectTask<'_>, fields: &Value) -> Result<(), ObjectError> {
    match task.dry_run_patch(fields, OnConflict::Fail).await {
        Err(RequestError::Api(error)) if error.is_field_conflict() => {
            let predecessors = task.predecessors();
            let is_other = |cause: &&StatusCause| {
                !conflicting_manager(&cause.message).is_some_and(|manager| predecessors.names(&manager))
            };
            let others: Vec<&StatusCause> = error.causes().iter().filter(is_other).collect();
            if others.is_empty() { Ok(()) } else { Err(conflict(others)) }
        }
        // The dry run of the adoption finds all other errors: they may be consequences of these conflicts.
        _ => Ok(()),
    }
}

/// Asks the API server what an adoption would do. An adoption removes orphaned fields and applies the desired ones. With
/// only one of the two changes the object may be invalid, so transship computes the result of both and sends it as one
/// merge patch.
async fn dry_run_adoption(
    task: &ObjectTask<'_>,
    fields: &Value,
    live: &Value,
) -> Result<DryRunOutcome, ObjectError> {
    let adopted = match task.dry_run_patch(fields, OnConflict::Force).await {
        Ok(response) => match without_orphaned_fields(&response.value, task.predecessors()) {
            Some(adopted) => adopted,
            None => return Ok(DryRunOutcome::Written(response.value)),
        },
        Err(RequestError::Api(error)) if error.code == 422 => {
            let rest = without_orphaned_fields(live, task.predecessors());
            let merged = strategic_merge(rest.as_ref().unwrap_or(live), fields);
            merged.ok_or_else(|| task.api_error(&error))?
        }
        Err(RequestError::Api(error)) => return dry_run_error(task, fields, &error, OnConflict::Force).await,
        Err(error) => return Err(task.error(&error)),
    };
    match dry_run_replacement(task, live, &adopted).await {
        Ok(response) => Ok(DryRunOutcome::Written(response.value)),
        Err(RequestError::Api(error)) if UnionField::find(&error, &task.object.id).is_some() => {
            dry_run(task, fields, OnConflict::Force).await
        }
        Err(RequestError::Api(error)) => dry_run_error(task, fields, &error, OnConflict::Force).await,
        Err(error) => Err(task.error(&error)),
    }
}

/// Prepares an existing object for an apply: releases fields that belong to others, and transfers the fields of predecessors
/// to transship. A dry run finds out first whether the object can be adopted. If the object must be recreated, recreates it
/// with the desired fields and returns the new object.
pub(crate) async fn prepare(
    task: &ObjectTask<'_>,
    fields: &Value,
    on_conflict: OnConflict,
    live: &Value,
) -> Result<Option<Written>, ObjectError> {
    let adopts = task.predecessors().own_fields_of(live);
    if adopts {
        let outcome = dry_run_existing(task, fields, on_conflict, live).await?;
        if matches!(outcome, DryRunOutcome::Recreated { .. }) {
            return recreate(task, fields).await.map(Some);
        }
    }
    release_fields(task, live).await?;
    if adopts {
        debug!(object = %task.object.id, "adopting an object");
        let live = label(task, fields, live).await?;
        let predecessors = task.predecessors();
        patch_managed_fields(task, live, |live| adoption_patch(live, predecessors)).await?;
    }
    Ok(None)
}

/// Applies only the label of the `ApplySet` to an object that transship succeeds, and an annotation that names its predecessor.
/// If transship is interrupted after the predecessor left the managed fields, the label and the annotation record the
/// predecessor. The apply that follows removes the annotation. If transship owns fields already, because it found the object
/// before, an apply of only these two would remove them.
async fn label(task: &ObjectTask<'_>, fields: &Value, live: &Value) -> Result<Value, ObjectError> {
    if task.options.adoption == Adoption::On || managed_fields::is_written_by_us(live) {
        return Ok(live.clone());
    }
    let mut labelled = identity(fields);
    labelled["metadata"]["labels"] = json!({PART_OF: fields["metadata"]["labels"][PART_OF]});
    if let Some(predecessor) = task.predecessors().of(live) {
        labelled["metadata"]["annotations"] = json!({SUCCEEDS: predecessor.to_string()});
    }
    let response = task.patch(&labelled, MANAGER, OnConflict::Fail).await;
    Ok(response.map_err(|error| task.error(&error))?.value)
}

/// Moves fields that belong to others to `transship-seed`, with their live values.
async fn release_fields(task: &ObjectTask<'_>, live: &Value) -> Result<(), ObjectError> {
    let (field_rules, predecessors) = (&task.cluster.field_rules, task.predecessors());
    let mut live = live.clone();
    for _ in 0..MAX_ATTEMPTS {
        let Some(released) = field_rules.fields_to_release(task.object, &live, predecessors) else { break };
        debug!(object = %task.object.id, "releasing fields that belong to others");
        match task.patch(&released, SEED_MANAGER, OnConflict::Fail).await {
            Ok(_) => break,
            // Someone changed the object since it was read. The next attempt keeps the new values.
            Err(error) if error.is_conflict() => {
                live = task.read().await?.unwrap_or_default();
            }
            Err(error) => return Err(task.error(&error)),
        }
    }
    Ok(())
}
