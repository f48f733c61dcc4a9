//! What an apply would change, field by field, as the API server itself says: by a dry run of the same requests.

use serde_json::Value;

use super::failure::Problem;
use super::rollout::{Action, Step};
use super::side::Side;
use super::step::{dry_run, is_as_applied};
use super::{Event, Options, Target, body, look};
use crate::object::{Cluster, ObjectId};
use crate::show;

/// One object that would change.
pub struct Change {
    /// Where it is.
    pub cluster: Cluster,
    /// Which one.
    pub object: ObjectId,
    /// As it is; none if it is not there.
    pub before: Option<Value>,
    /// As it would be; none if it would be taken away.
    pub after: Option<Value>,
    /// Why nobody can say how it would be.
    pub unknown: Option<String>,
}

impl Change {
    /// The change for people: the object, and what would differ of it, field by field.
    pub fn text(&self) -> String {
        let title = format!("{:<10} {}", self.cluster.name(), self.object);
        let sides = (self.before.as_ref().and_then(body::node), self.after.as_ref().and_then(body::node));
        match (sides, &self.unknown) {
            (_, Some(why)) => format!("{title} {why}\n"),
            ((Some(before), Some(after)), _) => {
                let lines = show::fields(&before, &after);
                format!("{title}\n  {}\n", lines.join("\n  "))
            }
            ((None, Some(_)), _) => format!("{title} would be created\n"),
            _ => format!("{title} would be deleted\n"),
        }
    }
}

/// Asks the clusters what would change. What happens meanwhile is told.
pub async fn changes(
    targets: Vec<Target<'_>>,
    options: &Options,
    mut tell: impl FnMut(&Event),
) -> Result<Vec<Change>, String> {
    let rollout = super::rollout(&targets)?;
    let sides = look(targets, options, &mut |event: Event| tell(&event)).await;
    let asked = rollout.steps.iter().filter_map(|step| Some((sides[step.half].as_ref()?, step)));
    let found = futures_util::future::join_all(asked.map(|(side, step)| change(side, step))).await;
    Ok(found.into_iter().flatten().collect())
}

async fn change(side: &Side<'_>, step: &Step<'_>) -> Option<Change> {
    let (id, body) = (&step.object.id, side.body(step.object));
    let known = side.known.find(id);
    let same = |live: &Value| known.is_some_and(|entry| is_as_applied(entry, live, &body.digest));
    let one = |before: Option<Value>, after: Option<Value>, unknown| {
        Some(Change { cluster: side.cluster, object: id.clone(), before, after, unknown })
    };
    let live = match side.find(step.object).await {
        Ok(live) => live,
        Err(failure) => {
            return one(
                None,
                None,
                Some(format!("cannot be looked at: {}", Problem::of(&failure, id).message)),
            );
        }
    };
    match (step.action, live) {
        (Action::Delete, None) | (Action::Create, Some(_)) => None,
        (Action::Delete, Some(live)) => one(Some(essence(live)), None, None),
        (Action::Apply, Some(live)) if same(&live) => None,
        // In a namespace or of a kind that is not there yet nothing can be tried.
        (_, None) => one(None, Some(essence(body.applied)), None),
        (Action::Apply, Some(live)) => match dry_run(side, step.object, &body.applied).await {
            Ok(after) => {
                let (before, after) = (essence(live), essence(after));
                if before == after { None } else { one(Some(before), Some(after), None) }
            }
            Err(problem) => {
                one(Some(essence(live)), None, Some(format!("would be refused: {}", problem.message)))
            }
        },
    }
}

/// An object without what the server keeps for itself.
fn essence(mut object: Value) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"] {
            metadata.remove(field);
        }
    }
    object
}
