//! The Pod Security level of namespaces.

use super::context::CheckContext;
use super::field::Field;
use super::finding::{Finding, Report};
use super::node_access::needs_privileged_namespace;
use crate::language::Check;
use crate::object::{has_pods, pod_path};

/// The label with the Pod Security level that the API server enforces in a namespace.
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";

/// Checks that a namespace accepts privileged pods only if one of its pods needs that.
pub(super) fn check(root: &Field<'_>, context: &CheckContext<'_>, report: &mut Report) {
    if root.object.id.kind != "Namespace" {
        return;
    }
    let Some(labels) = root.at("/metadata/labels") else { return };
    let Some(level) = labels.get(ENFORCE) else { return };
    if level.as_str() != Some("privileged") || has_privileged_pod(&root.object.id.name, context) {
        return;
    }
    report.add(
        Finding::new(
            Check::PrivilegedNamespace,
            &level,
            "the namespace accepts privileged pods, and none of its pods needs that",
        )
        .note("anyone who can create a pod in the namespace can control the nodes of the cluster")
        .help("enforce `restricted` or `baseline`; if an operator creates such pods, allow it with a reason"),
    );
}

fn has_privileged_pod(namespace: &str, context: &CheckContext<'_>) -> bool {
    context.rendered.objects.iter().any(|object| {
        let kind = &object.id.kind;
        if object.id.namespace != namespace || !has_pods(kind) || object.is_tombstone() {
            return false;
        }
        let (root, path) = (Field::root(object), pod_path(kind));
        root.at(&path).is_some_and(|pod| needs_privileged_namespace(&pod))
    })
}
