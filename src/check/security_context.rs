//! The security contexts of a pod and of its containers.

use super::field::Field;

/// Calls a function for the security context of a pod and for those of its containers, with a description of the owner
/// for messages.
pub(super) fn for_each(pod: &Field<'_>, visit: &mut dyn FnMut(&str, &Field<'_>)) {
    if let Some(context) = pod.at("/spec/securityContext") {
        visit("the pod", &context);
    }
    for container in pod.containers() {
        if let Some(context) = container.get("securityContext") {
            visit(&describe(&container), &context);
        }
    }
}

/// Returns a description of a container for messages.
pub(super) fn describe(container: &Field<'_>) -> String {
    match container.get("name").and_then(|name| name.as_str()) {
        Some(name) => format!("the container `{name}`"),
        None => "the container".to_owned(),
    }
}
