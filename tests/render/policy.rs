//! Policy rules that depend on pods, containers and the objects around them.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

const BOUND: &str = "\
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

const UNBOUND: &str = "\
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

const BINDING: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: rb, namespace: ns, annotations: {x: x}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: bound, namespace: ns}]
";

fn config_map(name: &str, data: &str) -> String {
    format!(
        "\
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: ns, annotations: {{x: x}}}}
{data}
"
    )
}

/// Creates a Deployment whose ServiceAccount is bound to a role, one whose ServiceAccount is not, and a ConfigMap.
fn folder(policy: &str, page: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", BOUND);
    folder.write("payload/op/2.yaml", UNBOUND);
    folder.write("payload/op/3.yaml", config_map("cm", "data: {k: v}"));
    folder.write("payload/op/4.yaml", BINDING);
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    let profile = format!("topology: t\ncluster: both\npolicy:\n{policy}");
    folder.write("profiles/one.yaml", file("Profile", "one", &profile));
    folder
}

fn render(folder: &Folder) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", "one", "-o", "json"]).json()
}

#[test]
fn uses_own_api_is_true_if_a_binding_names_the_service_account() {
    let folder = folder(
        "- {for: pod, when: {pod.usesOwnApi: false}, set: {spec: {automountServiceAccountToken: false}}}\n",
        "",
    );
    let rendered = render(&folder);
    let automount = |index: usize| {
        rendered[index]["spec"]["template"]["spec"].get("automountServiceAccountToken").cloned()
    };
    assert_eq!((automount(0), automount(1)), (None, Some(false.into())));
}

#[test]
fn conditions_on_containers_are_checked_for_each_container_and_init_container() {
    let policy = "\
- {for: container, when: {container.mountsTmp: false}, add: {volumeMounts: [{name: tmp-dir, mountPath: /tmp}]}}
- {for: container, set: {securityContext: {readOnlyRootFilesystem: true}}}
- {for: container, default: {env: [{name: SELF, value: '${container.name}'}]}}
";
    let spec = render(&folder(policy, ""))[0]["spec"]["template"]["spec"].clone();
    assert_eq!(
        spec["initContainers"],
        serde_json::json!([{
            "env": [{"name": "SELF", "value": "i"}],
            "name": "i",
            "securityContext": {"readOnlyRootFilesystem": true},
            "volumeMounts": [{"mountPath": "/tmp", "name": "tmp-dir"}],
        }])
    );
    assert_eq!(
        spec["containers"],
        serde_json::json!([{
            "env": [{"name": "SELF", "value": "c"}],
            "name": "c",
            "securityContext": {"readOnlyRootFilesystem": true},
            "volumeMounts": [{"mountPath": "/tmp", "name": "t"}],
        }])
    );
}

#[test]
fn default_sees_the_result_of_add_and_set_that_of_default() {
    let policy = "\
- {for: Deployment, default: {spec: {replicas: 2}}}
- {for: Deployment, when: {workload.replicas: 2}, set: {spec: {strategy: {type: RollingUpdate}}}}
- {for: pod, add: {spec: {volumes: [{name: tmp-dir, emptyDir: {}}]}}}
- {for: pod, set: {metadata: {annotations: {local: '${pod.localVolumes}', same: '${pod.labels}'}}}}
";
    let rendered = render(&folder(policy, ""));
    assert_eq!(rendered[0]["spec"]["replicas"], 2);
    assert_eq!(rendered[0]["spec"]["strategy"]["type"], "RollingUpdate");
    assert_eq!(
        (rendered[1]["spec"]["replicas"].as_i64(), rendered[1]["spec"].get("strategy")),
        (Some(3), None)
    );
    let annotations = &rendered[0]["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations.to_string(), r#"{"local":"t,h,tmp-dir","same":{"app":"a"}}"#);
}

const HASH: &str = "- {for: pod, set: {metadata: {annotations: {hash: '${pod.configHash}'}}}}\n";

fn hash(folder: &Folder) -> serde_json::Value {
    render(folder)[0]["spec"]["template"]["metadata"]["annotations"]["hash"].clone()
}

#[test]
fn the_config_hash_changes_with_every_change_of_the_mounted_configuration() {
    let folder = folder(HASH, "");
    let first = hash(&folder);
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
        folder.write("payload/op/3.yaml", config_map(name, data));
        hashes.push(hash(&folder));
    }
    let different: std::collections::BTreeSet<String> = hashes.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), hashes.len(), "{hashes:?}");
}

#[test]
fn a_pod_without_configuration_has_no_config_hash() {
    let rendered = render(&folder(HASH, ""));
    assert!(rendered[1]["spec"]["template"]["metadata"].get("annotations").is_none());
}

#[test]
fn the_config_hash_includes_policy_and_patches() {
    let plain = folder(HASH, "");
    let patch = "patches: [{reason: x, target: {kind: ConfigMap}, patch: {data: {k: changed}}}]\n";
    let patched = folder(HASH, patch);
    let set = folder(&format!("{HASH}- {{for: ConfigMap, set: {{data: {{k: changed}}}}}}\n"), "");
    assert_ne!(hash(&plain), hash(&patched));
    assert_eq!(hash(&patched), hash(&set), "the same content has the same hash");
}

/// The config hash needs the result of patches before they are applied. Their errors are reported once, when they are
/// applied.
#[test]
fn an_error_in_a_patch_is_reported_once_if_the_config_hash_needs_the_patch() {
    let patch =
        "patches: [{reason: x, target: {kind: ConfigMap}, patch: [{op: remove, path: /data/none}]}]\n";
    assert_eq!(
        folder(HASH, patch).run(&["render", "--profile", "one"]).refusal(),
        "error: payload/op/component.yaml:4:77: the object does not have the key `none`, which the path `/data/none` names\n  \
         object: ConfigMap/cm in ns\n  \
         note: applied by payload/op/component.yaml:4:11, because x\n"
    );
}

#[test]
fn unknown_names_are_errors() {
    for (policy, message) in [
        (
            "- {for: ConfigMap, set: {data: {x: '${pod.labels}'}}}\n",
            "`${pod.labels}` is not defined\n  object: ConfigMap/cm in ns\n  help: a ConfigMap has no pods",
        ),
        (
            "- {for: pod, set: {metadata: {labels: {x: '${pod.hash}'}}}}\n",
            "`${pod.hash}` is not defined\n  help: the built-in names are component.name,",
        ),
        (
            "- {for: container, set: {x: '${container.image}'}}\n",
            "`${container.image}` is not defined\n  help: ",
        ),
    ] {
        let shown = folder(policy, "").run(&["render", "--profile", "one"]).refusal();
        assert!(shown.contains(message), "{shown}");
    }
}
