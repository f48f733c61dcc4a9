//! Whom a binding means.

use crate::yaml::Node;

/// Bound in this way, every service account of the cluster has a right.
pub const EVERYBODY: (&str, &str) = ("", "");

/// The service account that a subject means, by whichever of its three names, as namespace and name; an empty name is all
/// of a namespace. `own` is the namespace of the binding, for subjects that leave theirs out.
pub fn account<'n>(subject: &'n Node, own: &'n str) -> Option<(&'n str, &'n str)> {
    let text = |field: &str| subject.get(field).and_then(Node::as_str);
    let name = text("name")?;
    match text("kind")? {
        "ServiceAccount" => Some((text("namespace").unwrap_or(own), name)),
        "User" => name.strip_prefix("system:serviceaccount:")?.split_once(':'),
        // All accounts of the cluster, and whoever has a name at all.
        "Group" if matches!(name, "system:serviceaccounts" | "system:authenticated") => Some(EVERYBODY),
        "Group" => Some((name.strip_prefix("system:serviceaccounts:")?, "")),
        _ => None,
    }
}
