//! `proxy`: containers that ask for the environment variables of the proxy, as the cluster-version-operator sets them.

use super::{DetectedIntent, IntentHandler, ParameterGroup, RemoteServices, comma_separated, reference_to};
use crate::diagnostic::{Diagnostic, Location};
use crate::language::Intent;
use crate::object::{
    Object, annotation, containers_mut, has_pods, list, map, pod_mut, remove_annotation, text,
};
use crate::yaml::{Entry, Mark, Node, Value};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: Some(fulfil) };

const ANNOTATION: &str = "config.openshift.io/inject-proxy";

/// The variables, and the parameters of the group with their values.
const VARIABLES: [(&str, &str); 3] =
    [("HTTP_PROXY", "httpProxy"), ("HTTPS_PROXY", "httpsProxy"), ("NO_PROXY", "noProxy")];

fn detect(object: &Object, _: &RemoteServices) -> Vec<DetectedIntent> {
    if !has_pods(&object.id.kind) {
        return Vec::new();
    }
    let Some(containers) = annotation(&object.root, ANNOTATION) else { return Vec::new() };
    vec![DetectedIntent::new(Intent::Proxy, containers.mark, vec![("workload", reference_to(object))])]
}

fn remove(object: &mut Object, _: &DetectedIntent) {
    remove_annotation(&mut object.root, ANNOTATION);
}

/// Adds the variables to the containers that the annotation names. Variables that a container already has stay unchanged.
fn fulfil(object: &mut Object, group: &ParameterGroup<'_>) -> Result<(), Diagnostic> {
    let Some(names) = annotation(&object.root, ANNOTATION).cloned() else { return Ok(()) };
    let variables = group.values(VARIABLES)?;
    for name in comma_separated(&names) {
        let Some(container) = container_mut(object, name) else {
            return Err(Diagnostic::error(format!("there is no container `{name}` for the proxy variables"))
                .at(Location::of(names.mark, group.sources))
                .object(&object.id)
                .help("list the names of containers in the annotation, separated by commas"));
        };
        for (variable, value) in &variables {
            add_variable(container, variable, value, group.mark);
        }
    }
    Ok(())
}

fn container_mut<'o>(object: &'o mut Object, name: &str) -> Option<&'o mut Node> {
    let pod = pod_mut(&mut object.root, &object.id.kind)?;
    let mut containers = containers_mut(pod).into_iter();
    containers.find(|container| container.get("name").and_then(Node::as_str) == Some(name))
}

fn add_variable(container: &mut Node, name: &str, value: &Node, mark: Mark) {
    let Value::Map(fields) = &mut container.value else { return };
    if fields.get("env").is_none() {
        fields.insert(Entry { key: "env".into(), mark, value: list(Vec::new(), mark) });
    }
    let Some(Value::List(env)) = fields.get_mut("env").map(|env| &mut env.value) else { return };
    if env.iter().any(|variable| variable.get("name").and_then(Node::as_str) == Some(name)) {
        return;
    }
    let value = Node { mark, ..value.clone() };
    env.push(map([("name", text(name, mark)), ("value", value)], mark));
}
