//! Applies, creates or deletes one object. Sends no write for an object that is already as desired.

use kube::api::{Patch, PatchParams};
use serde_json::Value;
use tracing::debug;

use crate::apply::cluster::crd::CRD;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::decision::{Decision, DecisionInput};
use crate::apply::decide::desired::{Desired, version_of};
use crate::apply::decide::event::EventKind;
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::issue_state::IssueState;
use crate::apply::decide::managed_fields::{self, MANAGER, SEED_MANAGER};
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{Adoption, OnConflict, Ownership};
use crate::apply::decide::rollout::Action;
use crate::apply::object::adopt;
use crate::apply::object::delete::{EntryOutcome, delete_entry, is_being_deleted};
use crate::apply::object::issue::{Issue, issue};
use crate::apply::object::object_task::{MAX_ATTEMPTS, Mode, ObjectTask, Written};
use crate::apply::object::server_side_apply::{ApplyRequest, Extent, write};
use crate::apply::wire::api_server::Response;
use crate::apply::wire::error::RequestError;
use crate::object::Object;

/// The message of the event when transship first changes an object that someone else created.
const FOUND_NOTE: &str = "it existed before, so transship never deletes it; --adopt takes it over";

/// The object after a step.
pub(crate) enum AfterStep {
    /// It does not exist.
    Missing,
    /// It is as it was at the start.
    AsAtStart,
    /// It was read or written.
    Read(Value),
}

/// The result of a step.
pub(crate) struct Applied {
    pub(crate) kind: EventKind,
    pub(crate) object: AfterStep,
    /// The new entry of the inventory.
    pub(crate) entry: Option<InventoryEntry>,
    /// The message of the event.
    pub(crate) note: String,
    /// The warnings of the API server.
    pub(crate) warnings: Vec<String>,
}

impl Applied {
    fn gone(kind: EventKind) -> Self {
        Self { kind, object: AfterStep::Missing, entry: None, note: String::new(), warnings: Vec::new() }
    }
}

/// Applies, creates or deletes an object, depending on the action of its step and its live state. Gives an issued object its
/// values first.
pub(crate) async fn apply_object(
    cluster: &LiveCluster<'_>,
    object: &Object,
    action: Action,
    options: &Options,
) -> Result<Applied, ObjectError> {
    if let Some(entry) = cluster.known_unchanged(&object.id) {
        let (object, entry) = (AfterStep::AsAtStart, Some(entry.clone()));
        return Ok(Applied {
            kind: EventKind::Unchanged,
            object,
            entry,
            note: String::new(),
            warnings: Vec::new(),
        });
    }
    let issued = if action == Action::Delete { Issue::Kept } else { issue(cluster, object, options).await? };
    let mut applied = apply_issued(cluster, object, action, options, &issued).await?;
    cluster.issuer.authorities.set_trusts(cluster.cluster, &object.id);
    match issued {
        Issue::Issued(due) if applied.kind == EventKind::Changed && applied.note.is_empty() => {
            applied.note = format!("new values: {due}");
        }
        Issue::Postponed(reason) => applied.warnings.push(reason),
        Issue::Issued(_) | Issue::Kept => {}
    }
    Ok(applied)
}

