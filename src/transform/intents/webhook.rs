//! A webhook, an aggregated API or a conversion whose Service lives in the other cluster.

use super::{Elsewhere, Fact, annotation, named, text};
use crate::language::Intent;
use crate::object::{Needs, Object, ObjectId, RULES, Rule};
use crate::yaml::{Node, Number, Value};

/// Asks service-ca for the certificate authority, which knows only the Services of its own cluster.
const INJECT_CA: &str = "service.beta.openshift.io/inject-cabundle";

pub(super) fn find(object: &Object, elsewhere: &Elsewhere) -> Vec<Fact> {
    let crosses = |service: &Node| {
        let field = |field: &str| service.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
        elsewhere.contains(&(field("namespace"), field("name")))
    };
    let Some(rule) = rule(&object.id.kind) else { return Vec::new() };
    let mut services = rule.places(&object.root, &object.id.kind);
    services.retain(|service| crosses(service));
    services.into_iter().map(|service| fact(object, &name_of(object, service), service)).collect()
}

/// Where the API server is told which Service to call.
fn rule(kind: &str) -> Option<&'static Rule<'static>> {
    RULES.iter().find(|rule| rule.needs == Needs::Port && rule.is_about(kind))
}

/// What calls a Service: one webhook of a list by its name, and there is one conversion, or one API.
fn name_of(object: &Object, service: &Node) -> String {
    let webhooks = object.root.get("webhooks").and_then(Node::as_list).unwrap_or_default();
    let calls = |webhook: &&Node| {
        let own = webhook.get("clientConfig").and_then(|client| client.get("service"));
        own.is_some_and(|own| std::ptr::eq(own, service))
    };
    let name = |webhook: &Node| webhook.get("name").and_then(Node::as_str).unwrap_or_default().to_owned();
    let only = || if object.id.kind == "APIService" { "api" } else { "conversion" }.to_owned();
    webhooks.iter().find(calls).map_or_else(only, name)
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
    Fact { objects: vec![called], fixed, ..Fact::new(Intent::Webhook, service.mark, webhook, inputs) }
}

/// The Service goes, and with it the wish for its certificate authority.
pub(super) fn take_away(root: &mut Node, kind: &str, webhook: &str) {
    let Some(rule) = rule(kind) else { return };
    let of_list = rule.path.contains('*');
    let clients =
        Rule { path: rule.path.trim_end_matches("/service").trim_end_matches("/clientConfig"), ..*rule };
    clients.change(root, kind, &mut |place| {
        if of_list && place.get("name").and_then(Node::as_str) != Some(webhook) {
            return;
        }
        let client =
            if place.get("clientConfig").is_some() { place.get_mut("clientConfig") } else { Some(place) };
        if let Some(Value::Map(client)) = client.map(|client| &mut client.value) {
            client.remove("service");
            client.remove("caBundle");
        }
    });
    // Services of its own cluster still need their authority.
    if rule.places(root, kind).is_empty() {
        annotation::remove(root, INJECT_CA);
    }
}
