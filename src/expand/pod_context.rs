//! What a pod can be told about the objects around it: who may talk to its cluster's API, and what its configuration is.

use std::collections::{BTreeMap, BTreeSet};

use crate::language::Profile;
use crate::language::template::names;
use crate::object::{ALL_SERVICE_ACCOUNTS, ObjectId, REFERENCE_RULES, service_account_of};
use crate::payload::Sha256;
use crate::yaml::{Node, json};

/// Objects of one cluster that pods depend on.
#[derive(Clone, Debug, Default)]
pub struct PodContext {
    /// Service accounts, by namespace and name, that some binding gives rights.
    bound: BTreeSet<(String, String)>,
    /// ConfigMaps and Secrets as they will be.
    config: BTreeMap<(String, String, String), Node>,
}

impl PodContext {
    /// Notes what a binding says.
    pub fn bind(&mut self, id: &ObjectId, root: &Node) {
        for subject in root.get("subjects").and_then(Node::as_list).unwrap_or_default() {
            if let Some((namespace, name)) = service_account_of(subject, &id.namespace) {
                self.bound.insert((namespace.to_owned(), name.to_owned()));
            }
        }
    }

    /// Notes a ConfigMap or Secret as it will be.
    pub fn configure(&mut self, id: &ObjectId, root: Node) {
        self.config.insert((id.kind.clone(), id.namespace.clone(), id.name.clone()), root);
    }

    /// Whether some binding in this cluster gives a service account rights.
    pub(super) fn is_bound(&self, namespace: &str, account: &str) -> bool {
        // A group is all accounts of a namespace, or of the cluster.
        let bound = |(namespace, account): (&str, &str)| {
            self.bound.contains(&(namespace.to_owned(), account.to_owned()))
        };
        [(namespace, account), (namespace, ""), ALL_SERVICE_ACCOUNTS].into_iter().any(bound)
    }

    /// A digest of everything that a pod is configured with: names, keys and values, each told apart from the next, so
    /// that no two configurations look alike. What is not there counts as that. Nothing if there is no configuration.
    pub(super) fn config_hash(&self, pod: &Node, namespace: &str) -> Option<String> {
        let references = references(pod);
        if references.is_empty() {
            return None;
        }
        let mut text = String::new();
        for (kind, name) in references {
            let found = self.config.get(&(kind.to_owned(), namespace.to_owned(), name.clone()));
            let fields = ["data", "binaryData", "stringData"];
            let content =
                |root: &Node| fields.map(|field| root.get(field).map(json::write).unwrap_or_default());
            // JSON texts quote what separates them.
            let content = found.map_or_else(|| "absent".to_owned(), |root| json_list(&content(root)));
            text += &json_list(&[kind.to_owned(), name, content]);
        }
        Some(Sha256::of(text.as_bytes()).to_string()[..16].to_owned())
    }
}

fn json_list(items: &[String]) -> String {
    serde_json::to_string(items).unwrap_or_default()
}

/// The ConfigMaps and Secrets that a pod mounts or takes variables from.
fn references(pod: &Node) -> BTreeSet<(&'static str, String)> {
    let mut found = Vec::new();
    for rule in REFERENCE_RULES
        .iter()
        .filter(|rule| rule.applies_to_kind("Pod") && matches!(rule.kind, "ConfigMap" | "Secret"))
    {
        // What images are pulled with is no configuration.
        if !rule.path.contains("imagePullSecrets") {
            rule.references(pod, "Pod", "", &mut found);
        }
    }
    let of_table = |kind: &str| if kind == "Secret" { "Secret" } else { "ConfigMap" };
    found.iter().map(|reference| (of_table(reference.kind), reference.name.to_owned())).collect()
}

/// The volumes of a pod that live on its node, in order, with commas between them.
pub(super) fn local_volumes(pod: &Node) -> Option<String> {
    let volumes = pod.get("spec")?.get("volumes")?.as_list()?;
    let local = |volume: &&Node| volume.get("emptyDir").is_some() || volume.get("hostPath").is_some();
    let names: Vec<&str> =
        volumes.iter().filter(local).filter_map(|volume| volume.get("name")?.as_str()).collect();
    (!names.is_empty()).then(|| names.join(","))
}

/// Whether a container mounts something at `/tmp`.
pub(super) fn mounts_tmp(container: &Node) -> bool {
    let mounts = container.get("volumeMounts").and_then(Node::as_list).unwrap_or_default();
    mounts.iter().any(|mount| mount.get("mountPath").and_then(Node::as_str) == Some("/tmp"))
}

/// Whether what a profile says of every pod mentions a name.
pub fn mentions(profile: &Profile, name: &str) -> bool {
    profile.policy.iter().any(|entry| {
        let mut found = Vec::new();
        for body in [&entry.value.add, &entry.value.default, &entry.value.set].into_iter().flatten() {
            names(body, &mut found);
        }
        entry.value.when.contains_key(name) || found.iter().any(|(other, _)| other == name)
    })
}
