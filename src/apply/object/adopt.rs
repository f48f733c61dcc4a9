//! Adoption: takes over an object that someone else created, and releases fields that belong to others.

use serde_json::Value;
use tracing::debug;

use crate::apply::decide::json_fields::merge;
use crate::apply::decide::managed_fields::{self, SEED_MANAGER};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::orphaned_fields::without_orphaned_fields;
use crate::apply::decide::ownership::{Adoption, OnConflict};
use crate::apply::object::object_task::{MAX_ATTEMPTS, ObjectTask, Written};
use crate::apply::object::recreate::recreate;
use crate::apply::object::replacement::{dry_run_replacement, strategic_merge};
use crate::apply::object::server_side_apply::{
    DryRunOutcome, UnionField, dry_run, dry_run_error, patch_managed_fields,
};
use crate::apply::wire::error::RequestError;

/// Asks the API server what an apply would do to an existing object, including its adoption with `--adopt`.
pub(crate) async fn dry_run_existing(
    task: &ObjectTask<'_>,
    fields: &Value,
    on_conflict: OnConflict,
    live: &Value,
) -> Result<DryRunOutcome, ObjectError> {
    // `release_fields` would keep the live values of these fields.
    let mut fields = fields.clone();
    if let Some(released) =
        task.cluster.field_rules.fields_to_release(task.object, live, task.options.adoption)
    {
        merge(&mut fields, &released);
    }
    if needs_adoption(task, live) {
        return dry_run_adoption(task, &fields, live).await;
    }
    dry_run(task, &fields, on_conflict).await
}

/// Returns whether the fields of previous managers are to be transferred to transship.
fn needs_adoption(task: &ObjectTask<'_>, live: &Value) -> bool {
    task.options.adoption == Adoption::On && managed_fields::adoption_patch(live).is_some()
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
        Ok(response) => match without_orphaned_fields(&response.value) {
            Some(adopted) => adopted,
            None => return Ok(DryRunOutcome::Written(response.value)),
        },
        Err(RequestError::Api(error)) if error.code == 422 => {
            let rest = without_orphaned_fields(live);
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

/// Prepares an existing object for an apply: releases fields that belong to others and, with `--adopt`, transfers the
/// fields of previous managers to transship. A dry run finds out first whether the object can be adopted. If the object
/// must be recreated, recreates it with the desired fields and returns the new object.
pub(crate) async fn prepare(
    task: &ObjectTask<'_>,
    fields: &Value,
    live: &Value,
) -> Result<Option<Written>, ObjectError> {
    let adopts = needs_adoption(task, live);
    if adopts {
        let outcome = dry_run_existing(task, fields, OnConflict::Force, live).await?;
        if matches!(outcome, DryRunOutcome::Recreated { .. }) {
            return recreate(task, fields).await.map(Some);
        }
    }
    release_fields(task, live).await?;
    if adopts {
        debug!(object = %task.object.id, "adopting an object");
        patch_managed_fields(task, live.clone(), managed_fields::adoption_patch).await?;
    }
    Ok(None)
}

/// Moves fields that belong to others to `transship-seed`, with their live values.
async fn release_fields(task: &ObjectTask<'_>, live: &Value) -> Result<(), ObjectError> {
    let (field_rules, adoption) = (&task.cluster.field_rules, task.options.adoption);
    let mut live = live.clone();
    for _ in 0..MAX_ATTEMPTS {
        let Some(released) = field_rules.fields_to_release(task.object, &live, adoption) else { break };
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
