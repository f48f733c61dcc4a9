//! References between objects: one table of the fields in which an object names another one.

use ReferenceSource::{Kind, PodTemplate};

use super::ObjectId;
use super::pod::{is_workload, pod, pod_path};
use crate::yaml::{Node, Value};

/// A field in which an object of some kind names another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceRule<'r> {
    /// The objects that have the field.
    pub(crate) source: ReferenceSource<'r>,
    /// The API group of these objects, if it matters.
    pub(crate) source_group: Option<&'r str>,
    /// The path of the reference: keys separated by `/`, with `*` for every item of a list.
    pub(crate) path: &'r str,
    /// The kind of the referenced object.
    pub(crate) kind: &'r str,
    /// The API group of the referenced object.
    pub(crate) group: &'r str,
    /// The field below `path` that holds the name. `None` if the value at `path` is the name itself.
    pub(crate) name_field: Option<&'r str>,
    /// The namespace of the referenced object.
    pub(crate) namespace: TargetNamespace,
    /// The part of the referenced object that must exist.
    pub(crate) requires: RequiredPart,
    /// A field below `path` and the value that it must have for this rule to apply, such as `kind: Role`.
    pub(crate) condition: Option<(&'r str, &'r str)>,
}

/// The objects that have a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceSource<'r> {
    /// Pods and workloads; the path starts at the pod template.
    PodTemplate,
    /// Objects of a kind.
    Kind(&'r str),
}

/// The namespace of a referenced object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetNamespace {
    /// The namespace of the object with the reference.
    SameAsSource,
    /// The namespace in the field `namespace` next to the name.
    NextToName,
    /// None: the referenced object is cluster-scoped.
    ClusterScoped,
}

/// The part of a referenced object that must exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredPart {
    /// The object itself.
    Object,
    /// The key named in `key`.
    Key,
    /// The keys listed in `items`, if there are any.
    Items,
    /// The port in `port`, or 443.
    Port,
}

/// A reference from one object to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reference<'n> {
    /// The kind of the referenced object.
    pub(crate) kind: &'n str,
    /// Its API group.
    pub(crate) group: &'n str,
    /// Its namespace, empty if it is cluster-scoped.
    pub(crate) namespace: &'n str,
    /// Its name.
    pub(crate) name: &'n str,
    /// The node at the path of the rule: the map around the name, or the name itself.
    pub(crate) node: &'n Node,
    /// The part of the referenced object that must exist.
    pub(crate) requires: RequiredPart,
}

impl Reference<'_> {
    /// Returns whether the referenced object may be missing.
    pub(crate) fn is_optional(&self) -> bool {
        matches!(self.node.get("optional"), Some(Node { value: Value::Bool(true), .. }))
    }
}

const fn rule(
    source: ReferenceSource<'static>,
    path: &'static str,
    kind: &'static str,
    name_field: Option<&'static str>,
) -> ReferenceRule<'static> {
    ReferenceRule {
        source,
        source_group: None,
        path,
        kind,
        group: "",
        name_field,
        namespace: TargetNamespace::SameAsSource,
        requires: RequiredPart::Object,
        condition: None,
    }
}

const fn in_pod(
    path: &'static str,
    kind: &'static str,
    name_field: &'static str,
    requires: RequiredPart,
) -> ReferenceRule<'static> {
    ReferenceRule { requires, ..rule(PodTemplate, path, kind, Some(name_field)) }
}

const fn cluster_scoped(
    source: ReferenceSource<'static>,
    path: &'static str,
    kind: &'static str,
    group: &'static str,
) -> ReferenceRule<'static> {
    ReferenceRule { group, namespace: TargetNamespace::ClusterScoped, ..rule(source, path, kind, None) }
}

/// The role of a binding.
const fn role(
    binding: &'static str,
    kind: &'static str,
    namespace: TargetNamespace,
) -> ReferenceRule<'static> {
    ReferenceRule {
        group: "rbac.authorization.k8s.io",
        namespace,
        condition: Some(("kind", kind)),
        ..rule(Kind(binding), "roleRef", kind, Some("name"))
    }
}

/// The ServiceAccounts of a binding.
const fn subject(binding: &'static str) -> ReferenceRule<'static> {
    ReferenceRule {
        namespace: TargetNamespace::NextToName,
        condition: Some(("kind", "ServiceAccount")),
        ..rule(Kind(binding), "subjects/*", "ServiceAccount", Some("name"))
    }
}

/// A Service that the API server calls.
const fn called_service(kind: &'static str, path: &'static str) -> ReferenceRule<'static> {
    ReferenceRule {
        namespace: TargetNamespace::NextToName,
        requires: RequiredPart::Port,
        ..rule(Kind(kind), path, "Service", Some("name"))
    }
}