/// Applies, creates or deletes an object that has its values.
async fn apply_issued(
    cluster: &LiveCluster<'_>,
    object: &Object,
    action: Action,
    options: &Options,
    issued: &Issue,
) -> Result<Applied, ObjectError> {
    let Some(path) = cluster.locate(object).await? else {
        return match action {
            // There are no objects of a kind that is not served.
            Action::Delete => Ok(Applied::gone(EventKind::Unchanged)),
            Action::Apply | Action::Create => Err(ObjectError::KindNotServed {
                kind: object.id.kind_and_group(),
                hint: options.wait_hint(),
            }),
        };
    };
    let task = ObjectTask::new(cluster, object, path, options);
    let live = read_live(&task, action).await?;
    task.remember_version(live.as_ref());
    let mut desired = cluster.desired(object);
    if matches!(issued, Issue::Postponed(_)) {
        desired.issue = IssueState::Issued;
    }
    let input = DecisionInput { id: &object.id, action, desired: &desired };
    let decision = cluster.decision_context(options).decide(&input, live.as_ref())?;
    debug!(object = %object.id, decision = decision.name(), reason = decision.reason(), "decision");
    let digest = input.desired_digest();
    match decision {
        Decision::Skip => Ok(skip(&task, action, live, digest)),
        Decision::Delete => delete(&task, &live.unwrap_or_default()).await,
        Decision::Create => {
            let live = create(&task, &desired).await?;
            Ok(applied(&task, Written { kind: EventKind::Created, live }, digest, Ownership::Ours))
        }
        // Only the pinned fields of an object that transship otherwise only creates.
        Decision::Apply { fields, on_conflict, .. } if action == Action::Create => {
            let extent = Extent::Pinned;
            let pinned = ApplyRequest { fields: &fields, manager: MANAGER, on_conflict, extent };
            let written = write(&task, &pinned, live.as_ref()).await?;
            let ownership = ownership_of_created(&task, &written.live);
            Ok(applied(&task, written, digest, ownership))
        }
        Decision::Apply { fields, on_conflict, ownership } => {
            let desired = Desired { applied: fields.into_owned(), ..desired.clone() };
            let mut written = apply(&task, &desired, on_conflict, live.as_ref()).await?;
            // The object was not read before, because it was probably new. It exists, and someone is deleting it.
            if is_being_deleted(&written.live) {
                task.wait_until_gone(&written.live).await?;
                written = apply(&task, &desired, on_conflict, None).await?;
            }
            let created = written.kind == EventKind::Created;
            let ownership = if created { Ownership::Ours } else { ownership };
            let mut applied = applied(&task, written, digest, ownership);
            if let Some(predecessor) = live.as_ref().and_then(|live| task.predecessors().of(live)) {
                applied.note = format!("taken over from {}", predecessor.manager);
                applied.entry = applied.entry.map(|entry| entry.taken_over_from(predecessor));
            }
            Ok(applied)
        }
    }
}

/// Deletes an object with a tombstone. Without `--adopt`, checks again that it is transship's if someone changes it.
async fn delete(task: &ObjectTask<'_>, live: &Value) -> Result<Applied, ObjectError> {
    let entry = task.cluster.inventory.initial().find(&task.object.id);
    let Some(entry) = entry.filter(|_| task.options.adoption == Adoption::Off) else {
        task.delete(live).await?;
        return Ok(Applied::gone(EventKind::Deleted));
    };
    match delete_entry(task.cluster, entry, task.deadline()).await? {
        EntryOutcome::Deleted => Ok(Applied::gone(EventKind::Deleted)),
        EntryOutcome::Missing => Ok(Applied::gone(EventKind::Unchanged)),
        EntryOutcome::Released(reason, live) => Err(ObjectError::tombstone(reason, &live)),
    }
}

fn skip(task: &ObjectTask<'_>, action: Action, live: Option<Value>, digest: String) -> Applied {
    let Some(live) = live else { return Applied::gone(EventKind::Unchanged) };
    let ownership = match action {
        _ if task.existed_before() => Ownership::NotOurs,
        Action::Create => ownership_of_created(task, &live),
        Action::Apply | Action::Delete => Ownership::Ours,
    };
    applied(task, Written { kind: EventKind::Unchanged, live }, digest, ownership)
}

/// Returns whether transship created an object that it does not change afterwards. transship creates every object with the
/// label. If the label is missing, someone else created the object.
fn ownership_of_created(task: &ObjectTask<'_>, live: &Value) -> Ownership {
    if task.cluster.is_in_apply_set(live) { Ownership::Ours } else { Ownership::NotOurs }
}

