//! `projected-token`: a volume with a ServiceAccount token for an audience. The kubelet requests the token from the
//! cluster that the pod runs in, which is the wrong one if the pod needs an identity of the guest.

use super::{DetectedIntent, IntentHandler, Obstacle, RemoteServices, reference_to, text};
use crate::language::Intent;
use crate::object::{Object, containers, pod, pod_mut};
use crate::yaml::{Node, Value};

pub(super) const HANDLER: IntentHandler = IntentHandler { detect, remove, fulfil: None };

const SHARED_VOLUME: Obstacle = Obstacle {
    reason: "its volume has other sources, which would be removed with it",
    help: "give the token a volume of its own",
};

fn detect(object: &Object, _: &RemoteServices) -> Vec<DetectedIntent> {
    let Some(pod) = pod(&object.root, &object.id.kind) else { return Vec::new() };
    let volumes = pod.get("spec").and_then(|spec| spec.get("volumes")).and_then(Node::as_list);
    volumes.unwrap_or_default().iter().filter_map(|volume| token_in(object, pod, volume)).collect()
}

fn token_in(object: &Object, pod: &Node, volume: &Node) -> Option<DetectedIntent> {
    let volume_name = volume.get("name")?;
    let name = volume_name.as_str()?;
    let sources = volume.get("projected")?.get("sources")?.as_list()?;
    let (token, audience) = sources.iter().find_map(|source| {
        let token = source.get("serviceAccountToken")?;
        let audience = token.get("audience")?;
        // Without an audience, the token is for the API server of the pod's own cluster.
        (!audience.as_str()?.is_empty()).then_some((token, audience))
    })?;
    let account = pod.get("spec")?.get("serviceAccountName").filter(|node| node.as_str().is_some());
    let file = token.get("path").filter(|node| node.as_str().is_some());
    let mut inputs = vec![
        ("workload", reference_to(object)),
        ("volume", volume_name.clone()),
        ("audience", audience.clone()),
        ("serviceAccount", account.cloned().unwrap_or_else(|| text("default"))),
        ("file", file.cloned().unwrap_or_else(|| text("token"))),
    ];
    if let Some((container, path)) = mount_of(pod, name) {
        inputs.extend([("container", container.clone()), ("mountPath", path.clone())]);
    }
    let obstacle = (sources.len() > 1).then_some(SHARED_VOLUME);
    let detected = DetectedIntent::new(Intent::ProjectedToken, volume.mark, inputs);
    Some(DetectedIntent { obstacle, item: name.to_owned(), ..detected })
}

/// Returns the first container that mounts a volume, and the path of the mount.
fn mount_of<'n>(pod: &'n Node, volume: &str) -> Option<(&'n Node, &'n Node)> {
    containers(pod).into_iter().find_map(|container| {
        let mounts = container.get("volumeMounts").and_then(Node::as_list)?;
        let mount = mounts.iter().find(|mount| mount.get("name").and_then(Node::as_str) == Some(volume))?;
        let (name, path) = (container.get("name")?, mount.get("mountPath")?);
        (name.as_str().is_some() && path.as_str().is_some()).then_some((name, path))
    })
}

/// Removes the source of the volume. The volume keeps its name, so that its mounts stay valid when a fragment adds
/// another source.
fn remove(object: &mut Object, detected: &DetectedIntent) {
    let spec = pod_mut(&mut object.root, &object.id.kind).and_then(|pod| pod.get_mut("spec"));
    let Some(volumes) = spec.and_then(|spec| spec.get_mut("volumes")) else { return };
    let Value::List(volumes) = &mut volumes.value else { return };
    for volume in volumes {
        if volume.get("name").and_then(Node::as_str) == Some(&detected.item) {
            if let Value::Map(volume) = &mut volume.value {
                volume.remove("projected");
            }
            return;
        }
    }
}
