//! What an apply would change, field by field, as the API server itself says: by a dry run of the same requests.

use serde_json::{Value, json};

use crate::apply::cluster::live_cluster::Side;
use crate::apply::decide::decision::{Deed, deed};
use crate::apply::decide::desired as body;
use crate::apply::decide::rollout::Step;
use crate::apply::object::adopt::essence;
use crate::apply::object::apply_object::One;
use crate::apply::object::server_side_apply::Rehearsal;
use crate::apply::wire::error::Problem;
use crate::apply::{Event, Options, Target, look};
use crate::object::{Cluster, ObjectId};
use crate::show;
use crate::yaml::Node;

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
    /// The change as a line of JSON.
    pub fn json(&self) -> String {
        let ObjectId { group, kind, namespace, name } = &self.object;
        let (change, fields) = match (&self.unknown, self.sides()) {
            (Some(_), _) => ("unknown", Vec::new()),
            (None, (Some(before), Some(after))) => ("changed", show::fields(&before, &after)),
            (None, (None, Some(_))) => ("created", Vec::new()),
            _ => ("deleted", Vec::new()),
        };
        json!({
            "cluster": self.cluster.name(), "change": change, "fields": fields,
            "message": self.unknown.as_deref().unwrap_or_default(),
            "object": {"group": group, "kind": kind, "namespace": namespace, "name": name},
        })
        .to_string()
    }

    fn sides(&self) -> (Option<Node>, Option<Node>) {
        (self.before.as_ref().and_then(body::node), self.after.as_ref().and_then(body::node))
    }

    /// The change for people: the object, and what would differ of it, field by field.
    pub fn text(&self) -> String {
        let title = format!("{:<10} {}", crate::apply::decide::event::name(self.cluster), self.object);
        match (self.sides(), &self.unknown) {
            (_, Some(why)) => format!("{title} {}\n", crate::apply::decide::event::on_one_line(why)),
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
    let rollout = crate::apply::rollout(&targets)?;
    let sides = look(targets, options, &mut |event: Event| tell(&event)).await;
    let asked = rollout.steps.iter().filter_map(|step| Some((sides[step.half].as_ref()?, step)));
    let found = futures_util::future::join_all(asked.map(|(side, step)| change(side, step, options))).await;
    Ok(found.into_iter().flatten().collect())
}

async fn change(side: &Side<'_>, step: &Step<'_>, options: &Options) -> Option<Change> {
    let change = Change {
        cluster: side.cluster,
        object: step.object.id.clone(),
        before: None,
        after: None,
        unknown: None,
    };
    match would(side, step, options).await {
        Ok((before, after)) if before == after => None,
        Ok((before, after)) => Some(Change { before, after, ..change }),
        Err(why) => Some(Change { unknown: Some(why), ..change }),
    }
}

/// An object before and after; or why nobody can say how it would be.
async fn would(
    side: &Side<'_>,
    step: &Step<'_>,
    options: &Options,
) -> Result<(Option<Value>, Option<Value>), String> {
    let Step { object, action, .. } = *step;
    let live = side.find(object).await;
    let live = live
        .map_err(|failure| format!("cannot be looked at: {}", Problem::of(&failure, &object.id).message))?;
    let refused = |problem: Problem| format!("would be refused: {}", problem.message);
    let body = side.body(object);
    let deed = deed(side, (&object.id, action), &body, live.as_ref(), options.adopt).map_err(refused)?;
    let path = side.path(object).unwrap_or_default();
    let one = One { side, object, path, options };
    let after = match (deed, &live) {
        (Deed::Leave, live) => live.clone(),
        (Deed::TakeAway, _) => None,
        // In a namespace or of a kind that is not there yet nothing can be tried.
        (Deed::Make | Deed::Write { .. }, None) => Some(body.whole()),
        (Deed::Make, Some(live)) => Some(live.clone()),
        (Deed::Write { fields, force, .. }, Some(live)) => {
            match one.rehearse_over(&fields, force, live).await.map_err(refused)? {
                Rehearsal::Written(after) => Some(after),
                Rehearsal::Unknown(version) => {
                    return Err(format!(
                        "would be changed; what is recorded of its fields is in {version}, which is not served any more, so nobody can say how"
                    ));
                }
                Rehearsal::Recreated(fields) => {
                    return Err(format!(
                        "would be taken away and made again: {fields} cannot be changed on an object that is there"
                    ));
                }
            }
        }
    };
    Ok((live.map(essence), after.map(essence)))
}
