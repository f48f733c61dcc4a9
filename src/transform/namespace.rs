//! Every namespaced object to one namespace, and the references that name them along with it.

use std::collections::HashSet;

use crate::diagnostic::{Diagnostic, Diagnostics, Location};
use crate::object::{Cause, Object, Scope, Scopes};
use crate::payload::Payload;
use crate::profile::Marked;
use crate::yaml::{Entry, Node, Sources, Value};

/// Moves all namespaced objects to `namespace`. A kind whose scope nobody knows is an error: guessing would put a
/// namespace on something that has none.
pub(super) fn move_to(
    namespace: &Marked<String>,
    objects: &mut [Object],
    payload: &Payload,
) -> Result<(), Diagnostics> {
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
            None => errors.0.push(unknown_scope(object, &payload.sources)),
        }
    }
    for object in objects {
        follow(object, &moved, namespace);
        object.history.note(&object.root, || Cause::Namespace(namespace.mark));
    }
    errors.or(())
}

fn set_namespace(object: &mut Object, namespace: &Marked<String>) {
    object.id.namespace.clone_from(&namespace.value);
    if let Some(metadata) = object.root.get_mut("metadata") {
        set_to(metadata, namespace);
    }
}

/// Rewrites the namespaces in role bindings' subjects, and in the Services that the API server calls.
fn follow(object: &mut Object, moved: &HashSet<(String, String, String)>, namespace: &Marked<String>) {
    let follow = |reference: Option<&mut Node>, kind: &str| {
        let text =
            |node: &Node, field: &str| node.get(field).and_then(Node::as_str).unwrap_or_default().to_owned();
        let is_moved =
            |node: &Node| moved.contains(&(kind.to_owned(), text(node, "namespace"), text(node, "name")));
        if let Some(reference) = reference.filter(|node| is_moved(node)) {
            set_to(reference, namespace);
        }
    };
    let root = &mut object.root;
    match object.id.kind.as_str() {
        "RoleBinding" | "ClusterRoleBinding" => {
            let is_account =
                |subject: &&mut Node| subject.get("kind").and_then(Node::as_str) == Some("ServiceAccount");
            let subjects = list_mut(root.get_mut("subjects")).iter_mut().filter(is_account);
            subjects.for_each(|subject| follow(Some(subject), "ServiceAccount"));
        }
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            for webhook in list_mut(root.get_mut("webhooks")) {
                follow(down(webhook, &["clientConfig", "service"]), "Service");
            }
        }
        "CustomResourceDefinition" => {
            follow(down(root, &["spec", "conversion", "webhook", "clientConfig", "service"]), "Service");
        }
        "APIService" => follow(down(root, &["spec", "service"]), "Service"),
        _ => {}
    }
}

fn down<'n>(node: &'n mut Node, keys: &[&str]) -> Option<&'n mut Node> {
    keys.iter().try_fold(node, |node, key| node.get_mut(key))
}

fn list_mut(node: Option<&mut Node>) -> &mut [Node] {
    match node.map(|node| &mut node.value) {
        Some(Value::List(items)) => items,
        _ => &mut [],
    }
}

/// Sets the namespace of a reference or of metadata; the profile's line wrote it.
fn set_to(node: &mut Node, namespace: &Marked<String>) {
    let mark = namespace.mark;
    let value = Node { value: Value::String(namespace.value.as_str().into()), mark };
    if let Value::Map(map) = &mut node.value {
        map.insert(Entry { key: "namespace".into(), mark, value });
    }
}

fn unknown_scope(object: &Object, sources: &Sources) -> Diagnostic {
    Diagnostic::error(format!("nobody knows whether {} lives in a namespace", object.id.kind_and_group()))
        .at(Location::of(object.root.mark, sources))
        .object(&object.id)
        .help("put its CustomResourceDefinition into the payload")
}
