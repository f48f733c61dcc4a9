//! Taking an object over from those who made it: what it would become, as the API server says before anything is written.

use http::Method;
use serde_json::{Map, Value};

use crate::apply::MANAGER;
use crate::apply::decide::desired as body;
use crate::apply::decide::managed_fields as fields;
use crate::apply::decide::orphaned_fields as left_behind;
use crate::apply::object::apply_object::One;
use crate::apply::object::server_side_apply::{Rehearsal, union_loser};
use crate::apply::wire::api_server::{Answer, Content};
use crate::apply::wire::error::{Failure, Problem};
use crate::language::ItemPosition;
use crate::object::Schema;
use crate::transform::patch::strategic;
use crate::yaml;

impl One<'_> {
    /// What an object would be that is written as ours, and taken over if it should be.
    pub(in crate::apply) async fn rehearse_over(
        &self,
        fields: &Value,
        force: bool,
        live: &Value,
    ) -> Result<Rehearsal, Problem> {
        let all = self.with_given(fields, live);
        if self.options.adopt && fields::migration(live).is_some() {
            return self.rehearse_adoption(&all, live).await;
        }
        self.rehearse(&all, force).await
    }

    /// What only those before us have set leaves the object, and nothing but both together is what it will be: without
    /// that, it may be nothing that an API server takes.
    async fn rehearse_adoption(&self, fields: &Value, live: &Value) -> Result<Rehearsal, Problem> {
        let whole = match self.try_out(fields, true).await {
            Ok(answer) => match left_behind::without(&answer.value) {
                Some(rest) => rest,
                None => return Ok(Rehearsal::Written(answer.value)),
            },
            Err(Failure::Refused(refusal)) if refusal.code == 422 => {
                let laid = laid_over(left_behind::without(live).as_ref().unwrap_or(live), fields);
                laid.ok_or_else(|| self.refused(&refusal))?
            }
            Err(Failure::Refused(refusal)) => return self.rehearsed(&refusal, true),
            Err(failure) => return Err(self.problem(&failure)),
        };
        match self.try_whole(live, &whole).await {
            Ok(answer) => Ok(Rehearsal::Written(answer.value)),
            Err(Failure::Refused(refusal)) if union_loser(&refusal, &self.object.id).is_some() => {
                self.rehearse(fields, true).await
            }
            Err(Failure::Refused(refusal)) => self.rehearsed(&refusal, true),
            Err(failure) => Err(self.problem(&failure)),
        }
    }

    /// Tries what an object would become if it were all of this.
    async fn try_whole(&self, live: &Value, whole: &Value) -> Result<Answer, Failure> {
        let change = merge_patch(&essence(live.clone()), &essence(whole.clone()));
        let path = format!("{}?fieldManager={MANAGER}&dryRun=All", self.path);
        self.side.server.send(Method::PATCH, &path, Content::MergePatch(&change.to_string())).await
    }

    /// What is sent, with what we give away before that: it stays as it is.
    fn with_given(&self, fields: &Value, live: &Value) -> Value {
        let mut all = fields.clone();
        if let Some(given) = self.side.policy.given_away(self.object, live, self.options.adopt) {
            body::merge(&mut all, &given);
        }
        all
    }
}

/// An object without what the server keeps for itself.
pub(in crate::apply) fn essence(mut object: Value) -> Value {
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

/// What we want, laid over what stays: lists as the schema of the kind says. Nothing where they do not fit together.
fn laid_over(rest: &Value, fields: &Value) -> Option<Value> {
    let text = |key: &str| fields[key].as_str().unwrap_or_default();
    let shape = Schema::built_in(text("apiVersion"), text("kind")).unwrap_or(Schema::Unknown);
    let mut target = body::node(rest)?;
    strategic(&mut target, &body::node(fields)?, shape, ItemPosition::Last).ok()?;
    serde_json::from_str(&yaml::json::write(&target)).ok()
}

/// The patch of RFC 7386 that makes one object of another.
fn merge_patch(from: &Value, to: &Value) -> Value {
    let (Value::Object(from), Value::Object(to)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for (key, value) in to {
        match from.get(key) {
            Some(before) if before == value => {}
            Some(before) => _ = patch.insert(key.clone(), merge_patch(before, value)),
            None => _ = patch.insert(key.clone(), value.clone()),
        }
    }
    for key in from.keys().filter(|key| !to.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{laid_over, merge_patch};

    #[test]
    fn a_patch_says_what_differs() {
        let from = json!({"a": 1, "b": {"c": 1, "d": 2}, "l": [1, 2], "m": {"x": 1}});
        let to = json!({"a": 1, "b": {"c": 3}, "l": [2], "m": "text", "n": {"o": 1}});
        assert_eq!(
            merge_patch(&from, &to),
            json!({"b": {"c": 3, "d": null}, "l": [2], "m": "text", "n": {"o": 1}})
        );
        assert_eq!(merge_patch(&to, &to), json!({}));
    }

    #[test]
    fn items_of_lists_meet_by_their_keys() {
        let api = "admissionregistration.k8s.io/v1";
        let kind = "ValidatingWebhookConfiguration";
        let rest = json!({"webhooks": [{"name": "a", "clientConfig": {"caBundle": "x"}}, {"name": "b"}]});
        let fields = json!({"apiVersion": api, "kind": kind,
            "webhooks": [{"name": "a", "clientConfig": {"url": "https://a"}}]});
        assert_eq!(
            laid_over(&rest, &fields).unwrap()["webhooks"],
            json!([{"name": "a", "clientConfig": {"caBundle": "x", "url": "https://a"}}, {"name": "b"}])
        );
    }
}