/// Returns the result of a step with the new entry of the inventory.
fn applied(task: &ObjectTask<'_>, written: Written, desired_digest: String, ownership: Ownership) -> Applied {
    let Written { kind, live } = written;
    if task.object.id.kind == CRD && kind != EventKind::Unchanged {
        task.cluster.record_changed_crd(&live);
    }
    let found = ownership == Ownership::NotOurs;
    let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
    task.cluster.applied_uids.record(&uid, &task.object.id);
    let before = task.cluster.inventory.initial().find(&task.object.id);
    let entry = InventoryEntry {
        id: task.object.id.clone(),
        version: version_of(task.object).to_owned(),
        uid,
        desired_digest,
        live_digest: managed_fields::digest(&live).unwrap_or_default(),
        found,
        keep: task.object.is_kept(),
        predecessor: before.and_then(|before| before.predecessor.clone()),
    };
    let note = if found && !task.existed_before() { FOUND_NOTE.to_owned() } else { String::new() };
    Applied { kind, object: AfterStep::Read(live), entry: Some(entry), note, warnings: task.warnings() }
}

/// Returns the live object. Waits until an object that is being deleted is gone.
async fn read_live(task: &ObjectTask<'_>, action: Action) -> Result<Option<Value>, ObjectError> {
    match read_unless_known(task, action).await? {
        Some(live) if action != Action::Delete && is_being_deleted(&live) => {
            task.wait_until_gone(&live).await?;
            Ok(None)
        }
        live => Ok(live),
    }
}

/// Returns the object as it was at the start, if it carried the label. Otherwise reads it: someone may have removed the
/// label, or transship has not applied the object yet. Does not read an object that is probably new, because the response
/// to the write tells whether it existed. An issued Secret is not written before its issuer created it, so it is read each time.
async fn read_unless_known(task: &ObjectTask<'_>, action: Action) -> Result<Option<Value>, ObjectError> {
    let ObjectTask { cluster, object, options, .. } = task;
    if action == Action::Delete {
        return task.read().await;
    }
    if let Some(live) = cluster.labelled(&object.id) {
        return Ok(Some(live));
    }
    let is_probably_new = action == Action::Apply
        && object.issued.is_none()
        && options.adoption == Adoption::Off
        && !cluster.was_applied(&object.id)
        && cluster.is_probably_missing(object);
    if is_probably_new { Ok(None) } else { task.read().await }
}

/// Applies the desired fields, the seeds of a new object and its first status. Adopts an existing object of a predecessor
/// first.
async fn apply(
    task: &ObjectTask<'_>,
    desired: &Desired,
    on_conflict: OnConflict,
    live: Option<&Value>,
) -> Result<Written, ObjectError> {
    let mut recreated = None;
    if let Some(live) = live {
        recreated = adopt::prepare(task, &desired.applied, on_conflict, live).await?;
    }
    // Some objects are invalid without their seeds, so a new object is created together with them.
    let mut created_with_seeds = None;
    if desired.seed.is_some() && live.is_none() {
        let all = desired.with_seed();
        let extent = Extent::Whole;
        let with_seed = ApplyRequest { fields: &all, manager: SEED_MANAGER, on_conflict, extent };
        created_with_seeds = Some(write(task, &with_seed, None).await?.kind);
    }
    let mut written = if let Some(recreated) = recreated {
        recreated
    } else {
        let on_conflict = if created_with_seeds.is_some() { OnConflict::Force } else { on_conflict };
        let extent = Extent::Whole;
        let request = ApplyRequest { fields: &desired.applied, manager: MANAGER, on_conflict, extent };
        write(task, &request, live).await?
    };
    written.kind = created_with_seeds.unwrap_or(written.kind);
    written.live = match written.kind {
        // A recreated object has the live values of its seeds, not the rendered ones.
        EventKind::Recreated => release_remaining_seeds(task, written.live).await?,
        kind if live.is_none() || kind == EventKind::Created => {
            split_seeds(task, desired, written.live).await?
        }
        // Something may have interrupted an earlier run before it could split the seeds.
        _ => release_remaining_seeds(task, written.live).await?,
    };
    let entry = task.cluster.inventory.initial().find(&task.object.id);
    if entry.is_none_or(|entry| written.live["metadata"]["uid"] != *entry.uid) {
        written.live = write_initial_status(task, desired, written.live).await?;
    }
    Ok(written)
}

