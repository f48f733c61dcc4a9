//! A selector, and what it can select in one cluster.

use std::collections::HashMap;

use crate::object::{Object, is_tombstone, pod};
use crate::yaml::{Map, Node, Value};

/// Labels that controllers add to the pods they make: no template has them.
const ADDED: [&str; 8] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "controller-revision-hash",
    "job-name",
    "pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
];

/// Plain labels, or `matchLabels` and `matchExpressions`.
#[derive(Clone, Copy)]
pub(super) struct Selector<'n> {
    labels: Option<&'n Map>,
    expressions: &'n [Node],
}

impl<'n> Selector<'n> {
    pub(super) fn of(node: &'n Node) -> Self {
        let (labels, expressions) = (node.get("matchLabels"), node.get("matchExpressions"));
        let plain = labels.is_none() && expressions.is_none();
        Self {
            labels: if plain { node.as_map() } else { labels.and_then(Node::as_map) },
            expressions: expressions.and_then(Node::as_list).unwrap_or_default(),
        }
    }

    /// Whether it asks for nothing, and so selects everything, or for a Service nothing.
    pub(super) fn is_empty(self) -> bool {
        self.labels.is_none_or(Map::is_empty) && self.expressions.is_empty()
    }

    fn labels(self) -> impl Iterator<Item = (&'n str, &'n Node)> {
        let entries = self.labels.into_iter().flatten();
        entries.map(|entry| (entry.key.as_str(), &entry.value)).filter(|(key, _)| !ADDED.contains(key))
    }

    pub(super) fn selects(self, labels: Option<&Node>) -> bool {
        let has = |(key, value): (&str, &Node)| labels.and_then(|labels| labels.get(key)) == Some(value);
        self.labels().all(has) && self.expressions.iter().all(|expression| holds(expression, labels))
    }

    /// Labels of which whatever is selected has one; none if it cannot be told.
    fn hints(self) -> Vec<(&'n str, &'n str)> {
        if let Some((key, value)) = self.labels().find_map(|(key, value)| Some((key, value.as_str()?))) {
            return vec![(key, value)];
        }
        let is_in = |expression: &&Node| text(expression, "operator") == "In";
        let Some(expression) = self.expressions.iter().find(is_in) else { return Vec::new() };
        let values = expression.get("values").and_then(Node::as_list).unwrap_or_default();
        values.iter().filter_map(|value| Some((text(expression, "key"), value.as_str()?))).collect()
    }
}

fn text<'n>(node: &'n Node, field: &str) -> &'n str {
    node.get(field).and_then(Node::as_str).unwrap_or_default()
}

fn holds(expression: &Node, labels: Option<&Node>) -> bool {
    let key = text(expression, "key");
    let found = labels.and_then(|labels| labels.get(key));
    let values = expression.get("values").and_then(Node::as_list).unwrap_or_default();
    let listed = found.is_some_and(|found| values.contains(found));
    match text(expression, "operator") {
        _ if ADDED.contains(&key) => true,
        "In" => listed,
        "NotIn" => !listed,
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none_or(|found| found.value == Value::Null),
        _ => true,
    }
}

/// What selectors can select in one cluster: by namespace, and there by every label.
pub(super) struct Selectable<'a> {
    pods: HashMap<&'a str, Labelled<'a, &'a Node>>,
    services: HashMap<&'a str, Labelled<'a, &'a Object>>,
}

struct Labelled<'a, T> {
    all: Vec<T>,
    by_label: HashMap<(&'a str, &'a str), Vec<T>>,
}

impl<'a, T: Copy> Labelled<'a, T> {
    fn add(map: &mut HashMap<&'a str, Self>, namespace: &'a str, labels: Option<&'a Node>, item: T) {
        let here = map.entry(namespace).or_insert_with(|| Self { all: Vec::new(), by_label: HashMap::new() });
        here.all.push(item);
        for entry in labels.and_then(Node::as_map).into_iter().flatten() {
            if let Some(value) = entry.value.as_str() {
                here.by_label.entry((entry.key.as_str(), value)).or_default().push(item);
            }
        }
    }

    fn with(&self, selector: Selector<'_>, labels: impl Fn(T) -> Option<&'a Node>) -> Vec<T> {
        let hints = selector.hints();
        let near = hints.iter().filter_map(|hint| self.by_label.get(hint)).flatten().copied();
        let selected = |item: &T| selector.selects(labels(*item));
        if hints.is_empty() {
            self.all.iter().copied().filter(selected).collect()
        } else {
            near.filter(selected).collect()
        }
    }
}

impl<'a> Selectable<'a> {
    pub(super) fn of(objects: &'a [Object]) -> Self {
        let mut selectable = Self { pods: HashMap::new(), services: HashMap::new() };
        for object in objects.iter().filter(|object| !is_tombstone(&object.root)) {
            let namespace = object.id.namespace.as_str();
            if let Some(template) = pod(&object.root, &object.id.kind) {
                Labelled::add(&mut selectable.pods, namespace, labels_of(template), template);
            }
            if object.id.kind == "Service" && object.id.group.is_empty() {
                Labelled::add(&mut selectable.services, namespace, labels_of(&object.root), object);
            }
        }
        selectable
    }

    /// The pods of a namespace that are selected.
    pub(super) fn pods(&self, selector: Selector<'_>, namespace: &str) -> Vec<&'a Node> {
        self.pods.get(namespace).map(|pods| pods.with(selector, labels_of)).unwrap_or_default()
    }

    /// The Services of a namespace that are selected, or of all.
    pub(super) fn services(&self, selector: Selector<'_>, namespace: Option<&str>) -> Vec<&'a Object> {
        let here =
            self.services.iter().filter(|(own, _)| namespace.is_none_or(|namespace| **own == namespace));
        here.flat_map(|(_, services)| services.with(selector, |service| labels_of(&service.root))).collect()
    }
}

/// The labels of an object or a pod template.
pub(super) fn labels_of(node: &Node) -> Option<&Node> {
    node.get("metadata")?.get("labels")
}
