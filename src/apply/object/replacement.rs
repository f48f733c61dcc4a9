//! Asks the API server whether an object can become another one, with one merge patch.

use serde_json::Value;

use crate::apply::decide::json_fields::{merge_patch, without_server_fields};
use crate::apply::object::object_task::{Mode, ObjectTask};
use crate::apply::wire::api_server::Response;
use crate::apply::wire::error::RequestError;
use crate::object::Schema;
use crate::transform::patch::{ItemPosition, strategic};
use crate::yaml::Node;

/// Asks the API server whether an object can become `after`.
pub(crate) async fn dry_run_replacement(
    task: &ObjectTask<'_>,
    live: &Value,
    after: &Value,
) -> Result<Response, RequestError> {
    let before = without_server_fields(live.clone());
    let patch = merge_patch(&before, &without_server_fields(after.clone()));
    task.merge_patch(&patch, Mode::DryRun).await
}

/// Merges `fields` into an object with a strategic merge, which knows the list keys of built-in kinds. `None` if that
/// fails.
pub(crate) fn strategic_merge(object: &Value, fields: &Value) -> Option<Value> {
    let text = |key: &str| fields[key].as_str().unwrap_or_default();
    let schema = Schema::built_in(text("apiVersion"), text("kind")).unwrap_or(Schema::Unknown);
    let mut target = Node::from(object);
    strategic(&mut target, &Node::from(fields), schema, ItemPosition::Last).ok()?;
    Some(Value::from(&target))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::strategic_merge;

    #[test]
    fn list_items_are_merged_by_key() {
        let api = "admissionregistration.k8s.io/v1";
        let kind = "ValidatingWebhookConfiguration";
        let object = json!({"webhooks": [{"name": "a", "clientConfig": {"caBundle": "x"}}, {"name": "b"}]});
        let fields = json!({"apiVersion": api, "kind": kind,
            "webhooks": [{"name": "a", "clientConfig": {"url": "https://a"}}]});
        assert_eq!(
            strategic_merge(&object, &fields).unwrap()["webhooks"],
            json!([{"name": "a", "clientConfig": {"caBundle": "x", "url": "https://a"}}, {"name": "b"}])
        );
    }
}
