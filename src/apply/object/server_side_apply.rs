//! How an object is written, and what is done where the API server refuses.

use std::time::Duration;

use http::Method;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::apply::MANAGER;
use crate::apply::decide::event::What;
use crate::apply::decide::managed_fields as fields;
use crate::apply::decide::prune::precious;
use crate::apply::object::adopt::essence;
use crate::apply::object::apply_object::{One, early};
use crate::apply::wire::api_server::{Answer, Content};
use crate::apply::wire::error::{Failure, Problem, Refusal};
use crate::object::ObjectId;

/// How often a write that another one has overtaken is tried.
pub(in crate::apply) const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(300);

/// What a write would come to.
pub(in crate::apply) enum Rehearsal {
    /// The object would be this.
    Written(Value),
    /// It would be taken away and made again, because of these fields.
    Recreated(String),
    /// It would be something, once what is recorded of its fields is no longer in this version, which is gone.
    Unknown(String),
}

impl One<'_> {
    /// Applies a body, and does what is needed where that is refused.
    pub(in crate::apply) async fn write(
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
            if let Some(gone) = refusal.version_that_is_gone()
                && tries < TRIES
            {
                self.move_from(gone, body).await?;
                continue;
            }
            if !refusal.immutable_fields().is_empty() {
                if !force {
                    return Err(foreign(&refusal));
                }
                self.may_recreate(&refusal)?;
                return self.remake(body).await;
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

    pub(in crate::apply) fn refused(&self, refusal: &Refusal) -> Problem {
        let namespace = &self.object.id.namespace;
        if refusal.is_without_namespace() {
            return early(format!("its namespace {namespace} is not there"), self.options);
        }
        if refusal.causes.iter().any(|cause| cause.reason == "NamespaceTerminating") {
            return Problem::new(format!(
                "its namespace {namespace} is being deleted, so nothing can be put into it"
            ));
        }
        Problem::of(&Failure::Refused(refusal.clone()), &self.object.id)
    }

    pub(in crate::apply) async fn send(
        &self,
        body: &Value,
        manager: &str,
        force: bool,
    ) -> Result<Answer, Failure> {
        self.patch(body, &format!("fieldManager={manager}&force={force}")).await
    }

    pub(in crate::apply) async fn try_out(&self, body: &Value, force: bool) -> Result<Answer, Failure> {
        self.patch(body, &format!("fieldManager={MANAGER}&force={force}&dryRun=All")).await
    }

    async fn patch(&self, body: &Value, query: &str) -> Result<Answer, Failure> {
        let path = format!("{}?{query}&fieldValidation=Strict", self.path);
        self.side.server.send(Method::PATCH, &path, Content::Apply(&body.to_string())).await
    }

    /// What a write would come to, as the API server says: by a dry run.
    pub(in crate::apply) async fn rehearse(&self, body: &Value, force: bool) -> Result<Rehearsal, Problem> {
        let refusal = match self.try_out(body, force).await {
            Ok(answer) => return Ok(Rehearsal::Written(answer.value)),
            Err(Failure::Refused(refusal)) => refusal,
            Err(failure) => return Err(self.problem(&failure)),
        };
        if let Some(loser) = union_loser(&refusal, &self.object.id)
            && let Some(as_it_is) = as_it_is(body, &self.now().await?.unwrap_or_default(), loser)
        {
            let answer = self.try_out(&as_it_is, true).await.map_err(|failure| self.problem(&failure))?;
            let mut written = answer.value;
            if let Some(spec) = written.get_mut("spec").and_then(Value::as_object_mut) {
                spec.insert(loser.0.to_owned(), body["spec"][loser.0].clone());
            }
            return Ok(Rehearsal::Written(written));
        }
        self.rehearsed(&refusal, force)
    }

    /// What a refusal of a dry run comes to.
    pub(in crate::apply) fn rehearsed(&self, refusal: &Refusal, force: bool) -> Result<Rehearsal, Problem> {
        if refusal.is_conflict_of_managers() {
            return Err(conflict(refusal));
        }
        if !refusal.immutable_fields().is_empty() {
            if !force {
                return Err(foreign(refusal));
            }
            return self.may_recreate(refusal).map(Rehearsal::Recreated);
        }
        match refusal.version_that_is_gone() {
            Some(gone) => Ok(Rehearsal::Unknown(gone.to_owned())),
            None => Err(self.refused(refusal)),
        }
    }

    /// Server-side apply cannot clear a field that nobody owns. So it is made ours as it is, and left out the next time.
    async fn take_over(&self, body: &Value, loser: Loser) -> Result<(), Problem> {
        let live = self.now().await?.unwrap_or_default();
        if let Some(as_it_is) = as_it_is(body, &live, loser) {
            self.send(&as_it_is, MANAGER, true).await.map_err(|failure| self.problem(&failure))?;
        }
        Ok(())
    }

    /// The fields for which an object must be taken away and made again, if that is allowed.
    fn may_recreate(&self, refusal: &Refusal) -> Result<String, Problem> {
        if self.is_lent() && !self.options.adopt {
            return Err(foreign(refusal));
        }
        let ObjectId { kind, name, .. } = &self.object.id;
        let fields = refusal.immutable_fields().join(", ");
        if let Some(loss) = precious(kind) {
            return Err(Problem::new(format!(
                "{fields} cannot be changed on an object that is there, and it is never taken away for that: {loss}"
            )));
        }
        if self.options.may_recreate(&self.object.id) {
            return Ok(fields);
        }
        let with = if self.options.adopt { " with --adopt" } else { "" };
        Err(Problem::new(format!(
            "{fields} cannot be changed on an object that is there; --recreate {kind}/{name}{with} takes it away and makes it again"
        )))
    }

    /// What cannot be changed is taken away and made again.
    pub(in crate::apply) async fn remake(&self, body: &Value) -> Result<(What, Value), Problem> {
        self.could_be_made(body).await?;
        if let Some(live) = self.now().await? {
            self.take_away(&live["metadata"]["uid"]).await?;
        }
        let answer = self.send(body, MANAGER, true).await.map_err(|failure| self.problem(&failure))?;
        Ok((What::Recreated, answer.value))
    }

    /// Nothing is taken away that could not be made again: what is wrong is told before that it is there already.
    async fn could_be_made(&self, body: &Value) -> Result<(), Problem> {
        let collection = self.path.rsplit_once('/').map_or(self.path.as_str(), |(collection, _)| collection);
        let path = format!("{collection}?fieldManager={MANAGER}&fieldValidation=Strict&dryRun=All");
        match self.side.server.send(Method::POST, &path, Content::Json(&body.to_string())).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.code() == Some(409) => Ok(()),
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// Makes the fields of those who wrote the object before us ours, so that what we do not want leaves it.
    pub(in crate::apply) async fn migrate(&self, live: &Value) -> Result<(), Problem> {
        self.record(live.clone(), fields::migration).await
    }

    /// Records fields in the version that we apply where that of their owner is not served any more.
    async fn move_from(&self, gone: &str, body: &Value) -> Result<(), Problem> {
        let now = body["apiVersion"].as_str().unwrap_or_default();
        let live = self.now().await?.unwrap_or_default();
        self.record(live, |live| fields::in_version(live, gone, now)).await
    }

    /// Changes what is recorded of everybody's fields, if there is anything to change.
    async fn record(&self, mut live: Value, change: impl Fn(&Value) -> Option<Value>) -> Result<(), Problem> {
        for _ in 0..TRIES {
            let Some(change) = change(&live) else { return Ok(()) };
            let path = format!("{}?fieldManager={MANAGER}", self.path);
            match self.side.server.send(Method::PATCH, &path, Content::JsonPatch(&change.to_string())).await {
                Ok(_) => return Ok(()),
                Err(failure) if failure.code() == Some(409) => {
                    live = self.now().await?.unwrap_or_default();
                }
                Err(failure) => return Err(self.problem(&failure)),
            }
        }
        Err(Problem::new("it is written all the time, so what is recorded of its fields cannot be changed"))
    }
}

fn what(answer: &Answer, before: Option<&Value>) -> What {
    // Somebody may have written it meanwhile, as controllers do with a status: that was not us.
    let now = &answer.value;
    let same = |before: &Value| {
        before["metadata"]["resourceVersion"] == now["metadata"]["resourceVersion"]
            || fields::ours(before) == fields::ours(now) && essence(before.clone()) == essence(now.clone())
    };
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

/// What others made and cannot be changed is theirs, however little we would change of it.
fn foreign(refusal: &Refusal) -> Problem {
    let fields = refusal.immutable_fields().join(", ");
    Problem::new(format!(
        "it was there before us, and {fields} cannot be changed on an object that is there; --adopt takes it over"
    ))
}

/// A field that the server fills in for one way of rolling out and refuses for another: where it is, and what it is.
pub(in crate::apply) type Loser = (&'static str, &'static str);

pub(in crate::apply) fn union_loser(refusal: &Refusal, id: &ObjectId) -> Option<Loser> {
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

/// What we want, with that field's surroundings as they are; nothing if it is not there.
fn as_it_is(body: &Value, live: &Value, (parent, field): Loser) -> Option<Value> {
    let strategy = &live["spec"][parent];
    strategy.get(field)?;
    let mut as_it_is = body.clone();
    as_it_is["spec"][parent] = strategy.clone();
    Some(as_it_is)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Answer, What, what};

    fn object(version: &str, mode: &str, replicas: u64) -> Value {
        let ours =
            json!({"manager": "transship", "operation": "Apply", "fieldsV1": {"f:data": {"f:mode": {}}}});
        json!({
            "metadata": {"resourceVersion": version, "managedFields": [ours]},
            "data": {"mode": mode}, "status": {"replicas": replicas},
        })
    }

    #[test]
    fn what_others_write_meanwhile_is_not_our_change() {
        let before = object("1", "one", 0);
        let mut taken = object("2", "one", 0);
        taken["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]["f:other"] = json!({});
        for (created, value, expected) in [
            (false, object("1", "one", 0), What::Unchanged),
            (false, object("2", "one", 3), What::Unchanged),
            (false, object("2", "two", 0), What::Changed),
            (false, taken, What::Changed),
            (true, object("1", "one", 0), What::Created),
        ] {
            assert_eq!(what(&Answer { created, value }, Some(&before)), expected);
        }
        assert_eq!(what(&Answer { created: false, value: before }, None), What::Changed);
    }
}
