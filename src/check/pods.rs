//! The names inside a pod template: containers, volumes and mounts.

use super::field::Field;
use super::finding::{Finding, Report};
use crate::language::Check;
use crate::yaml::Node;

/// Checks that no init container has the name of a container. `fields` finds duplicates within one list.
pub(super) fn check_container_names(pod: &Field<'_>, report: &mut Report) {
    for init_container in pod.items("/spec/initContainers") {
        let Some(name) = init_container.get("name") else { continue };
        if pod.items("/spec/containers").any(|container| container.node.get("name") == Some(name.node)) {
            let shown = name.as_str().unwrap_or_default();
            let message = format!("a container and an init container are both named `{shown}`");
            report.add(
                Finding::new(Check::DuplicateItem, &name, message)
                    .note("the API server rejects the object")
                    .help("rename one of them"),
            );
        }
    }
}

/// Checks that each mount has a volume.
pub(super) fn check_volume_mounts(root: &Field<'_>, pod: &Field<'_>, report: &mut Report) {
    let mut volumes = Vec::new();
    for volume in pod.items("/spec/volumes") {
        volumes.extend(volume.node.get("name").and_then(Node::as_str));
    }
    for claim in root.items("/spec/volumeClaimTemplates") {
        volumes.extend(claim.node.get("metadata").and_then(|metadata| metadata.get("name")?.as_str()));
    }
    for container in pod.containers() {
        for mount in container.items("/volumeMounts").chain(container.items("/volumeDevices")) {
            let Some(field) = mount.get("name") else { continue };
            let Some(name) = field.as_str() else { continue };
            if volumes.contains(&name) {
                continue;
            }
            report.add(
                Finding::new(Check::MissingObject, &field, format!("the pod has no volume `{name}`"))
                    .note("the API server rejects the object")
                    .help("add the volume, or remove the mount")
                    .suggest(name, volumes.iter().copied()),
            );
        }
    }
}
