//! Fills in what is known only in a cluster: the values of issued objects, authorities, and the hashes over both.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::apply::decide::desired::Desired;
use crate::apply::decide::digest;
use crate::credentials::certificate::Certificate;
use crate::credentials::values::Values;

/// Fills the values into an issued object. An immutable field that another issuer chose stays.
pub(crate) fn fill_values(desired: &mut Desired, values: &Values, live_type: Option<&str>) {
    let kind = desired.applied["kind"].as_str().unwrap_or_default().to_owned();
    desired.applied["data"] = values.data(&kind);
    if let Some(live_type) = live_type {
        desired.applied["type"] = json!(live_type);
    }
}

/// Fills authorities into every `caBundle` of an object that the manifest leaves open.
pub(crate) fn fill_authorities(desired: &mut Desired, pem: &str) {
    let authorities = json!(STANDARD.encode(pem));
    for parent in ca_bundle_parents(&mut desired.applied) {
        let is_open = parent.get("caBundle").is_none_or(|own| own.as_str() == Some(""));
        if is_open && let Some(parent) = parent.as_object_mut() {
            parent.insert("caBundle".to_owned(), authorities.clone());
        }
    }
    desired.digest = digest::of_value(&desired.applied);
}

/// Returns the maps that have a `caBundle`.
fn ca_bundle_parents(object: &mut Value) -> Vec<&mut Value> {
    match object["kind"].as_str() {
        Some("CustomResourceDefinition") => {
            object.pointer_mut("/spec/conversion/webhook/clientConfig").into_iter().collect()
        }
        Some("APIService") => object.get_mut("spec").into_iter().collect(),
        _ => {
            let webhooks = object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten();
            webhooks.filter_map(|webhook| webhook.get_mut("clientConfig")).collect()
        }
    }
}

/// Returns the authorities that an object trusts: those that all of its `caBundle`s have.
pub(crate) fn authorities_of(live: &Value) -> Vec<Certificate> {
    let mut live = live.clone();
    let mut common: Option<Vec<Certificate>> = None;
    for parent in ca_bundle_parents(&mut live) {
        let pem = STANDARD.decode(parent["caBundle"].as_str().unwrap_or_default()).unwrap_or_default();
        let authorities = Certificate::read_all(&pem).unwrap_or_default();
        common = Some(match common {
            None => authorities,
            Some(common) => common.into_iter().filter(|known| authorities.contains(known)).collect(),
        });
    }
    common.unwrap_or_default()
}

/// Replaces the rendered hash of a pod's configuration by the one over the issued values.
pub(crate) fn fill_config_hash(desired: &mut Desired, rendered: &str, hash: &str) {
    if rendered == hash {
        return;
    }
    let Some(template) = pod_template(&mut desired.applied) else { return };
    let annotations = template.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
    for value in annotations.into_iter().flat_map(serde_json::Map::values_mut) {
        if value.as_str() == Some(rendered) {
            *value = json!(hash);
        }
    }
    desired.digest = digest::of_value(&desired.applied);
}

/// Returns the pod template of a workload, or a pod itself.
fn pod_template(object: &mut Value) -> Option<&mut Value> {
    match object["kind"].as_str() {
        Some("Pod") => Some(object),
        Some("CronJob") => object.pointer_mut("/spec/jobTemplate/spec/template"),
        _ => object.pointer_mut("/spec/template"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{fill_authorities, fill_config_hash, fill_values};
    use crate::apply::decide::desired::Desired;
    use crate::apply::decide::issue_state::IssueState;
    use crate::credentials::values::Values;

    fn desired(applied: Value) -> Desired {
        Desired {
            applied,
            seed: None,
            initial_status: None,
            pinned: None,
            issue: IssueState::Complete,
            digest: "rendered".to_owned(),
        }
    }

    #[test]
    fn values_are_filled_in_and_the_digest_does_not_contain_them() {
        let mut desired =
            desired(json!({"kind": "Secret", "type": "kubernetes.io/tls", "data": {"tls.key": ""}}));
        fill_values(&mut desired, &Values::default().with("tls.key", "key"), Some("Opaque"));
        assert_eq!(desired.applied, json!({"kind": "Secret", "type": "Opaque", "data": {"tls.key": "a2V5"}}));
        assert_eq!(desired.digest, "rendered");
    }

    #[test]
    fn authorities_are_filled_in_where_the_manifest_has_none() {
        let client = |bundle: Option<&str>| match bundle {
            Some(bundle) => json!({"clientConfig": {"url": "u", "caBundle": bundle}}),
            None => json!({"clientConfig": {"url": "u"}}),
        };
        let kind = "ValidatingWebhookConfiguration";
        let mut webhooks =
            desired(json!({"kind": kind, "webhooks": [client(None), client(Some("own")), client(Some(""))]}));
        fill_authorities(&mut webhooks, "pem");
        let expected = json!({"kind": kind, "webhooks": [client(Some("cGVt")), client(Some("own")), client(Some("cGVt"))]});
        assert_eq!(webhooks.applied, expected);
        assert_ne!(webhooks.digest, "rendered");
        for (object, path) in [
            (json!({"kind": "APIService", "spec": {}}), "/spec/caBundle"),
            (
                json!({"kind": "CustomResourceDefinition", "spec": {"conversion": {"webhook": {"clientConfig": {}}}}}),
                "/spec/conversion/webhook/clientConfig/caBundle",
            ),
        ] {
            let mut object = desired(object);
            fill_authorities(&mut object, "pem");
            assert_eq!(object.applied.pointer(path), Some(&json!("cGVt")));
        }
    }

    #[test]
    fn only_the_rendered_hash_is_replaced() {
        let pod = |hash: &str| json!({"metadata": {"annotations": {"hash": hash, "other": "text"}}});
        let mut deployment = desired(json!({"kind": "Deployment", "spec": {"template": pod("0123")}}));
        fill_config_hash(&mut deployment, "0123", "4567");
        assert_eq!(deployment.applied, json!({"kind": "Deployment", "spec": {"template": pod("4567")}}));
    }
}
