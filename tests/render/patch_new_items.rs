//! List items that a strategic merge patch creates: those with a name must be declared under `creates`.

use serde_json::{Value, json};

use crate::support::{TestProject, item, object};

const SPEC: &str = "spec: {template: {spec: {containers: [{name: op, image: i, env: [{name: A, value: a}], ports: [{containerPort: 1}]}, {name: sidecar, image: j}], volumes: [{name: tls, secret: {secretName: s}}]}}}\n";

/// A Deployment with a patch for its pods, and further fields of the entry.
fn patched(entry: &str, pod_spec: &str) -> TestProject {
    let page = format!(
        "patches:\n- reason: a test\n  target: {{kind: Deployment}}\n  patch: {{spec: {{template: {{spec: {pod_spec}}}}}}}\n{entry}"
    );
    TestProject::standalone()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", SPEC))
        .page("op", &page)
}

fn pod_spec(project: &TestProject) -> Value {
    project.render("test")[0]["spec"]["template"]["spec"].clone()
}

#[test]
fn a_misspelled_container_is_an_error() {
    patched("", "{containers: [{name: sidecr, tty: true}]}").assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:7:56: `/spec/template/spec/containers` has no item `sidecr`, and the patch creates it
          object: Deployment.apps/d in ns
          note: applied by payload/op/component.yaml:5:3, because a test
          help: did you mean `sidecar`? if the item is new, declare it with `creates: [containers/sidecr]`
        ",
    );
}

#[test]
fn a_container_in_the_wrong_list_and_a_misspelled_volume_are_errors() {
    patched("", "{initContainers: [{name: op, tty: true}], volumes: [{name: lts, emptyDir: {}}]}")
        .assert_render_error(
            "test",
            r"
            error: payload/op/component.yaml:7:60: `/spec/template/spec/initContainers` has no item `op`, and the patch creates it
              object: Deployment.apps/d in ns
              note: applied by payload/op/component.yaml:5:3, because a test
              help: correct its name; if the item is new, declare it with `creates: [initContainers/op]`
            error: payload/op/component.yaml:7:94: `/spec/template/spec/volumes` has no item `lts`, and the patch creates it
              object: Deployment.apps/d in ns
              note: applied by payload/op/component.yaml:5:3, because a test
              help: did you mean `tls`? if the item is new, declare it with `creates: [volumes/lts]`
            2 errors
            ",
        );
}

#[test]
fn a_patch_can_create_the_items_that_it_declares() {
    let project = patched(
        "  creates: [containers/metrics, volumes/metrics, initContainers/wait]\n",
        "{containers: [{name: metrics, image: m, env: [{name: X, value: x}]}], volumes: [{name: metrics, emptyDir: {}}], initContainers: [{name: wait, image: w}]}",
    );
    let spec = pod_spec(&project);
    assert_eq!(item(&spec["containers"], "metrics")["image"], "m");
    assert_eq!(item(&spec["volumes"], "metrics")["emptyDir"], json!({}));
    assert_eq!(item(&spec["initContainers"], "wait")["image"], "w");
}

#[test]
fn an_item_that_the_patch_does_not_create_must_not_be_declared() {
    patched(
        "  creates: [containers/metrisc, containers/op, containers/metrics]\n",
        "{containers: [{name: metrics, image: m}, {name: op, tty: true}]}",
    )
    .assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:8:13: the patch does not create `containers/metrisc` in the profile `test`
          note: the object already has the item, or the patch does not have it
          help: did you mean `containers/metrics`?
        error: payload/op/component.yaml:8:33: the patch does not create `containers/op` in the profile `test`
          note: the object already has the item, or the patch does not have it
          help: remove it from `creates`
        2 errors
        ",
    );
}

/// Environment variables are what patches add most often, and other keys are values, not names.
#[test]
fn environment_variables_ports_and_references_need_no_declaration() {
    let project = patched(
        "",
        "{containers: [{name: op, env: [{name: B, value: b}], ports: [{containerPort: 2}], volumeMounts: [{name: tls, mountPath: /tls}]}], imagePullSecrets: [{name: pull}], topologySpreadConstraints: [{topologyKey: zone}]}",
    );
    let spec = pod_spec(&project);
    assert_eq!(
        spec["containers"][0]["env"],
        json!([{"name": "B", "value": "b"}, {"name": "A", "value": "a"}])
    );
    assert_eq!(spec["imagePullSecrets"], json!([{"name": "pull"}]));
}

#[test]
fn a_list_that_the_patch_replaces_needs_no_declaration() {
    let spec = pod_spec(&patched("", "{containers: [{$patch: replace}, {name: new, image: i}]}"));
    assert_eq!(spec["containers"], json!([{"name": "new", "image": "i"}]));
}

#[test]
fn a_declared_item_is_the_name_of_a_list_and_of_an_item() {
    patched("  creates: [metrics]\n", "{hostNetwork: true}").assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:8:13: `metrics` does not name an item of a list
          help: write the list and the name of the item, such as `containers/metrics`
        ",
    );
}

#[test]
fn a_json_patch_declares_no_items() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", SPEC))
        .page("op", "patches: [{reason: x, creates: [volumes/a], target: {kind: Deployment}, patch: [{op: remove, path: /spec}]}]");
    project.assert_render_error(
        "test",
        r"
        error: payload/op/component.yaml:4:11: `creates` has no effect on a JSON patch
          help: remove `creates`; it is for strategic merge patches
        ",
    );
}
