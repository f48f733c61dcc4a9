//! What is to be done with an object, from what is known about it. An apply does it, a dry run and a diff tell it: so they
//! agree.

use std::borrow::Cow;

use serde_json::Value;

use crate::apply::cluster::live_cluster::{Side, set_of};
use crate::apply::decide::desired::{Body, digest, unlabelled};
use crate::apply::decide::inventory::Entry;
use crate::apply::decide::managed_fields as fields;
use crate::apply::decide::rollout::Action;
use crate::apply::wire::error::Problem;
use crate::object::ObjectId;

/// What is to be done with an object.
pub(in crate::apply) enum Deed<'b> {
    /// Nothing: it is as it should be.
    Leave,
    /// It is made, and then it is its users'.
    Make,
    /// These fields become what they should be, by force where they are ours. An object that was found there is not marked
    /// as ours.
    Write { fields: Cow<'b, Value>, force: bool, found: bool },
    /// It is taken away.
    TakeAway,
}

/// Decides about an object that is there as it was seen, or is not there.
pub(in crate::apply) fn deed<'b>(
    side: &Side<'_>,
    (id, action): (&ObjectId, Action),
    body: &'b Body,
    live: Option<&Value>,
    adopt: bool,
) -> Result<Deed<'b>, Problem> {
    let entry = side.known.find(id);
    // Fields of those before us leave only when they are ours.
    let is_settled = |live: &Value| {
        let same = entry.is_some_and(|entry| is_as_applied(entry, live, &desired(action, body)));
        let is_lent = entry.is_some_and(|entry| entry.found) || fields::migration(live).is_some();
        same && !(adopt && action == Action::Apply && is_lent)
    };
    Ok(match (action, live) {
        (Action::Delete, None) => Deed::Leave,
        (Action::Delete, Some(_)) => Deed::TakeAway,
        (Action::Create, None) => Deed::Make,
        (Action::Create | Action::Apply, Some(live)) if is_settled(live) => Deed::Leave,
        (Action::Create, Some(live)) => match &body.pinned {
            // They are held whoever made the object, unless it is another set's.
            Some(pinned) => {
                is_ours(side, live, entry)?;
                Deed::Write { fields: Cow::Borrowed(pinned), force: true, found: false }
            }
            None => Deed::Leave,
        },
        (Action::Apply, None) => {
            Deed::Write { fields: Cow::Borrowed(&body.applied), force: adopt, found: false }
        }
        (Action::Apply, Some(live)) => {
            let ours = is_ours(side, live, entry)?;
            let found = !adopt && (!ours || entry.is_some_and(|entry| entry.found));
            let fields =
                if found { Cow::Owned(unlabelled(&body.applied)) } else { Cow::Borrowed(&body.applied) };
            Deed::Write { fields, force: ours || adopt, found }
        }
    })
}

/// A digest of what we want an object to be.
pub(in crate::apply) fn desired(action: Action, body: &Body) -> String {
    match (action, &body.pinned) {
        (Action::Create, Some(pinned)) => digest(pinned),
        _ => body.digest.clone(),
    }
}

/// Whether an object that is there is ours. Another set's is never touched.
fn is_ours(side: &Side<'_>, live: &Value, entry: Option<&Entry>) -> Result<bool, Problem> {
    if let Some(set) = set_of(live).filter(|_| !side.is_ours(live)) {
        return Err(Problem::new(format!(
            "it belongs to another set, {set}: two rollouts would change it back and forth"
        )));
    }
    let seen = entry.is_some_and(|entry| !entry.uid.is_empty() && live["metadata"]["uid"] == *entry.uid);
    let made = fields::ours(live).is_some() || fields::is_planted(live);
    Ok(seen || side.is_ours(live) && made)
}

/// Whether nothing is to be done: we want what we wanted, it is the same object, and our fields are as we left them.
fn is_as_applied(entry: &Entry, live: &Value, desired: &str) -> bool {
    entry.desired == desired
        && live["metadata"]["uid"] == *entry.uid
        && live["metadata"].get("deletionTimestamp").is_none()
        && fields::digest(live).is_some_and(|digest| digest == entry.live)
}
