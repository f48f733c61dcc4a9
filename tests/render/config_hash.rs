//! The hash of a pod's configuration covers the keys that the pod uses, and nothing that its processes read again.

use serde_json::Value;

use crate::support::{TestProject, object};

/// Creates a component with a ConfigMap and a Deployment whose pod has these fields, and a profile that adds the hash.
fn project(pod: &str, data: &str) -> TestProject {
    let spec = format!("spec: {{template: {{spec: {{{pod}}}}}}}\n");
    TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", &spec))
        .manifest("op/2.yaml", &object("v1", "ConfigMap", "ns", "cm", &format!("data: {data}\n")))
        .profile(
            "one",
            r"
            topology: t
            cluster: both
            policy: [{for: pod, set: {metadata: {annotations: {hash: '${pod.configHash}'}}}}]
            ",
        )
}

fn hash(project: &TestProject) -> Value {
    project.render("one")[0]["spec"]["template"]["metadata"]["annotations"]["hash"].clone()
}

const CONTAINERS: &str = "containers: [{name: c}]";

#[test]
fn only_the_keys_that_a_pod_uses_count() {
    for (pod, uses_b) in [
        ("containers: [{name: c}], volumes: [{name: v, configMap: {name: cm}}]", true),
        ("containers: [{name: c}], volumes: [{name: v, configMap: {name: cm, items: []}}]", true),
        (
            "containers: [{name: c}], volumes: [{name: v, configMap: {name: cm, items: [{key: a, path: a}]}}]",
            false,
        ),
        (
            "containers: [{name: c}], volumes: [{name: v, projected: {sources: [{configMap: {name: cm, items: [{key: a, path: a}]}}]}}]",
            false,
        ),
        (
            "containers: [{name: c, env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: a}}}]}]",
            false,
        ),
        ("containers: [{name: c, env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: b}}}]}]", true),
        ("containers: [{name: c, envFrom: [{configMapRef: {name: cm}}]}]", true),
        // Two references use the keys of both.
        (
            "containers: [{name: c, env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: a}}}]}], volumes: [{name: v, configMap: {name: cm, items: [{key: b, path: b}]}}]",
            true,
        ),
        (
            "containers: [{name: c, env: [{name: A, valueFrom: {configMapKeyRef: {name: cm, key: a}}}]}], volumes: [{name: v, configMap: {name: cm}}]",
            true,
        ),
    ] {
        let before = hash(&project(pod, "{a: '1', b: '1'}"));
        assert!(before.is_string(), "{pod}");
        assert_ne!(before, hash(&project(pod, "{a: '2', b: '1'}")).to_string(), "{pod}");
        let changes = before != hash(&project(pod, "{a: '1', b: '2'}"));
        assert_eq!(changes, uses_b, "{pod}");
    }
}

/// A pod may use the ConfigMap of another component. The page of its own component says what its processes read again.
#[test]
fn the_page_of_the_pod_says_what_is_read_again() {
    let pod = format!(
        "{CONTAINERS}, volumes: [{{name: v, configMap: {{name: cm}}}}, {{name: w, configMap: {{name: shared}}}}]"
    );
    let two = |value: &str, page: &str, other_page: &str| {
        let shared = object("v1", "ConfigMap", "ns", "shared", &format!("data: {{k: {value}}}\n"));
        project(&pod, "{a: '1'}").manifest("other/1.yaml", &shared).page("op", page).page("other", other_page)
    };
    let reloads = "reloads: {ConfigMap/shared: its processes read the file again}\n";
    assert_ne!(hash(&two("a", "", "")), hash(&two("b", "", "")));
    assert_eq!(hash(&two("a", reloads, "")), hash(&two("b", reloads, "")));
    let other = two("a", "", reloads);
    assert_eq!(hash(&other), hash(&two("a", "", "")), "the pod is of another component");
}

#[test]
fn a_secret_that_is_read_again_does_not_change_the_hash() {
    let pod = format!(
        "{CONTAINERS}, volumes: [{{name: v, configMap: {{name: cm}}}}, {{name: w, secret: {{secretName: cert}}}}]"
    );
    let secret = |value: &str| object("v1", "Secret", "ns", "cert", &format!("stringData: {{k: {value}}}\n"));
    let with = |value: &str, page: &str| {
        project(&pod, "{a: '1'}").manifest("op/3.yaml", &secret(value)).page("op", page)
    };
    for (entry, is_left_out) in [("Secret/cert", true), ("Secret/ns/cert", true), ("ConfigMap/cm", false)] {
        let page = format!("reloads: {{{entry}: its processes read the file again}}\n");
        assert_eq!(hash(&with("a", &page)) == hash(&with("b", &page)), is_left_out, "{entry}");
    }
    let alone = format!("{CONTAINERS}, volumes: [{{name: w, secret: {{secretName: cert}}}}]");
    let page = "reloads: {Secret/cert: its processes read the file again}\n";
    let project = project(&alone, "{a: '1'}").page("op", page);
    assert_eq!(hash(&project), Value::Null, "there is nothing else");
}

