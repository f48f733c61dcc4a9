//! Generates a large payload with pages, a fragment and patches and three profiles, one with a policy. Generates three
//! overlays for kustomize that produce the same objects.

use std::fmt::Write;
use std::path::Path;

use super::generate::{
    DIGEST, KINDS, NAMESPACE, RELEASE_IMAGE, SOURCE_IMAGE, operator_images, release_images,
};

/// The profiles. Each has an overlay with the same name.
pub(crate) const PROFILES: [&str; 3] = ["standalone", "mc", "guest"];

/// The number of objects of each kind in a component. With ten kinds, a component has twenty objects.
const SETS: usize = 2;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

/// Writes a payload of `count` objects in components of twenty, the profiles, and the overlays.
pub(crate) fn write(folder: &Path, count: usize) -> std::io::Result<()> {
    let (payload, kustomize) = (folder.join("payload"), folder.join("kustomize"));
    let sets = count / KINDS.len();
    let mut everything = String::new();
    for component in 0..sets / SETS {
        let home = payload.join(format!("bench-{component:04}"));
        std::fs::create_dir_all(&home)?;
        let own: Vec<usize> = (component * SETS..(component + 1) * SETS).collect();
        for set in &own {
            for (index, kind) in KINDS.iter().enumerate() {
                let text = kind(*set);
                std::fs::write(
                    home.join(format!("0000_50_bench-{component:04}_{set:04}_{index:02}.yaml")),
                    &text,
                )?;
                let _ = write!(everything, "---\n{text}");
            }
        }
        std::fs::write(home.join("image-references"), operator_images())?;
        std::fs::write(home.join("component.yaml"), page(component, &own))?;
    }
    std::fs::write(payload.join("image-references"), release_images())?;
    write_profiles(&folder.join("profiles"))?;
    std::fs::create_dir_all(kustomize.join("base"))?;
    std::fs::write(kustomize.join("base/all.yaml"), everything)?;
    std::fs::write(kustomize.join("base/kustomization.yaml"), "resources:\n- all.yaml\n")?;
    for profile in PROFILES {
        std::fs::create_dir_all(kustomize.join(profile))?;
        std::fs::write(kustomize.join(profile).join("kustomization.yaml"), overlay(profile, sets))?;
    }
    Ok(())
}

fn page(component: usize, sets: &[usize]) -> String {
    let mut page = format!(
        "{HEADER}kind: Component\nmetadata: {{name: bench-{component:04}}}\nplace:\n  \
         management: [Deployment, Service, ConfigMap, PodDisruptionBudget]\n  guest: [DaemonSet]\n  \
         both: [ServiceAccount, Role, RoleBinding]\nuses:\n"
    );
    for set in sets {
        let _ = writeln!(
            page,
            "- api: {{workload: Deployment/bench-{set}, container: operator, arg: --kubeconfig}}"
        );
    }
    page.push_str("patches:\n");
    for set in sets {
        let _ = writeln!(
            page,
            "- reason: one is enough there\n  in: [mc]\n  target: {{kind: Deployment, name: bench-{set}}}\n  \
             patch: [{{op: replace, path: /spec/replicas, value: 1}}]"
        );
    }
    page
}

