//! `apply`: rolls out the objects of all clusters.

use crate::apply::cluster::options::{Extent, Options};
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::event::{Event, Summary};
use crate::apply::decide::release_version::{Downgrade, is_older};
use crate::apply::run::clusters::{guest_first, plan_rollout, share_of_deadline};
use crate::apply::run::contacts::{Contacts, Patience, Topology};
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
    if options.extent == Extent::Whole {
        check_not_empty(&targets)?;
    }
    let rollout = plan_rollout(&targets)?;
    let mut summary = Summary::default();
    let mut on_event = |event: Event| {
        summary.count(&event);
        on_event(&event);
    };
    let topology = Topology::to_write(&targets, options, "apply");
    let contacts = topology.contact_all(Patience::Once).await?;
    check_downgrade(&topology, &contacts)?;
    let result = RolloutRun::new(&rollout, &topology, &mut on_event).run(contacts).await;
    let clusters = guest_first(result.clusters.iter().map(Option::as_deref));
    for (index, (id, cluster)) in clusters.iter().copied().enumerate() {
        let is_done = |step| result.is_done(step);
        let decision = decide_prune_after(&rollout, (id, cluster), options, is_done);
        let deadline = share_of_deadline(options.deadline(), clusters.len() - index);
        let end = RolloutEnd { rollout: &rollout, result: &result, options, id, cluster, deadline };
        end.finish(decision, &mut on_event).await;
    }
    if let Some(lock) = &topology.lock {
        lock.release().await;
    }
    Ok(summary)
}

/// Refuses a payload that is older than the one that the clusters run, unless the user allows it.
fn check_downgrade(topology: &Topology<'_, '_>, contacts: &Contacts) -> Result<(), Diagnostic> {
    let (Ok(contact), Downgrade::Refuse) = (&contacts[topology.primary()], topology.options.downgrade) else {
        return Ok(());
    };
    let payload = &topology.targets[topology.primary()].payload_version;
    let running = &contact.inventory.initial().payload_version;
    if !is_older(payload, running) {
        return Ok(());
    }
    Err(Diagnostic::error(format!("the payload {payload} is older than {running}, which was applied last"))
        .note("transship has written nothing")
        .help("to go back to it, pass --allow-downgrade"))
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
