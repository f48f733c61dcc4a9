//! A webhook, an aggregated API or a conversion whose Service lives in the other cluster.

use super::{Elsewhere, Fact, annotation, named, text};
use crate::object::{Object, ObjectId};
use crate::profile::Finder;
use crate::yaml::{Node, Number, Value};

/// Asks service-ca for the certificate authority, which knows only the Services of its own cluster.
const INJECT_CA: &str = "service.beta.openshift.io/inject-cabundle";

pub(super) fn find(object: &Object, elsewhere: &Elsewhere) -> Vec<Fact> {
    let crosses = |service: &&Node| {
        let field = |field: &str| service.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
        elsewhere.contains(&(field("namespace"), field("name")))
    };
    let clients = clients(&object.root, &object.id.kind);
    clients
        .into_iter()
        .filter_map(|(name, client)| Some((name, client.get("service").filter(crosses)?)))
        .map(|(name, service)| fact(object, &name, service))
        .collect()
}

/// Everything in an object that has a `service`, with its name.
fn clients<'n>(root: &'n Node, kind: &str) -> Vec<(String, &'n Node)> {
    let down = |path: &[&str]| path.iter().try_fold(root, |node, key| node.get(key));
    match kind {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            let webhooks = root.get("webhooks").and_then(Node::as_list).unwrap_or_default();
            let named = |webhook: &'n Node| {
                Some((webhook.get("name")?.as_str()?.to_owned(), webhook.get("clientConfig")?))
            };
            webhooks.iter().filter_map(named).collect()
        }
        "CustomResourceDefinition" => down(&["spec", "conversion", "webhook", "clientConfig"])
            .map(|client| ("conversion".to_owned(), client))
            .into_iter()
            .collect(),
        "APIService" => down(&["spec"]).map(|client| ("api".to_owned(), client)).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn fact(object: &Object, webhook: &str, service: &Node) -> Fact {
    let name = service.get("name").and_then(Node::as_str).unwrap_or_default();
    let port = service.get("port").map_or(Value::Number(Number::Int(443)), |port| port.value.clone());
    let mut inputs = vec![
        ("config", named(object)),
        ("webhook", text(webhook)),
        ("service", text(&format!("Service/{name}"))),
        ("port", port),
    ];
    if let Some(path) = service.get("path") {
        inputs.push(("path", path.value.clone()));
    }
    let namespace = service.get("namespace").and_then(Node::as_str).unwrap_or_default();
    let called = ObjectId {
        group: String::new(),
        kind: "Service".to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    let fixed =
        (object.id.kind == "APIService").then_some("an API is served by a Service of its own cluster only");
    Fact { objects: vec![called], fixed, ..Fact::new(Finder::Webhook, service.mark, webhook, inputs) }
}

/// The Service goes, and with it the wish for its certificate authority.
pub(super) fn take_away(root: &mut Node, kind: &str, webhook: &str) {
    let client = match kind {
        "CustomResourceDefinition" => ["spec", "conversion", "webhook", "clientConfig"]
            .iter()
            .try_fold(&mut *root, |node, key| node.get_mut(key)),
        "APIService" => root.get_mut("spec"),
        _ => {
            let Some(Value::List(webhooks)) = root.get_mut("webhooks").map(|node| &mut node.value) else {
                return;
            };
            let ours = |item: &&mut Node| item.get("name").and_then(Node::as_str) == Some(webhook);
            webhooks.iter_mut().find(ours).and_then(|webhook| webhook.get_mut("clientConfig"))
        }
    };
    if let Some(Value::Map(client)) = client.map(|client| &mut client.value) {
        client.remove("service");
        client.remove("caBundle");
    }
    // Services of its own cluster still need their authority.
    if clients(root, kind).iter().all(|(_, client)| client.get("service").is_none()) {
        annotation::remove(root, INJECT_CA);
    }
}
