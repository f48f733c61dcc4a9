//! Writes the project that the tools apply.

use std::fmt::Write;
use std::path::Path;

const NAMESPACES: usize = 4;

/// Writes a project with objects of several kinds, as components have them.
pub(crate) fn write(folder: &Path, objects: usize) {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let header = "apiVersion: transship.openshift.io/v1\n";
    write(
        "profiles/standalone.yaml",
        &format!(
            "{header}kind: Profile\nmetadata: {{name: standalone}}\ntopology: standalone\ncluster: both\n"
        ),
    );
    let annotations = "annotations: {include.release.openshift.io/any: 'true'}\n";
    write(
        "payload/op/component.yaml",
        &format!("{header}kind: Component\nmetadata: {{name: op}}\n{annotations}"),
    );
    let mut namespaces = String::new();
    for namespace in 0..NAMESPACES {
        let _ = write!(
            namespaces,
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: bench-{namespace}}}\n---\n"
        );
    }
    write("payload/op/0000_10_op_00.yaml", &namespaces);
    for number in 0..(objects - NAMESPACES) {
        let metadata = format!(
            "metadata: {{name: bench-{number}, namespace: bench-{}, labels: {{app: bench-{number}}}}}\n",
            number / 8 % NAMESPACES
        );
        let text = object(number, &metadata);
        write(&format!("payload/op/0000_20_op_{number:04}.yaml"), &text);
    }
}

fn object(number: usize, metadata: &str) -> String {
    let rbac = "apiVersion: rbac.authorization.k8s.io/v1\n";
    match number % 8 {
        0 | 1 => format!(
            "apiVersion: v1\nkind: ConfigMap\n{metadata}data: {{key: value, text: 'a longer text of some words'}}\n"
        ),
        2 => format!("apiVersion: v1\nkind: ServiceAccount\n{metadata}"),
        3 => format!(
            "{rbac}kind: Role\n{metadata}rules: [{{apiGroups: [''], resources: [pods], verbs: [get, list]}}]\n"
        ),
        4 => format!(
            "{rbac}kind: RoleBinding\n{metadata}roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: bench-{}}}\n\
             subjects: [{{kind: ServiceAccount, name: bench-{}, namespace: bench-{}}}]\n",
            number - 1,
            number - 2,
            number / 8 % NAMESPACES
        ),
        5 => format!("apiVersion: v1\nkind: Secret\n{metadata}data: {{key: dmFsdWU=}}\n"),
        6 => format!(
            "apiVersion: v1\nkind: Service\n{metadata}spec: {{clusterIP: None, ports: [{{port: 443}}]}}\n"
        ),
        _ => format!(
            "apiVersion: apps/v1\nkind: Deployment\n{metadata}spec:\n  replicas: 0\n  selector: {{matchLabels: {{app: bench-{number}}}}}\n  \
             template:\n    metadata: {{labels: {{app: bench-{number}}}}}\n    spec:\n      containers:\n      \
             - {{name: main, image: 'example.test/image:1', resources: {{requests: {{cpu: 10m, memory: 50Mi}}}}}}\n"
        ),
    }
}
