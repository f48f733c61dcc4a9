//! The objects that exist in one cluster: those that are rendered, those that a controller creates because of them, those
//! that are left to operators, the declared externals, and those that every cluster has.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::issued_objects::issued_for_guest;
use crate::diagnostic::Diagnostic;
use crate::glob;
use crate::language::unmet;
use crate::object::SelectorPattern;
use crate::object::{Object, ReferenceRule, SERVING_CERT, TargetNamespace};
use crate::transform::Rendered;
use crate::yaml::{Mark, Node, Value};

/// Kind, group, namespace and name.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// An index of the objects of one cluster.
pub(super) struct ClusterIndex<'a> {
    rendered: HashMap<Key<'a>, &'a Object>,
    /// Objects that a controller creates, with the keys that their data will have as far as these are known.
    created: HashMap<Key<'a>, &'static [&'static str]>,
    /// The names of objects, by kind and namespace.
    names: HashMap<(&'a str, &'a str), Vec<&'a str>>,
    /// Kind, group and name of rendered objects in any namespace.
    any_namespace: HashSet<(&'a str, &'a str, &'a str)>,
    /// The namespaces that are created or contain a rendered object.
    namespaces: HashSet<&'a str>,
    externals: Vec<DeclaredExternal<'a>>,
    /// Namespace and name of the ServiceAccounts of the guest for which kubeconfigs are issued here.
    pub(super) issued_for_guest: Vec<(&'a str, &'a str)>,
}

/// One pattern under `externals` that applies to this cluster.
pub(super) struct DeclaredExternal<'a> {
    pub(super) pattern: ExternalPattern<'a>,
    pub(super) mark: Mark,
    pub(super) reason: &'a str,
    /// Whether the `when` of the entry holds with the current parameters.
    is_active: bool,
}

/// The objects or images that an external declares.
pub(super) enum ExternalPattern<'a> {
    Objects(&'a SelectorPattern),
    Images(&'a str),
}

impl fmt::Display for ExternalPattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Objects(pattern) => pattern.fmt(f),
            Self::Images(pattern) => f.write_str(pattern),
        }
    }
}

/// The position of an external in [`ClusterIndex::externals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ExternalId(pub(super) usize);

/// An object that exists in the cluster.
pub(super) enum ExistingObject<'a> {
    /// A rendered object.
    Rendered(&'a Object),
    /// An object that a controller creates, with the keys of its data. The list is empty if they are not known.
    Created(&'static [&'static str]),
    /// An object that someone else creates, with the externals that declare it or its namespace. The list is empty if
    /// every cluster has the object.
    External(Vec<ExternalId>),
}

impl<'a> ClusterIndex<'a> {
    /// Indexes the objects of a cluster. Fails if the condition of an external cannot be evaluated.
    pub(super) fn new(cluster: &'a Rendered<'a>) -> Result<Self, Diagnostic> {
        let mut index = Self {
            rendered: HashMap::with_capacity(cluster.objects.len()),
            created: HashMap::new(),
            names: HashMap::new(),
            any_namespace: HashSet::new(),
            namespaces: HashSet::new(),
            externals: declared_externals(cluster)?,
            issued_for_guest: cluster.objects.iter().filter_map(issued_for_guest).collect(),
        };
        let creation_rules = cluster.view.context.profiles.checks.creation_rules();
        for object in cluster.objects.iter().filter(|object| !object.is_tombstone()) {
            index.add_rendered(object);
            index.add_serving_certificate(object);
        }
        for object in cluster.objects.iter().filter(|object| !object.is_tombstone()) {
            for rule in creation_rules.iter().filter(|rule| rule.applies_to(&object.id)) {
                for node in rule.find(&object.root, &object.id.kind) {
                    if let Some(key) = created_key(rule, node, object) {
                        index.created.insert(key, &[]);
                    }
                }
            }
        }
        index.add_left_to_operators(cluster);
        for (kind, _, namespace, name) in index.rendered.keys().chain(index.created.keys()) {
            index.names.entry((kind, namespace)).or_default().push(name);
        }
        for names in index.names.values_mut() {
            names.sort_unstable();
        }
        Ok(index)
    }

