//! Containers that ask for the proxy's variables, as the cluster-version-operator gives them.

use super::{Fact, annotation, named, of_group};
use crate::diagnostic::{Diagnostic, Location};
use crate::language::Intent;
use crate::language::template::Scope;
use crate::object::{Object, containers_mut, has_pods, pod_mut};
use crate::yaml::{Entry, Map, Mark, Node, Sources, Value};

pub(super) const ANNOTATION: &str = "config.openshift.io/inject-proxy";

/// The variables, and the parameters of the group that they are from.
const VARIABLES: [(&str, &str); 3] =
    [("HTTP_PROXY", "httpProxy"), ("HTTPS_PROXY", "httpsProxy"), ("NO_PROXY", "noProxy")];

pub(super) fn find(object: &Object) -> Option<Fact> {
    if !has_pods(&object.id.kind) {
        return None;
    }
    let wish = annotation::get(&object.root, ANNOTATION)?;
    Some(Fact::new(Intent::Proxy, wish.mark, "", vec![("workload", named(object))]))
}

/// Gives the containers that the annotation names the variables of a group of parameters. A variable that is there
/// already stays as it is; an absent parameter gives none.
pub(in crate::transform) fn inject(
    object: &mut Object,
    group: &str,
    scope: &dyn Scope,
    at: Mark,
    sources: &Sources,
) -> Result<(), Diagnostic> {
    let Some(wish) = annotation::get(&object.root, ANNOTATION).cloned() else { return Ok(()) };
    let variables = of_group(group, VARIABLES, scope, at, sources)?;
    let kind = object.id.kind.clone();
    for name in annotation::names(&wish) {
        let containers = pod_mut(&mut object.root, &kind).map(containers_mut).unwrap_or_default();
        let container = containers
            .into_iter()
            .find(|container| container.get("name").and_then(Node::as_str) == Some(name));
        let Some(container) = container else {
            return Err(Diagnostic::error(format!("there is no container `{name}` to give the proxy to"))
                .at(Location::of(wish.mark, sources))
                .object(&object.id)
                .help("the annotation names containers, with commas between them"));
        };
        for (variable, value) in &variables {
            add_variable(container, variable, value, at);
        }
    }
    Ok(())
}

fn add_variable(container: &mut Node, name: &str, value: &Value, mark: Mark) {
    let Value::Map(fields) = &mut container.value else { return };
    if fields.get("env").is_none() {
        let value = Node { value: Value::List(Vec::new()), mark };
        fields.insert(Entry { key: "env".into(), mark, value });
    }
    let Some(Value::List(env)) = fields.get_mut("env").map(|env| &mut env.value) else { return };
    if env.iter().any(|variable| variable.get("name").and_then(Node::as_str) == Some(name)) {
        return;
    }
    let entry = |key: &str, value: Value| Entry { key: key.into(), mark, value: Node { value, mark } };
    let entries = vec![entry("name", Value::String(name.into())), entry("value", value.clone())];
    env.push(Node { value: Value::Map(Map::from_entries(entries, |_, _| {})), mark });
}
