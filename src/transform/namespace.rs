//! Every namespaced object to one namespace, and the references that name them along with it.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::object::{Object, Scope, Scopes};
use crate::payload::Payload;
use crate::yaml::{Entry, Node, Value};

/// Moves all namespaced objects to `namespace`. A kind whose scope nobody knows is an error: guessing would put a
/// namespace on something that has none.
pub(super) fn move_to(namespace: &str, objects: &mut [Object], payload: &Payload) -> Result<(), Diagnostics> {
    let scopes = Scopes::with_crds(payload.manifests.iter().map(|manifest| &manifest.root));
    let mut errors = Diagnostics::default();
    let mut moved = HashSet::new();
    for object in &mut *objects {
        match scopes.of(&object.id.group, &object.id.kind) {
            Some(Scope::Cluster) => {}
            Some(Scope::Namespaced) => {
                moved.insert((object.id.kind.clone(), object.id.namespace.clone(), object.id.name.clone()));
                set_namespace(object, namespace);
            }
            None => errors.0.push(unknown_scope(object)),
        }
    }
    for object in objects {
        follow(&mut object.root, &moved, namespace);
    }
    errors.or(())
}

fn set_namespace(object: &mut Object, namespace: &str) {
    namespace.clone_into(&mut object.id.namespace);
    if let Some(metadata) = object.root.get_mut("metadata") {
        set_text(metadata, "namespace", namespace);
    }
}

/// Rewrites the namespaces in role bindings' subjects, and in the Services that the API server calls.
fn follow(root: &mut Node, moved: &HashSet<(String, String, String)>, namespace: &str) {
    let is_moved = |reference: &Node, kind: &str| {
        let text = |field: &str| reference.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
        moved.contains(&(kind.to_owned(), text("namespace"), text("name")))
    };
    for subject in list_mut(root.get_mut("subjects")) {
        if subject.get("kind").and_then(Node::as_str) == Some("ServiceAccount")
            && is_moved(subject, "ServiceAccount")
        {
            set_text(subject, "namespace", namespace);
        }
    }
    let follow_service = |service: Option<&mut Node>| {
        if let Some(service) = service.filter(|service| is_moved(service, "Service")) {
            set_text(service, "namespace", namespace);
        }
    };
    for webhook in list_mut(root.get_mut("webhooks")) {
        follow_service(webhook.get_mut("clientConfig").and_then(|config| config.get_mut("service")));
    }
    let Some(spec) = root.get_mut("spec") else { return };
    let conversion = spec.get_mut("conversion").and_then(|conversion| conversion.get_mut("webhook"));
    follow_service(conversion.and_then(|webhook| webhook.get_mut("clientConfig")?.get_mut("service")));
    if spec.get("groupPriorityMinimum").is_some() {
        follow_service(spec.get_mut("service"));
    }
}

fn list_mut(node: Option<&mut Node>) -> &mut [Node] {
    match node.map(|node| &mut node.value) {
        Some(Value::List(items)) => items,
        _ => &mut [],
    }
}

/// Sets a field; a new one takes the place of the map it goes into.
fn set_text(node: &mut Node, key: &str, text: &str) {
    let value = Value::String(text.into());
    if let Some(field) = node.get_mut(key) {
        field.value = value;
        return;
    }
    let mark = node.mark;
    if let Value::Map(map) = &mut node.value {
        map.insert(Entry { key: key.into(), mark, value: Node { value, mark } });
    }
}

fn unknown_scope(object: &Object) -> Diagnostic {
    Diagnostic::error(format!("nobody knows whether {} lives in a namespace", object.id.kind_and_group()))
        .at(crate::diagnostic::Location::file(object.file.clone()))
        .object(&object.id)
        .help("put its CustomResourceDefinition into the payload")
}
