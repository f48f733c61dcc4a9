//! `diff --live --drift`: finds what others changed in fields that matter. Only reads.

use futures_util::future::join_all;

use crate::apply::cluster::error::error_about;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::drift::{DriftInput, find_drift};
use crate::apply::decide::event::Event;
use crate::apply::decide::rollout::{Action, Step};
use crate::apply::run::clusters::{plan_rollout, read_clusters, read_issued, report_unusable};
use crate::apply::run::contacts::Topology;
use crate::apply::run::live_change::{Difference, LiveChange};
use crate::apply::run::not_rendered::not_rendered;
use crate::diagnostic::Diagnostic;

/// Finds what others changed in the objects that transship applied: fields that decide what runs, with which rights, and
/// who may do what. Also finds objects that no longer exist or are no longer rendered. Events report clusters that cannot
/// be read.
pub async fn drift_live(
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
            changes.push(find_change(cluster, step));
        }
    }
    let mut changes: Vec<LiveChange> = join_all(changes).await.into_iter().flatten().collect();
    changes.extend(not_rendered(&rollout, &clusters, options).await);
    Ok(changes)
}

async fn find_change(cluster: &LiveCluster<'_>, step: &Step<'_>) -> Option<LiveChange> {
    let difference = find_difference(cluster, step).await?;
    Some(LiveChange { cluster: cluster.cluster, object: step.object.id.clone(), difference })
}

/// Returns the drift of an object. Objects that transship only creates, or that existed before, belong to others.
async fn find_difference(cluster: &LiveCluster<'_>, step: &Step<'_>) -> Option<Difference> {
    let Step { object, action, .. } = *step;
    let entry = cluster.inventory.initial().find(&object.id)?;
    if action != Action::Apply || !entry.was_applied() || entry.found {
        return None;
    }
    let live = match cluster.find(object).await {
        Ok(Some(live)) => live,
        Ok(None) => return Some(Difference::Missing),
        Err(error) => return Some(Difference::Unreadable(error_about(&error, object).to_string())),
    };
    let desired = cluster.desired(object);
    let input = DriftInput {
        id: &object.id,
        rendered: &object.root,
        desired: &desired.with_seed(),
        live: &live,
        of_others: &cluster.field_rules.fields_of_others(object, &live),
        is_applied: entry.desired_digest == desired.digest,
    };
    let (fields, more) = find_drift(&input);
    (!fields.is_empty()).then_some(Difference::Drifted { fields, more })
}
