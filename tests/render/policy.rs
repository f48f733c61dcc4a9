//! Policy rules that depend on pods, containers and the objects around them.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

fn object(api_version: &str, kind: &str, name: &str, body: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: ns, annotations: {{x: x}}}}\n{body}"
    )
}

/// Creates a Deployment whose ServiceAccount is bound to a role, one whose ServiceAccount is not, and a ConfigMap.
fn folder(policy: &str, page: &str) -> Folder {
    let folder = Folder::new();
    let pod = |account: &str, more: &str| {
        format!(
            "spec: {{template: {{metadata: {{labels: {{app: a}}}}, spec: {{serviceAccountName: {account}, {more}}}}}}}\n"
        )
    };
    let first = "initContainers: [{name: i}], containers: [{name: c, volumeMounts: [{name: t, mountPath: /tmp}]}], volumes: [{name: t, emptyDir: {}}, {name: cm, configMap: {name: cm}}, {name: h, hostPath: {path: /x}}]";
    folder.write("payload/op/1.yaml", object("apps/v1", "Deployment", "a", &pod("bound", first)));
    folder.write(
        "payload/op/2.yaml",
        object(
            "apps/v1",
            "Deployment",
            "b",
            &pod("free", "containers: [{name: c}]")
                .replace("spec: {template", "spec: {replicas: 3, template"),
        ),
    );
    folder.write("payload/op/3.yaml", object("v1", "ConfigMap", "cm", "data: {k: v}\n"));
    folder.write("payload/op/4.yaml", object("rbac.authorization.k8s.io/v1", "RoleBinding", "rb", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: bound, namespace: ns}]\n"));
    folder.write("payload/op/component.yaml", file("Component", "op", page));
    folder.write(
        "profiles/one.yaml",
        file("Profile", "one", &format!("topology: t\ncluster: both\npolicy:\n{policy}")),
    );
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
    let policy = "- {for: container, when: {container.mountsTmp: false}, add: {volumeMounts: [{name: tmp-dir, mountPath: /tmp}]}}\n\
                 - {for: container, set: {securityContext: {readOnlyRootFilesystem: true}}}\n\
                 - {for: container, default: {env: [{name: SELF, value: '${container.name}'}]}}\n";
    let spec = render(&folder(policy, ""))[0]["spec"]["template"]["spec"].clone();
    assert_eq!(
        spec["initContainers"].to_string(),
        r#"[{"env":[{"name":"SELF","value":"i"}],"name":"i","securityContext":{"readOnlyRootFilesystem":true},"volumeMounts":[{"mountPath":"/tmp","name":"tmp-dir"}]}]"#
    );
    assert_eq!(
        spec["containers"].to_string(),
        r#"[{"env":[{"name":"SELF","value":"c"}],"name":"c","securityContext":{"readOnlyRootFilesystem":true},"volumeMounts":[{"mountPath":"/tmp","name":"t"}]}]"#
    );
}

#[test]
fn default_sees_the_result_of_add_and_set_that_of_default() {
    let policy = "- {for: Deployment, default: {spec: {replicas: 2}}}\n\
                 - {for: Deployment, when: {workload.replicas: 2}, set: {spec: {strategy: {type: RollingUpdate}}}}\n\
                 - {for: pod, add: {spec: {volumes: [{name: tmp-dir, emptyDir: {}}]}}}\n\
                 - {for: pod, set: {metadata: {annotations: {local: '${pod.localVolumes}', same: '${pod.labels}'}}}}\n";
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

fn hash(folder: &Folder) -> serde_json::Value {
    render(folder)[0]["spec"]["template"]["metadata"]["annotations"]["hash"].clone()
}

const HASH: &str = "- {for: pod, set: {metadata: {annotations: {hash: '${pod.configHash}'}}}}\n";

#[test]
fn the_config_hash_changes_with_every_change_of_the_mounted_configuration() {
    let folder = folder(HASH, "");
    let first = hash(&folder);
    assert_eq!(first.as_str().unwrap().len(), 16);
    assert!(
        render(&folder)[1]["spec"]["template"]["metadata"].get("annotations").is_none(),
        "a pod without configuration has no hash"
    );
    let mut seen = vec![first];
    // A renamed key, swapped values, a value that looks like a key, an empty map, another field, and no ConfigMap.
    for data in [
        "data: {j: v}\n",
        "data: {k: v, l: w}\n",
        "data: {k: w, l: v}\n",
        "data: {k: 'v,l', w: ''}\n",
        "data: {}\n",
        "binaryData: {k: v}\n",
    ] {
        folder.write("payload/op/3.yaml", object("v1", "ConfigMap", "cm", data));
        seen.push(hash(&folder));
    }
    folder.write("payload/op/3.yaml", object("v1", "ConfigMap", "other", "data: {k: v}\n"));
    seen.push(hash(&folder));
    let different: std::collections::BTreeSet<String> = seen.iter().map(ToString::to_string).collect();
    assert_eq!(different.len(), seen.len(), "{seen:?}");
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

#[test]
fn unknown_names_are_errors() {
    for (policy, message) in [
        (
            "- {for: ConfigMap, set: {data: {x: '${pod.labels}'}}}\n",
            "`${pod.labels}` stands for nothing\n  object: ConfigMap/cm in ns\n  help: there is no pod here",
        ),
        (
            "- {for: pod, set: {metadata: {labels: {x: '${pod.hash}'}}}}\n",
            "`${pod.hash}` stands for nothing\n  help: there are component.name,",
        ),
        (
            "- {for: container, set: {x: '${container.image}'}}\n",
            "`${container.image}` stands for nothing\n  help: ",
        ),
    ] {
        let run = folder(policy, "").run(&["render", "--profile", "one"]);
        assert!(run.code == 2 && run.stderr.contains(message), "{}", run.stderr);
    }
}
