//! One object: it is made what it should be, and no request is made for one that already is.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use super::body::{Body, merge};
use super::event::What;
use super::failure::{Failure, Refusal};
use super::fields;
use super::inventory::Entry;
use super::kinds::Resource;
use super::rollout::Action;
use super::server::{Answer, Content};
use super::side::{Side, set_of, version_of};
use super::{MANAGER, Options, SEEDER};
use crate::object::{Object, ObjectId};

/// How often a write that another one has overtaken is tried.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(300);

/// What became of an object.
pub(super) struct Done {
    pub(super) what: What,
    /// The object as it is now; none if it is gone.
    pub(super) live: Option<Value>,
    /// What the inventory says about it from now on.
    pub(super) entry: Option<Entry>,
}

/// Why something could not be done.
pub(super) struct Problem {
    pub(super) message: String,
    /// Whether the cluster as a whole does not answer.
    pub(super) lost: bool,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), lost: false }
    }

    /// A failed request about an object.
    pub(super) fn of(failure: &Failure, id: &ObjectId) -> Self {
        Self { message: failure.words(id.kind == "Secret"), lost: matches!(failure, Failure::NoAnswer(_)) }
    }
}

/// Does what a step says.
pub(super) async fn perform(
    side: &Side<'_>,
    object: &Object,
    action: Action,
    options: &Options,
) -> Result<Done, Problem> {
    let Some(path) = side.path(object) else {
        return match action {
            Action::Delete => Ok(gone(What::Unchanged)),
            _ => Err(Problem::new(format!(
                "the cluster does not serve the kind {}",
                object.id.kind_and_group()
            ))),
        };
    };
    let one = One { side, object, path, options };
    match action {
        Action::Apply => one.apply().await,
        Action::Create => one.create().await,
        Action::Delete => one.delete().await,
    }
}

/// What the API server would make of an object.
pub(super) async fn dry_run(side: &Side<'_>, object: &Object, body: &Value) -> Result<Value, Problem> {
    let path = side.path(object).unwrap_or_default();
    let path = format!("{path}?fieldManager={MANAGER}&fieldValidation=Strict&force=true&dryRun=All");
    match side.server.send(Method::PATCH, &path, Content::Apply(&body.to_string())).await {
        Ok(answer) => Ok(answer.value),
        Err(failure) => Err(Problem::of(&failure, &object.id)),
    }
}

fn gone(what: What) -> Done {
    Done { what, live: None, entry: None }
}

struct One<'a> {
    side: &'a Side<'a>,
    object: &'a Object,
    path: String,
    options: &'a Options,
}

