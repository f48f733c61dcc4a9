//! `apply`: rolls out the objects of all clusters.

use crate::apply::cluster::live_cluster::TargetCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::event::{Event, Summary};
use crate::apply::run::clusters::{guest_first, plan_rollout, share_of_deadline};
use crate::apply::run::inventory_update::{RolloutEnd, decide_prune_after};
use crate::apply::run::rollout_run::RolloutRun;
use crate::diagnostic::Diagnostic;
use crate::object::is_tombstone;

/// Applies the rendered objects to all clusters. Reports events as they happen. An error means that nothing was sent to
/// any cluster.
pub async fn apply(
    targets: Vec<TargetCluster<'_>>,
    options: &Options,
    mut on_event: impl FnMut(&Event) + Send,
) -> Result<Summary, Diagnostic> {
    if !options.partial {
        check_not_empty(&targets)?;
    }
    let rollout = plan_rollout(&targets)?;
    let mut summary = Summary::default();
    let mut on_event = |event: Event| {
        summary.count(&event);
        on_event(&event);
    };
    let result = RolloutRun::new(&rollout, &targets, options, &mut on_event).run().await;
    let clusters = guest_first(result.clusters.iter().map(Option::as_deref));
    for (index, (id, cluster)) in clusters.iter().copied().enumerate() {
        let is_done = |step| result.is_done(step);
        let decision = decide_prune_after(&rollout, (id, cluster), options, is_done);
        let deadline = share_of_deadline(options.deadline(), clusters.len() - index);
        let end = RolloutEnd { rollout: &rollout, result: &result, options, id, cluster, deadline };
        end.finish(decision, &mut on_event).await;
    }
    Ok(summary)
}

/// Refuses to apply a profile without objects: with `--prune`, that would delete everything.
fn check_not_empty(targets: &[TargetCluster<'_>]) -> Result<(), Diagnostic> {
    for target in targets {
        if target.plan.objects.iter().all(|object| is_tombstone(&object.root)) {
            let profile = &target.profile.name;
            return Err(Diagnostic::error(format!("no objects are rendered for the profile `{profile}`"))
                .note("this is probably a mistake in the payload or the profile")
                .help("to delete all objects, use `transship delete`"));
        }
    }
    Ok(())
}
