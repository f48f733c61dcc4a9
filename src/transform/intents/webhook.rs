//! `webhook`: a webhook, conversion or aggregated API whose Service lives in another cluster of the topology. This file finds
//! the call and removes the Service from it. The fragment that the profile names, such as `webhook-url`, adds the URL.

use super::{DetectedIntent, IntentHandler, Obstacle, RemoteServices, reference_to, text};
use crate::language::Intent;
use crate::object::{Object, ObjectId, remove_annotation};
use crate::yaml::{Node, Number, Value};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: None };

/// Asks the service-ca operator for the CA bundle. It knows only the Services of its own cluster.
const INJECT_CA: &str = "service.beta.openshift.io/inject-cabundle";

const AGGREGATED_API: Obstacle = Obstacle {
    reason: "an aggregated API needs a Service in its own cluster",
    help: "write `intents: {webhook: keep}` in an `adds` entry of its page, and add a Service there",
};

/// A call of the API server to a Service, with the name of the webhook.
struct Call<'n> {
    webhook: &'n str,
    service: &'n Node,
}

fn detect(object: &Object, remote_services: &RemoteServices) -> Vec<DetectedIntent> {
    // Most objects end here.
    if remote_services.is_empty() || !calls_services(&object.id.kind) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for call in calls(&object.root, &object.id.kind) {
        let service = (field(call.service, "namespace").to_owned(), field(call.service, "name").to_owned());
        if remote_services.contains(&service) {
            all.push(intent_of(object, &call));
        }
    }
    all
}

fn calls_services(kind: &str) -> bool {
    matches!(
        kind,
        "ValidatingWebhookConfiguration"
            | "MutatingWebhookConfiguration"
            | "CustomResourceDefinition"
            | "APIService"
    )
}

fn calls<'n>(root: &'n Node, kind: &str) -> Vec<Call<'n>> {
    let down = |path: &[&str]| path.iter().try_fold(root, |node, key| node.get(key));
    match kind {
        "APIService" => {
            down(&["spec", "service"]).map(|service| Call { webhook: "api", service }).into_iter().collect()
        }
        "CustomResourceDefinition" => down(&["spec", "conversion", "webhook", "clientConfig", "service"])
            .map(|service| Call { webhook: "conversion", service })
            .into_iter()
            .collect(),
        _ => {
            let mut calls = Vec::new();
            for webhook in root.get("webhooks").and_then(Node::as_list).unwrap_or_default() {
                let service = webhook.get("clientConfig").and_then(|client| client.get("service"));
                calls.extend(service.map(|service| Call { webhook: field(webhook, "name"), service }));
            }
            calls
        }
    }
}

fn intent_of(object: &Object, call: &Call<'_>) -> DetectedIntent {
    let Call { webhook, service } = call;
    let name = field(service, "name");
    let port = service.get("port").cloned().unwrap_or_else(|| Value::Number(Number::Int(443)).into());
    let mut inputs = vec![
        ("config", reference_to(object)),
        ("webhook", text(webhook)),
        ("service", text(&format!("Service/{name}"))),
        ("port", port),
    ];
    if let Some(path) = service.get("path") {
        inputs.push(("path", path.clone()));
    }
    let called = ObjectId {
        group: String::new(),
        kind: "Service".to_owned(),
        namespace: field(service, "namespace").to_owned(),
        name: name.to_owned(),
    };
    let obstacle = (object.id.kind == "APIService").then_some(AGGREGATED_API);
    let detected = DetectedIntent::new(Intent::Webhook, service.mark, inputs);
    DetectedIntent { objects: vec![called], obstacle, item: (*webhook).to_owned(), ..detected }
}

/// Removes the Service, its CA bundle, and the request for that bundle if no other Service needs it.
fn remove(object: &mut Object, detected: &DetectedIntent) {
    for client in client_configs_mut(object, &detected.item) {
        if let Value::Map(client) = &mut client.value {
            client.remove("service");
            client.remove("caBundle");
        }
    }
    if calls(&object.root, &object.id.kind).is_empty() {
        remove_annotation(&mut object.root, INJECT_CA);
    }
}

/// Returns the client configurations of a webhook or conversion for changes. An aggregated API has an obstacle, so
/// transship never removes it.
fn client_configs_mut<'o>(object: &'o mut Object, webhook: &str) -> Vec<&'o mut Node> {
    let root = &mut object.root;
    if object.id.kind == "CustomResourceDefinition" {
        let path = ["spec", "conversion", "webhook", "clientConfig"];
        return path.iter().try_fold(root, |node, key| node.get_mut(key)).into_iter().collect();
    }
    let Some(Value::List(webhooks)) = root.get_mut("webhooks").map(|node| &mut node.value) else {
        return Vec::new();
    };
    let mut clients = Vec::new();
    for entry in webhooks {
        if field(entry, "name") == webhook {
            clients.extend(entry.get_mut("clientConfig"));
        }
    }
    clients
}

/// Returns a string field, or an empty string.
fn field<'n>(node: &'n Node, name: &str) -> &'n str {
    node.get(name).and_then(Node::as_str).unwrap_or_default()
}
