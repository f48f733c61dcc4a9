//! The objects that pods depend on: bindings of their `ServiceAccount`s, and their ConfigMaps and Secrets.

use std::collections::{BTreeMap, BTreeSet};

use super::built_in::BuiltIn;
use crate::language::template::names;
use crate::language::{Page, Profile};
use crate::object::{
    ALL_SERVICE_ACCOUNTS, ConfigContent, ConfigHash, ConfigPart, Object, ObjectId, REFERENCE_RULES,
    Reference, RequiredPart, service_account_of,
};
use crate::yaml::{Node, Sensitivity, Value, json};

/// The objects of one cluster that pods depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodContext {
    /// `ServiceAccount`s with a binding, by namespace and name.
    bound: BTreeSet<(String, String)>,
    /// ConfigMaps and Secrets as they will be applied, by kind, namespace and name.
    config: BTreeMap<(String, String, String), Config>,
}

/// A ConfigMap or Secret as it will be applied.
#[derive(Clone, Debug)]
struct Config {
    root: Node,
    /// Whether its values are known only in the cluster.
    is_issued: bool,
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
    pub(crate) fn add_config(&mut self, object: &Object, root: Node) {
        let ObjectId { kind, namespace, name, .. } = object.id.clone();
        self.config.insert((kind, namespace, name), Config { root, is_issued: object.issued.is_some() });
    }

    /// Returns whether a binding in this cluster grants rights to a `ServiceAccount`.
    pub(super) fn is_bound(&self, namespace: &str, account: &str) -> bool {
        // A binding can also name the group of all ServiceAccounts of a namespace, or of the cluster.
        [(namespace, account), (namespace, ""), ALL_SERVICE_ACCOUNTS]
            .into_iter()
            .any(|(namespace, account)| self.bound.contains(&(namespace.to_owned(), account.to_owned())))
    }

    /// Returns the hash of all ConfigMaps and Secrets that a pod uses, or `None` if it uses none. Leaves out those that its
    /// processes read again when they change.
    pub(crate) fn config_hash(&self, pod: &Node, namespace: &str, page: Option<&Page>) -> Option<ConfigHash> {
        let mut parts = Vec::new();
        for ((kind, name), keys) in used_config(pod) {
            if page.is_some_and(|page| page.reloads(kind, namespace, &name)) {
                continue;
            }
            let config = self.config.get(&(kind.to_owned(), namespace.to_owned(), name.clone()));
            let mut part = ConfigPart { kind, name, keys, content: ConfigContent::External };
            part.content = config.map_or(ConfigContent::External, |config| config.content(&part));
            parts.push(part);
        }
        (!parts.is_empty()).then_some(ConfigHash { parts })
    }

    /// Returns the rendered text of the hash. The hash of a short secret can be guessed, so it is sensitive too.
    pub(super) fn config_hash_text(&self, hash: &ConfigHash, namespace: &str) -> Node {
        let is_secret = |part: &ConfigPart| {
            let config = self.config.get(&(part.kind.to_owned(), namespace.to_owned(), part.name.clone()));
            // The values of a Secret in the payload can be read there.
            config.is_some_and(|config| config.root.highest_sensitivity() == Sensitivity::Secret)
        };
        let sensitivity =
            if hash.parts.iter().any(is_secret) { Sensitivity::Secret } else { Sensitivity::Public };
        Node { sensitivity, ..Value::String(hash.rendered().into()).into() }
    }
}

impl Config {
    /// Returns what is known of the content that a pod uses.
    fn content(&self, part: &ConfigPart) -> ConfigContent {
        if self.is_issued {
            return ConfigContent::Issued;
        }
        let mut values = Vec::new();
        for field in ["binaryData", "data", "stringData"] {
            for entry in self.root.get(field).and_then(Node::as_map).into_iter().flatten() {
                values.push((entry.key.as_str(), format!("{field} {}", json::write(&entry.value))));
            }
        }
        ConfigContent::Rendered(part.digest(values.iter().map(|(key, value)| (*key, value.as_bytes()))))
    }
}

/// A ConfigMap or Secret by kind and name.
type ConfigName = (&'static str, String);

/// Returns the ConfigMaps and Secrets that a pod mounts or reads environment variables from, with the keys that it uses;
/// `None` for all keys.
fn used_config(pod: &Node) -> BTreeMap<ConfigName, Option<BTreeSet<String>>> {
    let mut found = Vec::new();
    for rule in REFERENCE_RULES {
        let is_config = rule.applies_to_kind("Pod") && matches!(rule.kind, "ConfigMap" | "Secret");
        // A new pull secret does not change how the pod behaves.
        if is_config && !rule.path.contains("imagePullSecrets") {
            rule.references(pod, "Pod", "", &mut found);
        }
    }
    let mut used: BTreeMap<ConfigName, Option<BTreeSet<String>>> = BTreeMap::new();
    for reference in found {
        let kind = if reference.kind == "Secret" { "Secret" } else { "ConfigMap" };
        let name = (kind, reference.name.to_owned());
        match (used.entry(name).or_insert_with(|| Some(BTreeSet::new())), keys_of(&reference)) {
            (Some(used), Some(keys)) => used.extend(keys),
            (used, _) => *used = None,
        }
    }
    used
}

/// Returns the keys that a reference uses; `None` for all.
fn keys_of(reference: &Reference<'_>) -> Option<BTreeSet<String>> {
    let key = |node: &Node| node.get("key").and_then(Node::as_str).map(str::to_owned);
    match reference.requires {
        RequiredPart::Key => key(reference.node).map(|key| BTreeSet::from([key])),
        RequiredPart::Items => {
            let items = reference.node.get("items").and_then(Node::as_list)?;
            (!items.is_empty()).then(|| items.iter().filter_map(key).collect())
        }
        RequiredPart::Object | RequiredPart::Port => None,
    }
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
