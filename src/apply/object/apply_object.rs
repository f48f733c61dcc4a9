//! One object: it is made what it should be, and no request is made for one that already is.

use http::Method;
use serde_json::Value;
use tokio::time::Instant;

use crate::apply::cluster::live_cluster::{Side, version_of};
use crate::apply::decide::decision::{self as deed, Deed, deed};
use crate::apply::decide::desired::Body;
use crate::apply::decide::event::What;
use crate::apply::decide::inventory::Entry;
use crate::apply::decide::managed_fields as fields;
use crate::apply::decide::rollout::Action;
use crate::apply::object::delete_objects::{take_away, until_gone};
use crate::apply::object::server_side_apply::{Rehearsal, TRIES};
use crate::apply::wire::api_server::Content;
use crate::apply::wire::error::{Failure, Problem};
use crate::apply::{MANAGER, Options, SEEDER};
use crate::object::Object;

/// What became of an object.
pub(in crate::apply) struct Done {
    pub(in crate::apply) what: What,
    /// The object as it is now; none if it is gone.
    pub(in crate::apply) live: Option<Value>,
    /// What the inventory says about it from now on.
    pub(in crate::apply) entry: Option<Entry>,
    /// What there is to say about that.
    pub(in crate::apply) note: &'static str,
}

/// What is said of an object that we have not made, when we change it for the first time.
const FOUND: &str = "it was there before us, so it is never taken away; --adopt makes it ours";

/// Does what a step says.
pub(in crate::apply) async fn perform(
    side: &Side<'_>,
    object: &Object,
    action: Action,
    options: &Options,
) -> Result<Done, Problem> {
    let path = side.path_or_ask(side.path(object), &object.id, version_of(object)).await?;
    let Some(path) = path else {
        return match action {
            Action::Delete => Ok(gone(What::Unchanged)),
            _ => Err(early(
                format!("the cluster does not serve the kind {}", object.id.kind_and_group()),
                options,
            )),
        };
    };
    let one = One { side, object, path, options };
    let (live, body) = (one.there(action).await?, side.body(object));
    let desired = deed::desired(action, &body);
    match (deed(side, (&object.id, action), &body, live.as_ref(), options.adopt)?, live) {
        (Deed::Leave, Some(live)) => {
            // What is only ever created may have been there before us as well.
            let found = one.is_lent() || action == Action::Create && !side.is_ours(&live);
            Ok(one.done(What::Unchanged, live, &desired, found))
        }
        (Deed::Leave, None) => Ok(gone(What::Unchanged)),
        (Deed::TakeAway, live) => {
            one.take_away(&live.unwrap_or_default()["metadata"]["uid"]).await?;
            Ok(gone(What::Deleted))
        }
        (Deed::Make, _) => Ok(one.done(What::Created, one.make(&body).await?, &desired, false)),
        (Deed::Write { fields, force, .. }, live) if action == Action::Create => {
            let (what, now) = one.write(&fields, MANAGER, force, live.as_ref()).await?;
            Ok(one.done(what, now, &desired, false))
        }
        (Deed::Write { fields, force, found }, live) => {
            let body = Body { applied: fields.into_owned(), ..body.clone() };
            let (mut what, mut now) = one.apply(&body, force, live.as_ref()).await?;
            // Somebody else's, which was not looked at before.
            if is_going(&now) {
                one.until_gone(&now).await?;
                (what, now) = one.apply(&body, force, None).await?;
            }
            Ok(one.done(what, now, &desired, found && what != What::Created))
        }
    }
}

/// Others must bring something first.
pub(in crate::apply) fn early(message: String, options: &Options) -> Problem {
    Problem::passing(if options.wait { message } else { message + "; --wait waits for it" })
}

fn is_going(live: &Value) -> bool {
    live["metadata"].get("deletionTimestamp").is_some()
}

fn gone(what: What) -> Done {
    Done { what, live: None, entry: None, note: "" }
}

