//! Generates a large payload of several kinds with a profile, and a kustomization that makes the same changes. The same size
//! always produces the same files.

use std::fmt::Write;
use std::path::Path;

/// The objects of one component, one of each kind.
pub(crate) const KINDS: [fn(usize) -> String; 10] = [
    service_account,
    config_map,
    role,
    role_binding,
    service,
    deployment,
    cluster_role,
    cluster_role_binding,
    pod_disruption_budget,
    daemon_set,
];

/// The namespace to which the profile moves all objects.
pub(crate) const NAMESPACE: &str = "bench-target";
/// The image in manifests. `RELEASE_IMAGE` with `DIGEST` replaces it.
pub(crate) const SOURCE_IMAGE: &str = "quay.io/openshift/origin-bench";
pub(crate) const DIGEST: &str = "sha256:7b1e5d9c3a8f6042b7d1c9e5f3a0864d2b8e6c4a1f9d7053e8b2c6a4d0f1e395";
pub(crate) const RELEASE_IMAGE: &str = "quay.io/openshift-release-dev/ocp-v4.0-art-dev";

/// Writes a payload of `count` objects to `folder/payload`, a profile to `folder/profiles`, and for kustomize one file
/// with all objects and a kustomization to `folder/kustomize`.
pub(crate) fn write(folder: &Path, count: usize) -> std::io::Result<()> {
    let (payload, profiles, kustomize) =
        (folder.join("payload"), folder.join("profiles"), folder.join("kustomize"));
    for folder in [&payload, &profiles, &kustomize] {
        std::fs::create_dir_all(folder)?;
    }
    let mut everything = String::new();
    for component in 0..count.div_ceil(KINDS.len()) {
        let home = payload.join(format!("bench-{component:04}"));
        std::fs::create_dir_all(&home)?;
        let kinds = KINDS.iter().take(count - component * KINDS.len());
        for (index, kind) in kinds.enumerate() {
            let text = kind(component);
            std::fs::write(home.join(format!("0000_50_bench-{component:04}_{index:02}.yaml")), &text)?;
            let _ = write!(everything, "---\n{text}");
        }
        std::fs::write(home.join("image-references"), operator_images())?;
    }
    std::fs::write(payload.join("image-references"), release_images())?;
    std::fs::write(profiles.join("bench.yaml"), profile())?;
    std::fs::write(kustomize.join("all.yaml"), everything)?;
    std::fs::write(kustomize.join("kustomization.yaml"), kustomization())
}

fn profile() -> String {
    format!(
        "apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata:\n  name: bench\ntopology: bench\n\
         cluster: both\nselect:\n  clusterProfile: self-managed-high-availability\nnamespace: {NAMESPACE}\n"
    )
}

fn kustomization() -> String {
    format!(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- all.yaml\n\
         namespace: {NAMESPACE}\nimages:\n- name: {SOURCE_IMAGE}\n  newName: {RELEASE_IMAGE}\n  digest: {DIGEST}\n"
    )
}

pub(crate) fn operator_images() -> String {
    image_stream("operator", &format!("{SOURCE_IMAGE}:latest"))
}

pub(crate) fn release_images() -> String {
    image_stream("4.22.0", &format!("{RELEASE_IMAGE}@{DIGEST}"))
}

fn image_stream(name: &str, image: &str) -> String {
    format!(
        "kind: ImageStream\napiVersion: image.openshift.io/v1\nmetadata:\n  name: {name}\nspec:\n  tags:\n  \
         - name: bench\n    from:\n      kind: DockerImage\n      name: {image}\n"
    )
}

fn head(api_version: &str, kind: &str, name: &str, namespaced: bool) -> String {
    let namespace = if namespaced { "  namespace: openshift-bench\n" } else { "" };
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}  annotations:\n    \
         capability.openshift.io/name: Bench\n    include.release.openshift.io/self-managed-high-availability: \"true\"\n    \
         include.release.openshift.io/single-node-developer: \"true\"\n  labels:\n    app: {name}\n"
    )
}

