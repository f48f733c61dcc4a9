//! Fields of which there may be one only: no schema says so.

use super::finding::Fault;
use crate::object::{Object, containers, pod};
use crate::profile::Check;
use crate::yaml::Node;

const HANDLERS: &[&str] = &["exec", "grpc", "httpGet", "tcpSocket"];
const TARGETS: &[&str] = &["service", "url"];

/// Every volume, probe and variable of an object that is two things at once, or none.
pub(super) fn check<'n>(object: &'n Object, faults: &mut Vec<Fault<'n>>) {
    for (client, fields) in clients(object) {
        one_of(client, "a client of the API server has one target", "target", fields, faults);
    }
    let Some(pod) = pod(&object.root, &object.id.kind) else { return };
    for volume in list(pod.get("spec"), "volumes") {
        // A volume without a source is an empty one.
        let sources = volume.as_map().into_iter().flatten().filter(|entry| entry.key != "name");
        let names: Vec<&str> = sources.map(|entry| entry.key.as_str()).collect();
        if names.len() > 1 {
            faults.push(several(volume, "a volume has one source", &names));
        }
    }
    for container in containers(pod) {
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            if let Some(probe) = container.get(probe) {
                one_of(probe, "a probe has one handler", "handler", HANDLERS, faults);
            }
        }
        for variable in list(Some(container), "env") {
            if variable.get("value").is_some() && variable.get("valueFrom").is_some() {
                faults.push(several(variable, "a variable has one value", &["value", "valueFrom"]));
            }
        }
    }
}

/// Where the API server is told whom to call.
fn clients(object: &Object) -> Vec<(&Node, &'static [&'static str])> {
    let webhooks =
        list(Some(&object.root), "webhooks").iter().filter_map(|webhook| webhook.get("clientConfig"));
    let conversion = ["spec", "conversion", "webhook", "clientConfig"];
    let conversion = conversion.iter().try_fold(&object.root, |node, key| node.get(key));
    match object.id.kind.as_str() {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            webhooks.map(|client| (client, TARGETS)).collect()
        }
        "CustomResourceDefinition" => conversion.map(|client| (client, TARGETS)).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Exactly one of some fields.
fn one_of<'n>(node: &'n Node, law: &str, what: &str, fields: &[&'static str], faults: &mut Vec<Fault<'n>>) {
    let there: Vec<&str> = fields.iter().copied().filter(|name| node.get(name).is_some()).collect();
    match there[..] {
        [_] => {}
        [] => faults.push(
            Fault::new(Check::OneOf, node, format!("{law}, and this has no {what}"))
                .why("the API server refuses the object")
                .help(format!("write one of {}", fields.join(", "))),
        ),
        _ => faults.push(several(node, law, &there)),
    }
}

fn several<'n>(node: &'n Node, law: &str, names: &[&str]) -> Fault<'n> {
    Fault::new(Check::OneOf, node, format!("{law}, and this has {}", names.join(" and ")))
        .why("the API server refuses the object")
        .help("leave one")
}

fn list<'n>(node: Option<&'n Node>, field: &str) -> &'n [Node] {
    node.and_then(|node| node.get(field)).and_then(Node::as_list).unwrap_or_default()
}
