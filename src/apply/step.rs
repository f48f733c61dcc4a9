//! One object: it is made what it should be, and no request is made for one that already is.

use http::Method;
use serde_json::Value;

use super::body::{self, Body};
use super::event::What;
use super::failure::{Failure, Problem};
use super::fields;
use super::inventory::Entry;
use super::remove::take_away;
use super::rollout::Action;
use super::server::Content;
use super::side::{Side, set_of, version_of};
use super::{MANAGER, Options, SEEDER};
use crate::object::Object;

/// What became of an object.
pub(super) struct Done {
    pub(super) what: What,
    /// The object as it is now; none if it is gone.
    pub(super) live: Option<Value>,
    /// What the inventory says about it from now on.
    pub(super) entry: Option<Entry>,
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

/// One object that something is done with.
pub(super) struct One<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) object: &'a Object,
    pub(super) path: String,
    pub(super) options: &'a Options,
}

impl One<'_> {
    pub(super) fn problem(&self, failure: &Failure) -> Problem {
        match failure {
            Failure::Refused(refusal) => self.refused(refusal),
            _ => Problem::of(failure, &self.object.id),
        }
    }

    /// The object as it is now; none if it is not there.
    pub(super) async fn now(&self) -> Result<Option<Value>, Problem> {
        self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))
    }

    async fn apply(&self) -> Result<Done, Problem> {
        let body = self.side.body(self.object);
        let entry = self.side.known.find(&self.object.id);
        let mut live = self.side.live.get(&self.object.id).cloned();
        // Somebody may have taken our label away, and what is taken over has none yet.
        let unseen =
            live.is_none() && (entry.is_some_and(|entry| !entry.uid.is_empty()) || self.options.adopt);
        if unseen {
            live = self.now().await?;
        }
        if let (Some(entry), Some(live)) = (entry, &live)
            && is_as_applied(entry, live, &body.digest)
        {
            return Ok(self.done(What::Unchanged, live.clone(), &body.digest));
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
        // Some objects cannot be without their seeds, so they are made with them.
        let planted = match (&body.seed, &live) {
            (Some(_), None) => Some(self.write(&body.whole(), SEEDER, force, None).await?.0),
            _ => None,
        };
        let (what, now) =
            self.write(&body.applied, MANAGER, planted.is_some() || force, live.as_ref()).await?;
        let what = planted.unwrap_or(what);
        // Made just now, or by a run that was cut off before it could say so.
        let is_new =
            live.is_none() || what == What::Recreated || entry.is_some_and(|entry| entry.uid.is_empty());
        let now = if is_new { self.seed(&body, now).await? } else { now };
        Ok(self.done(what, now, &body.digest))
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

    /// Gives a new object what is given once. Seeds, and nothing else, stay in the name of whoever gives things away.
    async fn seed(&self, body: &Body, mut now: Value) -> Result<Value, Problem> {
        for (seed, place) in [(&body.seed, ""), (&body.first_status, "/status")] {
            let Some(seed) = seed else { continue };
            let path = format!("{}{place}?fieldManager={SEEDER}&fieldValidation=Strict", self.path);
            now = match self.side.server.send(Method::PATCH, &path, Content::Apply(&seed.to_string())).await {
                Ok(answer) => answer.value,
                // Whoever looks after the field was faster.
                Err(Failure::Refused(refusal)) if refusal.is_conflict_of_managers() => {
                    self.now().await?.unwrap_or_default()
                }
                Err(failure) => return Err(self.problem(&failure)),
            };
        }
        Ok(now)
    }

    /// An object that is only ever created, but for the fields of it that are held.
    async fn create(&self) -> Result<Done, Problem> {
        let body = self.side.body(self.object);
        let live = self.side.find(self.object).await.map_err(|failure| self.problem(&failure))?;
        let (what, live) = match live {
            Some(live) => (What::Unchanged, live),
            None => (What::Created, self.post(&body).await?),
        };
        let Some(pinned) = &body.pinned else { return Ok(self.done(what, live, &body.digest)) };
        let digest = body::digest(pinned);
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
        match self.side.server.send(Method::POST, &path, Content::Json(&body.whole().to_string())).await {
            Ok(answer) => Ok(answer.value),
            // The answer to an earlier try was lost, or somebody was faster: it is there.
            Err(failure) if failure.code() == Some(409) => Ok(self.now().await?.unwrap_or_default()),
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// A tombstone: whoever made the object, it goes.
    async fn delete(&self) -> Result<Done, Problem> {
        let live = self.now().await?;
        let Some(live) = live else { return Ok(gone(What::Unchanged)) };
        self.take_away(&live["metadata"]["uid"]).await?;
        Ok(gone(What::Deleted))
    }

    pub(super) async fn take_away(&self, uid: &Value) -> Result<(), Problem> {
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

/// Whether nothing is to be done: we want what we wanted, it is the same object, and our fields are as we left them.
pub(super) fn is_as_applied(entry: &Entry, live: &Value, desired: &str) -> bool {
    entry.desired == desired
        && live["metadata"]["uid"] == *entry.uid
        && live["metadata"].get("deletionTimestamp").is_none()
        && fields::digest(live).is_some_and(|digest| digest == entry.live)
}
