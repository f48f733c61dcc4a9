//! Where the pod of a workload is.

use crate::yaml::{Node, Value};

/// The path to the pod template of a kind; empty for a Pod, which is one itself.
fn template_path(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "Deployment" | "DaemonSet" | "StatefulSet" | "ReplicaSet" | "Job" | "ReplicationController" => {
            Some(&["spec", "template"])
        }
        "CronJob" => Some(&["spec", "jobTemplate", "spec", "template"]),
        "Pod" => Some(&[]),
        _ => None,
    }
}

/// Whether objects of a kind have a pod template.
pub fn is_workload(kind: &str) -> bool {
    kind != "Pod" && template_path(kind).is_some()
}

/// The path to the pod template of a kind, as a JSON pointer.
pub fn pod_path(kind: &str) -> String {
    template_path(kind).into_iter().flatten().fold(String::new(), |path, key| path + "/" + key)
}

/// Whether objects of a kind have pods, or are one.
pub fn has_pods(kind: &str) -> bool {
    template_path(kind).is_some()
}

/// The pod template of an object: a node with `metadata` and `spec`.
pub fn pod_mut<'n>(root: &'n mut Node, kind: &str) -> Option<&'n mut Node> {
    template_path(kind)?.iter().try_fold(root, |node, key| node.get_mut(key))
}

/// The pod template of an object, to look at.
pub fn pod<'n>(root: &'n Node, kind: &str) -> Option<&'n Node> {
    template_path(kind)?.iter().try_fold(root, |node, key| node.get(key))
}

/// Every container and init container of a pod template, to look at.
pub fn containers(pod: &Node) -> Vec<&Node> {
    let list = |field: &str| pod.get("spec").and_then(|spec| spec.get(field)).and_then(Node::as_list);
    ["containers", "initContainers"].into_iter().filter_map(list).flatten().collect()
}

/// Every container and init container of a pod template.
pub fn containers_mut(pod: &mut Node) -> Vec<&mut Node> {
    let Some(Value::Map(spec)) = pod.get_mut("spec").map(|spec| &mut spec.value) else { return Vec::new() };
    let lists = spec.entries_mut().filter(|(key, _)| matches!(*key, "containers" | "initContainers"));
    lists
        .filter_map(|(_, list)| match &mut list.value {
            Value::List(items) => Some(items.iter_mut()),
            _ => None,
        })
        .flatten()
        .collect()
}
