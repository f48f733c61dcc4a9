//! Every name of another object leads somewhere, in the same cluster.

use std::collections::HashSet;

use super::cluster_index::{Found, Inventory};
use super::fields::listed;
use super::finding::Fault;
use crate::language::Check;
use crate::nearest::nearest;
use crate::object::{Object, REFERENCE_RULES, Reference, ReferenceRule, RequiredPart};
use crate::yaml::{Node, Number, Value};

/// What can be found: here, and in the topology's other cluster.
pub(super) struct World<'a> {
    pub(super) here: &'a Inventory<'a>,
    pub(super) elsewhere: Vec<&'a Inventory<'a>>,
    pub(super) rules: &'a [ReferenceRule<'a>],
    /// The Services of the payload, by the namespaces and names they have there.
    pub(super) payload_services: &'a HashSet<(&'a str, &'a str)>,
}

impl World<'_> {
    /// Whether a namespace is one of the other cluster's and none of this one's.
    pub(super) fn is_foreign(&self, namespace: &str) -> bool {
        self.elsewhere.iter().any(|other| other.lives_in(namespace))
            && !self.here.lives_in(namespace)
            && !self.here.declares_namespace(namespace)
    }

    /// Whether a Service is the other cluster's: by where it is there, or by where it was in the payload.
    fn is_elsewhere(&self, namespace: &str, name: &str) -> bool {
        let moved = || {
            self.payload_services.contains(&(namespace, name))
                && self.elsewhere.iter().any(|other| other.has("Service", "", name))
        };
        self.here.find("Service", "", namespace, name).is_none()
            && (self.elsewhere.iter().any(|other| other.has_service(namespace, name)) || moved())
    }
}

/// Rights that go to a namespace of the other cluster.
pub(super) fn foreign<'n>(at: &'n Node, namespace: &str) -> Fault<'n> {
    Fault::new(Check::ForeignSubject, at, format!("`{namespace}` is a namespace of the other cluster"))
        .why("whoever creates a namespace of that name in this cluster has these rights")
        .help("name a subject of this cluster, or leave the binding out here")
}

fn is_subject(reference: &Reference<'_>) -> bool {
    reference.kind == "ServiceAccount" && reference.node.get("kind").is_some()
}

/// Every name in an object that leads nowhere.
pub(super) fn check<'n>(object: &'n Object, world: &'n World<'n>, faults: &mut Vec<Fault<'n>>) {
    let id = &object.id;
    let mut references = Vec::new();
    for rule in REFERENCE_RULES.iter().chain(world.rules).filter(|rule| rule.applies_to(id)) {
        rule.references(&object.root, &id.kind, &id.namespace, &mut references);
    }
    for reference in references {
        // Before anything is looked up: a name that is here as well must not hide it.
        if is_subject(&reference) && world.is_foreign(reference.namespace) {
            faults.push(foreign(reference.name_node, reference.namespace));
            continue;
        }
        match world.here.find(reference.kind, reference.group, reference.namespace, reference.name) {
            Some(Found::Object(found)) => {
                parts(&reference, found, faults);
            }
            Some(Found::Made(keys)) if !keys.is_empty() => missing_keys(&reference, keys, faults),
            Some(Found::Made(_) | Found::Outside) => {}
            None => faults.push(absent(&reference, world)),
        }
    }
    if !world.elsewhere.is_empty() {
        dns_names(&object.root, id.kind == "Secret", world, faults);
    }
}

/// Names such as `metrics.some-namespace.svc` of Services that only the other cluster has. Of a Secret's values nothing is
/// repeated.
fn dns_names<'n>(node: &'n Node, secret: bool, world: &World<'_>, faults: &mut Vec<Fault<'n>>) {
    match &node.value {
        Value::String(text) if text.contains(".svc") => {
            let in_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
            for host in text.split(|letter| !in_name(letter)) {
                // Pods of a headless Service have a name of their own before it.
                let before = host.split(".svc").next().unwrap_or_default();
                let mut labels = before.rsplit('.');
                let (Some(namespace), Some(name)) = (labels.next(), labels.next()) else { continue };
                if before.len() < host.len() && world.is_elsewhere(namespace, name) {
                    let shown = if secret { "a Service".to_owned() } else { format!("the Service `{name}`") };
                    faults.push(
                        Fault::new(Check::OtherCluster, node, format!("{shown} is in the other cluster"))
                            .why("nobody answers to this name here")
                            .help("give this cluster a Service of that name that leads there, or call it by URL"),
                    );
                }
            }
        }
        Value::List(items) => items.iter().for_each(|item| dns_names(item, secret, world, faults)),
        // By URL the API server itself calls, and a hosted cluster's runs in the management cluster. What a schema says
        // in prose calls nobody.
        Value::Map(map) => map
            .iter()
            .filter(|entry| !matches!(entry.key.as_str(), "clientConfig" | "openAPIV3Schema"))
            .for_each(|entry| dns_names(&entry.value, secret, world, faults)),
        _ => {}
    }
}