fn service_account(n: usize) -> String {
    head("v1", "ServiceAccount", &format!("bench-{n}"), true)
}

fn config_map(n: usize) -> String {
    let mut text = head("v1", "ConfigMap", &format!("bench-{n}-config"), true) + "data:\n  config.yaml: |\n";
    for line in 0..20 {
        let _ = writeln!(text, "    setting-{line}: value of setting {line} for component {n}");
    }
    text
}

fn role(n: usize) -> String {
    head("rbac.authorization.k8s.io/v1", "Role", &format!("bench-{n}"), true) + &rules(6)
}

fn cluster_role(n: usize) -> String {
    head("rbac.authorization.k8s.io/v1", "ClusterRole", &format!("bench-{n}"), false) + &rules(10)
}

fn rules(count: usize) -> String {
    let mut text = String::from("rules:\n");
    for rule in 0..count {
        let _ = write!(
            text,
            "- apiGroups:\n  - group-{rule}.openshift.io\n  resources:\n  - things\n  - things/status\n  verbs:\n  \
             - get\n  - list\n  - watch\n  - update\n"
        );
    }
    text
}

fn role_binding(n: usize) -> String {
    head("rbac.authorization.k8s.io/v1", "RoleBinding", &format!("bench-{n}"), true) + &binding(n, "Role")
}

fn cluster_role_binding(n: usize) -> String {
    head("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", &format!("bench-{n}"), false)
        + &binding(n, "ClusterRole")
}

fn binding(n: usize, kind: &str) -> String {
    format!(
        "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: {kind}\n  name: bench-{n}\nsubjects:\n\
         - kind: ServiceAccount\n  name: bench-{n}\n  namespace: openshift-bench\n"
    )
}

fn service(n: usize) -> String {
    head("v1", "Service", &format!("bench-{n}-metrics"), true)
        + &format!(
            "spec:\n  selector:\n    app: bench-{n}\n  ports:\n  - name: https\n    port: 443\n    targetPort: 8443\n"
        )
}

fn pod_disruption_budget(n: usize) -> String {
    head("policy/v1", "PodDisruptionBudget", &format!("bench-{n}"), true)
        + &format!("spec:\n  maxUnavailable: 1\n  selector:\n    matchLabels:\n      app: bench-{n}\n")
}

fn deployment(n: usize) -> String {
    head("apps/v1", "Deployment", &format!("bench-{n}"), true) + "spec:\n  replicas: 2\n" + &workload(n)
}

fn daemon_set(n: usize) -> String {
    head("apps/v1", "DaemonSet", &format!("bench-{n}-node"), true) + "spec:\n" + &workload(n)
}

fn workload(n: usize) -> String {
    let mut text = format!(
        "  selector:\n    matchLabels:\n      app: bench-{n}\n  template:\n    metadata:\n      labels:\n        \
         app: bench-{n}\n    spec:\n      serviceAccountName: bench-{n}\n      priorityClassName: system-cluster-critical\n      \
         containers:\n"
    );
    for container in ["operator", "proxy", "minter"] {
        let _ = write!(
            text,
            "      - name: {container}\n        image: {SOURCE_IMAGE}:latest\n        imagePullPolicy: IfNotPresent\n        \
             args:\n        - start\n        - --v=2\n        - --config=/etc/{container}/config.yaml\n        env:\n        \
             - name: POD_NAME\n          valueFrom:\n            fieldRef:\n              fieldPath: metadata.name\n        \
             resources:\n          requests:\n            cpu: 10m\n            memory: 50Mi\n        volumeMounts:\n        \
             - name: config\n          mountPath: /etc/{container}\n          readOnly: true\n"
        );
    }
    let _ = writeln!(
        text,
        "      volumes:\n      - name: config\n        configMap:\n          name: bench-{n}-config"
    );
    text
}
