//! Dependencies between the objects of a cluster: which object must exist before which.

use std::collections::HashMap;

use super::reference::{REFERENCE_RULES, Reference};
use super::scope::defined_kind;
use super::{Object, has_pods};

/// A dependency between two objects, given by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    /// The object that must exist first.
    pub(crate) prerequisite: usize,
    /// The object that needs it.
    pub(crate) dependent: usize,
    /// Why the dependent needs it.
    pub(crate) reason: DependencyReason,
}

/// Why an object needs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyReason {
    /// The prerequisite is the namespace of the dependent.
    Namespace,
    /// The prerequisite is the CustomResourceDefinition of the dependent's kind.
    CustomResourceDefinition,
    /// The prerequisite is a ServiceAccount, ConfigMap or Secret that pods of the dependent use.
    Pod,
    /// The prerequisite is the role of a binding: the API server reads its rules to decide who may create the dependent.
    Role,
    /// The prerequisite is the Service of a webhook: the API server calls it as soon as the dependent exists.
    WebhookService,
}

/// Returns the dependencies among objects of one cluster. References to objects that are not in the list are ignored,
/// because someone else creates those objects. Tombstones have no dependencies.
pub(crate) fn dependencies(objects: &[&Object]) -> Vec<Dependency> {
    let index = Index::of(objects);
    let mut found = Vec::new();
    for (dependent, object) in objects.iter().enumerate() {
        if !object.is_tombstone() {
            found.extend(index.dependencies_of(dependent, object));
        }
    }
    found
}

/// Kind, group, namespace and name.
type Key<'o> = (&'o str, &'o str, &'o str, &'o str);

struct Index<'o> {
    objects: HashMap<Key<'o>, usize>,
    /// CustomResourceDefinitions by the group and kind that they define.
    crds: HashMap<(&'o str, &'o str), usize>,
}

impl<'o> Index<'o> {
    fn of(objects: &[&'o Object]) -> Self {
        let mut index = Self { objects: HashMap::with_capacity(objects.len()), crds: HashMap::new() };
        for (number, object) in objects.iter().enumerate() {
            if object.is_tombstone() {
                continue;
            }
            let id = &object.id;
            index.objects.insert((&id.kind, &id.group, &id.namespace, &id.name), number);
            if let Some(defined) = defined_kind(&object.root) {
                index.crds.insert(defined, number);
            }
        }
        index
    }

    fn dependencies_of(&self, dependent: usize, object: &Object) -> Vec<Dependency> {
        let id = &object.id;
        let mut found = Vec::new();
        let mut add = |prerequisite: Option<&usize>, reason| {
            found.extend(prerequisite.map(|first| Dependency { prerequisite: *first, dependent, reason }));
        };
        add(self.objects.get(&("Namespace", "", "", id.namespace.as_str())), DependencyReason::Namespace);
        add(
            self.crds.get(&(id.group.as_str(), id.kind.as_str())),
            DependencyReason::CustomResourceDefinition,
        );
        let mut references = Vec::new();
        for rule in REFERENCE_RULES.iter().filter(|rule| rule.applies_to(id)) {
            rule.references(&object.root, &id.kind, &id.namespace, &mut references);
        }
        for reference in references.iter().filter(|reference| !reference.is_optional()) {
            let Some(reason) = reason(reference, &id.kind) else { continue };
            let key = (reference.kind, reference.group, reference.namespace, reference.name);
            add(self.objects.get(&key), reason);
        }
        found.dedup();
        found
    }
}

/// Returns why an object of a kind must wait for the object that it refers to; `None` if it need not.
fn reason(reference: &Reference<'_>, kind: &str) -> Option<DependencyReason> {
    match (reference.kind, kind) {
        ("Service", "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            Some(DependencyReason::WebhookService)
        }
        ("Role" | "ClusterRole", "RoleBinding" | "ClusterRoleBinding") => Some(DependencyReason::Role),
        ("ServiceAccount" | "ConfigMap" | "Secret", _) if has_pods(kind) => Some(DependencyReason::Pod),
        _ => None,
    }
}