fn absent<'n>(reference: &Reference<'n>, world: &World<'_>) -> Fault<'n> {
    let Reference { kind, group, namespace, name, name_node: at, .. } = *reference;
    let place = if namespace.is_empty() { String::new() } else { format!(" in the namespace `{namespace}`") };
    if world.elsewhere.iter().any(|other| other.has(kind, group, name)) {
        return Fault::new(Check::OtherCluster, at, format!("the {kind} `{name}` is in the other cluster"))
            .why("names do not reach across clusters; only a kubeconfig, a token or a URL does")
            .help(format!("put the {kind} into both with `place`, or use a word that carries it over"));
    }
    let check = if reference.is_optional() { Check::NobodyBrings } else { Check::NoSuchObject };
    let fault = Fault::new(check, at, format!("there is no {kind} `{name}`{place}"));
    let fault = match kind {
        _ if reference.is_optional() => {
            fault.why("it may be missing, and then what it is for is silently off")
        }
        "Secret" if reference.requires == RequiredPart::Object => fault.why("whatever needs it goes without"),
        "Secret" | "ConfigMap" | "PersistentVolumeClaim" => {
            fault.why("the pod would wait for it and never start")
        }
        "ServiceAccount" => fault.why("nobody could act as it"),
        "Role" | "ClusterRole" => fault.why("the binding would give no right"),
        "Service" => fault.why("every call would fail"),
        _ => fault.why("the API server, or whoever reads it, refuses the object"),
    };
    match nearest(name, world.here.names(kind, namespace)) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("put it into the payload, or declare it under `externals` with who brings it"),
    }
}

/// The keys and ports of an object that is there.
fn parts<'n>(reference: &Reference<'n>, found: &Object, faults: &mut Vec<Fault<'n>>) {
    match reference.requires {
        RequiredPart::Object => {}
        // Others fill them: the token controller, or whoever edits what is only created.
        RequiredPart::Key | RequiredPart::Items if is_filled(found) => {}
        RequiredPart::Key | RequiredPart::Items => missing_keys(reference, &keys_of(found), faults),
        RequiredPart::Port => missing_port(reference, found, faults),
    }
}

fn is_filled(object: &Object) -> bool {
    let annotations = object.root.get("metadata").and_then(|metadata| metadata.get("annotations"));
    let created = annotations.and_then(|annotations| annotations.get("release.openshift.io/create-only"));
    let kind = object.root.get("type").and_then(Node::as_str);
    created.and_then(Node::as_str) == Some("true") || kind == Some("kubernetes.io/service-account-token")
}

/// The keys that a Secret or ConfigMap has, or will have: others fill in bundles of certificates.
fn keys_of(object: &Object) -> Vec<&str> {
    let metadata = |field: &str, key: &str| {
        let value = object.root.get("metadata")?.get(field)?.get(key)?.as_str()?;
        Some(value == "true")
    };
    let filled = [
        ("labels", "config.openshift.io/inject-trusted-cabundle", "ca-bundle.crt"),
        ("annotations", "service.alpha.openshift.io/inject-cabundle", "service-ca.crt"),
        ("annotations", "service.beta.openshift.io/inject-cabundle", "service-ca.crt"),
    ];
    let filled = filled.into_iter().filter(|(field, key, _)| metadata(field, key) == Some(true));
    let written =
        ["data", "binaryData", "stringData"].into_iter().filter_map(|field| object.root.get(field)?.as_map());
    written.flatten().map(|entry| entry.key.as_str()).chain(filled.map(|(_, _, key)| key)).collect()
}

fn missing_keys<'n>(reference: &Reference<'n>, keys: &[&str], faults: &mut Vec<Fault<'n>>) {
    if reference.is_optional() {
        return;
    }
    for wanted in reference.keys() {
        let Some(key) = wanted.as_str().filter(|key| !keys.contains(key)) else { continue };
        let (kind, name) = (reference.kind, reference.name);
        let fault = Fault::new(Check::NoSuchKey, wanted, format!("the {kind} `{name}` has no key `{key}`"))
            .why("the pod would wait for it and never start");
        faults.push(match nearest(key, keys.iter().copied()) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None if keys.is_empty() => fault.help("it has none"),
            None => fault.help(format!("it has {}", listed(keys))),
        });
    }
}

fn missing_port<'n>(reference: &Reference<'n>, service: &Object, faults: &mut Vec<Fault<'n>>) {
    let wanted = reference.node.get("port");
    // It only gives another name, and has no ports of its own.
    if service.root.get("spec").and_then(|spec| spec.get("type")?.as_str()) == Some("ExternalName") {
        return;
    }
    let number = wanted.map_or(Value::Number(Number::Int(443)), |port| port.value.clone());
    let ports = ports(service);
    if ports.iter().any(|port| port.get("port").is_some_and(|port| port.value == number)) {
        return;
    }
    let shown: Vec<String> =
        ports.iter().filter_map(|port| port.get("port")).map(crate::yaml::json::write).collect();
    let name = reference.name;
    let asked = crate::yaml::json::write(&Node { value: number, mark: reference.node.mark });
    faults.push(
        Fault::new(
            Check::NoSuchPort,
            wanted.unwrap_or(reference.node),
            format!("the Service `{name}` has no port {asked}"),
        )
        .why("every call would fail")
        .help(format!("it has {}", shown.join(", "))),
    );
}

/// The ports of a Service.
pub(super) fn ports(service: &Object) -> &[Node] {
    let ports = service.root.get("spec").and_then(|spec| spec.get("ports"));
    ports.and_then(Node::as_list).unwrap_or_default()
}
