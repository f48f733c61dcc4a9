//! Label selectors and the ports that go with them.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::label_index::{LabelSelector, labels_of};
use super::references::ports;
use crate::language::Check;
use crate::object::{Object, containers, is_workload, metadata, pod};
use crate::yaml::{Node, Value, json};

const NO_POD: &str = "no pod in its namespace has these labels";

/// Checks that a selector selects something, and that the selected pods or Services have the ports that the object
/// names.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    match root.object.id.kind.as_str() {
        "Service" if root.object.id.group.is_empty() => check_service(root, context, report),
        "PodDisruptionBudget" => check_pod_selector(root, "/spec/selector", context, report),
        "NetworkPolicy" => check_pod_selector(root, "/spec/podSelector", context, report),
        "ServiceMonitor" => check_service_monitor(root, context, report),
        _ => {}
    }
}

/// Checks that a selector of pods is empty or selects a pod of the object's namespace.
fn check_pod_selector(root: &Field<'_>, path: &str, context: &CheckContext<'_>, report: &mut Report) {
    let Some(field) = root.at(path) else { return };
    let selector = LabelSelector::new(field.node);
    if !selector.is_empty() && context.labels.pods(selector, &root.object.id.namespace).is_empty() {
        report.add(selects_nothing(&field, NO_POD).optional_note(excluded_pod(selector, context)));
    }
}

/// Checks that a workload selects the pods of its own template.
pub(super) fn check_workload(root: &Field<'_>, pod: &Field<'_>, report: &mut Report) {
    let kind = root.object.id.kind.as_str();
    // The API server generates the selector of a Job.
    if !is_workload(kind) || kind == "Job" {
        return;
    }
    let Some(field) = root.at("/spec/selector") else { return };
    if !LabelSelector::new(field.node).matches(labels_of(pod.node)) {
        report.add(selects_nothing(&field, "the pods of its own template do not have these labels"));
    }
}

fn check_service(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(field) = root.at("/spec/selector") else { return };
    let selector = LabelSelector::new(field.node);
    if selector.is_empty() {
        return;
    }
    let pods = context.labels.pods(selector, &root.object.id.namespace);
    if pods.is_empty() {
        report.add(selects_nothing(&field, NO_POD).optional_note(excluded_pod(selector, context)));
        return;
    }
    for port in root.items("/spec/ports") {
        check_target_port(&port, &pods, report);
    }
}

/// Checks that the target port of a Service is a port of a container in the selected pods.
fn check_target_port(port: &Field<'_>, pods: &[&Node], report: &mut Report) {
    let target = port.get("targetPort").filter(|target| target.node.value != Value::Null);
    let Some(target) = target.or(port.get("port")) else { return };
    let key = if target.as_str().is_some() { "name" } else { "containerPort" };
    if pods.iter().any(|pod| has_container_port(pod, key, target.node)) {
        return;
    }
    // A container may listen on a number that it does not declare, unless all containers declare their ports.
    let is_number = target.as_str().is_none();
    if is_number && !pods.iter().all(|pod| declares_all_ports(pod)) {
        return;
    }
    let message = format!("no container of the selected pods has the port {}", json::write(target.node));
    report.add(
        Finding::new(Check::MissingPort, &target, message)
            .note("connections to the Service are refused")
            .help("use the number or the name of a container port"),
    );
}

fn has_container_port(pod: &Node, key: &str, value: &Node) -> bool {
    containers(pod).iter().any(|container| {
        let ports = container.get("ports").and_then(Node::as_list).unwrap_or_default();
        ports.iter().any(|port| port.get(key) == Some(value))
    })
}

fn declares_all_ports(pod: &Node) -> bool {
    let containers = pod.get("spec").and_then(|spec| spec.get("containers")?.as_list()).unwrap_or_default();
    containers.iter().all(|container| container.get("ports").is_some())
}

fn check_service_monitor(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(field) = root.at("/spec/selector") else { return };
    let selector = LabelSelector::new(field.node);
    let mut selected: Vec<&Object> = Vec::new();
    for namespace in monitored_namespaces(root, context) {
        selected.extend(context.labels.services(selector, namespace));
    }
    if selected.is_empty() {
        let excluded = context.excluded_match(|manifest| {
            manifest.id.kind == "Service" && selector.matches(metadata(&manifest.root, "labels"))
        });
        let finding = selects_nothing(&field, "no Service in its namespaces has these labels");
        report.add(finding.optional_note(excluded));
        return;
    }
    for endpoint in root.items("/spec/endpoints") {
        let Some(port) = endpoint.get("port") else { continue };
        let has_port =
            |service: &&Object| ports(service).iter().any(|own| own.get("name") == Some(port.node));
        if !selected.iter().any(has_port) {
            let name = port.as_str().unwrap_or_default();
            report.add(
                Finding::new(
                    Check::MissingPort,
                    &port,
                    format!("no selected Service has a port named `{name}`"),
                )
                .note("Prometheus collects no metrics from it")
                .help("use the name of a port of the Service"),
            );
        }
    }
}

/// Returns the namespaces in which a `ServiceMonitor` selects Services: all, those it lists, or its own.
fn monitored_namespaces<'a>(root: &'a Field<'a>, context: &'a CheckContext<'_>) -> Vec<&'a str> {
    let Some(selector) = root.node.get("spec").and_then(|spec| spec.get("namespaceSelector")) else {
        return vec![&root.object.id.namespace];
    };
    if selector.get("any").is_some_and(|any| any.value == Value::Bool(true)) {
        return context.labels.namespaces_with_services().collect();
    }
    let names = selector.get("matchNames").and_then(Node::as_list).unwrap_or_default();
    let names: Vec<&str> = names.iter().filter_map(Node::as_str).collect();
    if names.is_empty() { vec![&root.object.id.namespace] } else { names }
}

/// Checks that the ports that probes name are ports of their container.
pub(super) fn check_probe_ports(pod: &Field<'_>, report: &mut Report) {
    const PORTS: [&str; 6] = [
        "/livenessProbe/httpGet/port",
        "/livenessProbe/tcpSocket/port",
        "/readinessProbe/httpGet/port",
        "/readinessProbe/tcpSocket/port",
        "/startupProbe/httpGet/port",
        "/startupProbe/tcpSocket/port",
    ];
    for container in pod.containers() {
        for path in PORTS {
            let Some(port) = container.at(path) else { continue };
            let Some(name) = port.as_str() else { continue };
            if container.items("/ports").any(|own| own.node.get("name") == Some(port.node)) {
                continue;
            }
            report.add(
                Finding::new(Check::MissingPort, &port, format!("the container has no port named `{name}`"))
                    .note("the probe always fails")
                    .help("use the name of a port of the same container"),
            );
        }
    }
}

/// Returns a note about a workload that the profile excludes and whose pods the selector matches.
fn excluded_pod(selector: LabelSelector<'_>, context: &CheckContext<'_>) -> Option<String> {
    context.excluded_match(|manifest| {
        pod(&manifest.root, &manifest.id.kind).is_some_and(|pod| selector.matches(labels_of(pod)))
    })
}

fn selects_nothing(selector: &Field<'_>, why: &str) -> Finding {
    Finding::new(Check::SelectsNothing, selector, "the selector matches nothing").note(why).help(
        "correct the selector or the labels; if someone else creates what it selects, allow it with a reason",
    )
}
