//! Every selector selects something, and every port that is named is there.

use super::finding::Fault;
use super::label_index::{Selectable, Selector, labels_of};
use super::references::ports;
use crate::language::Check;
use crate::object::{Object, containers, is_workload, pod};
use crate::yaml::{Node, Value};

/// Every selector of an object that selects nothing, and every port that nobody has.
pub(super) fn check<'n>(object: &'n Object, all: &Selectable<'n>, faults: &mut Vec<Fault<'n>>) {
    let spec = |path: &[&str]| path.iter().try_fold(object.root.get("spec")?, |node, key| node.get(key));
    match object.id.kind.as_str() {
        "Service" if object.id.group.is_empty() => service(object, all, faults),
        "PodDisruptionBudget" | "NetworkPolicy" => {
            let field = if object.id.kind == "NetworkPolicy" { "podSelector" } else { "selector" };
            let node = spec(&[field]).filter(|node| !Selector::of(node).is_empty());
            if let Some(node) = node
                && all.pods(Selector::of(node), &object.id.namespace).is_empty()
            {
                faults.push(nothing(node, "no pod in its namespace has these labels"));
            }
        }
        "ServiceMonitor" => monitor(object, all, faults),
        kind if is_workload(kind) || kind == "Pod" => {
            let Some(template) = pod(&object.root, kind) else { return };
            let node = spec(&["selector"]).filter(|_| !matches!(kind, "Job" | "Pod"));
            if let Some(node) = node
                && !Selector::of(node).selects(labels_of(template))
            {
                faults.push(nothing(node, "its own pods do not have these labels"));
            }
            probes(template, faults);
        }
        _ => {}
    }
}

fn service<'n>(object: &'n Object, all: &Selectable<'n>, faults: &mut Vec<Fault<'n>>) {
    let node = object.root.get("spec").and_then(|spec| spec.get("selector"));
    let Some(node) = node.filter(|node| !Selector::of(node).is_empty()) else { return };
    let pods = all.pods(Selector::of(node), &object.id.namespace);
    if pods.is_empty() {
        faults.push(nothing(node, "no pod in its namespace has these labels"));
        return;
    }
    // What no container lists may be open all the same, unless all of them list what is.
    let main = |pod: &Node| {
        pod.get("spec").and_then(|spec| spec.get("containers")?.as_list()).unwrap_or_default().to_vec()
    };
    let listed = |pod: &&Node| main(pod).iter().all(|container| container.get("ports").is_some());
    let all_listed = pods.iter().all(listed);
    for port in ports(object) {
        let target = port.get("targetPort").filter(|target| target.value != Value::Null);
        let Some(target) = target.or(port.get("port")) else { continue };
        let name = if target.as_str().is_some() { "name" } else { "containerPort" };
        let fits = |open: &&Node| open.get(name).is_some_and(|found| found == target);
        if !pods.iter().flat_map(|pod| open_ports(pod)).any(|open| fits(&open))
            && (target.as_str().is_some() || all_listed)
        {
            let shown = crate::yaml::json::write(target);
            faults.push(
                Fault::new(
                    Check::NoSuchPort,
                    target,
                    format!("no container of its pods has the port {shown}"),
                )
                .why("every connection would be refused")
                .help("name a port of a container, by its number or its name"),
            );
        }
    }
}

fn monitor<'n>(object: &'n Object, all: &Selectable<'n>, faults: &mut Vec<Fault<'n>>) {
    let Some(spec) = object.root.get("spec") else { return };
    let Some(selector) = spec.get("selector") else { return };
    let places = spec.get("namespaceSelector");
    let everywhere =
        matches!(places.and_then(|places| places.get("any")), Some(Node { value: Value::Bool(true), .. }));
    let names = places.and_then(|places| places.get("matchNames")?.as_list()).unwrap_or_default();
    let names: Vec<&str> = names.iter().filter_map(Node::as_str).collect();
    let namespaces = match (everywhere, names.is_empty()) {
        (true, _) => vec![None],
        (false, true) => vec![Some(object.id.namespace.as_str())],
        (false, false) => names.into_iter().map(Some).collect(),
    };
    let select = |namespace| all.services(Selector::of(selector), namespace);
    let selected: Vec<&Object> = namespaces.into_iter().flat_map(select).collect();
    if selected.is_empty() {
        faults.push(nothing(selector, "no Service in its namespaces has these labels"));
        return;
    }
    for endpoint in spec.get("endpoints").and_then(Node::as_list).unwrap_or_default() {
        let Some(port) = endpoint.get("port") else { continue };
        let has_port = |service: &&Object| ports(service).iter().any(|own| own.get("name") == Some(port));
        if !selected.iter().any(has_port) {
            let shown = port.as_str().unwrap_or_default();
            faults.push(
                Fault::new(
                    Check::NoSuchPort,
                    port,
                    format!("no Service that it selects has a port `{shown}`"),
                )
                .why("nothing would be measured")
                .help("name a port of the Service"),
            );
        }
    }
}

/// Ports that probes name.
fn probes<'n>(template: &'n Node, faults: &mut Vec<Fault<'n>>) {
    for container in containers(template) {
        let own = container.get("ports").and_then(Node::as_list).unwrap_or_default();
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"]
            .into_iter()
            .filter_map(|name| container.get(name))
        {
            let handlers = ["httpGet", "tcpSocket"].into_iter().filter_map(|name| probe.get(name));
            for port in
                handlers.filter_map(|handler| handler.get("port")).filter(|port| port.as_str().is_some())
            {
                if !own.iter().any(|known| known.get("name") == Some(port)) {
                    let shown = port.as_str().unwrap_or_default();
                    faults.push(
                        Fault::new(Check::NoSuchPort, port, format!("the container has no port `{shown}`"))
                            .why("the probe would fail, and the container be killed for it")
                            .help("name a port of the same container"),
                    );
                }
            }
        }
    }
}

fn open_ports(pod: &Node) -> Vec<&Node> {
    let ports = |container| Node::get(container, "ports").and_then(Node::as_list).unwrap_or_default();
    containers(pod).into_iter().flat_map(ports).collect()
}

fn nothing<'n>(selector: &'n Node, why: &str) -> Fault<'n> {
    Fault::new(Check::SelectsNothing, selector, "this selects nothing")
        .why(why)
        .help("make labels and selector agree; if others bring what it selects, allow it with the reason")
}
