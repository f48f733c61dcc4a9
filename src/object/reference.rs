//! Where objects name other objects: one table, for whoever must follow the names.

use super::ObjectId;
use super::pod::{is_workload, pod, pod_path};
use crate::yaml::{Node, Value};

/// How one place in an object names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule<'r> {
    /// The objects that have the place.
    pub of: Of<'r>,
    /// Their group, where it is told.
    pub of_group: Option<&'r str>,
    /// The place: keys with `/` between them, `*` for every item of a list.
    pub path: &'r str,
    /// The kind of what is named.
    pub kind: &'r str,
    /// Its group.
    pub group: &'r str,
    /// The field that holds the name; without one, the place is the name itself.
    pub by: Option<&'r str>,
    /// In which namespace it is.
    pub namespace: Where,
    /// What of it is needed.
    pub needs: Needs,
    /// The field, and its value, by which the place means this kind and no other.
    pub only: Option<(&'r str, &'r str)>,
}

/// The objects that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of<'r> {
    /// Everything that has pods, below the pod template.
    Pod,
    /// A kind.
    Kind(&'r str),
}

/// In which namespace a named object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// In that of the object which names it.
    Own,
    /// In the one that stands beside the name.
    Beside,
    /// In none.
    Cluster,
}

/// What of a named object is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// That it is there.
    Itself,
    /// The key in `key`.
    Key,
    /// The keys in `items`, where they are listed.
    Items,
    /// The port in `port`, or 443.
    Port,
}

/// One object named by another.
#[derive(Clone, Copy, Debug)]
pub struct Reference<'n> {
    /// Its kind.
    pub kind: &'n str,
    /// Its group.
    pub group: &'n str,
    /// Its namespace, empty where it has none.
    pub namespace: &'n str,
    /// Its name.
    pub name: &'n str,
    /// Where the name stands.
    pub at: &'n Node,
    /// The place: the map that holds the name, or the name itself.
    pub place: &'n Node,
    /// What of it is needed.
    pub needs: Needs,
}

impl<'n> Reference<'n> {
    /// Whether it may be missing.
    pub fn is_optional(&self) -> bool {
        matches!(self.place.get("optional"), Some(Node { value: Value::Bool(true), .. }))
    }

    /// The keys of it that are needed.
    pub fn keys(&self) -> Vec<&'n Node> {
        match self.needs {
            Needs::Key => self.place.get("key").into_iter().collect(),
            Needs::Items => {
                let items = self.place.get("items").and_then(Node::as_list).unwrap_or_default();
                items.iter().filter_map(|item| item.get("key")).collect()
            }
            Needs::Itself | Needs::Port => Vec::new(),
        }
    }
}

const fn rule(
    of: Of<'static>,
    path: &'static str,
    kind: &'static str,
    by: Option<&'static str>,
) -> Rule<'static> {
    Rule {
        of,
        of_group: None,
        path,
        kind,
        group: "",
        by,
        namespace: Where::Own,
        needs: Needs::Itself,
        only: None,
    }
}

const fn in_pod(path: &'static str, kind: &'static str, by: &'static str, needs: Needs) -> Rule<'static> {
    Rule { needs, ..rule(Of::Pod, path, kind, Some(by)) }
}

const fn cluster(
    of: Of<'static>,
    path: &'static str,
    kind: &'static str,
    group: &'static str,
) -> Rule<'static> {
    Rule { group, namespace: Where::Cluster, ..rule(of, path, kind, None) }
}

const fn role(of: &'static str, kind: &'static str, namespace: Where) -> Rule<'static> {
    Rule {
        group: "rbac.authorization.k8s.io",
        namespace,
        only: Some(("kind", kind)),
        ..rule(Of::Kind(of), "roleRef", kind, Some("name"))
    }
}

const fn subject(of: &'static str) -> Rule<'static> {
    Rule {
        namespace: Where::Beside,
        only: Some(("kind", "ServiceAccount")),
        ..rule(Of::Kind(of), "subjects/*", "ServiceAccount", Some("name"))
    }
}

/// A Service that the API server calls.
const fn called(of: &'static str, path: &'static str) -> Rule<'static> {
    Rule { namespace: Where::Beside, needs: Needs::Port, ..rule(Of::Kind(of), path, "Service", Some("name")) }
}

