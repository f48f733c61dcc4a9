//! `diff --live`: asks the API server with dry-run requests which fields an apply would change.

use futures_util::future::join_all;
use serde_json::Value;

use crate::apply::cluster::error::error_about;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::decision::{Decision, DecisionInput};
use crate::apply::decide::event::Event;
use crate::apply::decide::issue_state::IssueState;
use crate::apply::decide::object_error::{ObjectError, WaitHint};
use crate::apply::decide::ownership::Ownership;
use crate::apply::decide::rollout::{Action, Step};
use crate::apply::object::adopt::dry_run_existing;
use crate::apply::object::object_task::ObjectTask;
use crate::apply::object::server_side_apply::DryRunOutcome;
use crate::apply::run::clusters::{plan_rollout, read_clusters, read_issued, report_unusable};
use crate::apply::run::contacts::Topology;
use crate::apply::run::live_change::{BeforeAfter, Difference, LiveChange};
use crate::apply::run::not_rendered::not_rendered;
use crate::diagnostic::Diagnostic;

/// Asks the clusters what an apply would change, and finds the objects that are no longer rendered. Events report clusters
/// that cannot be read.
pub async fn diff_live(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<Vec<LiveChange>, Diagnostic> {
    let rollout = plan_rollout(&targets)?;
    let topology = Topology::to_read(&targets, options);
    let clusters = read_clusters(&topology).await?;
    read_issued(&clusters).await;
    report_unusable(&topology, &clusters, &mut |event: Event| on_event(&event));
    let mut changes = Vec::new();
    for step in &rollout.steps {
        if let Ok(cluster) = &clusters[step.cluster.0] {
            changes.push(find_change(cluster, step, options));
        }
    }
    let mut changes: Vec<LiveChange> = join_all(changes).await.into_iter().flatten().collect();
    changes.extend(not_rendered(&rollout, &clusters, options).await);
    Ok(changes)
}

/// Returns what an apply would change in an object; `None` if nothing.
async fn find_change(cluster: &LiveCluster<'_>, step: &Step<'_>, options: &Options) -> Option<LiveChange> {
    let difference = match predict(cluster, step, options).await {
        Ok(objects) if objects.is_same() => return None,
        Ok(objects) => Difference::Applied(objects),
        Err(Difference::Unknown(reason)) => Difference::Unknown(step.mask(&reason)),
        Err(difference) => difference,
    };
    Some(LiveChange { cluster: cluster.cluster, object: step.object.id.clone(), difference })
}

/// Returns an object before and after an apply, or why it is unknown.
async fn predict(
    cluster: &LiveCluster<'_>,
    step: &Step<'_>,
    options: &Options,
) -> Result<BeforeAfter, Difference> {
    let Step { object, action, .. } = *step;
    let live = cluster.find(object).await;
    let live = live.map_err(|error| Difference::Unreadable(error_about(&error, object).to_string()))?;
    let desired = cluster.desired(object);
    let input = DecisionInput { id: &object.id, action, desired: &desired };
    let decision = cluster.decision_context(options).decide(&input, live.as_ref());
    let decision = decision.map_err(|error| rejected(&error))?;
    if let (Decision::Apply { .. }, Some(_), IssueState::Due(due)) = (&decision, &live, &desired.issue) {
        return Err(Difference::Unknown(format!("would get new values: {due}")));
    }
    let mut predecessor = None;
    let after = match (decision, &live, cluster.path(object)) {
        (Decision::Skip, live, _) => live.clone(),
        (Decision::Delete, _, _) => None,
        // A dry run is not possible if the namespace or the kind does not exist yet.
        (Decision::Create | Decision::Apply { .. }, None, _) => Some(desired.with_seed()),
        (Decision::Create, Some(live), _) => Some(live.clone()),
        (Decision::Apply { .. }, Some(_), None) => {
            let (kind, hint) = (object.id.kind_and_group(), WaitHint::Omit);
            return Err(rejected(&ObjectError::KindNotServed { kind, hint }));
        }
        (Decision::Apply { fields, on_conflict, ownership }, Some(live), Some(path)) => {
            if ownership == Ownership::Ours && action == Action::Apply {
                predecessor = cluster.predecessors(options).of(live);
            }
            let task = ObjectTask::new(cluster, object, path, options);
            let outcome = dry_run_existing(&task, &fields, on_conflict, live).await;
            // The object is shown at the end.
            task.keep_memory();
            Some(object_after(outcome.map_err(|error| rejected(&error))?)?)
        }
    };
    Ok(BeforeAfter::new(live, after, &object.root).taken_over_from(predecessor.as_ref()))
}

fn rejected(error: &ObjectError) -> Difference {
    Difference::Unknown(format!("would be rejected: {error}"))
}

fn object_after(outcome: DryRunOutcome) -> Result<Value, Difference> {
    let reason = match outcome {
        DryRunOutcome::Written(after) => return Ok(after),
        DryRunOutcome::VersionNotServed(version) => format!(
            "would be changed, but the API server cannot say how: its managed fields are recorded in {version}, \
             which is no longer served"
        ),
        DryRunOutcome::Recreated { reason } => format!("would be recreated: {reason}"),
    };
    Err(Difference::Unknown(reason))
}
