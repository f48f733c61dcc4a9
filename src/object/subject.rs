//! The ServiceAccounts that the subjects of a binding name.

use crate::yaml::Node;

/// The result of [`service_account_of`] for a subject that means every ServiceAccount of the cluster.
pub(crate) const ALL_SERVICE_ACCOUNTS: (&str, &str) = ("", "");

/// Returns namespace and name of the ServiceAccount that a subject names: directly, by its user name, or as part of a
/// group. An empty name means all ServiceAccounts of the namespace. A subject without a namespace is in that of the binding.
pub(crate) fn service_account_of<'n>(
    subject: &'n Node,
    binding_namespace: &'n str,
) -> Option<(&'n str, &'n str)> {
    let text = |field: &str| subject.get(field).and_then(Node::as_str);
    let name = text("name")?;
    match text("kind")? {
        "ServiceAccount" => Some((text("namespace").unwrap_or(binding_namespace), name)),
        "User" => name.strip_prefix("system:serviceaccount:")?.split_once(':'),
        "Group" if matches!(name, "system:serviceaccounts" | "system:authenticated") => {
            Some(ALL_SERVICE_ACCOUNTS)
        }
        "Group" => Some((name.strip_prefix("system:serviceaccounts:")?, "")),
        _ => None,
    }
}