/// What Kubernetes' own kinds name, and two of OpenShift's.
pub const RULES: &[Rule<'static>] = &[
    rule(Of::Pod, "spec/serviceAccountName", "ServiceAccount", None),
    rule(Of::Pod, "spec/serviceAccount", "ServiceAccount", None),
    cluster(Of::Pod, "spec/priorityClassName", "PriorityClass", "scheduling.k8s.io"),
    cluster(Of::Pod, "spec/runtimeClassName", "RuntimeClass", "node.k8s.io"),
    in_pod("spec/imagePullSecrets/*", "Secret", "name", Needs::Itself),
    in_pod("spec/volumes/*/secret", "Secret", "secretName", Needs::Items),
    in_pod("spec/volumes/*/configMap", "ConfigMap", "name", Needs::Items),
    in_pod("spec/volumes/*/persistentVolumeClaim", "PersistentVolumeClaim", "claimName", Needs::Itself),
    in_pod("spec/volumes/*/projected/sources/*/secret", "Secret", "name", Needs::Items),
    in_pod("spec/volumes/*/projected/sources/*/configMap", "ConfigMap", "name", Needs::Items),
    in_pod("spec/volumes/*/csi/nodePublishSecretRef", "Secret", "name", Needs::Itself),
    in_pod("spec/containers/*/envFrom/*/secretRef", "Secret", "name", Needs::Itself),
    in_pod("spec/containers/*/envFrom/*/configMapRef", "ConfigMap", "name", Needs::Itself),
    in_pod("spec/containers/*/env/*/valueFrom/secretKeyRef", "Secret", "name", Needs::Key),
    in_pod("spec/containers/*/env/*/valueFrom/configMapKeyRef", "ConfigMap", "name", Needs::Key),
    in_pod("spec/initContainers/*/envFrom/*/secretRef", "Secret", "name", Needs::Itself),
    in_pod("spec/initContainers/*/envFrom/*/configMapRef", "ConfigMap", "name", Needs::Itself),
    in_pod("spec/initContainers/*/env/*/valueFrom/secretKeyRef", "Secret", "name", Needs::Key),
    in_pod("spec/initContainers/*/env/*/valueFrom/configMapKeyRef", "ConfigMap", "name", Needs::Key),
    rule(Of::Kind("ServiceAccount"), "imagePullSecrets/*", "Secret", Some("name")),
    rule(Of::Kind("ServiceAccount"), "secrets/*", "Secret", Some("name")),
    role("RoleBinding", "Role", Where::Own),
    role("RoleBinding", "ClusterRole", Where::Cluster),
    role("ClusterRoleBinding", "ClusterRole", Where::Cluster),
    subject("RoleBinding"),
    subject("ClusterRoleBinding"),
    called("ValidatingWebhookConfiguration", "webhooks/*/clientConfig/service"),
    called("MutatingWebhookConfiguration", "webhooks/*/clientConfig/service"),
    called("CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service"),
    called("APIService", "spec/service"),
    cluster(Of::Kind("PersistentVolumeClaim"), "spec/storageClassName", "StorageClass", "storage.k8s.io"),
    cluster(
        Of::Kind("StatefulSet"),
        "spec/volumeClaimTemplates/*/spec/storageClassName",
        "StorageClass",
        "storage.k8s.io",
    ),
    rule(Of::Kind("StatefulSet"), "spec/serviceName", "Service", None),
    rule(Of::Kind("Ingress"), "spec/defaultBackend/service", "Service", Some("name")),
    rule(Of::Kind("Ingress"), "spec/rules/*/http/paths/*/backend/service", "Service", Some("name")),
    rule(Of::Kind("Ingress"), "spec/tls/*", "Secret", Some("secretName")),
    rule(Of::Kind("Route"), "spec/to", "Service", Some("name")),
    rule(Of::Kind("Route"), "spec/alternateBackends/*", "Service", Some("name")),
    cluster(
        Of::Kind("ValidatingAdmissionPolicyBinding"),
        "spec/policyName",
        "ValidatingAdmissionPolicy",
        "admissionregistration.k8s.io",
    ),
    Rule {
        group: "apps",
        only: Some(("kind", "StatefulSet")),
        ..rule(Of::Kind("HorizontalPodAutoscaler"), "spec/scaleTargetRef", "StatefulSet", Some("name"))
    },
    Rule {
        group: "apps",
        only: Some(("kind", "Deployment")),
        ..rule(Of::Kind("HorizontalPodAutoscaler"), "spec/scaleTargetRef", "Deployment", Some("name"))
    },
];

