//! Fields of which there may be one only: no schema says so.

use super::finding::Fault;
use crate::language::Check;
use crate::object::{Object, containers, pod};
use crate::yaml::{Node, Value};

const HANDLERS: &[&str] = &["exec", "grpc", "httpGet", "tcpSocket"];
const TARGETS: &[&str] = &["service", "url"];
const HOOKS: &[&str] = &["exec", "httpGet", "sleep", "tcpSocket"];
const VARIABLE_SOURCES: &[&str] =
    &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"];
const PROJECTED_SOURCES: &[&str] =
    &["clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"];

/// Every volume, probe and variable of an object that is two things at once, or none.
pub(super) fn check<'n>(object: &'n Object, faults: &mut Vec<Fault<'n>>) {
    match object.id.kind.as_str() {
        "PodDisruptionBudget" => budget(object, faults),
        "RoleBinding" | "ClusterRoleBinding" => binding(object, faults),
        _ => {}
    }
    for (client, fields) in clients(object) {
        one_of(client, "a client of the API server has one target", "target", fields, faults);
    }
    let Some(pod) = pod(&object.root, &object.id.kind) else { return };
    for volume in list(pod.get("spec"), "volumes") {
        // A volume without a source is an empty one.
        let fields = volume.as_map().into_iter().flatten();
        let sources = fields.filter(|entry| entry.key != "name" && entry.value.value != Value::Null);
        let names: Vec<&str> = sources.map(|entry| entry.key.as_str()).collect();
        if names.len() > 1 {
            faults.push(several(volume, "a volume has one source", &names));
        }
        for source in list(volume.get("projected"), "sources") {
            one_of(source, "a projected source is one thing", "source", PROJECTED_SOURCES, faults);
        }
    }
    for container in containers(pod) {
        of_container(container, faults);
    }
}

fn of_container<'n>(container: &'n Node, faults: &mut Vec<Fault<'n>>) {
    for source in list(Some(container), "envFrom") {
        one_of(source, "variables come from one source", "source", &["configMapRef", "secretRef"], faults);
    }
    for hook in ["postStart", "preStop"] {
        if let Some(hook) = container.get("lifecycle").and_then(|lifecycle| lifecycle.get(hook)) {
            one_of(hook, "a hook has one handler", "handler", HOOKS, faults);
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get(probe).filter(|probe| probe.value != Value::Null) {
            one_of(probe, "a probe has one handler", "handler", HANDLERS, faults);
        }
    }
    for variable in list(Some(container), "env") {
        let given = variable.get("value").and_then(Node::as_str).is_some_and(|value| !value.is_empty());
        if given && variable.get("valueFrom").is_some() {
            faults.push(several(variable, "a variable has one value", &["value", "valueFrom"]));
        }
        if let Some(from) = variable.get("valueFrom") {
            one_of(from, "a variable has one source", "source", VARIABLE_SOURCES, faults);
        }
    }
}

fn budget<'n>(object: &'n Object, faults: &mut Vec<Fault<'n>>) {
    const LIMITS: [&str; 2] = ["minAvailable", "maxUnavailable"];
    let Some(spec) = object.root.get("spec") else { return };
    if LIMITS.iter().all(|field| spec.get(field).is_some_and(|node| node.value != Value::Null)) {
        faults.push(several(spec, "a budget has one limit", &LIMITS));
    }
}

/// Who may be bound to what.
fn binding<'n>(object: &'n Object, faults: &mut Vec<Fault<'n>>) {
    for subject in list(Some(&object.root), "subjects") {
        let Some(kind) = subject.get("kind") else { continue };
        if !matches!(kind.as_str(), Some("ServiceAccount" | "User" | "Group")) {
            faults.push(
                Fault::new(Check::OneOf, kind, "a subject is a ServiceAccount, a User or a Group")
                    .why("the API server refuses the object")
                    .help("write one of them"),
            );
        }
        let lost = kind.as_str() == Some("ServiceAccount") && subject.get("namespace").is_none();
        if lost && object.id.kind == "ClusterRoleBinding" {
            faults.push(
                Fault::new(Check::MissingField, subject, "the field `namespace` is missing")
                    .why("a service account is always in a namespace, and a ClusterRoleBinding in none")
                    .help("write `namespace`"),
            );
        }
    }
    let role = object.root.get("roleRef").and_then(|role| role.get("kind"));
    if let Some(kind) =
        role.filter(|kind| object.id.kind == "ClusterRoleBinding" && kind.as_str() == Some("Role"))
    {
        faults.push(
            Fault::new(Check::OneOf, kind, "a ClusterRoleBinding names a ClusterRole")
                .why("the API server refuses the object")
                .help("bind a ClusterRole, or make it a RoleBinding"),
        );
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
    let is_there = |name: &&str| node.get(name).is_some_and(|node| node.value != Value::Null);
    let there: Vec<&str> = fields.iter().copied().filter(is_there).collect();
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
