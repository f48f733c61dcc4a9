//! Describes the rights of an identity in one line.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::grants::{Grants, RoleName, allows_everything};

/// Returns what a `ServiceAccount` may do, such as `cluster-admin` or `12 rules in the cluster, 3 rules in op`.
pub(super) fn rights_of(grants: &Grants<'_>, namespace: &str, account: &str) -> String {
    let mut in_cluster = 0;
    let mut in_namespaces: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    for binding in grants.of_account(namespace, account) {
        let RoleName { namespace: role_namespace, name } = binding.role;
        let rules = grants.rules(binding.role);
        let is_admin = role_namespace.is_empty() && name == "cluster-admin"
            || rules.iter().flatten().any(allows_everything);
        match (binding.namespace(), rules) {
            (None, _) if is_admin => return "cluster-admin".to_owned(),
            (None, Some(rules)) => in_cluster += rules.len(),
            (None, None) => {
                unknown.insert(format!("the rules of ClusterRole/{name}"));
            }
            (Some(namespace), Some(rules)) => *in_namespaces.entry(namespace).or_default() += rules.len(),
            (Some(namespace), None) => {
                let kind = if role_namespace.is_empty() { "ClusterRole" } else { "Role" };
                unknown.insert(format!("the rules of {kind}/{name} in {namespace}"));
            }
        }
    }
    let mut rights = Vec::new();
    if in_cluster > 0 {
        rights.push(format!("{} in the cluster", rules(in_cluster)));
    }
    for (namespace, count) in in_namespaces {
        rights.push(format!("{} in {namespace}", rules(count)));
    }
    rights.extend(unknown);
    if rights.is_empty() { "no rights".to_owned() } else { rights.join(", ") }
}

fn rules(count: usize) -> String {
    if count == 1 { "1 rule".to_owned() } else { format!("{count} rules") }
}
