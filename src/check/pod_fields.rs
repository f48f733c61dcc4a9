//! What a pod says about itself must agree: one container of a name, and a volume for every mount.

use super::finding::Fault;
use crate::language::Check;
use crate::nearest::nearest;
use crate::object::{Object, containers, pod};
use crate::yaml::Node;

/// Every container of an object that is there twice, and every mount without a volume.
pub(super) fn check<'n>(object: &'n Object, faults: &mut Vec<Fault<'n>>) {
    let Some(pod) = pod(&object.root, &object.id.kind) else { return };
    let spec = |field: &str| pod.get("spec").and_then(|spec| spec.get(field)?.as_list()).unwrap_or_default();
    let names = |list: &'n [Node]| list.iter().filter_map(|item| item.get("name"));
    // Within one list, that is said of every list that is a map.
    for name in names(spec("initContainers")) {
        if names(spec("containers")).any(|other| other == name) {
            let shown = name.as_str().unwrap_or_default();
            faults.push(
                Fault::new(
                    Check::RepeatedItem,
                    name,
                    format!("`{shown}` is a container and an init container"),
                )
                .why("the API server refuses the object")
                .help("give one of them another name"),
            );
        }
    }
    let claims = object.root.get("spec").and_then(|spec| spec.get("volumeClaimTemplates")?.as_list());
    let claims = claims.unwrap_or_default().iter().filter_map(|claim| claim.get("metadata")?.get("name"));
    let volumes: Vec<&str> = names(spec("volumes")).chain(claims).filter_map(Node::as_str).collect();
    for container in containers(pod) {
        let mounted = |field: &str| container.get(field).and_then(Node::as_list).unwrap_or_default();
        for name in names(mounted("volumeMounts")).chain(names(mounted("volumeDevices"))) {
            let Some(wanted) = name.as_str().filter(|wanted| !volumes.contains(wanted)) else { continue };
            let fault = Fault::new(Check::NoSuchObject, name, format!("the pod has no volume `{wanted}`"))
                .why("the API server refuses the object");
            faults.push(match nearest(wanted, volumes.iter().copied()) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault.help("add the volume, or remove the mount"),
            });
        }
    }
}