impl Rule<'_> {
    /// Whether an object has the place: by its kind, and for a rule that names a group by that.
    pub fn is_about_object(&self, id: &ObjectId) -> bool {
        self.is_about(&id.kind) && self.of_group.is_none_or(|group| group == id.group)
    }

    /// Whether objects of a kind have the place.
    pub fn is_about(&self, kind: &str) -> bool {
        match self.of {
            Of::Pod => is_workload(kind) || kind == "Pod",
            Of::Kind(own) => own == kind,
        }
    }

    /// Every node at the place in an object, if it means this rule's kind.
    pub fn places<'n>(&self, root: &'n Node, kind: &str) -> Vec<&'n Node> {
        let mut found = Vec::new();
        let start = match self.of {
            Of::Pod => pod(root, kind),
            Of::Kind(_) => Some(root),
        };
        if let Some(start) = start {
            walk(start, self.path, &mut |node| found.push(node));
        }
        found.retain(|node| self.is_meant(node));
        found
    }

    /// Every node at the place in an object, to be changed.
    pub fn change(&self, root: &mut Node, kind: &str, change: &mut dyn FnMut(&mut Node)) {
        let prefix = if self.of == Of::Pod { pod_path(kind) } else { String::new() };
        let path = format!("{prefix}/{}", self.path);
        walk_mut(root, path.trim_start_matches('/'), &mut |node| {
            if self.is_meant(node) {
                change(node);
            }
        });
    }

    fn is_meant(&self, node: &Node) -> bool {
        self.only.is_none_or(|(field, value)| node.get(field).and_then(Node::as_str) == Some(value))
    }

    /// What the places of an object name.
    pub fn references<'n>(
        &'n self,
        root: &'n Node,
        kind: &str,
        namespace: &'n str,
        found: &mut Vec<Reference<'n>>,
    ) {
        for place in self.places(root, kind) {
            found.extend(self.reference(place, namespace));
        }
    }

    /// Returns the object that one place names. `namespace` is that of the object which has the place.
    pub fn reference<'n>(&'n self, place: &'n Node, namespace: &'n str) -> Option<Reference<'n>> {
        if !self.is_meant(place) {
            return None;
        }
        let at = match self.by {
            Some(field) => place.get(field)?,
            None => place,
        };
        let name = at.as_str().filter(|name| !name.is_empty())?;
        let namespace = match self.namespace {
            Where::Own => namespace,
            // A subject of a RoleBinding may leave it out.
            Where::Beside => place.get("namespace").and_then(Node::as_str).unwrap_or(namespace),
            Where::Cluster => "",
        };
        Some(Reference { kind: self.kind, group: self.group, namespace, name, at, place, needs: self.needs })
    }
}

fn walk<'n>(node: &'n Node, path: &str, found: &mut dyn FnMut(&'n Node)) {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut on = |node: &'n Node| match rest {
        Some(rest) => walk(node, rest, found),
        None => found(node),
    };
    match (first, &node.value) {
        ("*", Value::List(items)) => items.iter().for_each(on),
        ("*", Value::Map(map)) => map.iter().for_each(|entry| on(&entry.value)),
        (key, Value::Map(map)) => {
            if let Some(node) = map.get(key) {
                on(node);
            }
        }
        _ => {}
    }
}

fn walk_mut(node: &mut Node, path: &str, found: &mut dyn FnMut(&mut Node)) {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut on = |node: &mut Node| match rest {
        Some(rest) => walk_mut(node, rest, found),
        None => found(node),
    };
    match (first, &mut node.value) {
        ("*", Value::List(items)) => items.iter_mut().for_each(on),
        (key, Value::Map(map)) => {
            // What is only looked at stays shared with the manifest.
            if map.get(key).is_some()
                && let Some(node) = map.get_mut(key)
            {
                on(node);
            }
        }
        _ => {}
    }
}