fn write_profiles(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder.join("fragments"))?;
    let select = "select: {clusterProfile: self-managed-high-availability}\n";
    let profile = |name: &str, body: &str| {
        let text = format!("{HEADER}kind: Profile\nmetadata: {{name: {name}}}\n{select}{body}");
        std::fs::write(folder.join(format!("{name}.yaml")), text)
    };
    profile("standalone", "topology: standalone\ncluster: both\n")?;
    profile("guest", "topology: hosted\ncluster: guest\nstrip: [capability.openshift.io/*]\n")?;
    profile(
        "mc",
        &format!(
            "topology: hosted\ncluster: management\nnamespace: {NAMESPACE}\nstrip: [capability.openshift.io/*]\npolicy:\n\
             - for: pod\n  set:\n    metadata: {{labels: {{hosted: {NAMESPACE}}}}}\n    spec:\n      priorityClassName: hosted\n      \
             tolerations: [{{key: hosted, operator: Exists}}]\n\
             - for: container\n  default: {{terminationMessagePolicy: FallbackToLogsOnError}}\n"
        ),
    )?;
    let fragment = format!(
        "{HEADER}kind: Fragment\nmetadata: {{name: api}}\ndescription: a container talks to the guest\n\
         inputs: {{workload: workload, container: container, arg: string}}\nadds:\n\
         - {{in: [standalone, guest], nothing: one cluster}}\n\
         - in: [mc]\n  pod:\n    spec:\n      containers:\n      - name: ${{container}}\n        args: ['${{arg}}=/etc/guest/kubeconfig']\n        \
         volumeMounts: [{{name: guest, mountPath: /etc/guest, readOnly: true}}]\n      \
         volumes: [{{name: guest, secret: {{secretName: guest, defaultMode: 416}}}}]\n"
    );
    std::fs::write(folder.join("fragments/api.yaml"), fragment)
}

fn overlay(profile: &str, sets: usize) -> String {
    let mut text = format!(
        "resources:\n- ../base\nimages:\n- name: {SOURCE_IMAGE}\n  newName: {RELEASE_IMAGE}\n  digest: {DIGEST}\n"
    );
    let delete = |text: &mut String, kinds: &[&str]| {
        for kind in kinds {
            let _ = writeln!(
                text,
                "- target: {{kind: {kind}}}\n  patch: |-\n    $patch: delete\n    apiVersion: x\n    kind: {kind}\n    metadata:\n      name: x"
            );
        }
    };
    let strip = "- target: {annotationSelector: capability.openshift.io/name}\n  patch: |-\n    \
                 - {op: remove, path: /metadata/annotations/capability.openshift.io~1name}\n";
    match profile {
        "mc" => {
            let _ = writeln!(text, "namespace: {NAMESPACE}\npatches:");
            delete(&mut text, &["ClusterRole", "ClusterRoleBinding", "DaemonSet"]);
            text.push_str(strip);
            text.push_str(WORKLOADS);
            for set in 0..sets {
                let _ = writeln!(
                    text,
                    "- target: {{kind: Deployment, name: bench-{set}}}\n  patch: |-\n    - {{op: replace, path: /spec/replicas, value: 1}}"
                );
            }
        }
        "guest" => {
            text.push_str("patches:\n");
            delete(&mut text, &["Deployment", "Service", "ConfigMap", "PodDisruptionBudget"]);
            text.push_str(strip);
        }
        _ => {}
    }
    text
}

/// The patches for kustomize that change each Deployment as the fragment and the policy do.
const WORKLOADS: &str = "\
- target: {kind: Deployment}
  patch: |-
    - {op: add, path: /spec/template/metadata/labels/hosted, value: bench-target}
    - {op: replace, path: /spec/template/spec/priorityClassName, value: hosted}
    - {op: add, path: /spec/template/spec/tolerations, value: [{key: hosted, operator: Exists}]}
    - {op: add, path: /spec/template/spec/containers/0/terminationMessagePolicy, value: FallbackToLogsOnError}
    - {op: add, path: /spec/template/spec/containers/1/terminationMessagePolicy, value: FallbackToLogsOnError}
    - {op: add, path: /spec/template/spec/containers/2/terminationMessagePolicy, value: FallbackToLogsOnError}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: --kubeconfig=/etc/guest/kubeconfig}
    - {op: add, path: /spec/template/spec/containers/0/volumeMounts/-, value: {name: guest, mountPath: /etc/guest, readOnly: true}}
    - {op: add, path: /spec/template/spec/volumes/-, value: {name: guest, secret: {secretName: guest, defaultMode: 416}}}
";
