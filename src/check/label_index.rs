//! Label selectors, and the pods and Services of one cluster that they can select.

use std::collections::HashMap;

use crate::object::{Object, label_text, pod};
use crate::yaml::{Map, Node};

/// Labels that controllers add to the pods they create. No pod template has them.
const CONTROLLER_LABELS: [&str; 8] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-completion-index",
    "batch.kubernetes.io/job-name",
    "controller-revision-hash",
    "job-name",
    "pod-template-hash",
    "statefulset.kubernetes.io/pod-name",
];

/// A label selector: plain labels as in a Service, or `matchLabels` and `matchExpressions`.
#[derive(Clone, Copy)]
pub(super) struct LabelSelector<'n> {
    labels: Option<&'n Map>,
    expressions: &'n [Node],
}

impl<'n> LabelSelector<'n> {
    pub(super) fn new(node: &'n Node) -> Self {
        let (labels, expressions) = (node.get("matchLabels"), node.get("matchExpressions"));
        if labels.is_none() && expressions.is_none() {
            return Self { labels: node.as_map(), expressions: &[] };
        }
        Self {
            labels: labels.and_then(Node::as_map),
            expressions: expressions.and_then(Node::as_list).unwrap_or_default(),
        }
    }

    /// Returns whether the selector has no conditions. A Service then selects nothing, everything else selects all.
    pub(super) fn is_empty(self) -> bool {
        self.labels.is_none_or(Map::is_empty) && self.expressions.is_empty()
    }

    /// Returns whether the selector matches these labels.
    pub(super) fn matches(self, labels: Option<&Node>) -> bool {
        for (key, value) in self.template_labels() {
            let label = labels.and_then(|labels| labels.get(key));
            if label.is_none() || label.and_then(label_text) != label_text(value) {
                return false;
            }
        }
        self.expressions.iter().all(|expression| is_satisfied(expression, labels))
    }

    /// Returns the required labels that a pod template must have: all except those that controllers add.
    fn template_labels(self) -> impl Iterator<Item = (&'n str, &'n Node)> {
        let entries = self.labels.into_iter().flatten();
        entries
            .filter(|entry| !CONTROLLER_LABELS.contains(&entry.key.as_str()))
            .map(|entry| (entry.key.as_str(), &entry.value))
    }

    /// Returns labels with which to look up candidates in an index: every match has at least one of them. Returns none
    /// if the selector requires no particular label, so that everything is a candidate.
    fn indexed_labels(self) -> Vec<(&'n str, &'n str)> {
        for (key, value) in self.template_labels() {
            if let Some(value) = label_text(value) {
                return vec![(key, value)];
            }
        }
        for expression in self.expressions {
            if text(expression, "operator") == "In" {
                let key = text(expression, "key");
                let values = list(expression, "values").iter();
                return values.filter_map(|value| Some((key, value.as_str()?))).collect();
            }
        }
        Vec::new()
    }
}

fn text<'n>(node: &'n Node, field: &str) -> &'n str {
    node.get(field).and_then(Node::as_str).unwrap_or_default()
}

fn list<'n>(node: &'n Node, field: &str) -> &'n [Node] {
    node.get(field).and_then(Node::as_list).unwrap_or_default()
}

/// Returns whether labels satisfy one of `matchExpressions`.
fn is_satisfied(expression: &Node, labels: Option<&Node>) -> bool {
    let key = text(expression, "key");
    if CONTROLLER_LABELS.contains(&key) {
        return true;
    }
    let label = labels.and_then(|labels| labels.get(key));
    let value = label.and_then(label_text);
    let is_listed =
        list(expression, "values").iter().any(|listed| value.is_some() && listed.as_str() == value);
    match text(expression, "operator") {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => true,
    }
}

/// The pods and Services of a cluster, by namespace and label.
pub(super) struct LabelIndex<'a> {
    pods: HashMap<&'a str, ByLabel<'a, &'a Node>>,
    services: HashMap<&'a str, ByLabel<'a, &'a Object>>,
}

/// The items of one namespace.
struct ByLabel<'a, T> {
    all: Vec<T>,
    by_label: HashMap<(&'a str, &'a str), Vec<T>>,
}

impl<T> Default for ByLabel<'_, T> {
    fn default() -> Self {
        Self { all: Vec::new(), by_label: HashMap::new() }
    }
}

impl<'a, T: Copy> ByLabel<'a, T> {
    fn add(&mut self, labels: Option<&'a Node>, item: T) {
        self.all.push(item);
        for entry in labels.and_then(Node::as_map).into_iter().flatten() {
            if let Some(value) = label_text(&entry.value) {
                self.by_label.entry((entry.key.as_str(), value)).or_default().push(item);
            }
        }
    }

    /// Returns the items that may match a selector.
    fn candidates(&self, selector: LabelSelector<'_>) -> Vec<T> {
        let labels = selector.indexed_labels();
        if labels.is_empty() {
            return self.all.clone();
        }
        labels.iter().filter_map(|label| self.by_label.get(label)).flatten().copied().collect()
    }
}

impl<'a> LabelIndex<'a> {
    pub(super) fn new(objects: &'a [Object]) -> Self {
        let mut index = Self { pods: HashMap::new(), services: HashMap::new() };
        for object in objects.iter().filter(|object| !object.is_tombstone()) {
            let namespace = object.id.namespace.as_str();
            if let Some(template) = pod(&object.root, &object.id.kind) {
                index.pods.entry(namespace).or_default().add(labels_of(template), template);
            }
            if object.id.kind == "Service" && object.id.group.is_empty() {
                index.services.entry(namespace).or_default().add(labels_of(&object.root), object);
            }
        }
        index
    }

    /// Returns the pod templates of a namespace that a selector matches.
    pub(super) fn pods(&self, selector: LabelSelector<'_>, namespace: &str) -> Vec<&'a Node> {
        let Some(pods) = self.pods.get(namespace) else { return Vec::new() };
        let mut selected = pods.candidates(selector);
        selected.retain(|pod| selector.matches(labels_of(pod)));
        selected
    }

    /// Returns the Services of a namespace that a selector matches.
    pub(super) fn services(&self, selector: LabelSelector<'_>, namespace: &str) -> Vec<&'a Object> {
        let Some(services) = self.services.get(namespace) else { return Vec::new() };
        let mut selected = services.candidates(selector);
        selected.retain(|service| selector.matches(labels_of(&service.root)));
        selected
    }

    /// Returns the namespaces that have Services.
    pub(super) fn namespaces_with_services(&self) -> impl Iterator<Item = &'a str> {
        self.services.keys().copied()
    }
}

/// Returns the labels of an object or a pod template.
pub(super) fn labels_of(node: &Node) -> Option<&Node> {
    node.get("metadata")?.get("labels")
}
