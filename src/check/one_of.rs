//! Fields of which exactly one, or at most one, may be set. No schema describes them.

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::yaml::{Node, Value};

const CLIENT_TARGETS: &[&str] = &["service", "url"];
const ENV_FROM_SOURCES: &[&str] = &["configMapRef", "secretRef"];
const ENV_SOURCES: &[&str] =
    &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"];
const HOOK_HANDLERS: &[&str] = &["exec", "httpGet", "sleep", "tcpSocket"];
const PROBE_HANDLERS: &[&str] = &["exec", "grpc", "httpGet", "tcpSocket"];
const PROJECTED_SOURCES: &[&str] =
    &["clusterTrustBundle", "configMap", "downwardAPI", "podCertificate", "secret", "serviceAccountToken"];

/// Checks that a `PodDisruptionBudget` has only one limit.
pub(super) fn check_disruption_budget(root: &Field<'_>, report: &mut Report) {
    const LIMITS: [&str; 2] = ["minAvailable", "maxUnavailable"];
    if root.object.id.kind != "PodDisruptionBudget" {
        return;
    }
    if let Some(spec) = root.get("spec")
        && LIMITS.iter().all(|limit| is_set(spec.node, limit))
    {
        report.add(several(&spec, "a PodDisruptionBudget", "limit", &LIMITS));
    }
}

/// Checks that each client config of a webhook has one target.
pub(super) fn check_webhook_clients(root: &Field<'_>, report: &mut Report) {
    let path = match root.object.id.kind.as_str() {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => "webhooks/*/clientConfig",
        "CustomResourceDefinition" => "spec/conversion/webhook/clientConfig",
        _ => return,
    };
    root.for_each(path, &mut |client| {
        exactly_one(client, "a webhook client config", "target", CLIENT_TARGETS, report);
    });
}

/// Checks that each volume has at most one source, and each source of a projected volume one type.
pub(super) fn check_volumes(pod: &Field<'_>, report: &mut Report) {
    for volume in pod.items("/spec/volumes") {
        let mut sources = Vec::new();
        for entry in volume.node.as_map().into_iter().flatten() {
            if entry.key != "name" && entry.value.value != Value::Null {
                sources.push(entry.key.as_str());
            }
        }
        // The API server makes a volume without a source an emptyDir.
        if sources.len() > 1 {
            report.add(several(&volume, "a volume", "source", &sources));
        }
        for source in volume.items("/projected/sources") {
            exactly_one(&source, "a source of a projected volume", "type", PROJECTED_SOURCES, report);
        }
    }
}

/// Checks the probes, the lifecycle hooks and the environment variables of each container.
pub(super) fn check_containers(pod: &Field<'_>, report: &mut Report) {
    for container in pod.containers() {
        for source in container.items("/envFrom") {
            exactly_one(&source, "an entry of `envFrom`", "source", ENV_FROM_SOURCES, report);
        }
        for hook in ["/lifecycle/postStart", "/lifecycle/preStop"] {
            if let Some(hook) = container.at(hook) {
                exactly_one(&hook, "a lifecycle hook", "handler", HOOK_HANDLERS, report);
            }
        }
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            if let Some(probe) = container.get(probe)
                && probe.node.value != Value::Null
            {
                exactly_one(&probe, "a probe", "handler", PROBE_HANDLERS, report);
            }
        }
        for variable in container.items("/env") {
            check_variable(&variable, report);
        }
    }
}

fn check_variable(variable: &Field<'_>, report: &mut Report) {
    let value = variable.node.get("value").and_then(Node::as_str).unwrap_or_default();
    let Some(source) = variable.get("valueFrom") else { return };
    if !value.is_empty() {
        report.add(several(variable, "an environment variable", "value", &["value", "valueFrom"]));
    }
    exactly_one(&source, "an environment variable", "source", ENV_SOURCES, report);
}

fn is_set(node: &Node, field: &str) -> bool {
    node.get(field).is_some_and(|value| value.value != Value::Null)
}

/// Checks that exactly one of some alternatives is set.
fn exactly_one(field: &Field<'_>, owner: &str, part: &str, alternatives: &[&str], report: &mut Report) {
    let mut set = Vec::new();
    for alternative in alternatives {
        if is_set(field.node, alternative) {
            set.push(*alternative);
        }
    }
    match set.len() {
        1 => {}
        0 => report.add(
            Finding::new(Check::OneOf, field, format!("{owner} must have a {part}"))
                .note("the API server rejects the object")
                .help(format!("add one of {}", alternatives.join(", "))),
        ),
        _ => report.add(several(field, owner, part, &set)),
    }
}

fn several(field: &Field<'_>, owner: &str, part: &str, found: &[&str]) -> Finding {
    let message = format!("{owner} can have only one {part}, found {}", found.join(" and "));
    Finding::new(Check::OneOf, field, message)
        .note("the API server rejects the object")
        .help("keep only one of them")
}
