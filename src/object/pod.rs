//! Pods and the pod templates of workloads.

use crate::yaml::{Map, Node, Value};

/// Returns the path to the pod template of a kind. It is empty for a Pod, which has `metadata` and `spec` itself.
fn template_path(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "Deployment"
        | "DaemonSet"
        | "StatefulSet"
        | "ReplicaSet"
        | "Job"
        | "ReplicationController"
        | "DeploymentConfig" => Some(&["spec", "template"]),
        "PodTemplate" => Some(&["template"]),
        "CronJob" => Some(&["spec", "jobTemplate", "spec", "template"]),
        "Pod" => Some(&[]),
        _ => None,
    }
}

/// Returns whether a kind is a workload: its objects have a pod template.
pub(crate) fn is_workload(kind: &str) -> bool {
    kind != "Pod" && template_path(kind).is_some()
}

/// Returns the path to the pod template of a kind as a JSON pointer.
pub(crate) fn pod_path(kind: &str) -> String {
    let mut path = String::new();
    for key in template_path(kind).unwrap_or_default() {
        path.push('/');
        path.push_str(key);
    }
    path
}

/// Returns whether a kind is a workload or Pod.
pub(crate) fn has_pods(kind: &str) -> bool {
    template_path(kind).is_some()
}

/// Returns the pod template of an object, or the object itself if it is a Pod.
pub(crate) fn pod<'n>(root: &'n Node, kind: &str) -> Option<&'n Node> {
    template_path(kind)?.iter().try_fold(root, |node, key| node.get(key))
}

/// Returns the pod template of an object for changes.
pub(crate) fn pod_mut<'n>(root: &'n mut Node, kind: &str) -> Option<&'n mut Node> {
    template_path(kind)?.iter().try_fold(root, |node, key| node.get_mut(key))
}

/// Removes the pod template from the fields of an object, and returns it. A Pod has no template, so this is all of it.
pub(crate) fn take_pod_template(fields: &mut Node, kind: &str) -> Option<Node> {
    let Some((last, parents)) = template_path(kind)?.split_last() else {
        let nothing = fields.with_value(Value::Map(Map::default()));
        return Some(std::mem::replace(fields, nothing));
    };
    let parent = parents.iter().try_fold(fields, |node, key| node.get_mut(key))?;
    match &mut parent.value {
        Value::Map(map) => map.remove(last).map(|entry| entry.value),
        _ => None,
    }
}

/// Returns the containers of a pod template, then its init containers.
pub(crate) fn containers(pod: &Node) -> Vec<&Node> {
    let mut all = Vec::new();
    let Some(spec) = pod.get("spec") else { return all };
    for field in ["containers", "initContainers"] {
        all.extend(spec.get(field).and_then(Node::as_list).unwrap_or_default());
    }
    all
}

/// Returns the containers of a pod template for changes, then its init containers.
pub(crate) fn containers_mut(pod: &mut Node) -> Vec<&mut Node> {
    let mut all = Vec::new();
    let Some(Value::Map(spec)) = pod.get_mut("spec").map(|spec| &mut spec.value) else { return all };
    // The entries of a map are sorted, so `containers` comes first here as well.
    for (key, list) in spec.entries_mut() {
        if let ("containers" | "initContainers", Value::List(items)) = (key, &mut list.value) {
            all.extend(items);
        }
    }
    all
}

/// Returns the volumes of a pod template.
pub(crate) fn volumes(pod: &Node) -> &[Node] {
    let volumes = pod.get("spec").and_then(|spec| spec.get("volumes"));
    volumes.and_then(Node::as_list).unwrap_or_default()
}
