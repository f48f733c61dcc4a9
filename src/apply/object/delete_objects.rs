//! Takes objects away: only what the inventory, the uid and the label all say is ours, custom resources before their
//! definitions, namespaces last.

use std::time::Duration;

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::apply::OVERTAKEN;
use crate::apply::cluster::crd::{self as definition, DEFINITION};
use crate::apply::cluster::live_cluster::Side;
use crate::apply::decide::event::{Event, What};
use crate::apply::decide::inventory::Entry;
use crate::apply::decide::managed_fields as fields;
use crate::apply::wire::api_server::Content;
use crate::apply::wire::error::{Problem, Verdict};
use crate::object::{ObjectId, Scopes};

/// So often an object is asked about that somebody else changes; the last time it goes as it is.
const TRIES: usize = 5;

/// What became of one object.
pub(in crate::apply) enum Removed {
    Gone,
    /// It was not there.
    Missing,
    /// It is there, and not ours any more.
    NotOurs(String),
}

/// Takes objects away, and gives back those that are still there.
pub(in crate::apply) async fn remove(
    side: &Side<'_>,
    entries: Vec<Entry>,
    what: What,
    deadline: Instant,
    tell: &mut dyn FnMut(Event),
) -> Vec<Entry> {
    let mut left = Vec::new();
    let mut lost: Option<String> = None;
    for phase in phases(entries) {
        if lost.is_none() && !phase.is_empty() && side.is_written_by_others().await {
            lost = Some(OVERTAKEN.to_owned());
        }
        // Whoever should let something go that is stuck may be in a later phase.
        let late = (Instant::now() >= deadline).then(|| "the time was over before it could go".to_owned());
        // What others are in stays for as long as they do.
        let held = |entry: &Entry| lost.clone().or_else(|| inside(&entry.id, &left)).or_else(|| late.clone());
        let (phase, staying): (Vec<_>, Vec<_>) =
            phase.into_iter().map(|entry| (held(&entry), entry)).partition(|(why, _)| why.is_none());
        for (why, entry) in staying {
            tell(Event::of_object(side.cluster, &entry.id, What::Blocked, why.unwrap_or_default()));
            left.push(entry);
        }
        let phase: Vec<Entry> = phase.into_iter().map(|(_, entry)| entry).collect();
        let results = join_all(phase.iter().map(|entry| remove_one(side, entry, deadline))).await;
        for (entry, result) in phase.into_iter().zip(results) {
            match result {
                Ok(Removed::Gone) => tell(Event::of_object(side.cluster, &entry.id, what, String::new())),
                Ok(Removed::Missing) => {
                    let why = "it was gone already".to_owned();
                    tell(Event::of_object(side.cluster, &entry.id, What::Forgotten, why));
                }
                Ok(Removed::NotOurs(why)) => {
                    tell(Event::of_object(side.cluster, &entry.id, What::Forgotten, why));
                }
                Err(problem) => {
                    if problem.verdict == Verdict::Lost && lost.is_none() && side.is_silent().await {
                        lost = Some(format!("its cluster does not answer: {}", problem.message));
                    }
                    tell(Event::of_object(side.cluster, &entry.id, What::Failed, problem.message));
                    left.push(entry);
                }
            }
        }
    }
    left
}

/// Why a namespace or a definition cannot go: something in it is still there.
fn inside(id: &ObjectId, left: &[Entry]) -> Option<String> {
    let is_inside = |other: &&Entry| match id.kind.as_str() {
        "Namespace" => other.id.namespace == id.name,
        // It is called by the plural of its kind and by its group.
        DEFINITION => id.name.split_once('.').is_some_and(|(_, group)| other.id.group == group),
        _ => false,
    };
    let other = left.iter().find(is_inside)?;
    Some(format!("it would take {} with it, which is still there", other.id))
}

/// What calls for others first, then objects of custom kinds while whoever looks after them is there, then the rest;
/// definitions and namespaces when nothing of theirs is left. What is in one phase goes at once.
fn phases(entries: Vec<Entry>) -> [Vec<Entry>; 5] {
    let mut phases: [Vec<Entry>; 5] = Default::default();
    for entry in entries.into_iter().rev() {
        let phase = match entry.id.kind.as_str() {
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" | "APIService" => 0,
            DEFINITION => 3,
            "Namespace" => 4,
            kind if Scopes::default().of(&entry.id.group, kind).is_none() => 1,
            _ => 2,
        };
        phases[phase].push(entry);
    }
    phases
}

