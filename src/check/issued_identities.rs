//! The identities of issued kubeconfigs.

use super::cluster_index::ExistingObject;
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{Cluster, IssuedOrigin, Object};

/// Returns namespace and name of the ServiceAccount that an issued kubeconfig of the guest is for; `None` for other
/// objects.
pub(super) fn issued_for_guest(object: &Object) -> Option<(&str, &str)> {
    match &object.issued {
        Some(IssuedOrigin::Kubeconfig { cluster, namespace, service_account })
            if cluster == Cluster::Guest.name() =>
        {
            Some((namespace, service_account))
        }
        _ => None,
    }
}

/// Checks that a kubeconfig for the guest is for a ServiceAccount that the guest has.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management || context.others.is_empty() {
        return;
    }
    let Some((namespace, name)) = issued_for_guest(root.object) else { return };
    if context.others.iter().any(|guest| guest.find("ServiceAccount", "", namespace, name).is_some()) {
        return;
    }
    let message = format!(
        "the kubeconfig is for the ServiceAccount `{name}` in the namespace `{namespace}`, which the guest does not have"
    );
    report.add(
        Finding::new(Check::MissingObject, root, message)
            .note("the issuer cannot issue it, or issues it for an account without rights")
            .help("add the ServiceAccount to the guest, or correct `as`"),
    );
}

/// Records the externals of the guest for which the management cluster issues kubeconfigs.
pub(super) fn use_externals(context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Guest {
        return;
    }
    for (namespace, name) in context.others.iter().flat_map(|other| &other.issued_for_guest) {
        if let Some(ExistingObject::External(externals)) =
            context.here.find("ServiceAccount", "", namespace, name)
        {
            report.use_externals(&externals);
        }
    }
}
