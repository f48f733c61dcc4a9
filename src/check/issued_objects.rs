//! Issued objects: the identities of kubeconfigs, and the signers.

use super::cluster_index::{ClusterIndex, ExistingObject};
use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::object::{CA_BUNDLE, Cluster, GuestIdentity, IssuedOrigin, Object};

/// Returns namespace and name of the ServiceAccount that an issued kubeconfig of the guest is for; `None` for other
/// objects.
pub(super) fn issued_for_guest(object: &Object) -> Option<(&str, &str)> {
    let Some(IssuedOrigin::Kubeconfig(kubeconfig)) = &object.issued else { return None };
    match &kubeconfig.identity {
        GuestIdentity::ServiceAccount { namespace, name } => Some((namespace, name)),
        GuestIdentity::User { .. } => None,
    }
}

/// Checks that the signers of an issued object exist, and who the holder of a kubeconfig is.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    for signer in root.object.issued.iter().flat_map(IssuedOrigin::signers) {
        check_signer(root, context, signer, report);
    }
    check_ca_bundle(root, context, report);
    check_identity(root, context, report);
}

fn check_signer(root: &Field<'_>, context: &CheckContext<'_>, signer: &str, report: &mut Report) {
    let namespace = root.object.id.namespace.as_str();
    match context.here.find("Secret", "", namespace, signer) {
        Some(ExistingObject::External(externals)) => report.use_externals(&externals),
        Some(_) => {}
        None => report.add(missing_signer(root, signer, namespace)),
    }
}

fn missing_signer(field: &Field<'_>, signer: &str, namespace: &str) -> Finding {
    let message =
        format!("there is no Secret `{signer}` in the namespace `{namespace}`, which is the signer");
    Finding::new(Check::MissingObject, field, message)
        .note("`apply` cannot issue certificates without it")
        .help("declare it under `externals` in checks.yaml, or let the profile create it under `signers`")
}

/// Checks that the signer whose authorities an object of the guest trusts is in the management cluster.
fn check_ca_bundle(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    let Some(annotations) = root.at("/metadata/annotations") else { return };
    let Some(annotation) = annotations.get(CA_BUNDLE) else { return };
    let Some(signer) = annotation.as_str() else { return };
    let namespace =
        context.rendered.hosted_control_plane.as_deref().or(context.rendered.namespace.as_deref());
    let Some(namespace) = namespace else {
        let message = format!("the signer `{signer}` has no namespace");
        report.add(
            Finding::new(Check::MissingObject, &annotation, message)
                .note("a signer is a Secret in the namespace of the hosted control plane, and this topology has none")
                .help("use service-ca's annotation `service.beta.openshift.io/inject-cabundle`"),
        );
        return;
    };
    let has = |cluster: &&ClusterIndex<'_>| cluster.find("Secret", "", namespace, signer).is_some();
    if context.cluster() == Cluster::Guest && !context.others.is_empty() && !context.others.iter().any(has) {
        report.add(missing_signer(&annotation, signer, namespace));
    }
}

/// Checks that a kubeconfig for the guest is for a ServiceAccount that the guest has, and for no administrator.
fn check_identity(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management || context.others.is_empty() {
        return;
    }
    if let Some(IssuedOrigin::Kubeconfig(kubeconfig)) = &root.object.issued
        && kubeconfig.identity.is_administrator()
    {
        let message =
            format!("the kubeconfig is for `{}`, who administers the guest", kubeconfig.identity.user());
        report.add(
            Finding::new(Check::GuestAdmin, root, message)
                .note("an attacker who reads it controls the guest, with all its data")
                .help("issue it for a ServiceAccount, or allow it for this object with a reason"),
        );
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
            .note("it would be for an account without rights")
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
