//! Additions of pages and fragments: how they are merged, and where new objects live.

use serde_json::json;

use crate::support::{TestProject, names, object};

#[test]
fn an_annotation_cannot_place_a_cluster_scoped_object_in_the_management_cluster() {
    let project = TestProject::with_deployment("", "select: {clusterProfile: hosted}").manifest(
        "op/2.yaml",
        r"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: r, annotations: {include.release.openshift.io/mc: 'true'}}
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/2.yaml:1:1: a cluster-scoped object cannot live in the management cluster
          object: ClusterRole.rbac.authorization.k8s.io/r
          help: remove the annotation `include.release.openshift.io/<profile>` for the management cluster
        ",
    );
}

#[test]
fn an_addition_cannot_add_a_cluster_scoped_object_to_the_management_cluster() {
    let project = TestProject::with_deployment(
        r"
        adds:
        - in: [mc]
          objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}}]
        ",
        "",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:6:3: a cluster-scoped object cannot be in a hosted control plane's namespace
          object: ClusterRoleBinding.rbac.authorization.k8s.io/b
          help: limit the addition to profiles of the guest with `in`
        ",
    );
}

#[test]
fn the_order_of_additions_does_not_change_the_result() {
    for (first, second) in [
        (
            "{pod: {spec: {initContainers: [{name: i1}]}}}",
            "{pod: {spec: {containers: [{name: i1, image: q}]}}}",
        ),
        (
            "{in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}, data: {k: v}}]}",
            "{in: [mc], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: v}}]}",
        ),
    ] {
        let values = "values: {workload: Deployment/d}";
        let one = TestProject::with_deployment(&format!("{values}\nadds: [{first}, {second}]"), "");
        let other = TestProject::with_deployment(&format!("{values}\nadds: [{second}, {first}]"), "");
        assert_eq!(one.render("mc"), other.render("mc"));
    }
}

#[test]
fn additions_that_set_a_field_to_different_values_are_an_error() {
    for (additions, expected) in [
        (
            "{pod: {spec: {volumes: [{name: v, secret: {secretName: s}}]}}}",
            r#"
            error: payload/op/component.yaml:6:32: `/spec/template/spec/volumes/[name=v]` cannot be set to `{"name":"v","secret":{"secretName":"s"}}`, because it is `{"emptyDir":{},"name":"v"}`
              object: Deployment.apps/d in ns
              note: the other value is at payload/op/1.yaml:4:119
              help: give both the same value, or remove this one and change the field with `patches` in the page
            "#,
        ),
        (
            "{pod: {spec: {containers: [{name: c, env: [{name: E, value: x}]}]}}}, \
             {pod: {spec: {containers: [{name: c, env: [{name: E, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}",
            r#"
            error: payload/op/component.yaml:6:121: `/spec/template/spec/containers/[name=c]/env/[name=E]` cannot be set to `{"name":"E","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}`, because it is `{"name":"E","value":"x"}`
              object: Deployment.apps/d in ns
              note: the other value is at payload/op/component.yaml:6:51
              help: give both the same value, or remove this one and change the field with `patches` in the page
            "#,
        ),
        (
            "{pod: {spec: {containers: [{name: c, args: [--config, else.yaml]}]}}}",
            r"
            error: payload/op/component.yaml:6:52: `/spec/template/spec/containers/[name=c]/args/[--config]` cannot be set to `else.yaml`, because it is `same.yaml`
              object: Deployment.apps/d in ns
              note: the other value is at payload/op/1.yaml:4:85
              help: give both the same value, or remove this one and change the field with `patches` in the page
            ",
        ),
        (
            "{pod: {spec: {containers: {name: c}}}}",
            r"
            error: payload/op/component.yaml:6:34: `containers` is a list, not a map
              object: Deployment.apps/d in ns
            ",
        ),
        (
            "{intents: {proxy: keep}}, {intents: {proxy: {refuse: x}}}",
            r"
            error: payload/op/component.yaml:6:45: two additions handle the intent `proxy` differently
              note: the other is at payload/op/component.yaml:6:19
              help: limit one of them with `in` or `when`
            ",
        ),
    ] {
        let page = format!("values: {{workload: Deployment/d}}\nadds: [{additions}]");
        TestProject::with_deployment(&page, "").assert_render_error("mc", expected);
    }
}

#[test]
fn the_error_for_two_values_shows_no_secret() {
    let project = TestProject::with_deployment("", "")
    .manifest("op/2.yaml", &object("v1", "Secret", "ns", "s", "stringData: {k: zq7manifest}"))
    .parameters("parameters: {p.secret: {type: string, secret: true, default: zq7parameter, description: d}}")
    .page(
        "op",
        r"
        place: {management: [Deployment, Secret]}
        values: {workload: Deployment/d}
        adds:
        - {pod: {spec: {hostname: '${p.secret}'}}}
        - {pod: {spec: {hostname: shown}}}
        - {objects: [{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, stringData: {k: zq7added}}]}
        ",
    );
    let error = project.render_error("mc");
    assert!(error.contains("`/spec/template/spec/hostname` cannot be set to `shown`"), "{error}");
    assert!(error.contains("`/stringData/k` cannot be set to"), "{error}");
    assert!(!error.contains("zq7"), "{error}");
}

#[test]
fn a_flag_and_its_value_are_merged_together() {
    let project = TestProject::with_deployment(
        r"
        values: {workload: Deployment/d}
        adds: [{pod: {spec: {containers: [{name: c, args: [--other, same.yaml, --config, same.yaml, run]}]}}}]
        ",
        "",
    );
    assert_eq!(
        project.render("mc")[0]["spec"]["template"]["spec"]["containers"][0]["args"],
        json!(["run", "--config", "same.yaml", "--other", "same.yaml"])
    );
}

#[test]
fn subjects_with_the_same_name_and_different_namespaces_are_kept() {
    let binding = r"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: p, namespace: a}]
";
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
                subjects: [{kind: ServiceAccount, name: p, namespace: b}]
            ",
        );
    assert_eq!(
        project.render("mc")[1]["subjects"],
        json!([
            {"kind": "ServiceAccount", "name": "p", "namespace": "a"},
            {"kind": "ServiceAccount", "name": "p", "namespace": "b"},
        ])
    );
}

#[test]
fn a_component_whose_manifests_are_all_omitted_keeps_its_additions() {
    let project = TestProject::with_deployment(
        r"
        omit: {Deployment: {reason: not there, in: [guest]}}
        adds: [{in: [guest], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}}]}]
        ",
        "",
    );
    assert_eq!(names(&project.render("guest")), ["ConfigMap/c"]);
}