impl One<'_> {
    fn problem(&self, failure: &Failure) -> Problem {
        match failure {
            Failure::Refused(refusal) => self.refused(refusal),
            _ => Problem::of(failure, &self.object.id),
        }
    }

    async fn apply(&self) -> Result<Done, Problem> {
        let body = self.side.body(self.object);
        let entry = self.side.known.find(&self.object.id);
        let mut live = self.side.live.get(&self.object.id).cloned();
        if let (Some(entry), Some(live)) = (entry, &live)
            && is_as_applied(entry, live, &body.digest)
        {
            return Ok(self.done(What::Unchanged, live.clone(), &body.digest));
        }
        // Somebody may have taken our label away, and what is taken over has none yet.
        let unseen =
            live.is_none() && (entry.is_some_and(|entry| !entry.uid.is_empty()) || self.options.adopt);
        if unseen {
            live = self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))?;
        }
        let known = match &live {
            Some(live) => self.may_take(live, entry)?,
            None => false,
        };
        if self.options.adopt
            && let Some(live) = &live
        {
            self.migrate(live).await?;
        }
        let force = known || self.options.adopt;
        let Some(seed) = &body.seed else {
            let (what, now) = self.write(&body.applied, MANAGER, force, live.as_ref()).await?;
            return Ok(self.done(what, now, &body.digest));
        };
        let planted = if live.is_none() { Some(self.plant(&body.applied, seed, force).await?) } else { None };
        let (what, mut now) =
            self.write(&body.applied, MANAGER, planted.is_some() || force, live.as_ref()).await?;
        // Made just now, or by a run that was cut off before it could say so.
        if planted.is_some() || entry.is_some_and(|entry| entry.uid.is_empty()) {
            now = self.seed(seed).await?;
        }
        Ok(self.done(planted.unwrap_or(what), now, &body.digest))
    }

    /// Makes an object with its seeds in the name of whoever gives things away: some objects cannot be without them.
    async fn plant(&self, applied: &Value, seed: &Value, force: bool) -> Result<What, Problem> {
        let mut whole = applied.clone();
        merge(&mut whole, seed);
        Ok(self.write(&whole, SEEDER, force, None).await?.0)
    }

    /// Whether an object that is there is ours. Another set's is never touched.
    fn may_take(&self, live: &Value, entry: Option<&Entry>) -> Result<bool, Problem> {
        if set_of(live).is_some() && !self.side.is_ours(live) {
            let set = set_of(live).unwrap_or_default();
            return Err(Problem::new(format!(
                "it belongs to another set, {set}: two rollouts would change it back and forth"
            )));
        }
        let ours = entry.is_some_and(|entry| !entry.uid.is_empty() && live["metadata"]["uid"] == *entry.uid);
        Ok(ours || self.side.is_ours(live) && fields::ours(live).is_some())
    }

    /// Makes the fields of those who wrote the object before us ours, so that what we do not want leaves it.
    async fn migrate(&self, live: &Value) -> Result<(), Problem> {
        let mut live = live.clone();
        for _ in 0..TRIES {
            let Some(migration) = fields::migration(&live) else { return Ok(()) };
            let uri = format!("{}?fieldManager={MANAGER}", self.path);
            match self.side.server.send(Method::PATCH, &uri, Content::JsonPatch(&migration.to_string())).await
            {
                Ok(_) => return Ok(()),
                Err(failure) if failure.code() == Some(409) => {
                    let again = self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))?;
                    live = again.unwrap_or_default();
                }
                Err(failure) => return Err(self.problem(&failure)),
            }
        }
        Err(Problem::new("it is written all the time, so its fields cannot be taken over"))
    }

    /// Applies a body, and does what is needed where that is refused.
    async fn write(
        &self,
        body: &Value,
        manager: &str,
        force: bool,
        before: Option<&Value>,
    ) -> Result<(What, Value), Problem> {
        let deadline = Instant::now() + self.options.patience;
        let mut tries = 0;
        loop {
            let refusal = match self.send(body, manager, force).await {
                Ok(answer) => return Ok((what(&answer, before), answer.value)),
                Err(Failure::Refused(refusal)) => refusal,
                Err(failure) => return Err(self.problem(&failure)),
            };
            tries += 1;
            if refusal.is_conflict_of_managers() {
                return Err(conflict(&refusal));
            }
            if let Some(loser) = union_loser(&refusal, &self.object.id) {
                self.take_over(body, loser).await?;
                if tries < 3 {
                    continue;
                }
            }
            if !refusal.immutable_fields().is_empty() {
                return self.recreate(body, &refusal).await;
            }
            // A definition can be established some time before its kind is served.
            let not_served = refusal.code == 404 && refusal.reason.is_empty();
            let overtaken = refusal.code == 409 && tries < TRIES;
            if (not_served && Instant::now() < deadline) || overtaken {
                sleep(PAUSE).await;
                continue;
            }
            return Err(self.refused(&refusal));
        }
    }

    fn refused(&self, refusal: &Refusal) -> Problem {
        let namespace = &self.object.id.namespace;
        if refusal.causes.iter().any(|cause| cause.reason == "NamespaceTerminating") {
            return Problem::new(format!(
                "its namespace {namespace} is being deleted, so nothing can be put into it"
            ));
        }
        if refusal.message.contains("failed calling webhook") {
            // It may quote what it was asked about.
            let more = if self.object.id.kind == "Secret" {
                String::new()
            } else {
                format!(": {}", refusal.message)
            };
            return Problem::new(format!("a webhook that must agree does not answer{more}"));
        }
        Problem::of(&Failure::Refused(refusal.clone()), &self.object.id)
    }

    async fn send(&self, body: &Value, manager: &str, force: bool) -> Result<Answer, Failure> {
        let path = format!("{}?fieldManager={manager}&fieldValidation=Strict&force={force}", self.path);
        self.side.server.send(Method::PATCH, &path, Content::Apply(&body.to_string())).await
    }

    /// Server-side apply cannot clear a field that nobody owns. So it is made ours as it is, and left out the next time.
    async fn take_over(&self, body: &Value, (parent, field): (&str, &str)) -> Result<(), Problem> {
        let live =
            self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))?.unwrap_or_default();
        let mut as_it_is = body.clone();
        let strategy = &live["spec"][parent];
        if strategy.get(field).is_some() {
            as_it_is["spec"][parent] = strategy.clone();
            self.send(&as_it_is, MANAGER, true).await.map_err(|failure| self.problem(&failure))?;
        }
        Ok(())
    }

    /// What cannot be changed is taken away and made again, where that is allowed.
    async fn recreate(&self, body: &Value, refusal: &Refusal) -> Result<(What, Value), Problem> {
        let ObjectId { kind, name, .. } = &self.object.id;
        let fields = refusal.immutable_fields().join(", ");
        if !self.options.may_recreate(&self.object.id) {
            return Err(Problem::new(format!(
                "{fields} cannot be changed on an object that is there; --recreate {kind}/{name} takes it away and makes it again"
            )));
        }
        let live = self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))?;
        if let Some(uid) = live.as_ref().and_then(|live| live["metadata"]["uid"].as_str()) {
            self.take_away(uid).await?;
        }
        let answer = self.send(body, MANAGER, true).await.map_err(|failure| self.problem(&failure))?;
        Ok((What::Recreated, answer.value))
    }

    /// Keeps the seeds, and nothing else, in the name of whoever gives things away.
    async fn seed(&self, seed: &Value) -> Result<Value, Problem> {
        match self.send(seed, SEEDER, false).await {
            Ok(answer) => Ok(answer.value),
            // Whoever looks after the field was faster.
            Err(Failure::Refused(refusal)) if refusal.is_conflict_of_managers() => Ok(self
                .side
                .get(&self.path)
                .await
                .map_err(|failure| self.problem(&failure))?
                .unwrap_or_default()),
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// An object that is only ever created, but for the fields of it that are held.
    async fn create(&self) -> Result<Done, Problem> {
        let body = self.side.body(self.object);
        let mut live = self.side.live.get(&self.object.id).cloned();
        if live.is_none() {
            live = self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))?;
        }
        let (what, live) = match live {
            Some(live) => (What::Unchanged, live),
            None => (What::Created, self.post(&body).await?),
        };
        let Some(pinned) = &body.pinned else { return Ok(self.done(what, live, &body.digest)) };
        let digest = super::body::hex(&Sha256::digest(pinned.to_string()));
        let entry = self.side.known.find(&self.object.id);
        if what == What::Unchanged && entry.is_some_and(|entry| is_as_applied(entry, &live, &digest)) {
            return Ok(self.done(what, live, &digest));
        }
        let (held, now) = self.write(pinned, MANAGER, true, Some(&live)).await?;
        Ok(self.done(if what == What::Created { what } else { held }, now, &digest))
    }

    /// Makes an object, in the name of those who give things away.
    async fn post(&self, body: &Body) -> Result<Value, Problem> {
        let collection = self.path.rsplit_once('/').map_or(self.path.as_str(), |(collection, _)| collection);
        let path = format!("{collection}?fieldManager={SEEDER}&fieldValidation=Strict");
        let mut whole = body.applied.clone();
        if let Some(seed) = &body.seed {
            merge(&mut whole, seed);
        }
        match self.side.server.send(Method::POST, &path, Content::Json(&whole.to_string())).await {
            Ok(answer) => Ok(answer.value),
            // The answer to an earlier try was lost, or somebody was faster: it is there.
            Err(failure) if failure.code() == Some(409) => Ok(self
                .side
                .get(&self.path)
                .await
                .map_err(|failure| self.problem(&failure))?
                .unwrap_or_default()),
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// A tombstone: whoever made the object, it goes.
    async fn delete(&self) -> Result<Done, Problem> {
        let live = self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))?;
        let Some(uid) = live.as_ref().and_then(|live| live["metadata"]["uid"].as_str()) else {
            return Ok(gone(What::Unchanged));
        };
        self.take_away(uid).await?;
        Ok(gone(What::Deleted))
    }

    async fn take_away(&self, uid: &str) -> Result<(), Problem> {
        take_away(self.side, &self.path, uid, &self.object.id, self.options.deadline()).await
    }

    fn done(&self, what: What, live: Value, desired: &str) -> Done {
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let entry = Entry {
            id: self.object.id.clone(),
            version: version_of(self.object).to_owned(),
            uid,
            desired: desired.to_owned(),
            live: fields::digest(&live).unwrap_or_default(),
        };
        Done { what, live: Some(live), entry: Some(entry) }
    }
}

