//! What a rollout would do, from what is in the clusters now. Nothing is written, not even as a dry run.

use super::event::{Event, Summary, What};
use super::rollout::{Action, Half, Rollout, Step};
use super::side::Side;
use super::step::is_as_applied;
use super::{Options, Target, leaving, look};
use crate::object::{ObjectId, is_tombstone};

/// Tells what would happen, in the order in which it would begin.
pub async fn preview(
    targets: Vec<Target<'_>>,
    options: &Options,
    mut tell: impl FnMut(&Event),
) -> Result<Summary, String> {
    let halves: Vec<Half<'_>> =
        targets.iter().map(|target| Half { cluster: target.cluster, plan: target.plan }).collect();
    let rollout = Rollout::of(&halves).map_err(|circle| super::circle(&circle))?;
    let mut summary = Summary::default();
    let mut tell = |event: Event| {
        summary.count(&event);
        tell(&event);
    };
    let sides = look(targets, options, &mut tell).await;
    for (half, side) in sides.iter().enumerate() {
        let Some(side) = side else { continue };
        let own = rollout.steps.iter().filter(|step| step.half == half);
        for step in own.clone() {
            let what = would(side, step).await;
            let needs: Vec<String> = step
                .needs
                .iter()
                .map(|(other, need)| format!("{}, {}", need.words(), rollout.steps[*other].object.id))
                .collect();
            let message =
                if needs.is_empty() { String::new() } else { format!("after {}", needs.join("; ")) };
            let level = step.level.unwrap_or_default().to_owned();
            tell(Event { level, ..Event::of_object(side.cluster, &step.object.id, what, message) });
        }
        let alive = own.filter(|step| !is_tombstone(&step.object.root));
        let wanted: Vec<ObjectId> = alive.map(|step| step.object.id.clone()).collect();
        let found = leaving(&side.known, &wanted, options.approval);
        for entry in found.go {
            let (what, message) =
                if options.prune { (What::Pruned, "") } else { (What::Held, "--prune takes it away") };
            tell(Event::of_object(side.cluster, &entry.id, what, message));
        }
        for (entry, message) in found.held {
            tell(Event::of_object(side.cluster, &entry.id, What::Held, message));
        }
    }
    Ok(summary)
}

async fn would(side: &Side<'_>, step: &Step<'_>) -> What {
    let id = &step.object.id;
    let live = match (side.live.get(id), side.path(step.object)) {
        (Some(live), _) => Some(live.clone()),
        (None, Some(path)) => side.get(&path).await.ok().flatten(),
        (None, None) => None,
    };
    match (step.action, live, side.known.find(id)) {
        (Action::Delete, None, _) | (Action::Create, Some(_), _) => What::Unchanged,
        (Action::Delete, Some(_), _) => What::Deleted,
        (_, None, _) => What::Created,
        (Action::Apply, Some(live), Some(entry))
            if is_as_applied(entry, &live, &side.body(step.object).digest) =>
        {
            What::Unchanged
        }
        _ => What::Changed,
    }
}