/// Applies only the seeds of a new object as `transship-seed`, so that this manager gives up all other fields.
async fn split_seeds(task: &ObjectTask<'_>, desired: &Desired, live: Value) -> Result<Value, ObjectError> {
    let Some(seed) = &desired.seed else { return release_remaining_seeds(task, live).await };
    let live = written_or_live(task, task.patch_latest(seed, SEED_MANAGER, OnConflict::Fail).await).await?;
    release_remaining_seeds(task, live).await
}

/// Makes `transship-seed` give up all fields except seeds. This is needed if someone changed a seed, because
/// [`split_seeds`] then fails with a conflict. Applies only the seeds that `transship-seed` still owns, with their live
/// values.
async fn release_remaining_seeds(task: &ObjectTask<'_>, mut live: Value) -> Result<Value, ObjectError> {
    for _ in 0..MAX_ATTEMPTS {
        if !managed_fields::has_unsplit_seeds(&live) {
            return Ok(live);
        }
        let remaining = task.cluster.field_rules.remaining_seeds(task.object, &live);
        match task.patch(&remaining, SEED_MANAGER, OnConflict::Force).await {
            Ok(response) => return Ok(response.value),
            // Someone changed the object since it was read, perhaps a seed. The next attempt keeps the new value.
            Err(error) if error.is_overtaken() => live = task.read().await?.unwrap_or_default(),
            Err(error) => return Err(task.error(&error)),
        }
    }
    Err(ObjectError::KeepsChanging { action: "release its seeds" })
}

/// Writes the first status of a new object.
async fn write_initial_status(
    task: &ObjectTask<'_>,
    desired: &Desired,
    live: Value,
) -> Result<Value, ObjectError> {
    let Some(status) = &desired.initial_status else { return Ok(live) };
    let params = PatchParams::apply(SEED_MANAGER).validation_strict();
    let request = task.path.patch_status(&params, &Patch::Apply(status));
    let request = request.map_err(|error| task.error(&error))?;
    written_or_live(task, task.send(request, Mode::Write).await).await
}

/// Returns the object after a write. If another manager already owns a field, its value stays.
async fn written_or_live(
    task: &ObjectTask<'_>,
    result: Result<Response, RequestError>,
) -> Result<Value, ObjectError> {
    match result {
        Ok(response) => Ok(response.value),
        Err(RequestError::Api(error)) if error.is_field_conflict() => {
            Ok(task.read().await?.unwrap_or_default())
        }
        Err(error) => Err(task.error(&error)),
    }
}

/// Creates an object whose fields belong to others afterwards, except for pinned fields.
async fn create(task: &ObjectTask<'_>, desired: &Desired) -> Result<Value, ObjectError> {
    let live = match task.post(&desired.with_seed(), SEED_MANAGER, Mode::Write).await {
        Ok(response) => response.value,
        // Someone else created the object, or an earlier attempt did and its response was lost.
        Err(error) if error.is_conflict() => task.read().await?.ok_or_else(|| task.error(&error))?,
        Err(error) => return Err(task.error(&error)),
    };
    let Some(pinned) = &desired.pinned else { return Ok(live) };
    let (on_conflict, extent) = (OnConflict::Force, Extent::Pinned);
    let pinned = ApplyRequest { fields: pinned, manager: MANAGER, on_conflict, extent };
    Ok(write(task, &pinned, Some(&live)).await?.live)
}
