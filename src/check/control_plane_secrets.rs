//! Pods that read the keys and kubeconfigs with which a hosted control plane controls its guest.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use crate::glob;
use crate::language::Check;
use crate::object::Cluster;

/// The Secrets that HyperShift creates in the namespace of a hosted control plane, and what their holder can do.
/// `*` matches any text.
const SECRETS: [(&str, &str); 12] = [
    ("*admin-kubeconfig", "the kubeconfig of the guest's administrator"),
    ("*admin-client", "a certificate of the guest's administrator"),
    ("kubeadmin-password", "the password of the guest's administrator"),
    ("bootstrap-kubeconfig", "a kubeconfig with which nodes join the guest"),
    ("localhost-kubeconfig", "a kubeconfig of the guest's API server"),
    ("root-ca", "the key of the guest's certificate authority"),
    ("*-signer", "a key that signs certificates of the hosted control plane"),
    ("*-signer-ca", "a key that signs certificates of the hosted control plane"),
    ("sa-signing-key", "the key that signs the tokens of the guest's ServiceAccounts"),
    ("etcd-*-tls", "a key of the guest's etcd"),
    ("etcd-encryption-config", "the key that encrypts the guest's etcd"),
    ("kas-*", "a key of the guest's API server"),
];

/// Keys of these Secrets that everyone may read.
const PUBLIC_KEYS: [&str; 4] = ["ca-bundle.crt", "ca.crt", "service-ca.crt", "tls.crt"];

/// The fields of a pod that name a Secret whose keys a container can read.
pub(super) const SECRET_REFERENCES: [(&str, &str); 4] = [
    ("spec/volumes/*/secret", "secretName"),
    ("spec/volumes/*/projected/sources/*/secret", "name"),
    ("spec/*/*/envFrom/*/secretRef", "name"),
    ("spec/*/*/env/*/valueFrom/secretKeyRef", "name"),
];

/// Checks that a pod in the management cluster reads no key of the hosted control plane itself.
pub(super) fn check(pod: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if context.cluster() != Cluster::Management {
        return;
    }
    for (path, name_field) in SECRET_REFERENCES {
        pod.for_each(path, &mut |reference| {
            let Some(field) = reference.get(name_field) else { return };
            let Some(name) = field.as_str() else { return };
            let Some(description) = content_of(name) else { return };
            if reads_private_keys(reference) {
                let message = format!("the pod reads the Secret `{name}`: {description}");
                report.add(
                    Finding::new(Check::ControlPlaneSecret, &field, message)
                        .note("an attacker who controls this pod controls the guest, with all its data")
                        .help("use a kubeconfig for a ServiceAccount of its own (`IssuedKubeconfig`), or allow it for this object with a reason"),
                );
            }
        });
    }
}

/// Returns what a Secret of the hosted control plane contains.
pub(super) fn content_of(secret: &str) -> Option<&'static str> {
    let (_, content) = SECRETS.iter().find(|(pattern, _)| glob::matches(pattern, secret))?;
    Some(content)
}

/// Returns whether a Secret of the hosted control plane makes its holder the administrator of the guest.
pub(super) fn is_administrator(secret: &str) -> bool {
    content_of(secret).is_some_and(|content| content.contains("administrator"))
}

/// Returns whether a reference to a Secret includes a key that is not public. Without a list of keys, it includes all.
fn reads_private_keys(reference: &Field<'_>) -> bool {
    let is_public = |key: Option<Field<'_>>| {
        key.and_then(|key| key.as_str()).is_some_and(|key| PUBLIC_KEYS.contains(&key))
    };
    let has_items = reference.get("items").is_some();
    let has_public_items = has_items && reference.items("/items").all(|item| is_public(item.get("key")));
    !has_public_items && !is_public(reference.get("key"))
}
