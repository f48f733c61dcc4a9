//! How additions find the items and objects that they add to, and where new objects live.

use serde_json::json;

use crate::support::{TestProject, names, object};

#[test]
fn a_flag_without_a_value_is_merged_on_its_own() {
    let args = "spec: {template: {spec: {containers: [{name: c, args: [--debug, --config, same.yaml]}]}}}\n";
    let project = TestProject::with_deployment("", "")
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", args))
        .page(
            "op",
            r"
            place: {management: [Deployment]}
            values: {workload: Deployment/d}
            adds: [{pod: {spec: {containers: [{name: c, args: [--debug, --other=1]}]}}}]
            ",
        );
    assert_eq!(
        project.render("mc")[0]["spec"]["template"]["spec"]["containers"][0]["args"],
        json!(["--debug", "--config", "same.yaml", "--other=1"])
    );
}

#[test]
fn a_subject_that_exists_gets_new_fields() {
    let binding = "subjects: [{kind: ServiceAccount, name: p, namespace: a}]\n";
    let project = TestProject::with_deployment("", "")
        .manifest("op/2.yaml", &object("rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b", binding))
        .page(
            "op",
            r"
            place: {management: [Deployment, RoleBinding]}
            adds:
            - in: [mc]
              objects:
              - apiVersion: rbac.authorization.k8s.io/v1
                kind: RoleBinding
                metadata: {name: b, namespace: ns}
                subjects: [{kind: ServiceAccount, name: p, namespace: a, apiGroup: ''}]
            ",
        );
    assert_eq!(
        project.render("mc")[1]["subjects"],
        json!([{"kind": "ServiceAccount", "name": "p", "namespace": "a", "apiGroup": ""}])
    );
}

#[test]
fn a_fragment_adds_its_objects_to_the_guest_even_if_its_workload_is_elsewhere() {
    let project = TestProject::with_deployment("uses: [{twin: {workload: Deployment/d}}]\n", "").fragment(
        "twin",
        r"
        inputs: {workload: workload}
        adds:
        - {pod: {spec: {volumes: [{name: new, emptyDir: {}}]}}}
        - {in: [guest], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}}]}
        ",
    );
    assert_eq!(names(&project.render("guest")), ["ConfigMap/c"]);
    let mc = project.render("mc");
    assert_eq!(names(&mc), ["Deployment/d"]);
    assert_eq!(mc[0]["spec"]["template"]["spec"]["volumes"][1]["name"], "new");
}

#[test]
fn an_addition_without_a_namespace_adds_to_an_object_that_a_later_addition_creates() {
    let project = TestProject::with_deployment("", "").page(
        "op",
        r"
        place: {management: [Deployment]}
        adds:
        - {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {first: a}}]}
        - {in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: other}, data: {second: b}}]}
        ",
    );
    let rendered = project.render("mc");
    assert_eq!(names(&rendered), ["Deployment/d", "ConfigMap/c"]);
    assert_eq!(rendered[1]["metadata"]["namespace"], "other");
    assert_eq!(rendered[1]["data"], json!({"first": "a", "second": "b"}));
}

#[test]
fn a_new_object_without_in_lives_where_the_page_places_it() {
    let project = TestProject::with_deployment("", "").page(
        "op",
        r"
        place: {management: [Deployment, ConfigMap/here], both: [ConfigMap/everywhere]}
        adds:
        - objects:
          - {apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: ns}}
          - {apiVersion: v1, kind: ConfigMap, metadata: {name: everywhere, namespace: ns}}
        ",
    );
    assert_eq!(names(&project.render("mc")), ["Deployment/d", "ConfigMap/here", "ConfigMap/everywhere"]);
    assert_eq!(names(&project.render("guest")), ["ConfigMap/everywhere"]);
}
