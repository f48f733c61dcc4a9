//! What a rollout would do, from what is in the clusters now. Nothing is written, not even as a dry run.

use futures_util::future::join_all;

use crate::apply::cluster::live_cluster::Side;
use crate::apply::decide::decision::{Deed, deed};
use crate::apply::decide::event::{Event, Summary, What};
use crate::apply::decide::rollout::{Need, Rollout, Step};
use crate::apply::run::inventory_update::what_leaves;
use crate::apply::wire::error::Problem;
use crate::apply::{Options, Target, guest_first, look};

/// What is said about an object that others made.
const FOREIGN: &str =
    "it was there before us, so it is refused if others own what we would set, and never taken away";

/// Tells what would happen, in the order in which it would begin.
pub async fn preview(
    targets: Vec<Target<'_>>,
    options: &Options,
    mut tell: impl FnMut(&Event),
) -> Result<Summary, String> {
    let rollout = crate::apply::rollout(&targets)?;
    let mut summary = Summary::default();
    let mut tell = |event: Event| {
        summary.count(&event);
        tell(&event);
    };
    let sides = look(targets, options, &mut tell).await;
    for (half, side) in sides.iter().enumerate() {
        let Some(side) = side else { continue };
        let own = rollout.steps.iter().filter(|step| step.half == half);
        let all = join_all(own.clone().map(|step| would(side, step, options))).await;
        for (step, would) in own.zip(all) {
            let (what, message) = match would {
                Ok((what, note)) => {
                    let mut parts = vec![note.to_owned(), after(step, &rollout)];
                    parts.retain(|part| !part.is_empty());
                    (what, parts.join("; "))
                }
                Err(problem) => (What::Failed, problem.message),
            };
            let level = step.level.unwrap_or_default().to_owned();
            tell(Event { level, ..Event::of_object(side.cluster, &step.object.id, what, message) });
        }
    }
    let sides = guest_first(sides.iter().map(Option::as_ref));
    let leaving = what_leaves(&rollout, &sides, options.approval, |_| true);
    for ((_, side), leaving) in sides.into_iter().zip(leaving) {
        for entry in leaving.go {
            let (what, message) =
                if options.prune { (What::Pruned, "") } else { (What::Held, "--prune takes it away") };
            tell(Event::of_object(side.cluster, &entry.id, what, message));
        }
        for (entry, message) in leaving.held {
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

/// What would become of an object, and what there is to say about that.
async fn would(side: &Side<'_>, step: &Step<'_>, options: &Options) -> Result<(What, &'static str), Problem> {
    let Step { object, action, .. } = *step;
    let live = side.find(object).await.map_err(|failure| Problem::of(&failure, &object.id))?;
    let body = side.body(object);
    Ok(match (deed(side, (&object.id, action), &body, live.as_ref(), options.adopt)?, live) {
        (Deed::Leave, _) => (What::Unchanged, ""),
        (Deed::TakeAway, _) => (What::Deleted, ""),
        (Deed::Make | Deed::Write { .. }, None) => (What::Created, ""),
        (Deed::Write { force: false, .. }, Some(_)) => (What::Changed, FOREIGN),
        (Deed::Make | Deed::Write { .. }, Some(_)) => (What::Changed, ""),
    })
}
