//! `apply --dry-run`: reports what a rollout would do. Sends no writes, not even dry-run requests.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use tracing::debug;

use crate::apply::cluster::error::error_about;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::decision::{Decision, DecisionInput};
use crate::apply::decide::event::{Event, EventKind, Summary};
use crate::apply::decide::issue_state::IssueState;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::ownership::{OnConflict, Ownership};
use crate::apply::decide::prune::HoldReason;
use crate::apply::decide::rollout::{Action, ClusterId, Rollout, Step, StepId};
use crate::apply::run::clusters::{
    OnEvent, guest_first, plan_rollout, read_clusters, read_issued, report_unusable,
};
use crate::apply::run::contacts::Topology;
use crate::apply::run::inventory_update::{decide_prune_after, released_event};
use crate::diagnostic::Diagnostic;

/// The message of the event for an object that someone else created.
const FOUND_NOTE: &str =
    "it existed before: apply fails if others own its fields, and transship never deletes it";

/// Reports what `apply` would do, in the order in which it would start.
pub async fn dry_run(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<Summary, Diagnostic> {
    let rollout = plan_rollout(&targets)?;
    let mut summary = Summary::default();
    let mut on_event = |event: Event| {
        summary.count(&event);
        on_event(&event);
    };
    let topology = Topology::to_read(&targets, options);
    let clusters = read_clusters(&topology).await?;
    read_issued(&clusters).await;
    report_unusable(&topology, &clusters, &mut on_event);
    let mut failed = BTreeSet::new();
    for (index, cluster) in clusters.iter().enumerate() {
        if let Ok(cluster) = cluster {
            failed.extend(report_steps(&rollout, ClusterId(index), cluster, options, &mut on_event).await);
        }
    }
    let clusters = guest_first(clusters.iter().map(|cluster| cluster.as_ref().ok()));
    for (id, cluster) in clusters {
        let is_done = |step| !failed.contains(&step);
        let decision = decide_prune_after(&rollout, (id, cluster), options, is_done);
        for (entry, reason) in &decision.released {
            on_event(released_event(cluster, entry, reason));
        }
        for entry in decision.prune {
            let (kind, message) = if !options.prune {
                (EventKind::Held, HoldReason::NotRequested.to_string())
            } else if failed.is_empty() {
                (EventKind::Pruned, String::new())
            } else {
                (EventKind::Held, HoldReason::RolloutIncomplete.to_string())
            };
            on_event(Event::for_object(cluster.cluster, &entry.id, kind, message));
        }
        for held in decision.held {
            let message = held.reason.to_string();
            on_event(Event::for_object(cluster.cluster, &held.entry.id, EventKind::Held, message));
        }
    }
    Ok(summary)
}

/// Reports the steps of a cluster. Returns those that would fail.
async fn report_steps(
    rollout: &Rollout<'_>,
    id: ClusterId,
    cluster: &LiveCluster<'_>,
    options: &Options,
    on_event: &mut OnEvent<'_>,
) -> Vec<StepId> {
    let steps: Vec<(StepId, &Step<'_>)> = rollout.steps_of(id).collect();
    let results = join_all(steps.iter().map(|(_, step)| predict(cluster, step, options))).await;
    let mut failed = Vec::new();
    for ((step_id, step), result) in steps.into_iter().zip(results) {
        let (kind, message) = match result {
            Ok((kind, note)) => (kind, describe(&note, step, rollout)),
            Err(error) => {
                failed.push(step_id);
                (EventKind::Failed, step.mask(&error.to_string()))
            }
        };
        let level = step.level.unwrap_or_default().to_owned();
        on_event(Event { level, ..Event::for_object(cluster.cluster, &step.object.id, kind, message) });
    }
    failed
}

/// Joins a note with the dependencies of a step.
fn describe(note: &str, step: &Step<'_>, rollout: &Rollout<'_>) -> String {
    let mut parts = Vec::new();
    if !note.is_empty() {
        parts.push(note.to_owned());
    }
    for (index, dependency) in step.dependencies.iter().enumerate() {
        let after = if index == 0 { "after " } else { "" };
        let object = &rollout.step(dependency.on).object.id;
        parts.push(format!("{after}{}, {object}", dependency.reason));
    }
    parts.join("; ")
}

/// Returns the event that `apply` would report for an object, with a note.
async fn predict(
    cluster: &LiveCluster<'_>,
    step: &Step<'_>,
    options: &Options,
) -> Result<(EventKind, String), ObjectError> {
    let Step { object, action, .. } = *step;
    let live = cluster.find(object).await.map_err(|error| error_about(&error, object))?;
    let desired = cluster.desired(object);
    let new_values = match &desired.issue {
        IssueState::Due(due) if live.is_some() => format!("new values: {due}"),
        _ => String::new(),
    };
    let input = DecisionInput { id: &object.id, action, desired: &desired };
    let decision = cluster.decision_context(options).decide(&input, live.as_ref())?;
    debug!(object = %object.id, decision = decision.name(), reason = decision.reason(), "decision");
    Ok(match (decision, live) {
        (Decision::Skip, _) => (EventKind::Unchanged, String::new()),
        (Decision::Delete, _) => (EventKind::Deleted, String::new()),
        (Decision::Create | Decision::Apply { .. }, None) => (EventKind::Created, String::new()),
        (Decision::Apply { ownership: Ownership::Ours, .. }, Some(live)) if action == Action::Apply => {
            let predecessor = cluster.predecessors(options).of(&live);
            let note = predecessor.map(|it| format!("it {}", it.describe_takeover()));
            (EventKind::Changed, note.unwrap_or(new_values))
        }
        (Decision::Apply { on_conflict: OnConflict::Fail, .. }, Some(_)) => {
            (EventKind::Changed, FOUND_NOTE.to_owned())
        }
        (Decision::Create | Decision::Apply { .. }, Some(_)) => (EventKind::Changed, String::new()),
    })
}