/// Deletes an object if it is still the one that is meant, and waits until it is gone.
pub(super) async fn take_away(
    side: &Side<'_>,
    path: &str,
    uid: &str,
    id: &ObjectId,
    deadline: Instant,
) -> Result<(), Problem> {
    let options = json!({
        "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background", "preconditions": {"uid": uid},
    });
    match side.server.send(Method::DELETE, path, Content::Json(&options.to_string())).await {
        Ok(_) => {}
        // It is gone, or another one of the same name is there.
        Err(failure) if matches!(failure.code(), Some(404 | 409)) => {}
        Err(failure) => return Err(Problem::of(&failure, id)),
    }
    let mut pause = Duration::from_millis(50);
    loop {
        let live = side.get(path).await.map_err(|failure| Problem::of(&failure, id))?;
        let Some(live) = live.filter(|live| live["metadata"]["uid"] == *uid) else { return Ok(()) };
        if Instant::now() >= deadline {
            return Err(Problem::new(stuck(&live)));
        }
        sleep(pause).await;
        pause = (pause * 3 / 2).min(Duration::from_secs(2));
    }
}

/// Why an object that was deleted is still there.
fn stuck(live: &Value) -> String {
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|one| one.as_str().map(str::to_owned)).collect()
    };
    let mut finalizers = texts(&live["metadata"]["finalizers"]);
    finalizers.extend(texts(&live["spec"]["finalizers"]));
    let conditions = live["status"]["conditions"].as_array().into_iter().flatten();
    let remaining =
        conditions.filter(|one| one["status"] == "True").filter_map(|one| one["message"].as_str());
    let remaining: Vec<&str> = remaining.filter(|message| !message.is_empty()).collect();
    match (&finalizers[..], &remaining[..]) {
        ([], []) => "it was deleted and is still there".to_owned(),
        (finalizers, []) => format!("it was deleted and waits for its finalizers: {}", finalizers.join(", ")),
        (_, remaining) => format!("it was deleted and is still there: {}", remaining.join("; ")),
    }
}

