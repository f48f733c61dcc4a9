//! What is in one cluster: the objects that are rendered, those that somebody makes because of them, those that are
//! declared to live outside, and those that every cluster has.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diagnostic::Diagnostic;
use crate::language::unmet;
use crate::object::SelectorPattern;
use crate::object::{Object, ReferenceRule, SERVING_CERT, TargetNamespace, is_tombstone};
use crate::transform::Rendered;
use crate::yaml::{Mark, Node, Value};

/// Kind, group, namespace and name.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

/// What a cluster has.
pub(super) struct Inventory<'a> {
    objects: HashMap<Key<'a>, &'a Object>,
    /// What somebody makes, and the keys that are known of it.
    made: HashMap<Key<'a>, &'static [&'static str]>,
    /// The names of its objects, by kind and namespace.
    names: HashMap<(&'a str, &'a str), Vec<&'a str>>,
    /// Kind, group and name of its objects, wherever they are.
    anywhere: HashSet<(&'a str, &'a str, &'a str)>,
    /// The namespaces of its objects, and those that are created.
    namespaces: HashSet<&'a str>,
    externals: Vec<Outside<'a>>,
}

/// Objects that are declared to live outside.
struct Outside<'a> {
    pattern: &'a SelectorPattern,
    mark: Mark,
    reason: &'a str,
    /// Whether they are there with these parameters.
    holds: bool,
    /// Whether something named one of them.
    used: AtomicBool,
}

/// An object that was asked for.
pub(super) enum Found<'a> {
    /// It is rendered.
    Object(&'a Object),
    /// Somebody makes it; these of its keys are known, none if nothing is.
    Made(&'static [&'static str]),
    /// It lives outside.
    Outside,
}

impl<'a> Inventory<'a> {
    pub(super) fn of(cluster: &'a Rendered<'a>) -> Result<Self, Diagnostic> {
        let mut objects = HashMap::with_capacity(cluster.objects.len());
        let mut made = HashMap::new();
        let makers = cluster.view.context.profiles.checks.makers();
        for object in cluster.objects.iter().filter(|object| !is_tombstone(&object.root)) {
            let id = &object.id;
            objects.insert(
                (id.kind.as_str(), id.group.as_str(), id.namespace.as_str(), id.name.as_str()),
                object,
            );
            if id.kind == "Service" {
                let secret = SERVING_CERT.iter().find_map(|key| annotation(&object.root, key));
                if let Some(secret) = secret {
                    made.insert(("Secret", "", id.namespace.as_str(), secret), &["tls.crt", "tls.key"][..]);
                }
            }
        }
        for object in cluster.objects.iter().filter(|object| !is_tombstone(&object.root)) {
            for maker in makers.iter().filter(|maker| maker.applies_to(&object.id)) {
                for place in maker.find(&object.root, &object.id.kind) {
                    if let Some(key) = made_key(maker, place, object) {
                        made.insert(key, &[][..]);
                    }
                }
            }
        }
        let mut externals = Vec::new();
        for external in cluster.view.context.profiles.checks.externals.iter().map(|external| &external.value)
        {
            let holds = unmet(&external.when, cluster.view.context.parameters, cluster.view.context.sources)?
                .is_none();
            if cluster.view.profile.is_in(&external.profiles) {
                externals.extend(external.objects.iter().map(|pattern| Outside {
                    pattern: &pattern.value,
                    mark: pattern.mark,
                    reason: &external.reason,
                    holds,
                    used: AtomicBool::new(false),
                }));
            }
        }
        let created =
            |(kind, _, namespace, name): &Key<'a>| if *kind == "Namespace" { *name } else { *namespace };
        let namespaces = objects.keys().map(created).collect();
        let mut names: HashMap<(&str, &str), Vec<&str>> = HashMap::new();
        for (kind, _, namespace, name) in objects.keys().chain(made.keys()) {
            names.entry((kind, namespace)).or_default().push(name);
        }
        for names in names.values_mut() {
            names.sort_unstable();
        }
        let anywhere = objects.keys().map(|(kind, group, _, name)| (*kind, *group, *name)).collect();
        Ok(Self { objects, made, names, anywhere, namespaces, externals })
    }

    /// Whether a namespace is there: of an object, created, declared by its name, or every cluster's.
    fn knows_namespace(&self, namespace: &str) -> bool {
        self.lives_in(namespace) || self.find("Namespace", "", "", namespace).is_some()
    }

