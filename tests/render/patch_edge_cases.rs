//! Patches for objects that are easily confused.

use crate::support::{TestProject, object};

#[test]
fn a_patch_applies_to_the_object_that_it_names() {
    let project = TestProject::with_deployment("", "")
        .manifest("op/2.yaml", &object("v1", "ConfigMap", "ns", "c", "data: {}\n"))
        .manifest("op/3.yaml", &object("v1", "ConfigMap", "zz", "c", "data: {}\n"));
    let page = |patch: &str| {
        format!(
            "place: {{management: [Deployment, ConfigMap]}}\npatches: [{{reason: x, in: [mc], patch: {patch}}}]\n"
        )
    };
    let project = project.page(
        "op",
        &page("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: zz}, data: {k: v}}"),
    );
    let rendered = project.render("mc");
    assert_eq!(
        (rendered[1]["data"].to_string().as_str(), rendered[2]["data"].to_string().as_str()),
        ("{}", r#"{"k":"v"}"#)
    );
    let project = project.page(
        "op",
        &page("{apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2}}"),
    );
    assert!(project.render_error("mc").contains("the patch matches no object of `op`"));
}

#[test]
fn a_custom_resource_is_merged_with_the_schema_of_its_own_version() {
    let project = TestProject::with_deployment("", "");
    let list = |more: &str| {
        format!(
            "schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{l: {{type: array{more}, items: {{type: object, properties: {{name: {{type: string}}}}}}}}}}}}}}}}}}"
        )
    };
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: xs.x.y, annotations: {{x: x}}}}\nspec: {{group: x.y, scope: Namespaced, names: {{kind: X, plural: xs}}, versions: [{{name: v1alpha1, {}}}, {{name: v1, {}}}]}}\n",
        list(""),
        list(", x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]")
    );
    let project = project.manifest("op/2.yaml", &crd)
        .manifest("op/3.yaml", &object("x.y/v1", "X", "ns", "one", "spec: {l: [{name: a}]}\n"))
        .page(
            "op",
            r"
            place: {management: [Deployment, X]}
            patches: [{reason: x, in: [mc], target: {kind: X}, patch: {metadata: {labels: {a: b}}, spec: {l: [{name: b}]}}}]
            ",
        );
    assert_eq!(project.render("mc")[1]["spec"]["l"].to_string(), r#"[{"name":"a"},{"name":"b"}]"#);
}
