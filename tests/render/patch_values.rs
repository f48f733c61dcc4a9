//! `${…}` in the patches of pages.

use serde_json::json;

use crate::support::{TestProject, object};

const PARAMETERS: &str = r"
    parameters:
      a.text: {type: string, default: t, description: d}
      a.number: {type: int, default: 5, description: d}
      a.none: {type: string, optional: true, description: d}
    ";

fn project(page: &str) -> TestProject {
    TestProject::standalone()
        .manifest(
            "op/1.yaml",
            &object("apps/v1", "Deployment", "ns", "d", "spec: {replicas: 1, paused: true}"),
        )
        .parameters(PARAMETERS)
        .page("op", page)
}

#[test]
fn patches_of_a_page_and_of_a_file_use_values_and_parameters() {
    let project = project(
        r"
        values: {CONTROLPLANE_NAMESPACE: 'hcp-${a.text}'}
        patches:
        - reason: a map
          target: {kind: Deployment}
          patch:
            metadata:
              labels: {map: '${CONTROLPLANE_NAMESPACE}', component: '${component.name}', text: 'a $${a.text}'}
            spec: {replicas: '${a.number}', paused: '${a.none}'}
        - reason: text that contains YAML
          target: {kind: Deployment}
          patch: |-
            - op: add
              path: /metadata/labels/operation
              value: ${CONTROLPLANE_NAMESPACE}
        - {reason: a file, path: p.yaml}
        ",
    )
    .file(
        "patches/op/p.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\n  labels:\n    file: ${CONTROLPLANE_NAMESPACE}\n    literal: $${HOME}\n",
    );
    let rendered = project.render("test");
    assert_eq!(
        rendered[0]["metadata"]["labels"],
        json!({
            "map": "hcp-t", "component": "op", "text": "a ${a.text}", "operation": "hcp-t", "file": "hcp-t",
            "literal": "${HOME}",
        })
    );
    // A field whose value is absent is not in the patch, so the object keeps its own.
    assert_eq!(rendered[0]["spec"], json!({"replicas": 5, "paused": true}));
}

#[test]
fn a_name_that_is_not_defined_is_an_error_that_says_how_to_declare_or_escape_it() {
    let project = project(
        r"
        values: {x: '${a.text}${a.number}${a.none}'}
        patches: [{reason: upstream has it, path: p.yaml}]
        ",
    )
    .file(
        "patches/op/p.yaml",
        "kind: Deployment\nmetadata: {name: d}\nspec:\n  a: ${CONTROLPLANE_NAMESPACE}\n  b: ${HOME:-x}\n  c: ${a.txt}\n",
    );
    project.assert_render_error(
        "test",
        r"
        error: patches/op/p.yaml:5:6: `${` must contain a name and end with `}`
          help: write `$${` for the text `${`
        error: patches/op/p.yaml:4:6: `${CONTROLPLANE_NAMESPACE}` is not defined
          help: declare it as a parameter or under `values` of the page; write `$${CONTROLPLANE_NAMESPACE}` for the text itself
        error: patches/op/p.yaml:6:6: `${a.txt}` is not defined
          help: did you mean `${a.text}`?
        3 errors
        ",
    );
}

#[test]
fn a_parameter_that_only_a_patch_uses_is_used() {
    let project = project(
        r"
        patches:
        - {reason: x, target: {kind: Deployment}, patch: [{op: replace, path: /spec/replicas, value: '${a.number}'}]}
        - {reason: x, target: {kind: Deployment}, patch: {metadata: {labels: {a: '${a.text}', b: '${a.none}'}}}}
        ",
    );
    assert_eq!(project.render("test")[0]["spec"]["replicas"], 5);
}

/// The rendered object has the value, everything else masks it.
#[test]
fn the_value_of_a_secret_parameter_stays_masked() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "c", "data: {a: b, list: x}"))
        .parameters("parameters: {p.secret: {type: string, secret: true, description: d}}")
        .page(
            "op",
            r"
            patches:
            - {reason: x, target: {kind: ConfigMap}, patch: {data: {merged: 'm ${p.secret}'}}}
            - {reason: x, target: {kind: ConfigMap}, patch: [{op: add, path: /data/added, value: '${p.secret}'}]}
            ",
        )
        .file("values.yaml", "p.secret: zq7canary\n");
    let arguments = ["--params", "values.yaml"];
    let rendered = project.render_with("test", &arguments);
    assert_eq!(rendered[0]["data"]["merged"], "m zq7canary");
    assert_eq!(rendered[0]["data"]["added"], "zq7canary");
    let explained = project
        .run(&[&["explain", "configmap/c", "--profile", "test", "--path", "/data"][..], &arguments].concat());
    assert_eq!(explained.code, 0, "{}", explained.stderr);
    assert!(explained.stdout.contains("/data/added"), "{}", explained.stdout);
    assert!(!explained.stdout.contains("zq7canary"), "{}", explained.stdout);
}