    /// Whether a namespace is declared, by its own name: a pattern may mean another cluster's as well.
    pub(super) fn declares_namespace(&self, namespace: &str) -> bool {
        let same = |external: &Outside<'_>| external.pattern.to_string() == format!("Namespace/{namespace}");
        self.externals.iter().any(same)
    }

    /// Whether objects of this cluster live in a namespace.
    pub(super) fn lives_in(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    /// An object, wherever it comes from.
    pub(super) fn find(&self, kind: &str, group: &str, namespace: &str, name: &str) -> Option<Found<'a>> {
        if let Some(object) = self.objects.get(&(kind, group, namespace, name)) {
            return Some(Found::Object(object));
        }
        if let Some(keys) = self.made.get(&(kind, group, namespace, name)) {
            return Some(Found::Made(keys));
        }
        if every_cluster_has(kind, namespace, name)
            && (namespace.is_empty() || self.knows_namespace(namespace))
        {
            return Some(Found::Outside);
        }
        let mut hits = false;
        for external in self
            .externals
            .iter()
            .filter(|external| external.holds && external.pattern.matches(kind, group, namespace, name))
        {
            external.used.store(true, Ordering::Relaxed);
            hits = true;
        }
        hits.then_some(Found::Outside)
    }

    /// Whether a Service is rendered here.
    pub(super) fn has_service(&self, namespace: &str, name: &str) -> bool {
        self.objects.contains_key(&("Service", "", namespace, name))
    }

    /// Whether a service account's tokens are not mounted unless a pod asks for them.
    pub(super) fn is_unmounted(&self, namespace: &str, account: &str) -> bool {
        let account = self.objects.get(&("ServiceAccount", "", namespace, account));
        let mounts = account.and_then(|account| account.root.get("automountServiceAccountToken"));
        matches!(mounts, Some(Node { value: Value::Bool(false), .. }))
    }

    /// Whether some object of a name is rendered here, in whatever namespace.
    pub(super) fn has(&self, kind: &str, group: &str, name: &str) -> bool {
        self.anywhere.contains(&(kind, group, name))
    }

    /// Whether a `ClusterRole` allows everything.
    pub(super) fn is_all_powerful(&self, role: &str) -> bool {
        let role = self.objects.get(&("ClusterRole", "rbac.authorization.k8s.io", "", role));
        let rules = role.and_then(|role| role.root.get("rules")?.as_list()).unwrap_or_default();
        let everything = |rule: &Node, field: &str| {
            let items = rule.get(field).and_then(Node::as_list).unwrap_or_default();
            items.iter().any(|item| item.as_str() == Some("*"))
        };
        rules
            .iter()
            .any(|rule| ["apiGroups", "resources", "verbs"].iter().all(|field| everything(rule, field)))
    }

    /// The names of all objects of a kind in a namespace.
    pub(super) fn names<'k>(&'k self, kind: &'k str, namespace: &'k str) -> impl Iterator<Item = &'k str> {
        self.names.get(&(kind, namespace)).into_iter().flatten().copied()
    }

    /// What is declared to live outside, with the line and the reason: what something named, and what nothing did.
    pub(super) fn externals(&self) -> impl Iterator<Item = (&'a SelectorPattern, Mark, &'a str, bool)> {
        let used = |external: &Outside<'_>| external.used.load(Ordering::Relaxed);
        self.externals
            .iter()
            .map(move |external| (external.pattern, external.mark, external.reason, used(external)))
    }
}

/// What a maker's place names. The texts are the object's own.
fn made_key<'a>(maker: &ReferenceRule<'a>, place: &'a Node, object: &'a Object) -> Option<Key<'a>> {
    let name = maker.name_field.map_or(Some(place), |field| place.get(field))?.as_str()?;
    let namespace = match maker.namespace {
        TargetNamespace::SameAsSource => object.id.namespace.as_str(),
        TargetNamespace::NextToName => place.get("namespace")?.as_str()?,
        TargetNamespace::ClusterScoped => "",
    };
    Some((maker.kind, maker.group, namespace, name))
}

fn annotation<'n>(root: &'n Node, key: &str) -> Option<&'n str> {
    root.get("metadata")?.get("annotations")?.get(key)?.as_str()
}

/// What Kubernetes itself brings, and OpenShift into every namespace.
fn every_cluster_has(kind: &str, namespace: &str, name: &str) -> bool {
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
