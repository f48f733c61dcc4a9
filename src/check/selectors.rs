//! Every selector selects something, and every port that is named is there.

use std::collections::HashMap;

use super::finding::Fault;
use super::references::ports;
use crate::object::{Object, containers, is_tombstone, is_workload, pod};
use crate::profile::Check;
use crate::yaml::{Map, Node, Value};

/// Namespace, and a label with its value.
type Label<'a> = (&'a str, &'a str, &'a str);

/// What selectors can select in one cluster, by every label: a selector is compared with what has its first label only.
pub(super) struct Selectable<'a> {
    pods: HashMap<Label<'a>, Vec<&'a Node>>,
    services: HashMap<Label<'a>, Vec<&'a Object>>,
}

impl<'a> Selectable<'a> {
    pub(super) fn of(objects: &'a [Object]) -> Self {
        let mut all = Self { pods: HashMap::new(), services: HashMap::new() };
        for object in objects.iter().filter(|object| !is_tombstone(&object.root)) {
            let namespace = object.id.namespace.as_str();
            if let Some(template) = pod(&object.root, &object.id.kind) {
                for (key, value) in labels(labels_of(template)) {
                    all.pods.entry((namespace, key, value)).or_default().push(template);
                }
            }
            if object.id.kind == "Service" && object.id.group.is_empty() {
                for (key, value) in labels(labels_of(&object.root)) {
                    all.services.entry((namespace, key, value)).or_default().push(object);
                }
            }
        }
        all
    }

    fn pods_with(&self, selector: &Node, namespace: &str) -> Vec<&'a Node> {
        let candidates = candidates(&self.pods, selector, namespace);
        candidates.into_iter().filter(|pod| selects(selector, labels_of(pod))).collect()
    }

    fn services_with(&self, selector: &Node, namespace: &str) -> Vec<&'a Object> {
        let candidates = candidates(&self.services, selector, namespace);
        candidates.into_iter().filter(|service| selects(selector, labels_of(&service.root))).collect()
    }
}

fn labels(labels: Option<&Node>) -> impl Iterator<Item = (&str, &str)> {
    let entries = labels.and_then(Node::as_map).into_iter().flatten();
    entries.filter_map(|entry| Some((entry.key.as_str(), entry.value.as_str()?)))
}

/// What has the first label of a selector; everything in the namespace if it names none.
fn candidates<T: Copy>(all: &HashMap<Label<'_>, Vec<T>>, selector: &Node, namespace: &str) -> Vec<T> {
    let plain =
        if selector.get("matchExpressions").is_some() { selector.get("matchLabels") } else { Some(selector) };
    let plain = plain.map(|plain| plain.get("matchLabels").unwrap_or(plain));
    match labels(plain).next() {
        Some((key, value)) => all.get(&(namespace, key, value)).cloned().unwrap_or_default(),
        None => all
            .iter()
            .filter(|((own, ..), _)| *own == namespace)
            .flat_map(|(_, found)| found.clone())
            .collect(),
    }
}

/// Every selector of an object that selects nothing, and every port that nobody has.
pub(super) fn check<'n>(object: &'n Object, all: &Selectable<'n>, faults: &mut Vec<Fault<'n>>) {
    let spec = |path: &[&str]| path.iter().try_fold(object.root.get("spec")?, |node, key| node.get(key));
    match object.id.kind.as_str() {
        "Service" if object.id.group.is_empty() => service(object, all, faults),
        "PodDisruptionBudget" | "NetworkPolicy" => {
            let field = if object.id.kind == "NetworkPolicy" { "podSelector" } else { "selector" };
            if let Some(selector) = spec(&[field]).filter(|selector| !is_empty(selector))
                && all.pods_with(selector, &object.id.namespace).is_empty()
            {
                faults.push(nothing(selector, "no pod in its namespace has these labels"));
            }
        }
        "ServiceMonitor" => monitor(object, all, faults),
        kind if is_workload(kind) => {
            if let (Some(selector), Some(template)) = (spec(&["selector"]), pod(&object.root, kind))
                && kind != "Job"
                && !selects(selector, labels_of(template))
            {
                faults.push(nothing(selector, "its own pods do not have these labels"));
            }
            if let Some(template) = pod(&object.root, kind) {
                probes(template, faults);
            }
        }
        _ => {}
    }
}

fn service<'n>(object: &'n Object, all: &Selectable<'n>, faults: &mut Vec<Fault<'n>>) {
    let selector = object.root.get("spec").and_then(|spec| spec.get("selector"));
    let Some(selector) = selector.filter(|selector| !is_empty(selector)) else { return };
    let pods = all.pods_with(selector, &object.id.namespace);
    if pods.is_empty() {
        faults.push(nothing(selector, "no pod in its namespace has these labels"));
        return;
    }
    for port in ports(object) {
        let Some(target) = port.get("targetPort").or(port.get("port")) else { continue };
        let open: Vec<&Node> = pods.iter().flat_map(|pod| open_ports(pod)).collect();
        let fits = |open: &&Node| {
            let name = if target.as_str().is_some() { "name" } else { "containerPort" };
            open.get(name).is_some_and(|found| found == target)
        };
        // Containers need not list their ports by number; those that list any are taken at their word.
        if !open.iter().any(fits) && (target.as_str().is_some() || !open.is_empty()) {
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
    let names = spec.get("namespaceSelector").and_then(|selector| selector.get("matchNames"));
    let names: Vec<&str> =
        names.and_then(Node::as_list).unwrap_or_default().iter().filter_map(Node::as_str).collect();
    let namespaces = if names.is_empty() { vec![object.id.namespace.as_str()] } else { names };
    let selected: Vec<&Object> =
        namespaces.iter().flat_map(|namespace| all.services_with(selector, namespace)).collect();
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

fn labels_of(node: &Node) -> Option<&Node> {
    node.get("metadata")?.get("labels")
}

fn nothing<'n>(selector: &'n Node, why: &str) -> Fault<'n> {
    Fault::new(Check::SelectsNothing, selector, "this selects nothing")
        .why(why)
        .help("make labels and selector agree; if others bring what it selects, allow it with the reason")
}

fn is_empty(selector: &Node) -> bool {
    selector.as_map().is_none_or(Map::is_empty)
}

/// Whether labels fit a selector: plain labels, or `matchLabels` and `matchExpressions`.
fn selects(selector: &Node, labels: Option<&Node>) -> bool {
    let has = |key: &str, value: &Node| labels.and_then(|labels| labels.get(key)) == Some(value);
    let all = |map: &Map| map.iter().all(|entry| has(&entry.key, &entry.value));
    let (plain, expressions) = (selector.get("matchLabels"), selector.get("matchExpressions"));
    if plain.is_none() && expressions.is_none() {
        return selector.as_map().is_none_or(all);
    }
    let expressions = expressions.and_then(Node::as_list).unwrap_or_default();
    plain.and_then(Node::as_map).is_none_or(all)
        && expressions.iter().all(|expression| holds(expression, labels))
}

fn holds(expression: &Node, labels: Option<&Node>) -> bool {
    let text = |field: &str| expression.get(field).and_then(Node::as_str).unwrap_or_default();
    let found = labels.and_then(|labels| labels.get(text("key")));
    let values = expression.get("values").and_then(Node::as_list).unwrap_or_default();
    let listed = found.is_some_and(|found| values.contains(found));
    match text("operator") {
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none_or(|found| found.value == Value::Null),
        _ => true,
    }
}
