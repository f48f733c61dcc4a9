//! Which objects a patch selects, and when it applies.

use serde_json::Value;

use crate::support::{TestProject, object};

fn config_map(name: &str, labels: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns, annotations: {{x: x}}, labels: {labels}}}\ndata: {{k: v}}\n"
    )
}

#[test]
fn a_label_selector_can_exclude_a_value() {
    let project = TestProject::with_deployment("", "")
        .manifest("op/2.yaml", &config_map("a", "{tier: front}"))
        .manifest("op/3.yaml", &config_map("b", "{tier: back}"))
        .manifest("op/4.yaml", &config_map("c", "{}"))
        .page(
            "op",
            r"
            place: {management: [Deployment, ConfigMap]}
            patches:
            - {reason: x, in: [mc], target: {kind: ConfigMap, labelSelector: tier!=front}, patch: {data: {k: patched}}}
            ",
        );
    let rendered = project.render("mc");
    let values: Vec<&str> =
        rendered[1..].iter().map(|object| object["data"]["k"].as_str().unwrap()).collect();
    assert_eq!(values, ["v", "patched", "patched"]);
}

/// Returns the config hash of a Deployment that mounts a ConfigMap with this value, patched by the page.
fn config_hash(value: &str, patches: &str) -> Value {
    let spec = "spec: {template: {spec: {containers: [{name: c}], volumes: [{name: v, configMap: {name: cm-1}}]}}}\n";
    let project = TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", spec))
        .manifest("op/2.yaml", &object("v1", "ConfigMap", "ns", "cm-1", &format!("data: {{k: {value}}}\n")))
        .page("op", patches)
        .profile(
            "one",
            r"
            topology: t
            cluster: both
            policy: [{for: pod, set: {metadata: {annotations: {hash: '${pod.configHash}'}}}}]
            ",
        );
    let hash = project.render("one")[0]["spec"]["template"]["metadata"]["annotations"]["hash"].clone();
    assert!(hash.is_string(), "{hash}");
    hash
}

#[test]
fn the_config_hash_includes_patches_for_names_that_match_a_regular_expression() {
    let patch =
        "patches: [{reason: x, target: {kind: ConfigMap, name: 'cm-.*'}, patch: {data: {k: patched}}}]\n";
    assert_eq!(config_hash("v", patch), config_hash("patched", ""));
    let any_kind = "patches: [{reason: x, target: {kind: 'Config.*'}, patch: {data: {k: patched}}}]\n";
    assert_eq!(config_hash("v", any_kind), config_hash("patched", ""));
}

#[test]
fn the_config_hash_ignores_patches_whose_conditions_are_not_met() {
    let patch = "patches: [{reason: x, when: {component.name: other}, target: {kind: ConfigMap}, patch: {data: {k: patched}}}]\n";
    assert_eq!(config_hash("v", patch), config_hash("v", ""));
    let active = patch.replace("component.name: other", "component.name: op");
    assert_eq!(config_hash("v", &active), config_hash("patched", ""));
}

#[test]
fn the_order_of_a_list_of_strings_can_be_set() {
    let project = TestProject::new()
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: c, namespace: ns, annotations: {x: x}, finalizers: [a/a, b/b, c/c]}
            ",
        )
        .page(
            "op",
            r"
            patches:
            - reason: x
              target: {kind: ConfigMap}
              patch: {metadata: {$setElementOrder/finalizers: [c/c, a/a, d/d], finalizers: [d/d]}}
            ",
        )
        .profile("one", "topology: t\ncluster: both\n");
    assert_eq!(
        project.render("one")[0]["metadata"]["finalizers"],
        serde_json::json!(["b/b", "c/c", "a/a", "d/d"])
    );
}