/// The target of a HorizontalPodAutoscaler.
const fn scale_target(kind: &'static str) -> ReferenceRule<'static> {
    ReferenceRule {
        group: "apps",
        condition: Some(("kind", kind)),
        ..rule(Kind("HorizontalPodAutoscaler"), "spec/scaleTargetRef", kind, Some("name"))
    }
}

/// The references of Kubernetes' own kinds and of OpenShift's Route.
pub(crate) const REFERENCE_RULES: &[ReferenceRule<'static>] = &[
    rule(PodTemplate, "spec/serviceAccountName", "ServiceAccount", None),
    rule(PodTemplate, "spec/serviceAccount", "ServiceAccount", None),
    cluster_scoped(PodTemplate, "spec/priorityClassName", "PriorityClass", "scheduling.k8s.io"),
    cluster_scoped(PodTemplate, "spec/runtimeClassName", "RuntimeClass", "node.k8s.io"),
    in_pod("spec/imagePullSecrets/*", "Secret", "name", RequiredPart::Object),
    in_pod("spec/volumes/*/secret", "Secret", "secretName", RequiredPart::Items),
    in_pod("spec/volumes/*/configMap", "ConfigMap", "name", RequiredPart::Items),
    in_pod(
        "spec/volumes/*/persistentVolumeClaim",
        "PersistentVolumeClaim",
        "claimName",
        RequiredPart::Object,
    ),
    in_pod("spec/volumes/*/projected/sources/*/secret", "Secret", "name", RequiredPart::Items),
    in_pod("spec/volumes/*/projected/sources/*/configMap", "ConfigMap", "name", RequiredPart::Items),
    in_pod("spec/volumes/*/csi/nodePublishSecretRef", "Secret", "name", RequiredPart::Object),
    in_pod("spec/containers/*/envFrom/*/secretRef", "Secret", "name", RequiredPart::Object),
    in_pod("spec/containers/*/envFrom/*/configMapRef", "ConfigMap", "name", RequiredPart::Object),
    in_pod("spec/containers/*/env/*/valueFrom/secretKeyRef", "Secret", "name", RequiredPart::Key),
    in_pod("spec/containers/*/env/*/valueFrom/configMapKeyRef", "ConfigMap", "name", RequiredPart::Key),
    in_pod("spec/initContainers/*/envFrom/*/secretRef", "Secret", "name", RequiredPart::Object),
    in_pod("spec/initContainers/*/envFrom/*/configMapRef", "ConfigMap", "name", RequiredPart::Object),
    in_pod("spec/initContainers/*/env/*/valueFrom/secretKeyRef", "Secret", "name", RequiredPart::Key),
    in_pod("spec/initContainers/*/env/*/valueFrom/configMapKeyRef", "ConfigMap", "name", RequiredPart::Key),
    rule(Kind("ServiceAccount"), "imagePullSecrets/*", "Secret", Some("name")),
    rule(Kind("ServiceAccount"), "secrets/*", "Secret", Some("name")),
    role("RoleBinding", "Role", TargetNamespace::SameAsSource),
    role("RoleBinding", "ClusterRole", TargetNamespace::ClusterScoped),
    role("ClusterRoleBinding", "ClusterRole", TargetNamespace::ClusterScoped),
    subject("RoleBinding"),
    subject("ClusterRoleBinding"),
    called_service("ValidatingWebhookConfiguration", "webhooks/*/clientConfig/service"),
    called_service("MutatingWebhookConfiguration", "webhooks/*/clientConfig/service"),
    called_service("CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service"),
    called_service("APIService", "spec/service"),
    cluster_scoped(Kind("PersistentVolumeClaim"), "spec/storageClassName", "StorageClass", "storage.k8s.io"),
    cluster_scoped(
        Kind("StatefulSet"),
        "spec/volumeClaimTemplates/*/spec/storageClassName",
        "StorageClass",
        "storage.k8s.io",
    ),
    rule(Kind("StatefulSet"), "spec/serviceName", "Service", None),
    rule(Kind("Ingress"), "spec/defaultBackend/service", "Service", Some("name")),
    rule(Kind("Ingress"), "spec/rules/*/http/paths/*/backend/service", "Service", Some("name")),
    rule(Kind("Ingress"), "spec/tls/*", "Secret", Some("secretName")),
    rule(Kind("Route"), "spec/to", "Service", Some("name")),
    rule(Kind("Route"), "spec/alternateBackends/*", "Service", Some("name")),
    cluster_scoped(
        Kind("ValidatingAdmissionPolicyBinding"),
        "spec/policyName",
        "ValidatingAdmissionPolicy",
        "admissionregistration.k8s.io",
    ),
    scale_target("StatefulSet"),
    scale_target("Deployment"),
];

impl ReferenceRule<'_> {
    /// Returns whether an object has the field, by its kind and, if the rule names one, its group.
    pub(crate) fn applies_to(&self, id: &ObjectId) -> bool {
        self.applies_to_kind(&id.kind) && self.source_group.is_none_or(|group| group == id.group)
    }

    /// Returns whether objects of a kind have the field.
    pub(crate) fn applies_to_kind(&self, kind: &str) -> bool {
        match self.source {
            ReferenceSource::PodTemplate => is_workload(kind) || kind == "Pod",
            ReferenceSource::Kind(own) => own == kind,
        }
    }

    /// Returns the nodes at the path of the rule that meet its condition.
    pub(crate) fn find<'n>(&self, root: &'n Node, kind: &str) -> Vec<&'n Node> {
        let start = match self.source {
            ReferenceSource::PodTemplate => pod(root, kind),
            ReferenceSource::Kind(_) => Some(root),
        };
        let mut found = Vec::new();
        if let Some(start) = start {
            visit(start, self.path, &mut |node| found.push(node));
        }
        found.retain(|node| self.meets_condition(node));
        found
    }

    /// Changes the nodes at the path of the rule that meet its condition.
    pub(crate) fn update(&self, root: &mut Node, kind: &str, change: &mut dyn FnMut(&mut Node)) {
        let path = match self.source {
            ReferenceSource::PodTemplate => format!("{}/{}", pod_path(kind), self.path),
            ReferenceSource::Kind(_) => self.path.to_owned(),
        };
        visit_mut(root, path.trim_start_matches('/'), &mut |node| {
            if self.meets_condition(node) {
                change(node);
            }
        });
    }

    fn meets_condition(&self, node: &Node) -> bool {
        match self.condition {
            Some((field, value)) => node.get(field).and_then(Node::as_str) == Some(value),
            None => true,
        }
    }

    /// Adds the references of an object in `namespace` to a list.
    pub(crate) fn references<'n>(
        &'n self,
        root: &'n Node,
        kind: &str,
        namespace: &'n str,
        found: &mut Vec<Reference<'n>>,
    ) {
        for node in self.find(root, kind) {
            found.extend(self.reference(node, namespace));
        }
    }

    /// Returns the reference in a node at the path of the rule, in an object in `namespace`. Returns `None` if the node does
    /// not meet the condition of the rule, or if the name is empty.
    pub(crate) fn reference<'n>(&'n self, node: &'n Node, namespace: &'n str) -> Option<Reference<'n>> {
        if !self.meets_condition(node) {
            return None;
        }
        let name_node = match self.name_field {
            Some(field) => node.get(field)?,
            None => node,
        };
        let name = name_node.as_str().filter(|name| !name.is_empty())?;
        let namespace = match self.namespace {
            TargetNamespace::SameAsSource => namespace,
            // The subjects of a RoleBinding may leave it out.
            TargetNamespace::NextToName => node.get("namespace").and_then(Node::as_str).unwrap_or(namespace),
            TargetNamespace::ClusterScoped => "",
        };
        let (kind, group, requires) = (self.kind, self.group, self.requires);
        Some(Reference { kind, group, namespace, name, node, requires })
    }
}

/// Calls a function for every node at a path of keys and `*`.
fn visit<'n>(node: &'n Node, path: &str, found: &mut dyn FnMut(&'n Node)) {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut descend = |child: &'n Node| match rest {
        Some(rest) => visit(child, rest, found),
        None => found(child),
    };
    match (first, &node.value) {
        ("*", Value::List(items)) => items.iter().for_each(descend),
        ("*", Value::Map(map)) => map.iter().for_each(|entry| descend(&entry.value)),
        (key, Value::Map(map)) => {
            if let Some(child) = map.get(key) {
                descend(child);
            }
        }
        _ => {}
    }
}

/// Like [`visit`], for changes. `*` means the items of a list only.
fn visit_mut(node: &mut Node, path: &str, found: &mut dyn FnMut(&mut Node)) {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut descend = |child: &mut Node| match rest {
        Some(rest) => visit_mut(child, rest, found),
        None => found(child),
    };
    match (first, &mut node.value) {
        ("*", Value::List(items)) => items.iter_mut().for_each(descend),
        (key, Value::Map(map)) => {
            if let Some(child) = map.get_mut(key) {
                descend(child);
            }
        }
        _ => {}
    }
}
