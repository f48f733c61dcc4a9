//! What must be there before what: the order that objects themselves ask for.

use std::collections::HashMap;

use super::reference::{RULES, Reference};
use super::scope::defined_kind;
use super::{Object, is_tombstone};

/// One object must be there before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The one that must be there: its place among the objects.
    pub first: usize,
    /// The one that needs it.
    pub then: usize,
    /// Why.
    pub because: Because,
}

/// Why an object must be there before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// It is the namespace of the other.
    Namespace,
    /// It defines the other's kind.
    Kind,
    /// The other's pods run as it, mount it or take variables from it.
    Pod,
    /// The API server calls it as soon as the other is there.
    Called,
}

/// What an object needs of its own cluster. What is not among the objects is somebody else's; what is only taken away
/// neither needs nor gives anything.
pub fn edges(objects: &[&Object]) -> Vec<Edge> {
    let index = Index::of(objects);
    let alive = objects.iter().enumerate().filter(|(_, object)| !is_tombstone(&object.root));
    alive.flat_map(|(then, object)| index.before(then, object)).collect()
}

/// Kind, group, namespace and name.
type Key<'o> = (&'o str, &'o str, &'o str, &'o str);

struct Index<'o> {
    objects: HashMap<Key<'o>, usize>,
    /// Definitions by the group and the kind that they define.
    kinds: HashMap<(&'o str, &'o str), usize>,
}

impl<'o> Index<'o> {
    fn of(objects: &[&'o Object]) -> Self {
        let mut index = Self { objects: HashMap::with_capacity(objects.len()), kinds: HashMap::new() };
        for (at, object) in objects.iter().enumerate().filter(|(_, object)| !is_tombstone(&object.root)) {
            let id = &object.id;
            index.objects.insert((&id.kind, &id.group, &id.namespace, &id.name), at);
            if let Some(defined) = defined_kind(&object.root) {
                index.kinds.insert(defined, at);
            }
        }
        index
    }

    fn before(&self, then: usize, object: &Object) -> Vec<Edge> {
        let id = &object.id;
        let namespace = self.objects.get(&("Namespace", "", "", id.namespace.as_str()));
        let kind = self.kinds.get(&(id.group.as_str(), id.kind.as_str()));
        let mut found: Vec<Edge> = [(namespace, Because::Namespace), (kind, Because::Kind)]
            .into_iter()
            .filter_map(|(first, because)| Some(Edge { first: *first?, then, because }))
            .collect();
        let mut references = Vec::new();
        for rule in RULES.iter().filter(|rule| rule.is_about_object(id)) {
            rule.references(&object.root, &id.kind, &id.namespace, &mut references);
        }
        for reference in references.iter().filter(|reference| !reference.is_optional()) {
            let key = (reference.kind, reference.group, reference.namespace, reference.name);
            if let (Some(because), Some(first)) = (because(reference, &id.kind), self.objects.get(&key)) {
                found.push(Edge { first: *first, then, because });
            }
        }
        found.dedup();
        found
    }
}

fn because(reference: &Reference<'_>, of: &str) -> Option<Because> {
    match (reference.kind, of) {
        ("Service", "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            Some(Because::Called)
        }
        ("ServiceAccount" | "ConfigMap" | "Secret", _) if super::has_pods(of) => Some(Because::Pod),
        _ => None,
    }
}
