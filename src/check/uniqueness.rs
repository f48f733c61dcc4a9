//! The objects of one cluster as a set: each once, each in a namespace that exists or in none, as its kind is.

use std::collections::{HashMap, HashSet};

use super::cluster_index::Inventory;
use super::finding::Fault;
use crate::language::Check;
use crate::object::{Cluster, Object, Scope, Scopes, is_tombstone};
use crate::transform::Rendered;
use crate::yaml::{Node, Sources};

/// Objects that are there twice. Two files may hold variants of one object as long as only one of them is selected, so
/// this can only be told now.
pub(super) fn twins<'n>(objects: &'n [Object], sources: &Sources) -> Vec<(&'n Object, Fault<'n>)> {
    let mut first = HashMap::with_capacity(objects.len());
    let mut faults = Vec::new();
    for object in objects {
        let Some(other) = first.insert(&object.id, object) else { continue };
        let fault = Fault::new(Check::SameObject, &object.root, "two manifests for one object")
            .why(format!("the other is at {}", sources.show(other.root.mark)))
            .why("whichever is applied last would win, and every pass would change the object back and forth")
            .help("leave one out with CVO's annotations, a capability or a feature set");
        faults.push((object, fault));
    }
    faults
}

/// What a kind's scope says about one object.
pub(super) fn scope<'n>(object: &'n Object, scopes: &Scopes, cluster: Cluster, faults: &mut Vec<Fault<'n>>) {
    let (id, root) = (&object.id, &object.root);
    let metadata = root.get("metadata").unwrap_or(root);
    let of_kind = |words: &str| format!("objects of the kind {} {words}", id.kind);
    let fault = match scopes.of(&id.group, &id.kind) {
        // What is only taken away need not be known any more.
        None if is_tombstone(root) => return,
        None => {
            let message = format!("nothing is known about the kind {}", id.kind_and_group());
            Fault::new(Check::UnknownKind, root, message)
                .why("its fields, its scope and what it names cannot be checked")
                .help("put its CustomResourceDefinition into the payload, or declare it under `kinds` in a Checks file")
        }
        Some(Scope::Namespaced) if id.namespace.is_empty() => {
            Fault::new(Check::NeedsNamespace, metadata, of_kind("live in a namespace, and this names none"))
                .why("it would land wherever the kubeconfig happens to point")
                .help("write `metadata.namespace`")
        }
        Some(Scope::Cluster) if !id.namespace.is_empty() => {
            let node = metadata.get("namespace").unwrap_or(metadata);
            Fault::new(Check::TakesNoNamespace, node, of_kind("live in no namespace"))
                .why("the API server refuses it, or drops it and every comparison shows a difference")
                .help("remove `metadata.namespace`")
        }
        Some(Scope::Cluster) if cluster == Cluster::Management => {
            Fault::new(Check::ClusterScoped, root, of_kind("belong to the whole management cluster"))
                .why("a hosted cluster's objects stay in its namespace; another one would overwrite it")
                .help("give it to the guest, or leave it out here")
        }
        Some(_) => return,
    };
    faults.push(fault);
}

/// The first object of every namespace that nobody creates or declares.
pub(super) fn namespaces<'n>(
    cluster: &'n Rendered<'n>,
    inventory: &Inventory<'n>,
    target: Option<&str>,
) -> Vec<(&'n Object, Fault<'n>)> {
    let mut seen = HashSet::new();
    let mut faults = Vec::new();
    let alive = cluster.objects.iter().filter(|object| !is_tombstone(&object.root));
    for object in alive.filter(|object| !object.id.namespace.is_empty()) {
        let namespace = object.id.namespace.as_str();
        if !seen.insert(namespace) || Some(namespace) == target {
            continue;
        }
        if inventory.find("Namespace", "", "", namespace).is_none() {
            let node = object.root.get("metadata").and_then(|metadata| metadata.get("namespace"));
            let node: &Node = node.unwrap_or(&object.root);
            let fault = Fault::new(
                Check::UnknownNamespace,
                node,
                format!("nobody creates the namespace `{namespace}`"),
            )
            .why("nothing in it could be created")
            .help(format!("put it into the payload, or declare `Namespace/{namespace}` under `externals`"));
            faults.push((object, fault));
        }
    }
    faults
}
