//! Whether objects of a kind live in a namespace.

use std::collections::HashMap;

use crate::yaml::Node;

/// Where the objects of a kind live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In the cluster as a whole.
    Cluster,
}

/// The scopes of all kinds that can be known: Kubernetes' own, and those of the CRDs at hand.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    custom: HashMap<(String, String), Scope>,
}

/// Groups that Kubernetes itself serves. What they have beyond [`CLUSTER_SCOPED`] lives in namespaces.
const BUILT_IN_GROUPS: [&str; 24] = [
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

const CLUSTER_SCOPED: [(&str, &str); 40] = [
    ("", "ComponentStatus"),
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview"),
    ("authentication.k8s.io", "TokenReview"),
    ("authorization.k8s.io", "SelfSubjectAccessReview"),
    ("authorization.k8s.io", "SelfSubjectRulesReview"),
    ("authorization.k8s.io", "SubjectAccessReview"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("certificates.k8s.io", "ClusterTrustBundle"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "ClusterCIDR"),
    ("networking.k8s.io", "IPAddress"),
    ("networking.k8s.io", "IngressClass"),
    ("networking.k8s.io", "ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodSecurityPolicy"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("resource.k8s.io", "DeviceTaintRule"),
    ("resource.k8s.io", "ResourceSlice"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("storage.k8s.io", "VolumeAttributesClass"),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

impl Scopes {
    /// Learns the scopes that CustomResourceDefinitions declare.
    pub fn with_crds<'a>(objects: impl IntoIterator<Item = &'a Node>) -> Self {
        let crd = |root: &Node| {
            let spec = root.get("spec")?;
            let group = spec.get("group")?.as_str()?.to_owned();
            let kind = spec.get("names")?.get("kind")?.as_str()?.to_owned();
            let scope = match spec.get("scope")?.as_str()? {
                "Cluster" => Scope::Cluster,
                _ => Scope::Namespaced,
            };
            Some(((group, kind), scope))
        };
        let is_crd =
            |root: &&Node| root.get("kind").and_then(Node::as_str) == Some("CustomResourceDefinition");
        Self { custom: objects.into_iter().filter(is_crd).filter_map(crd).collect() }
    }

    /// The scope of a kind, if it can be known.
    pub fn of(&self, group: &str, kind: &str) -> Option<Scope> {
        if let Some(scope) = self.custom.get(&(group.to_owned(), kind.to_owned())) {
            return Some(*scope);
        }
        if CLUSTER_SCOPED.contains(&(group, kind)) {
            return Some(Scope::Cluster);
        }
        BUILT_IN_GROUPS.contains(&group).then_some(Scope::Namespaced)
    }
}
