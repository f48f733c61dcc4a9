//! References from one object to another: the object, the key or the port must exist in the same cluster.

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::fields::join_names;
use super::finding::{Finding, Report};
use super::pod_tokens::TOKEN_SECRET;
use super::rbac::subject_of_other_cluster;
use crate::language::Check;
use crate::object::{Object, REFERENCE_RULES, Reference, ReferenceRule, ReferenceSource, RequiredPart};
use crate::yaml::{Node, Number, Value, json};

const POD_NEVER_STARTS: &str = "the pod waits for it and never starts";

/// Checks that each object, key and port that an object references exists in the same cluster.
pub(super) fn check(
    root: &Field<'_>,
    pod: Option<&Field<'_>>,
    context: &CheckContext<'_>,
    report: &mut Report,
) {
    let id = &root.object.id;
    for rule in REFERENCE_RULES.iter().chain(&context.reference_rules) {
        if !rule.applies_to(id) {
            continue;
        }
        let start = match rule.source {
            ReferenceSource::PodTemplate => pod,
            ReferenceSource::Kind(_) => Some(root),
        };
        let Some(start) = start else { continue };
        start.for_each(rule.path, &mut |source| {
            if let Some(reference) = rule.reference(source.node, &id.namespace) {
                check_reference(rule, &reference, source, context, report);
            }
        });
    }
}

fn check_reference(
    rule: &ReferenceRule<'_>,
    reference: &Reference<'_>,
    source: &Field<'_>,
    context: &CheckContext<'_>,
    report: &mut Report,
) {
    let name = rule.name_field.and_then(|field| source.get(field)).unwrap_or(*source);
    let is_subject = reference.kind == "ServiceAccount" && source.node.get("kind").is_some();
    // This comes before the lookup: a ServiceAccount of the same name in this cluster must not hide the finding.
    if is_subject && context.is_namespace_of_other_cluster(reference.namespace) {
        report.add(subject_of_other_cluster(&name, reference.namespace));
        return;
    }
    match context.here.find(reference.kind, reference.group, reference.namespace, reference.name) {
        Some(ExistingObject::Rendered(found)) => check_parts(reference, source, found, report),
        Some(ExistingObject::Created([])) => {}
        Some(ExistingObject::Created(keys)) => check_keys(reference, source, keys, report),
        Some(ExistingObject::External(externals)) => report.use_externals(&externals),
        None => report.add(missing_object(reference, &name, context)),
    }
}

fn missing_object(reference: &Reference<'_>, field: &Field<'_>, context: &CheckContext<'_>) -> Finding {
    let Reference { kind, group, namespace, name, .. } = *reference;
    if context.others.iter().any(|other| other.has_in_any_namespace(kind, group, name)) {
        return Finding::new(
            Check::WrongCluster,
            field,
            format!("the {kind} `{name}` is in the other cluster"),
        )
        .note("an object can only reference objects in its own cluster")
        .help(format!("add the {kind} to `place.both`, or use a fragment that provides it in this cluster"));
    }
    let check = if reference.is_optional() { Check::MissingOptionalObject } else { Check::MissingObject };
    let message = if namespace.is_empty() {
        format!("there is no {kind} `{name}`")
    } else {
        format!("there is no {kind} `{name}` in the namespace `{namespace}`")
    };
    let excluded = context.excluded_match(|manifest| {
        manifest.id.kind == kind && manifest.id.group == group && manifest.id.name == name
    });
    Finding::new(check, field, message)
        .note(consequence(reference))
        .optional_note(excluded)
        .help("add it to the payload, or declare it under `externals` and say who creates it")
        .suggest(name, context.here.names(kind, namespace))
}

