//! What a rollout would do, from what is in the clusters now. Nothing is written, not even as a dry run.

use serde_json::Value;

use super::event::{Event, Summary, What};
use super::failure::Problem;
use super::rollout::{Action, Need, Rollout, Step};
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
    let rollout = super::rollout(&targets)?;
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
            let (what, message) = match would(side, step).await {
                Ok(what) => (what, after(step, &rollout)),
                Err(problem) => (What::Failed, problem.message),
            };
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

/// What it comes after, beside everything at the levels before it.
fn after(step: &Step<'_>, rollout: &Rollout<'_>) -> String {
    let need =
        |(other, need): &(usize, Need)| format!("{}, {}", need.words(), rollout.steps[*other].object.id);
    let needs: Vec<String> = step.needs.iter().map(need).collect();
    if needs.is_empty() { String::new() } else { format!("after {}", needs.join("; ")) }
}

async fn would(side: &Side<'_>, step: &Step<'_>) -> Result<What, Problem> {
    let id = &step.object.id;
    let live = side.find(step.object).await.map_err(|failure| Problem::of(&failure, id))?;
    let same = |live: &Value| {
        let entry = side.known.find(id);
        entry.is_some_and(|entry| is_as_applied(entry, live, &side.body(step.object).digest))
    };
    Ok(match (step.action, live) {
        (Action::Delete, None) | (Action::Create, Some(_)) => What::Unchanged,
        (Action::Delete, Some(_)) => What::Deleted,
        (_, None) => What::Created,
        (Action::Apply, Some(live)) if same(&live) => What::Unchanged,
        (Action::Apply, Some(_)) => What::Changed,
    })
}
