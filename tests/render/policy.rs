//! Policy rules that depend on pods, containers and the objects around them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{TestProject, object};

const BOUND: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: a, namespace: ns, annotations: {x: x}}
    spec:
      template:
        metadata: {labels: {app: a}}
        spec:
          serviceAccountName: bound
          initContainers: [{name: i}]
          containers: [{name: c, volumeMounts: [{name: t, mountPath: /tmp}]}]
          volumes:
          - {name: t, emptyDir: {}}
          - {name: cm, configMap: {name: cm}}
          - {name: h, hostPath: {path: /x}}
    ";

const UNBOUND: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: b, namespace: ns, annotations: {x: x}}
    spec:
      replicas: 3
      template:
        metadata: {labels: {app: a}}
        spec:
          serviceAccountName: free
          containers: [{name: c}]
    ";

const BINDING: &str = r"
    apiVersion: rbac.authorization.k8s.io/v1
    kind: RoleBinding
    metadata: {name: rb, namespace: ns, annotations: {x: x}}
    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
    subjects: [{kind: ServiceAccount, name: bound, namespace: ns}]
    ";

/// Creates a Deployment whose `ServiceAccount` is bound to a role, one whose `ServiceAccount` is not, and a ConfigMap. The
/// profile `one` has these fields.
fn project_with_policy(policy: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", BOUND)
        .manifest("op/2.yaml", UNBOUND)
        .manifest("op/3.yaml", &object("v1", "ConfigMap", "ns", "cm", "data: {k: v}"))
        .manifest("op/4.yaml", BINDING)
        .profile("one", policy)
}

#[test]
fn uses_own_api_is_true_if_a_binding_names_the_service_account() {
    let project = project_with_policy(
        r"
        topology: t
        cluster: both
        policy:
        - {for: pod, when: {pod.usesOwnApi: false}, set: {spec: {automountServiceAccountToken: false}}}
        ",
    );
    let rendered = project.render("one");
    assert_eq!(rendered[0]["spec"]["template"]["spec"].get("automountServiceAccountToken"), None);
    assert_eq!(rendered[1]["spec"]["template"]["spec"]["automountServiceAccountToken"], false);
}

#[test]
fn conditions_on_containers_are_checked_for_each_container_and_init_container() {
    let project = project_with_policy(
        r"
        topology: t
        cluster: both
        policy:
        - {for: container, when: {container.mountsTmp: false}, add: {volumeMounts: [{name: tmp-dir, mountPath: /tmp}]}}
        - {for: container, set: {securityContext: {readOnlyRootFilesystem: true}}}
        - {for: container, default: {env: [{name: SELF, value: '${container.name}'}]}}
        ",
    );
    let spec = &project.render("one")[0]["spec"]["template"]["spec"];
    assert_eq!(
        spec["initContainers"],
        json!([{
            "env": [{"name": "SELF", "value": "i"}],
            "name": "i",
            "securityContext": {"readOnlyRootFilesystem": true},
            "volumeMounts": [{"mountPath": "/tmp", "name": "tmp-dir"}],
        }])
    );
    assert_eq!(
        spec["containers"],
        json!([{
            "env": [{"name": "SELF", "value": "c"}],
            "name": "c",
            "securityContext": {"readOnlyRootFilesystem": true},
            "volumeMounts": [{"mountPath": "/tmp", "name": "t"}],
        }])
    );
}

#[test]
fn default_sees_the_result_of_add_and_set_that_of_default() {
    let project = project_with_policy(
        r"
        topology: t
        cluster: both
        policy:
        - {for: Deployment, default: {spec: {replicas: 2}}}
        - {for: Deployment, when: {workload.replicas: 2}, set: {spec: {strategy: {type: RollingUpdate}}}}
        - {for: pod, add: {spec: {volumes: [{name: tmp-dir, emptyDir: {}}]}}}
        - {for: pod, set: {metadata: {annotations: {local: '${pod.localVolumes}', same: '${pod.labels}'}}}}
        ",
    );
    let rendered = project.render("one");
    let without_replicas = &rendered[0]["spec"];
    assert_eq!(without_replicas["replicas"], 2);
    assert_eq!(without_replicas["strategy"], json!({"type": "RollingUpdate"}));
    assert_eq!(
        without_replicas["template"]["metadata"]["annotations"],
        json!({"local": "t,h,tmp-dir", "same": {"app": "a"}})
    );
    let with_replicas = &rendered[1]["spec"];
    assert_eq!(with_replicas["replicas"], 3);
    assert_eq!(with_replicas.get("strategy"), None);
}