/// Whether nothing is to be done: we want what we wanted, it is the same object, and our fields are as we left them.
pub(super) fn is_as_applied(entry: &Entry, live: &Value, desired: &str) -> bool {
    entry.desired == desired
        && live["metadata"]["uid"] == *entry.uid
        && live["metadata"].get("deletionTimestamp").is_none()
        && fields::digest(live).is_some_and(|digest| digest == entry.live)
}

fn what(answer: &Answer, before: Option<&Value>) -> What {
    let same =
        |before: &Value| before["metadata"]["resourceVersion"] == answer.value["metadata"]["resourceVersion"];
    match before {
        _ if answer.created => What::Created,
        Some(before) if same(before) => What::Unchanged,
        _ => What::Changed,
    }
}

fn conflict(refusal: &Refusal) -> Problem {
    let causes: Vec<String> =
        refusal.causes.iter().map(|cause| format!("{} ({})", cause.field, cause.message)).collect();
    Problem::new(format!(
        "it was there before us, and others own what we would set: {}; --adopt takes it over",
        causes.join(", ")
    ))
}

/// Fields that the server fills in for one way of rolling out and refuses for another.
fn union_loser(refusal: &Refusal, id: &ObjectId) -> Option<(&'static str, &'static str)> {
    let parent = match (id.group.as_str(), id.kind.as_str()) {
        ("apps", "Deployment") => "strategy",
        ("apps", "DaemonSet" | "StatefulSet") => "updateStrategy",
        _ => return None,
    };
    let field = format!("spec.{parent}.rollingUpdate");
    let forbidden =
        refusal.causes.iter().any(|cause| cause.field == field && cause.reason == "FieldValueForbidden");
    (refusal.code == 422 && forbidden).then_some((parent, "rollingUpdate"))
}

/// Waits until what a definition defines is served.
pub(super) async fn served(side: &Side<'_>, definition: &Value, deadline: Instant) -> Result<(), Problem> {
    for (kind, resource) in Resource::of_definition(definition) {
        let known = side.kinds.borrow().find(&resource.group, &resource.version, &kind).is_some();
        while !known && !lists(side, &resource).await? {
            if Instant::now() >= deadline {
                let what = format!("{} of {}/{}", resource.plural, resource.group, resource.version);
                return Err(Problem::new(format!("it is established, and {what} are not served")));
            }
            sleep(PAUSE).await;
        }
        side.kinds.borrow_mut().add(kind, resource);
    }
    Ok(())
}

/// Whether a cluster says that it serves a resource.
async fn lists(side: &Side<'_>, resource: &Resource) -> Result<bool, Problem> {
    let path = format!("/apis/{}/{}", resource.group, resource.version);
    let unknown = |failure: Failure| Problem {
        message: failure.words(false),
        lost: matches!(failure, Failure::NoAnswer(_)),
    };
    let list = side.get(&path).await.map_err(unknown)?.unwrap_or_default();
    Ok(list["resources"].as_array().into_iter().flatten().any(|one| one["name"] == resource.plural))
}
