//! The fields whose drift is reported: those that decide what runs, with which rights, and who may do what.

use serde_json::Value;

use crate::object::path::PathStep;
use crate::object::{ObjectId, has_pods, pod_path};

/// The fields of a pod template's `spec`.
const POD_FIELDS: [&str; 14] = [
    "automountServiceAccountToken",
    "containers",
    "ephemeralContainers",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostUsers",
    "imagePullSecrets",
    "initContainers",
    "runtimeClassName",
    "securityContext",
    "serviceAccountName",
    "shareProcessNamespace",
    "volumes",
];

/// Fields that are not reported wherever they are: autoscalers change `resources`, and the others do not decide what runs.
const IGNORED: [&str; 4] =
    ["imagePullPolicy", "resources", "terminationMessagePath", "terminationMessagePolicy"];

/// Labels and annotations that decide about rights or security. A name that ends with `/` or `-` stands for all that begin
/// with it.
const SECURITY_KEYS: [&str; 9] = [
    "azure.workload.identity/",
    "container.apparmor.security.beta.kubernetes.io/",
    "eks.amazonaws.com/role-arn",
    "iam.gke.io/gcp-service-account",
    "openshift.io/required-scc",
    "pod-security.kubernetes.io/",
    "rbac.authorization.k8s.io/aggregate-to-",
    "seccomp.security.alpha.kubernetes.io/",
    "security.openshift.io/",
];

/// Returns the paths of the fields to compare. Labels and annotations are those of the given versions of the object.
pub(super) fn watched<'o>(
    id: &ObjectId,
    versions: [&'o Value; 2],
) -> impl Iterator<Item = Vec<String>> + use<'o> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    let is_aggregated = versions.iter().any(|version| version.get("aggregationRule").is_some());
    for path in fields_of(&id.group, &id.kind) {
        // A controller sets the rules of an aggregated ClusterRole.
        if !(is_aggregated && *path == "rules") {
            paths.push(path.split('/').map(str::to_owned).collect());
        }
    }
    paths.extend(security_keys(&[], versions));
    // Admission adds volumes and other fields to every Pod. The templates of workloads stay as they were applied.
    if has_pods(&id.kind) && id.kind != "Pod" {
        let pod: Vec<String> = pod_path(&id.kind).split('/').skip(1).map(str::to_owned).collect();
        for field in POD_FIELDS {
            paths.push([&pod[..], &["spec".to_owned(), field.to_owned()]].concat());
        }
        paths.extend(security_keys(&pod, versions));
    }
    paths.into_iter()
}

/// Returns whether drift of a field is never reported.
pub(super) fn is_ignored(key: &str) -> bool {
    IGNORED.contains(&key)
}

/// Returns whether the API server sets values in a field of an object that nobody sent.
pub(super) fn has_defaults(id: &ObjectId, location: &[PathStep]) -> bool {
    let groups = [
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "security.openshift.io",
    ];
    let is_known = [PathStep::Key("webhooks".to_owned()), PathStep::Key("metadata".to_owned())];
    groups.contains(&id.group.as_str()) && !is_known.iter().any(|first| location.first() == Some(first))
}

/// Returns the fields of kinds without pods, each as keys with `/` between them.
fn fields_of(group: &str, kind: &str) -> &'static [&'static str] {
    match (group, kind) {
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => &["rules", "aggregationRule"],
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => &["roleRef", "subjects"],
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => &["webhooks"],
        ("admissionregistration.k8s.io", _) | ("apiregistration.k8s.io", "APIService") => &["spec"],
        ("apiextensions.k8s.io", "CustomResourceDefinition") => &["spec/conversion"],
        ("", "ServiceAccount") => &["automountServiceAccountToken"],
        ("security.openshift.io", "SecurityContextConstraints") => &[
            "allowHostDirVolumePlugin",
            "allowHostIPC",
            "allowHostNetwork",
            "allowHostPID",
            "allowHostPorts",
            "allowPrivilegeEscalation",
            "allowPrivilegedContainer",
            "allowedCapabilities",
            "defaultAddCapabilities",
            "fsGroup",
            "groups",
            "requiredDropCapabilities",
            "runAsUser",
            "seLinuxContext",
            "seccompProfiles",
            "users",
            "volumes",
        ],
        _ => &[],
    }
}

/// Returns the paths of the labels and annotations below `parent` that decide about security.
fn security_keys(parent: &[String], versions: [&Value; 2]) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for field in ["labels", "annotations"] {
        for version in versions {
            let template = parent.iter().try_fold(version, |value, key| value.get(key));
            let keys = template.and_then(|template| template.get("metadata")?.get(field)?.as_object());
            for key in keys.into_iter().flatten().map(|(key, _)| key).filter(|key| decides_security(key)) {
                let path = [parent, &["metadata".to_owned(), field.to_owned(), key.clone()]].concat();
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
    }
    paths
}

fn decides_security(key: &str) -> bool {
    SECURITY_KEYS.iter().any(
        |known| {
            if known.ends_with(['/', '-']) { key.starts_with(known) } else { key == *known }
        },
    )
}
