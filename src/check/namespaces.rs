//! The namespaces that objects live in.

use std::collections::HashSet;

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::Cluster;

/// Checks that each namespace is created by a manifest or declared as an external. Reports the first object in it.
pub(super) fn check(context: &CheckContext<'_>, report: &mut Report) {
    let mut seen = HashSet::new();
    for object in context.rendered.objects.iter().filter(|object| !object.is_tombstone()) {
        let namespace = object.id.namespace.as_str();
        // The namespace of the profile exists: it is where the hosted control plane runs.
        let is_profile_namespace = context.rendered.namespace.as_deref() == Some(namespace);
        if namespace.is_empty() || is_profile_namespace || !seen.insert(namespace) {
            continue;
        }
        match context.here.find("Namespace", "", "", namespace) {
            Some(ExistingObject::External(externals)) => report.use_externals(&externals),
            Some(ExistingObject::Rendered(_) | ExistingObject::Created(_)) => {}
            None => {
                let root = Field::root(object);
                let field = root.at("/metadata/namespace").unwrap_or(root);
                report.add(
                    Finding::new(
                        Check::UnknownNamespace,
                        &field,
                        format!("no manifest creates the namespace `{namespace}`"),
                    )
                    .note("the API server rejects objects in a namespace that does not exist")
                    .help(format!(
                        "add the namespace to the payload, or declare `Namespace/{namespace}` under `externals`"
                    )),
                );
            }
        }
    }
}

/// Checks that a profile for the management cluster has a namespace. Without it, its objects stay in the namespaces that
/// the payload names, next to those of the management cluster itself.
pub(super) fn check_profile(context: &CheckContext<'_>, report: &mut Report) {
    let profile = context.rendered.view.profile;
    if context.cluster() == Cluster::Management && profile.namespace.is_none() {
        let message = format!("the profile `{}` for the management cluster has no namespace", profile.name);
        report.add(
            Finding::in_file(Check::MissingNamespace, profile.mark, message)
                .note("its objects would replace those of the management cluster itself, or of another hosted control plane")
                .help("add `namespace`, the namespace of the hosted control plane"),
        );
    }
}