/// One object that something is done with.
pub(in crate::apply) struct One<'a> {
    pub(in crate::apply) side: &'a Side<'a>,
    pub(in crate::apply) object: &'a Object,
    pub(in crate::apply) path: String,
    pub(in crate::apply) options: &'a Options,
}

impl One<'_> {
    pub(in crate::apply) fn problem(&self, failure: &Failure) -> Problem {
        match failure {
            Failure::Refused(refusal) => self.refused(refusal),
            _ => Problem::of(failure, &self.object.id),
        }
    }

    /// The object as it is now; none if it is not there.
    pub(in crate::apply) async fn now(&self) -> Result<Option<Value>, Problem> {
        self.side.get(&self.path).await.map_err(|failure| self.problem(&failure))
    }

    /// The object as it was at the beginning. It is asked for where nobody could have seen it there: somebody may have taken
    /// our label away, and what is taken over has none yet. What is most likely new is not: the answer to the write tells.
    async fn seen(&self, action: Action) -> Result<Option<Value>, Problem> {
        let live = self.side.live.get(&self.object.id);
        let known = || self.side.known.find(&self.object.id).is_some_and(|entry| !entry.uid.is_empty());
        match (action, live) {
            (Action::Delete, _) => self.now().await,
            (_, Some(live)) => Ok(Some(live.clone())),
            (Action::Apply, None)
                if !known() && !self.options.adopt && self.side.is_most_likely_new(self.object) =>
            {
                Ok(None)
            }
            (_, None) => self.now().await,
        }
    }

    /// The same, but for an object that is going: nothing can be done with it but wait.
    async fn there(&self, action: Action) -> Result<Option<Value>, Problem> {
        match self.seen(action).await? {
            Some(live) if action != Action::Delete && is_going(&live) => {
                self.until_gone(&live).await?;
                Ok(None)
            }
            live => Ok(live),
        }
    }

    async fn until_gone(&self, live: &Value) -> Result<(), Problem> {
        let uid = &live["metadata"]["uid"];
        until_gone(self.side, &self.path, uid, &self.object.id, self.deadline()).await.map(|_| ())
    }

    /// Until when something is waited for that others must do: not for long where nobody waits for everything.
    fn deadline(&self) -> Instant {
        let deadline = self.options.deadline();
        if self.options.wait { deadline } else { deadline.min(Instant::now() + self.options.patience) }
    }

    async fn apply(&self, body: &Body, force: bool, live: Option<&Value>) -> Result<(What, Value), Problem> {
        let entry = self.side.known.find(&self.object.id);
        let mut remade = None;
        if let Some(live) = live {
            remade = self.prepare(body, live).await?;
        }
        // Some objects cannot be without their seeds, so they are made with them.
        let planted = match (&body.seed, live) {
            (Some(_), None) => Some(self.write(&body.whole(), SEEDER, force, None).await?.0),
            _ => None,
        };
        let (what, now) = match remade {
            Some(remade) => remade,
            None => self.write(&body.applied, MANAGER, planted.is_some() || force, live).await?,
        };
        let what = planted.unwrap_or(what);
        let is_new = live.is_none() || matches!(what, What::Created | What::Recreated);
        // Or it was made by a run that was cut off before it could say so.
        let now = if is_new || fields::is_planted(&now) { self.seed(body, now).await? } else { now };
        let is_known = entry.is_some_and(|entry| now["metadata"]["uid"] == *entry.uid);
        Ok((what, if is_known { now } else { self.say_first(body, now).await? }))
    }

    /// Makes room for what we want in an object that is there: for others first, then in the place of those who made it.
    /// Whether that can be done at all is asked before; an object that must be made again for it is.
    async fn prepare(&self, body: &Body, live: &Value) -> Result<Option<(What, Value)>, Problem> {
        let taken_over = self.options.adopt && fields::migration(live).is_some();
        if taken_over && let Rehearsal::Recreated(_) = self.rehearse_over(&body.applied, true, live).await? {
            return self.remake(&body.applied).await.map(Some);
        }
        self.give_away(live).await?;
        if taken_over {
            self.migrate(live).await?;
        }
        Ok(None)
    }

    /// Leaves to others what was ours until now, with the value that it has.
    async fn give_away(&self, live: &Value) -> Result<(), Problem> {
        let mut live = live.clone();
        for _ in 0..TRIES {
            let Some(given) = self.side.policy.given_away(self.object, &live, self.options.adopt) else {
                break;
            };
            match self.send(&given, SEEDER, false).await {
                Ok(_) => break,
                // Somebody has changed it since it was looked at, and his value counts.
                Err(Failure::Refused(refusal)) if refusal.is_conflict_of_managers() => {
                    live = self.now().await?.unwrap_or_default();
                }
                Err(failure) => return Err(self.problem(&failure)),
            }
        }
        Ok(())
    }

    /// Gives a new object what is given once. Seeds, and nothing else, stay in the name of whoever gives things away.
    async fn seed(&self, body: &Body, now: Value) -> Result<Value, Problem> {
        let now = self.give(body.seed.as_ref(), "", now).await?;
        if !fields::is_planted(&now) {
            return Ok(now);
        }
        // Somebody has changed a seed already: the others stay as they are.
        let still = self.side.policy.still_given(self.object, &now);
        Ok(self.send(&still, SEEDER, true).await.map_err(|failure| self.problem(&failure))?.value)
    }

    /// Says of a new object what its owner will say soon.
    async fn say_first(&self, body: &Body, now: Value) -> Result<Value, Problem> {
        self.give(body.first_status.as_ref(), "/status", now).await
    }

    async fn give(&self, what: Option<&Value>, place: &str, now: Value) -> Result<Value, Problem> {
        let Some(what) = what else { return Ok(now) };
        let path = format!("{}{place}?fieldManager={SEEDER}&fieldValidation=Strict", self.path);
        match self.side.server.send(Method::PATCH, &path, Content::Apply(&what.to_string())).await {
            Ok(answer) => Ok(answer.value),
            // Whoever looks after the field was faster.
            Err(Failure::Refused(refusal)) if refusal.is_conflict_of_managers() => {
                Ok(self.now().await?.unwrap_or_default())
            }
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// Makes an object that is only ever created, but for the fields of it that are held.
    async fn make(&self, body: &Body) -> Result<Value, Problem> {
        let live = self.post(body).await?;
        match &body.pinned {
            Some(pinned) => Ok(self.write(pinned, MANAGER, true, Some(&live)).await?.1),
            None => Ok(live),
        }
    }

    /// Makes an object, in the name of those who give things away.
    async fn post(&self, body: &Body) -> Result<Value, Problem> {
        let collection = self.path.rsplit_once('/').map_or(self.path.as_str(), |(collection, _)| collection);
        let path = format!("{collection}?fieldManager={SEEDER}&fieldValidation=Strict");
        match self.side.server.send(Method::POST, &path, Content::Json(&body.whole().to_string())).await {
            Ok(answer) => Ok(answer.value),
            // The answer to an earlier try was lost, or somebody was faster: it is there.
            Err(failure) if failure.code() == Some(409) => {
                self.now().await?.ok_or_else(|| self.problem(&failure))
            }
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// Takes it away, whoever made it.
    pub(in crate::apply) async fn take_away(&self, uid: &Value) -> Result<(), Problem> {
        take_away(self.side, &self.path, uid, &self.object.id, self.deadline()).await
    }

    /// Whether it was there before us, and nobody has asked us to take it over.
    pub(in crate::apply) fn is_lent(&self) -> bool {
        self.side.known.find(&self.object.id).is_some_and(|entry| entry.found)
    }

    fn done(&self, what: What, live: Value, desired: &str, found: bool) -> Done {
        let uid = live["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        let entry = Entry {
            id: self.object.id.clone(),
            version: version_of(self.object).to_owned(),
            uid,
            desired: desired.to_owned(),
            live: fields::digest(&live).unwrap_or_default(),
            found,
        };
        let note = if found && !self.is_lent() { FOUND } else { "" };
        Done { what, live: Some(live), entry: Some(entry), note }
    }
}