/// An object goes as it was seen: whoever changes it meanwhile, be it to take it over, is asked about again.
async fn remove_one(side: &Side<'_>, entry: &Entry, deadline: Instant) -> Result<Removed, Problem> {
    let path = side.path_or_ask(side.path_of(entry), &entry.id, &entry.version).await?;
    // A kind that is not served has no objects.
    let Some(path) = path else { return Ok(Removed::Missing) };
    let mut seen = side.live.get(&entry.id).cloned();
    for attempt in 1..=TRIES {
        let live = match seen.take() {
            Some(live) => Some(live),
            None => side.get(&path).await.map_err(|failure| Problem::of(&failure, &entry.id))?,
        };
        let Some(live) = live else {
            return Ok(if attempt == 1 { Removed::Missing } else { Removed::Gone });
        };
        let metadata = &live["metadata"];
        if entry.found {
            return Ok(Removed::NotOurs("it was there before us, so it stays".to_owned()));
        }
        if !side.is_ours(&live) {
            return Ok(Removed::NotOurs("it does not carry our label any more".to_owned()));
        }
        // One that we made anew, before we were cut off, is ours as well.
        let same = entry.uid.is_empty() || metadata["uid"] == *entry.uid;
        if !same && !fields::is_by_us(&live) {
            return Ok(Removed::NotOurs("another object of its name is there".to_owned()));
        }
        // A namespace that is going refuses to be deleted once more.
        if metadata.get("deletionTimestamp").is_some() {
            return until_gone(side, &path, &metadata["uid"], &entry.id, deadline).await;
        }
        if attempt == 1 && entry.id.kind == DEFINITION {
            definition::wake(side, &live).await;
        }
        let unchanged = json!({"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]});
        let same = if attempt < TRIES { unchanged } else { json!({"uid": metadata["uid"]}) };
        match send(side, &path, &same, &entry.id).await? {
            Sent::Gone => return Ok(Removed::Gone),
            Sent::Going => return until_gone(side, &path, &metadata["uid"], &entry.id, deadline).await,
            Sent::Changed => {}
        }
    }
    Err(Problem::new("it is changed all the time, so it cannot be taken away"))
}

/// Deletes an object if it is still the one that is meant, and waits until it is gone.
pub(in crate::apply) async fn take_away(
    side: &Side<'_>,
    path: &str,
    uid: &Value,
    id: &ObjectId,
    deadline: Instant,
) -> Result<(), Problem> {
    match send(side, path, &json!({"uid": uid}), id).await? {
        Sent::Gone => Ok(()),
        // It is going already, or another one of the same name is there.
        Sent::Going | Sent::Changed => until_gone(side, path, uid, id, deadline).await.map(|_| ()),
    }
}

/// What the API server says to a delete.
enum Sent {
    Gone,
    /// It is still there.
    Going,
    /// It is not what it was thought to be.
    Changed,
}

async fn send(side: &Side<'_>, path: &str, preconditions: &Value, id: &ObjectId) -> Result<Sent, Problem> {
    let options = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", "preconditions": preconditions,
    });
    match side.server.send(Method::DELETE, path, Content::Json(&options.to_string())).await {
        // What stays for a while comes back with the time at which it was deleted. Of some kinds so does what is gone, as
        // it was before.
        Ok(answer) if answer.value["metadata"].get("deletionTimestamp").is_some() => Ok(Sent::Going),
        Ok(_) => Ok(Sent::Gone),
        Err(failure) if failure.code() == Some(404) => Ok(Sent::Gone),
        Err(failure) if failure.code() == Some(409) => Ok(Sent::Changed),
        Err(failure) => Err(Problem::of(&failure, id)),
    }
}

pub(in crate::apply) async fn until_gone(
    side: &Side<'_>,
    path: &str,
    uid: &Value,
    id: &ObjectId,
    deadline: Instant,
) -> Result<Removed, Problem> {
    let mut pause = Duration::from_millis(100);
    loop {
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
        let live = side.get(path).await.map_err(|failure| Problem::of(&failure, id))?;
        let Some(live) = live.filter(|live| live["metadata"]["uid"] == *uid) else {
            return Ok(Removed::Gone);
        };
        if Instant::now() >= deadline {
            return Err(Problem::new(stuck(&live)));
        }
    }
}

/// Why an object that was deleted is still there: what holds it, and what whoever should let it go says about that.
fn stuck(live: &Value) -> String {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let mut finalizers = texts(&live["metadata"]["finalizers"]);
    finalizers.extend(texts(&live["spec"]["finalizers"]));
    let mut message = if finalizers.is_empty() {
        "it was deleted and is still there".to_owned()
    } else {
        format!("it was deleted and waits for its finalizers: {}", finalizers.join(", "))
    };
    // Of a definition, and of a namespace.
    let about = |kind: &str| kind == "Terminating" || kind.starts_with("Namespace");
    let conditions = live["status"]["conditions"].as_array().into_iter().flatten();
    for condition in conditions.filter(|one| one["status"] == "True") {
        match (condition["type"].as_str(), condition["message"].as_str()) {
            (Some(kind), Some(said)) if about(kind) && !said.is_empty() => {
                message.push_str("; ");
                message.push_str(said);
            }
            _ => {}
        }
    }
    message
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::stuck;

    #[test]
    fn what_holds_an_object_is_named() {
        let condition = |kind: &str, said: &str| json!({"type": kind, "status": "True", "message": said});
        for (live, expected) in [
            (json!({"metadata": {}}), "it was deleted and is still there"),
            (
                json!({"metadata": {"finalizers": ["a.b/c", "foregroundDeletion"]},
                    "status": {"conditions": [condition("Available", "Deployment has minimum availability.")]}}),
                "it was deleted and waits for its finalizers: a.b/c, foregroundDeletion",
            ),
            (
                json!({"metadata": {}, "spec": {"finalizers": ["kubernetes"]}, "status": {"conditions": [
                    {"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "all is found"},
                    condition("NamespaceContentRemaining", "pods. has 1 resource instances")]}}),
                "it was deleted and waits for its finalizers: kubernetes; pods. has 1 resource instances",
            ),
            (
                json!({"metadata": {"finalizers": ["customresourcecleanup.apiextensions.k8s.io"]}, "status": {"conditions": [
                    condition("NamesAccepted", "no conflicts found"),
                    condition("Terminating", "could not list instances")]}}),
                "it was deleted and waits for its finalizers: customresourcecleanup.apiextensions.k8s.io; could not list instances",
            ),
        ] {
            assert_eq!(stuck(&live), expected);
        }
    }
}