const HASH: &str = r"
    topology: t
    cluster: both
    policy:
    - {for: pod, set: {metadata: {annotations: {hash: '${pod.configHash}'}}}}
    ";

fn hash(project: &TestProject) -> Value {
    project.render("one")[0]["spec"]["template"]["metadata"]["annotations"]["hash"].clone()
}

#[test]
fn the_config_hash_changes_with_every_change_of_the_mounted_configuration() {
    let mut project = project_with_policy(HASH);
    let first = hash(&project);
    assert_eq!(first.as_str().unwrap().len(), 16);
    let mut hashes = vec![first];
    for (name, data) in [
        // A renamed key, another key, swapped values, a value that looks like a key.
        ("cm", "data: {j: v}"),
        ("cm", "data: {k: v, l: w}"),
        ("cm", "data: {k: w, l: v}"),
        ("cm", "data: {k: 'v,l', w: ''}"),
        // No keys, another field, no ConfigMap.
        ("cm", "data: {}"),
        ("cm", "binaryData: {k: v}"),
        ("other", "data: {k: v}"),
    ] {
        project = project.manifest("op/3.yaml", &object("v1", "ConfigMap", "ns", name, data));
        hashes.push(hash(&project));
    }
    let different: BTreeSet<String> = hashes.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), hashes.len(), "{hashes:?}");
}

#[test]
fn a_pod_without_configuration_has_no_config_hash() {
    let rendered = project_with_policy(HASH).render("one");
    assert_eq!(rendered[1]["spec"]["template"]["metadata"].get("annotations"), None);
}

#[test]
fn the_config_hash_includes_policy_and_patches() {
    let plain = project_with_policy(HASH);
    let patched = project_with_policy(HASH)
        .page("op", "patches: [{reason: x, target: {kind: ConfigMap}, patch: {data: {k: changed}}}]");
    let set = project_with_policy(
        r"
        topology: t
        cluster: both
        policy:
        - {for: pod, set: {metadata: {annotations: {hash: '${pod.configHash}'}}}}
        - {for: ConfigMap, set: {data: {k: changed}}}
        ",
    );
    assert_ne!(hash(&plain), hash(&patched));
    assert_eq!(hash(&patched), hash(&set), "the same content has the same hash");
}

/// The config hash needs the result of patches before they are applied. Their errors are reported once, when they are
/// applied.
#[test]
fn an_error_in_a_patch_is_reported_once_if_the_config_hash_needs_the_patch() {
    let project = project_with_policy(HASH).page(
        "op",
        "patches: [{reason: x, target: {kind: ConfigMap}, patch: [{op: remove, path: /data/none}]}]",
    );
    project.assert_render_error(
        "one",
        r"
        error: payload/op/component.yaml:4:77: the object does not have the key `none`, which the path `/data/none` names
          object: ConfigMap/cm in ns
          note: applied by payload/op/component.yaml:4:11, because x
        ",
    );
}

#[test]
fn a_kind_without_pods_has_no_names_of_pods() {
    let project = project_with_policy(
        r"
        topology: t
        cluster: both
        policy: [{for: ConfigMap, set: {data: {x: '${pod.labels}'}}}]
        ",
    );
    project.assert_render_error(
        "one",
        r"
        error: profiles/one.yaml:6:43: `${pod.labels}` is not defined
          object: ConfigMap/cm in ns
          help: a ConfigMap has no pods
        ",
    );
}

#[test]
fn unknown_names_of_pods_and_containers_are_errors() {
    for (rule, message) in [
        (
            "{for: pod, set: {metadata: {labels: {x: '${pod.hash}'}}}}",
            r"
            error: profiles/one.yaml:6:50: `${pod.hash}` is not defined
              help: the built-in names are component.name, component.owner, container.init, container.mountsTmp, container.name, lookup.value, pod.configHash, pod.labels, pod.localVolumes, pod.mountsTmp, pod.usesOwnApi, release.version, volume.name, volume.source, workload.kind, workload.name, workload.namespace, workload.replicas, workload.serviceAccount
            ",
        ),
        (
            "{for: container, set: {x: '${container.image}'}}",
            r"
            error: profiles/one.yaml:6:36: `${container.image}` is not defined
              help: did you mean `${container.name}`?
            ",
        ),
    ] {
        let project = project_with_policy(&format!("topology: t\ncluster: both\npolicy: [{rule}]"));
        project.assert_render_error("one", message);
    }
}