/// Returns why it matters that a referenced object does not exist.
fn consequence(reference: &Reference<'_>) -> &'static str {
    if reference.is_optional() {
        return "the reference is optional: the feature that needs the object is off, without an error";
    }
    match reference.kind {
        "Secret" if reference.requires == RequiredPart::Object => {
            "the API server accepts the reference, and what needs the Secret fails later"
        }
        "Secret" | "ConfigMap" | "PersistentVolumeClaim" => POD_NEVER_STARTS,
        "ServiceAccount" => "nothing can run as a ServiceAccount that does not exist",
        "Role" | "ClusterRole" => "the binding grants no rights",
        "Service" => "every request to it fails",
        _ => "the API server or a controller rejects the object",
    }
}

/// Checks the keys or the port of an object that exists.
fn check_parts(reference: &Reference<'_>, source: &Field<'_>, found: &Object, report: &mut Report) {
    match reference.requires {
        RequiredPart::Object => {}
        RequiredPart::Key | RequiredPart::Items => {
            if !is_filled_by_others(found) {
                check_keys(reference, source, &keys_of(found), report);
            }
        }
        RequiredPart::Port => check_port(reference, source, found, report),
    }
}

/// Returns whether others fill in the data: the token controller, or an administrator if transship only creates the
/// object.
fn is_filled_by_others(object: &Object) -> bool {
    let is_token = object.root.get("type").and_then(Node::as_str) == Some(TOKEN_SECRET);
    is_token || has_metadata(object, "annotations", "release.openshift.io/create-only")
}

/// Returns whether a label or an annotation is `"true"`.
fn has_metadata(object: &Object, field: &str, key: &str) -> bool {
    let value = object.root.get("metadata").and_then(|metadata| metadata.get(field)?.get(key));
    value.and_then(Node::as_str) == Some("true")
}

/// Returns the keys of a Secret or ConfigMap, with those of certificate bundles that OpenShift injects.
fn keys_of(object: &Object) -> Vec<&str> {
    let mut keys = Vec::new();
    for field in ["data", "binaryData", "stringData"] {
        for entry in object.root.get(field).and_then(Node::as_map).into_iter().flatten() {
            keys.push(entry.key.as_str());
        }
    }
    for (field, marker, key) in [
        ("labels", "config.openshift.io/inject-trusted-cabundle", "ca-bundle.crt"),
        ("annotations", "service.alpha.openshift.io/inject-cabundle", "service-ca.crt"),
        ("annotations", "service.beta.openshift.io/inject-cabundle", "service-ca.crt"),
    ] {
        if has_metadata(object, field, marker) {
            keys.push(key);
        }
    }
    keys
}

fn check_keys(reference: &Reference<'_>, source: &Field<'_>, keys: &[&str], report: &mut Report) {
    if reference.is_optional() {
        return;
    }
    match reference.requires {
        RequiredPart::Key => {
            if let Some(key) = source.get("key") {
                check_key(reference, &key, keys, report);
            }
        }
        RequiredPart::Items => {
            for item in source.items("/items") {
                if let Some(key) = item.get("key") {
                    check_key(reference, &key, keys, report);
                }
            }
        }
        RequiredPart::Object | RequiredPart::Port => {}
    }
}

fn check_key(reference: &Reference<'_>, field: &Field<'_>, keys: &[&str], report: &mut Report) {
    let Some(key) = field.as_str() else { return };
    if keys.contains(&key) {
        return;
    }
    let (kind, name) = (reference.kind, reference.name);
    let help = if keys.is_empty() {
        format!("the {kind} has no keys")
    } else {
        format!("the keys are {}", join_names(keys))
    };
    report.add(
        Finding::new(Check::MissingKey, field, format!("the {kind} `{name}` has no key `{key}`"))
            .note(POD_NEVER_STARTS)
            .help(help)
            .suggest(key, keys.iter().copied()),
    );
}

/// Checks that a Service has the port that the API server will call: the one in `port`, or 443.
fn check_port(reference: &Reference<'_>, source: &Field<'_>, service: &Object, report: &mut Report) {
    // A Service of this type is only a DNS alias and has no ports.
    if service.root.get("spec").and_then(|spec| spec.get("type")?.as_str()) == Some("ExternalName") {
        return;
    }
    let wanted = source.get("port").unwrap_or(*source);
    let number = match source.node.get("port") {
        Some(port) => port.clone(),
        None => Node::new(Value::Number(Number::Int(443)), source.node.mark),
    };
    let mut known = Vec::new();
    for port in ports(service) {
        let Some(port) = port.get("port") else { continue };
        if *port == number {
            return;
        }
        known.push(json::write(port));
    }
    let message = format!("the Service `{}` has no port {}", reference.name, json::write(&number));
    report.add(
        Finding::new(Check::MissingPort, &wanted, message)
            .note("every request to it fails")
            .help(format!("the ports are {}", known.join(", "))),
    );
}

/// Returns the ports of a Service.
pub(super) fn ports(service: &Object) -> &[Node] {
    let ports = service.root.get("spec").and_then(|spec| spec.get("ports"));
    ports.and_then(Node::as_list).unwrap_or_default()
}
