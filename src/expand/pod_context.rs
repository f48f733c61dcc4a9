//! The objects that pods depend on: bindings of their `ServiceAccount`s, and their ConfigMaps and Secrets.

use std::collections::{BTreeMap, BTreeSet};

use super::built_in::BuiltIn;
use crate::language::Profile;
use crate::language::template::names;
use crate::object::{ALL_SERVICE_ACCOUNTS, ObjectId, REFERENCE_RULES, service_account_of};
use crate::sha256::Sha256;
use crate::yaml::{Node, Sensitivity, Value, json};

/// The objects of one cluster that pods depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodContext {
    /// `ServiceAccount`s with a binding, by namespace and name.
    bound: BTreeSet<(String, String)>,
    /// ConfigMaps and Secrets as they will be applied, by kind, namespace and name.
    config: BTreeMap<(String, String, String), Node>,
}

impl PodContext {
    /// Adds the `ServiceAccount`s of a `RoleBinding` or `ClusterRoleBinding`.
    pub(crate) fn add_binding(&mut self, id: &ObjectId, root: &Node) {
        for subject in root.get("subjects").and_then(Node::as_list).unwrap_or_default() {
            if let Some((namespace, name)) = service_account_of(subject, &id.namespace) {
                self.bound.insert((namespace.to_owned(), name.to_owned()));
            }
        }
    }

    /// Adds a ConfigMap or Secret as it will be applied.
    pub(crate) fn add_config(&mut self, id: &ObjectId, root: Node) {
        self.config.insert((id.kind.clone(), id.namespace.clone(), id.name.clone()), root);
    }

    /// Returns whether a binding in this cluster grants rights to a `ServiceAccount`.
    pub(super) fn is_bound(&self, namespace: &str, account: &str) -> bool {
        // A binding can also name the group of all ServiceAccounts of a namespace, or of the cluster.
        [(namespace, account), (namespace, ""), ALL_SERVICE_ACCOUNTS]
            .into_iter()
            .any(|(namespace, account)| self.bound.contains(&(namespace.to_owned(), account.to_owned())))
    }

    /// Returns a digest of all ConfigMaps and Secrets that a pod uses, or `None` if it uses none.
    ///
    /// The digest covers kinds, names, keys and values, and whether an object exists. They are encoded as JSON, so
    /// different configurations have different digests. The digest of a short secret can be guessed, so it is sensitive
    /// too.
    pub(super) fn config_hash(&self, pod: &Node, namespace: &str) -> Option<Node> {
        let references = references(pod);
        if references.is_empty() {
            return None;
        }
        let mut text = String::new();
        let mut sensitivity = Sensitivity::Public;
        for (kind, name) in references {
            let config = self.config.get(&(kind.to_owned(), namespace.to_owned(), name.clone()));
            // The values of a Secret in the payload can be read there.
            if config.is_some_and(|root| root.highest_sensitivity() == Sensitivity::Secret) {
                sensitivity = Sensitivity::Secret;
            }
            let content = match config {
                Some(root) => json_list(
                    &["data", "binaryData", "stringData"]
                        .map(|field| root.get(field).map(json::write).unwrap_or_default()),
                ),
                None => "absent".to_owned(),
            };
            text += &json_list(&[kind.to_owned(), name, content]);
        }
        let digest = Sha256::of(text.as_bytes()).to_string();
        Some(Node { sensitivity, ..Value::String(digest[..16].into()).into() })
    }
}

fn json_list(items: &[String]) -> String {
    serde_json::to_string(items).unwrap_or_default()
}

/// Returns the ConfigMaps and Secrets that a pod mounts or reads environment variables from.
fn references(pod: &Node) -> BTreeSet<(&'static str, String)> {
    let mut found = Vec::new();
    for rule in REFERENCE_RULES {
        let is_config = rule.applies_to_kind("Pod") && matches!(rule.kind, "ConfigMap" | "Secret");
        // A new pull secret does not change how the pod behaves.
        if is_config && !rule.path.contains("imagePullSecrets") {
            rule.references(pod, "Pod", "", &mut found);
        }
    }
    let mut references = BTreeSet::new();
    for reference in found {
        let kind = if reference.kind == "Secret" { "Secret" } else { "ConfigMap" };
        references.insert((kind, reference.name.to_owned()));
    }
    references
}

/// Returns the names of a pod's volumes on its node, in order and separated by commas.
pub(super) fn local_volumes(pod: &Node) -> Option<String> {
    let volumes = pod.get("spec")?.get("volumes")?.as_list()?;
    let mut names = Vec::new();
    for volume in volumes {
        if volume.get("emptyDir").is_some() || volume.get("hostPath").is_some() {
            names.extend(volume.get("name").and_then(Node::as_str));
        }
    }
    (!names.is_empty()).then(|| names.join(","))
}

/// Returns whether a container mounts a volume at `/tmp`.
pub(super) fn mounts_tmp(container: &Node) -> bool {
    let mounts = container.get("volumeMounts").and_then(Node::as_list).unwrap_or_default();
    mounts.iter().any(|mount| mount.get("mountPath").and_then(Node::as_str) == Some("/tmp"))
}

/// Returns whether the policy of a profile depends on bindings.
pub(crate) fn policy_uses_bindings(profile: &Profile) -> bool {
    policy_mentions(profile, BuiltIn::PodUsesOwnApi)
}

/// Returns whether the policy of a profile depends on the content of ConfigMaps and Secrets.
pub(crate) fn policy_uses_config(profile: &Profile) -> bool {
    policy_mentions(profile, BuiltIn::PodConfigHash)
}

/// Returns whether the policy of a profile mentions a built-in name, in `${…}` or in `when`.
fn policy_mentions(profile: &Profile, built_in: BuiltIn) -> bool {
    let is_name = |name: &str| BuiltIn::named(name) == Some(built_in);
    profile.policy.iter().any(|rule| {
        let mut mentioned = Vec::new();
        for template in rule.value.templates() {
            names(&template, &mut mentioned);
        }
        rule.value.when.keys().any(|name| is_name(name)) || mentioned.iter().any(|(name, _)| is_name(name))
    })
}