    fn add_rendered(&mut self, object: &'a Object) {
        let id = &object.id;
        self.rendered.insert((&id.kind, &id.group, &id.namespace, &id.name), object);
        self.any_namespace.insert((&id.kind, &id.group, &id.name));
        self.namespaces.insert(if id.kind == "Namespace" { &id.name } else { &id.namespace });
    }

    /// Adds the objects that operators create instead of transship. Their data is not known.
    fn add_left_to_operators(&mut self, cluster: &'a Rendered<'a>) {
        for (manifest, namespace) in cluster.left_to_operators() {
            let id = &manifest.id;
            self.created.insert((&id.kind, &id.group, namespace, &id.name), &[]);
        }
    }

    /// Adds the Secret that service-ca creates for an annotated Service.
    fn add_serving_certificate(&mut self, object: &'a Object) {
        if object.id.kind != "Service" {
            return;
        }
        let annotations = object.root.get("metadata").and_then(|metadata| metadata.get("annotations"));
        for annotation in SERVING_CERT {
            if let Some(secret) = annotations.and_then(|annotations| annotations.get(annotation)?.as_str()) {
                let key = ("Secret", "", object.id.namespace.as_str(), secret);
                self.created.insert(key, &["tls.crt", "tls.key"]);
                return;
            }
        }
    }

    /// Finds an object that exists in the cluster: rendered, created by a controller, or external.
    pub(super) fn find(
        &self,
        kind: &str,
        group: &str,
        namespace: &str,
        name: &str,
    ) -> Option<ExistingObject<'a>> {
        if let Some(object) = self.rendered.get(&(kind, group, namespace, name)) {
            return Some(ExistingObject::Rendered(object));
        }
        if let Some(keys) = self.created.get(&(kind, group, namespace, name)) {
            return Some(ExistingObject::Created(keys));
        }
        if is_in_every_cluster(kind, namespace, name)
            && let Some(externals) = self.find_namespace(namespace)
        {
            return Some(ExistingObject::External(externals));
        }
        let mut matching = Vec::new();
        for (position, external) in self.externals.iter().enumerate() {
            if external.is_active
                && let ExternalPattern::Objects(pattern) = external.pattern
                && pattern.matches(kind, group, namespace, name)
            {
                matching.push(ExternalId(position));
            }
        }
        if matching.is_empty() { None } else { Some(ExistingObject::External(matching)) }
    }

    /// Returns the externals that declare an image.
    pub(super) fn find_image(&self, image: &str) -> Vec<ExternalId> {
        let mut matching = Vec::new();
        for (position, external) in self.externals.iter().enumerate() {
            if external.is_active
                && let ExternalPattern::Images(pattern) = external.pattern
                && glob::matches(pattern, image)
            {
                matching.push(ExternalId(position));
            }
        }
        matching
    }

    /// Returns `None` if a namespace does not exist, and otherwise the externals that declare it. The list is empty if the
    /// namespace exists without them.
    fn find_namespace(&self, namespace: &str) -> Option<Vec<ExternalId>> {
        if namespace.is_empty() || self.has_objects_in(namespace) {
            return Some(Vec::new());
        }
        match self.find("Namespace", "", "", namespace)? {
            ExistingObject::External(externals) => Some(externals),
            ExistingObject::Rendered(_) | ExistingObject::Created(_) => Some(Vec::new()),
        }
    }

    /// Returns the externals that declare objects of a kind in a namespace.
    pub(super) fn externals_of_kind(&self, kind: &str, group: &str, namespace: &str) -> Vec<ExternalId> {
        let mut matching = Vec::new();
        for (position, external) in self.externals.iter().enumerate() {
            if external.is_active
                && let ExternalPattern::Objects(pattern) = external.pattern
                && pattern.matches_some(kind, group, namespace)
            {
                matching.push(ExternalId(position));
            }
        }
        matching
    }

    /// Returns whether an external declares a namespace by its full name. A pattern with `*` does not count, because it
    /// may be meant for namespaces of another cluster.
    pub(super) fn declares_namespace(&self, namespace: &str) -> bool {
        let wanted = format!("Namespace/{namespace}");
        self.externals.iter().any(|external| external.pattern.to_string() == wanted)
    }

    /// Returns whether a namespace is created here or contains rendered objects.
    pub(super) fn has_objects_in(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    /// Returns whether a Service is rendered here.
    pub(super) fn has_service(&self, namespace: &str, name: &str) -> bool {
        self.rendered.contains_key(&("Service", "", namespace, name))
    }

    /// Returns whether an object with this name is rendered here, in any namespace.
    pub(super) fn has_in_any_namespace(&self, kind: &str, group: &str, name: &str) -> bool {
        self.any_namespace.contains(&(kind, group, name))
    }

    /// Returns whether a `ServiceAccount` has `automountServiceAccountToken: false`.
    pub(super) fn disables_token_mount(&self, namespace: &str, account: &str) -> bool {
        let Some(account) = self.rendered.get(&("ServiceAccount", "", namespace, account)) else {
            return false;
        };
        let automount = account.root.get("automountServiceAccountToken");
        automount.is_some_and(|automount| automount.value == Value::Bool(false))
    }

    /// Returns the names of all objects of a kind in a namespace.
    pub(super) fn names<'k>(&'k self, kind: &'k str, namespace: &'k str) -> impl Iterator<Item = &'k str> {
        self.names.get(&(kind, namespace)).into_iter().flatten().copied()
    }

    /// Returns the externals that apply to this cluster.
    pub(super) fn externals(&self) -> &[DeclaredExternal<'a>] {
        &self.externals
    }
}

