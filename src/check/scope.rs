//! The scope of an object's kind: namespaced or cluster-scoped.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{Cluster, Scope};

/// Checks that the kind of an object is known, that the object has a namespace exactly if its kind is namespaced, and
/// that it may live in this cluster.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let id = &root.object.id;
    match context.scopes.of(&id.group, &id.kind) {
        None => unknown_kind(root, report),
        Some(Scope::Namespaced) if id.namespace.is_empty() => missing_namespace(root, report),
        Some(Scope::Cluster) if !id.namespace.is_empty() => unexpected_namespace(root, report),
        Some(Scope::Cluster) if context.cluster() == Cluster::Management => cluster_scoped(root, report),
        Some(_) => {}
    }
}

fn unknown_kind(root: &Field<'_>, report: &mut Report) {
    // An object that is only deleted may be of a kind that the payload no longer contains.
    if root.object.is_tombstone() {
        return;
    }
    let message = format!("the kind {} is unknown", root.object.id.kind_and_group());
    report.add(
        Finding::new(Check::UnknownKind, root, message)
            .note("transship cannot check its fields, its scope or its references")
            .help("add its CustomResourceDefinition to the payload, or declare the kind under `kinds` in a Checks file"),
    );
}

fn missing_namespace(root: &Field<'_>, report: &mut Report) {
    let metadata = root.get("metadata").unwrap_or(*root);
    let message = format!("{} is namespaced, but the object has no namespace", root.object.id.kind);
    report.add(
        Finding::new(Check::MissingNamespace, &metadata, message)
            .note("the object would be created in the current namespace of the kubeconfig")
            .help("add `metadata.namespace`"),
    );
}

fn unexpected_namespace(root: &Field<'_>, report: &mut Report) {
    let namespace = root.at("/metadata/namespace").or(root.get("metadata")).unwrap_or(*root);
    let message = format!("{} is cluster-scoped, but the object has a namespace", root.object.id.kind);
    report.add(
        Finding::new(Check::UnexpectedNamespace, &namespace, message)
            .note("the API server rejects the object, or drops the namespace, so that every diff shows a change")
            .help("remove `metadata.namespace`"),
    );
}

fn cluster_scoped(root: &Field<'_>, report: &mut Report) {
    let message =
        format!("{} is cluster-scoped and not allowed in the management cluster", root.object.id.kind);
    report.add(
        Finding::new(Check::ClusterScoped, root, message)
            .note(
                "hosted control planes share the management cluster: another one could overwrite the object",
            )
            .help("place it in the guest, or omit it in this profile"),
    );
}
