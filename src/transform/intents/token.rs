//! A pod's volume with a token of its service account for an audience: the kubelet of the cluster that the pod runs in
//! would issue it, not the cluster whose identity is meant.

use super::{Fact, named, text};
use crate::language::Intent;
use crate::object::{Object, pod, pod_mut};
use crate::yaml::{Node, Value};

pub(super) fn find(object: &Object) -> Vec<Fact> {
    let Some(spec) = pod(&object.root, &object.id.kind).and_then(|pod| pod.get("spec")) else {
        return Vec::new();
    };
    let volumes = spec.get("volumes").and_then(Node::as_list).unwrap_or_default();
    volumes.iter().filter_map(|volume| fact(object, spec, volume)).collect()
}

fn fact(object: &Object, spec: &Node, volume: &Node) -> Option<Fact> {
    let name = volume.get("name")?.as_str()?;
    let sources = volume.get("projected")?.get("sources")?.as_list()?;
    let audience =
        |token: &&Node| token.get("audience").and_then(Node::as_str).is_some_and(|text| !text.is_empty());
    let mut tokens = sources.iter().filter_map(|source| source.get("serviceAccountToken"));
    let token = tokens.find(audience)?;
    let audience = token.get("audience")?.as_str()?;
    let account = spec.get("serviceAccountName").and_then(Node::as_str).unwrap_or("default");
    let mut inputs = vec![
        ("workload", named(object)),
        ("volume", text(name)),
        ("audience", text(audience)),
        ("serviceAccount", text(account)),
        ("file", text(token.get("path").and_then(Node::as_str).unwrap_or("token"))),
    ];
    if let Some((container, path)) = consumer(spec, name) {
        inputs.extend([("container", text(container)), ("mountPath", text(path))]);
    }
    let fact = Fact::new(Intent::ProjectedToken, volume.mark, name, inputs);
    Some(Fact { entangled: sources.len() > 1, ..fact })
}

/// The container that mounts the volume, and where.
fn consumer<'n>(spec: &'n Node, volume: &str) -> Option<(&'n str, &'n str)> {
    let list = |field: &str| spec.get(field).and_then(Node::as_list).unwrap_or_default();
    list("containers").iter().chain(list("initContainers")).find_map(|container| {
        let mounts = container.get("volumeMounts").and_then(Node::as_list)?;
        let mount = mounts.iter().find(|mount| mount.get("name").and_then(Node::as_str) == Some(volume))?;
        Some((container.get("name")?.as_str()?, mount.get("mountPath")?.as_str()?))
    })
}

/// The volume stays under its name, so that its mounts do; only its source goes.
pub(super) fn take_away(root: &mut Node, kind: &str, name: &str) {
    let spec = pod_mut(root, kind).and_then(|pod| pod.get_mut("spec"));
    let Some(Value::List(volumes)) =
        spec.and_then(|spec| spec.get_mut("volumes")).map(|volumes| &mut volumes.value)
    else {
        return;
    };
    let ours = |volume: &&mut Node| volume.get("name").and_then(Node::as_str) == Some(name);
    if let Some(Value::Map(volume)) = volumes.iter_mut().find(ours).map(|volume| &mut volume.value) {
        volume.remove("projected");
    }
}
