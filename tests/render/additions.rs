//! Additions of pages and fragments: how they are merged, and where new objects live.

use crate::support::{CONFLICT, TestProject, object};

#[test]
fn a_cluster_scoped_object_cannot_live_in_the_management_cluster() {
    let annotated = TestProject::with_deployment("", "select: {clusterProfile: hosted}\n");
    let annotated = annotated.manifest(
        "op/2.yaml",
        r"
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: {name: r, annotations: {include.release.openshift.io/mc: 'true'}}
        ",
    );
    let message = "a cluster-scoped object cannot live in the management cluster";
    assert!(annotated.render_error("mc").contains(message));
    let part = "adds: [{in: [mc], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: b}}]}]\n";
    let shown = TestProject::with_deployment(part, "").render_error("mc");
    assert!(
        shown.contains(
            "component.yaml:5:8: a cluster-scoped object cannot be in a hosted control plane's namespace"
        ),
        "{shown}"
    );
}

#[test]
fn the_order_of_additions_changes_only_positions_in_lists() {
    let both = |first: &str, second: &str, values: &str| {
        let spec = |one: &str, two: &str| {
            let project =
                TestProject::with_deployment(&format!("values: {{{values}}}\nadds: [{one}, {two}]\n"), "");
            let run = project.run(&["render", "--profile", "mc", "-o", "json"]);
            (run.code, run.stdout)
        };
        assert_eq!(spec(first, second), spec(second, first));
    };
    both(
        "{pod: {spec: {initContainers: [{name: i1}]}}}",
        "{pod: {spec: {containers: [{name: i1, image: q}]}}}",
        "workload: Deployment/d",
    );
    let config = |namespace: &str| {
        format!(
            "{{in: [mc], objects: [{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{namespace}}}, data: {{k: v}}}}]}}"
        )
    };
    both(&config(", namespace: ns"), &config(""), "workload: Deployment/d");
}

#[test]
fn additions_that_set_a_field_to_different_values_are_an_error() {
    for (additions, message) in [
        ("[{pod: {spec: {volumes: [{name: v, secret: {secretName: s}}]}}}]", CONFLICT),
        (
            "[{pod: {spec: {containers: [{name: c, env: [{name: E, value: x}]}]}}}, {pod: {spec: {containers: [{name: c, env: [{name: E, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}]}}}]",
            CONFLICT,
        ),
        ("[{pod: {spec: {containers: [{name: c, args: [--config, else.yaml]}]}}}]", CONFLICT),
        ("[{pod: {spec: {containers: {name: c}}}}]", "`containers` is a list, not a map"),
        (
            "[{intents: {proxy: keep}}, {intents: {proxy: {refuse: x}}}]",
            "two additions handle the intent `proxy` differently",
        ),
    ] {
        let shown = TestProject::with_deployment(
            &format!("values: {{workload: Deployment/d}}\nadds: {additions}\n"),
            "",
        )
        .render_error("mc");
        assert!(shown.contains(message), "{additions}: {shown}");
    }
}

#[test]
fn a_flag_and_its_value_are_merged_together() {
    let parts = "values: {workload: Deployment/d}\nadds: [{pod: {spec: {containers: [{name: c, args: [--other, same.yaml, --config, same.yaml, run]}]}}}]\n";
    let args =
        TestProject::with_deployment(parts, "").render("mc")[0]["spec"]["template"]["spec"]["containers"][0]
            ["args"]
            .clone();
    assert_eq!(args.to_string(), r#"["run","--config","same.yaml","--other","same.yaml"]"#);
}

#[test]
fn subjects_with_the_same_name_and_different_namespaces_are_kept() {
    let binding = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: p, namespace: a}]\n";
    let part = "adds: [{in: [mc], objects: [{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: b, namespace: ns}, subjects: [{kind: ServiceAccount, name: p, namespace: b}]}]}]\n";
    let project = TestProject::with_deployment("", "")
        .manifest("op/2.yaml", &object("rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b", binding))
        .page("op", &format!("place: {{management: [Deployment, RoleBinding]}}\n{part}"));
    assert_eq!(project.render("mc")[1]["subjects"].as_array().unwrap().len(), 2);
}

#[test]
fn a_component_whose_manifests_are_all_omitted_keeps_its_additions() {
    let page = "omit: {Deployment: {reason: not there, in: [guest]}}\nadds: [{in: [guest], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}}]}]\n";
    assert_eq!(TestProject::with_deployment(page, "").render("guest")[0]["metadata"]["name"], "c");
}