/// Returns the patterns under `externals` that apply to the profile of a cluster.
fn declared_externals<'a>(cluster: &'a Rendered<'a>) -> Result<Vec<DeclaredExternal<'a>>, Diagnostic> {
    let context = &cluster.view.context;
    let mut declared = Vec::new();
    for external in &context.profiles.checks.externals {
        let external = &external.value;
        let is_active = unmet(&external.when, context.parameters, context.sources)?.is_none();
        if !cluster.view.profile.is_in(&external.profiles) {
            continue;
        }
        let objects =
            external.objects.iter().map(|objects| (ExternalPattern::Objects(&objects.value), objects.mark));
        let images =
            external.images.iter().map(|images| (ExternalPattern::Images(&images.value), images.mark));
        for (pattern, mark) in objects.chain(images) {
            declared.push(DeclaredExternal { pattern, mark, reason: &external.reason, is_active });
        }
    }
    Ok(declared)
}

/// Returns the object that a controller creates because of a field, as `creates` of a declared kind describes it.
fn created_key<'a>(rule: &ReferenceRule<'a>, node: &'a Node, object: &'a Object) -> Option<Key<'a>> {
    let name = match rule.name_field {
        Some(field) => node.get(field)?,
        None => node,
    };
    let namespace = match rule.namespace {
        TargetNamespace::SameAsSource => object.id.namespace.as_str(),
        TargetNamespace::NextToName => node.get("namespace")?.as_str()?,
        TargetNamespace::ClusterScoped => "",
    };
    Some((rule.kind, rule.group, namespace, name.as_str()?))
}

/// Returns whether Kubernetes or OpenShift creates an object in every cluster, or in every namespace.
fn is_in_every_cluster(kind: &str, namespace: &str, name: &str) -> bool {
    match kind {
        "Namespace" => matches!(name, "default" | "kube-system" | "kube-public" | "kube-node-lease"),
        "ServiceAccount" => name == "default",
        "ConfigMap" => matches!(name, "kube-root-ca.crt" | "openshift-service-ca.crt"),
        "PriorityClass" => matches!(name, "system-cluster-critical" | "system-node-critical"),
        "ClusterRole" => {
            matches!(name, "admin" | "cluster-admin" | "edit" | "view") || name.starts_with("system:")
        }
        "Role" => {
            namespace == "kube-system"
                && (name == "extension-apiserver-authentication-reader" || name.starts_with("system:"))
        }
        _ => false,
    }
}
