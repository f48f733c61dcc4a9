//! Requests from the guest to the management cluster: webhooks, aggregated APIs and Services.

use std::collections::BTreeSet;

use super::container::{text, visit};
use super::{ReachEnd, ReachPath};
use crate::check::service_dns::service_of;
use crate::object::{Cluster, Object, ObjectId};
use crate::yaml::Node;

/// Adds the Services of the management cluster that the guest's API server or its pods call.
pub(super) fn find_calls(guest: &[Object], management: &[Object], paths: &mut BTreeSet<ReachPath>) {
    for object in guest.iter().filter(|object| !object.is_tombstone()) {
        for (through, called) in calls_of(object, guest) {
            let name = match called {
                Called::Service(namespace, name) => format!("Service/{namespace}/{name}"),
                Called::Addresses => "addresses outside of the guest".to_owned(),
            };
            let is_rendered = match called {
                Called::Service(namespace, name) => {
                    management.iter().any(|service| is_service(service, namespace, name))
                }
                Called::Addresses => true,
            };
            paths.insert(ReachPath {
                from: ReachEnd { cluster: Cluster::Guest, name: "users of the API server".to_owned() },
                through,
                to: ReachEnd { cluster: Cluster::Management, name },
                allows: if is_rendered { "requests" } else { "requests; the Service is not rendered" }
                    .to_owned(),
            });
        }
    }
}

/// The target that a request reaches.
#[derive(Clone, Copy)]
enum Called<'o> {
    /// A Service of the management cluster, by namespace and name.
    Service(&'o str, &'o str),
    /// Addresses that others write into the endpoints of a Service.
    Addresses,
}

/// Returns what an object of the guest makes others call, with a description of the object.
fn calls_of<'o>(object: &'o Object, guest: &'o [Object]) -> Vec<(String, Called<'o>)> {
    let ObjectId { kind, namespace, name, .. } = &object.id;
    let mut calls = Vec::new();
    match kind.as_str() {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            visit(&object.root, "webhooks/*", &mut |webhook| {
                let through = format!("webhook {} of {kind}/{name}", text(webhook, "name"));
                calls.extend(
                    webhook.get("clientConfig").and_then(called_by_url).map(|called| (through, called)),
                );
            });
        }
        "CustomResourceDefinition" => {
            visit(&object.root, "spec/conversion/webhook/clientConfig", &mut |config| {
                let through = format!("conversion webhook of {kind}/{name}");
                calls.extend(called_by_url(config).map(|called| (through, called)));
            });
        }
        "APIService" => visit(&object.root, "spec/service", &mut |reference| {
            let service = guest
                .iter()
                .find(|service| is_service(service, text(reference, "namespace"), text(reference, "name")));
            let called = service.and_then(called_by_service);
            calls.extend(called.map(|called| (format!("{kind}/{name}"), called)));
        }),
        "Service" => {
            let is_external = matches!(called_by_service(object), Some(Called::Service(..)));
            let called = called_by_service(object).filter(|_| is_external);
            calls.extend(called.map(|called| (format!("{kind}/{namespace}/{name}"), called)));
        }
        _ => {}
    }
    calls
}

/// Returns the Service in the URL of a webhook.
fn called_by_url(client_config: &Node) -> Option<Called<'_>> {
    let (_, rest) = text(client_config, "url").split_once("://")?;
    let (namespace, name) = service_of(rest.split(['/', ':', '?']).next()?)?;
    Some(Called::Service(namespace, name))
}

/// Returns what a Service of the guest leads to, if that is outside of the guest.
fn called_by_service(service: &Object) -> Option<Called<'_>> {
    let spec = service.root.get("spec")?;
    if let Some((namespace, name)) = service_of(text(spec, "externalName")) {
        return Some(Called::Service(namespace, name));
    }
    spec.get("selector").is_none().then_some(Called::Addresses)
}

fn is_service(object: &Object, namespace: &str, name: &str) -> bool {
    object.id.kind == "Service" && object.id.namespace == namespace && object.id.name == name
}
