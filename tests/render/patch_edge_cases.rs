//! Patches for objects that are easily confused.

use serde_json::json;

use crate::support::{TestProject, object};

#[test]
fn a_patch_applies_to_the_object_in_the_namespace_that_it_names() {
    let project = TestProject::with_deployment("", "")
        .manifest("op/2.yaml", &object("v1", "ConfigMap", "ns", "c", "data: {}"))
        .manifest("op/3.yaml", &object("v1", "ConfigMap", "zz", "c", "data: {}"))
        .page(
            "op",
            r"
            place: {management: [Deployment, ConfigMap]}
            patches:
            - reason: x
              in: [mc]
              patch: {apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: zz}, data: {k: v}}
            ",
        );
    let rendered = project.render("mc");
    assert_eq!(rendered[1]["data"], json!({}));
    assert_eq!(rendered[2]["data"], json!({"k": "v"}));
}

#[test]
fn a_patch_does_not_apply_to_an_object_of_another_group() {
    let project = TestProject::with_deployment(
        r"
        patches:
        - reason: x
          in: [mc]
          patch: {apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2}}
        ",
        "",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:6:3: the patch matches no object of `op` in the profile `mc`
          help: did you mean `Deployment/d`?
        ",
    );
}

#[test]
fn a_custom_resource_is_merged_with_the_schema_of_its_own_version() {
    let crd = r"
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: xs.x.y, annotations: {x: x}}
        spec:
          group: x.y
          scope: Namespaced
          names: {kind: X, plural: xs}
          versions:
          - name: v1alpha1
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      l: {type: array, items: {type: object, properties: {name: {type: string}}}}
          - name: v1
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      l:
                        type: array
                        x-kubernetes-list-type: map
                        x-kubernetes-list-map-keys: [name]
                        items: {type: object, properties: {name: {type: string}}}
        ";
    let project = TestProject::with_deployment("", "")
        .manifest("op/2.yaml", crd)
        .manifest("op/3.yaml", &object("x.y/v1", "X", "ns", "one", "spec: {l: [{name: a}]}"))
        .page(
            "op",
            r"
            place: {management: [Deployment, X]}
            patches:
            - reason: x
              in: [mc]
              target: {kind: X}
              creates: [l/b]
              patch: {metadata: {labels: {a: b}}, spec: {l: [{name: b}]}}
            ",
        );
    assert_eq!(project.render("mc")[1]["spec"]["l"], json!([{"name": "b"}, {"name": "a"}]));
}