#[test]
fn misuse_of_reloads() {
    let pod = format!("{CONTAINERS}, volumes: [{{name: v, configMap: {{name: cm}}}}]");
    let error =
        |reloads: &str| project(&pod, "{}").page("op", &format!("reloads: {reloads}\n")).render_error("one");
    assert_eq!(
        error("[Secret/cert]"),
        "error: payload/op/component.yaml:4:10: `reloads` must be a map of objects and reasons, not a list\n"
    );
    assert_eq!(
        error("{Secret/cert: 1}"),
        "error: payload/op/component.yaml:4:24: `reloads` must be text, not a number\n"
    );
    for entry in ["Secret", "Deployment/d", "Secret.example.test/cert"] {
        assert_eq!(
            error(&format!("{{{entry}: it reads the file again}}")),
            format!(
                "error: payload/op/component.yaml:4:11: `{entry}` names no ConfigMap and no Secret\n  help: write `Secret/name:` or `ConfigMap/name:` with the reason\n"
            )
        );
    }
    assert_eq!(
        error("{a/b/c/d: it reads the file again}"),
        "error: payload/op/component.yaml:4:11: `a/b/c/d` is not a selector: it has more than two `/`\n  help: write `Kind`, `Kind/name` or `Kind.group/namespace/name`, such as Deployment/csi-snapshot-controller\n"
    );
}

/// A fragment may add the volume, and someone else may create the object, so an entry counts if a pod can use it.
#[test]
fn an_entry_of_reloads_that_matches_nothing_is_an_error() {
    let volume = |volume: &str| format!("{CONTAINERS}, volumes: [{{name: v, {volume}}}]");
    let none = volume("configMap: {name: cm}");
    let page = |more: &str| format!("reloads: {{Secret/cert: it reads the file again}}\n{more}");
    let error = project(&none, "{}").page("op", &page("")).render_error("one");
    assert_eq!(
        error,
        "error: payload/op/component.yaml:4:11: no manifest matches `Secret/cert`\n  help: remove the entry\n"
    );
    let near = project(&none, "{}")
        .page("op", "reloads: {ConfigMap/cn: it reads the file again}\n")
        .render_error("one");
    assert_eq!(
        near,
        "error: payload/op/component.yaml:4:11: no manifest matches `ConfigMap/cn`\n  help: did you mean `ConfigMap/cm`?\n"
    );
    let issued = "adds: [{objects: [{apiVersion: transship.openshift.io/v1, kind: IssuedCertificate, metadata: {name: cert, namespace: ns}, spec: {signer: ca, service: op}}]}]\n";
    let added = "adds: [{for: Deployment/d, pod: {volumes: [{name: w, secret: {secretName: cert}}]}}]\n";
    let patched = "patches: [{reason: x, creates: [volumes/w], target: {kind: Deployment}, patch: {spec: {template: {spec: {volumes: [{name: w, secret: {secretName: cert}}]}}}}}]\n";
    for more in [issued, added, patched] {
        assert_eq!(
            project(&none, "{}").page("op", &page(more)).run(&["render", "--profile", "one"]).stderr,
            "",
            "{more}"
        );
    }
    for mounted in ["secret: {secretName: cert}", "projected: {sources: [{secret: {name: cert}}]}"] {
        let external = project(&volume(mounted), "{}").page("op", &page(""));
        assert_eq!(external.run(&["render", "--profile", "one"]).stderr, "", "{mounted}");
    }
    let fragment = project(&none, "{}")
        .page("op", &page("uses: [{tls: {workload: Deployment/d, secret: cert}}]\n"))
        .fragment("tls", "inputs: {workload: workload, secret: name}\nadds: [{pod: {volumes: [{name: w, secret: {secretName: '${secret}'}}]}}]\n");
    assert_eq!(fragment.run(&["render", "--profile", "one"]).stderr, "");
}
