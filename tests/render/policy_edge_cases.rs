//! Policy entries that affect the same field, and the built-in names that they use.

use serde_json::{Value, json};

use crate::support::{TestProject, object};

/// Renders the Deployment with two policy rules, and returns its containers.
fn containers_after(first: &str, second: &str) -> Value {
    let project = TestProject::with_deployment("", &format!("policy: [{first}, {second}]"));
    project.render("mc")[0]["spec"]["template"]["spec"]["containers"].clone()
}

#[test]
fn policy_entries_do_not_see_the_changes_of_others() {
    let tmp = "{for: container, when: {container.mountsTmp: false}, add: {volumeMounts: [{name: v, mountPath: /tmp}]}}";
    let env = "{for: container, when: {container.mountsTmp: false}, add: {env: [{name: E, value: x}]}}";
    let expected = json!([{
        "args": ["run", "--config", "same.yaml"],
        "env": [{"name": "E", "value": "x"}],
        "name": "c",
        "volumeMounts": [{"mountPath": "/tmp", "name": "v"}],
    }]);
    assert_eq!(containers_after(tmp, env), expected);
    assert_eq!(containers_after(env, tmp), expected);
}

#[test]
fn an_empty_map_and_null_are_different_values() {
    let project = TestProject::with_deployment(
        "",
        r"
        policy:
        - {for: pod, set: {spec: {nodeSelector: {}}}}
        - {for: pod, set: {spec: {nodeSelector: null}}}
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: profiles/mc.yaml:8:41: two policy rules set `/spec/template/spec/nodeSelector` differently
          object: Deployment.apps/d in ns
          note: the other rule is at profiles/mc.yaml:7:41
          help: limit one of them with `when`, or remove one
        ",
    );
}

#[test]
fn a_slash_in_a_key_does_not_start_a_nested_field() {
    let project = TestProject::with_deployment(
        "",
        "policy: [{for: pod, set: {metadata: {annotations: {example.com: a, example.com/b: c}}}}]",
    );
    assert_eq!(
        project.render("mc")[0]["spec"]["template"]["metadata"]["annotations"],
        json!({"example.com": "a", "example.com/b": "c"})
    );
}

#[test]
fn a_service_account_is_bound_by_its_user_name_and_by_its_group() {
    let policy = "policy: [{for: pod, when: {pod.usesOwnApi: false}, set: {spec: {automountServiceAccountToken: false}}}]";
    for subject in [
        "{kind: User, name: 'system:serviceaccount:ns:sa'}",
        "{kind: Group, name: 'system:serviceaccounts:ns'}",
        "{kind: ServiceAccount, name: sa}",
    ] {
        let subjects = format!("subjects: [{subject}]");
        let binding = object("rbac.authorization.k8s.io/v1", "RoleBinding", "ns", "b", &subjects);
        let project = TestProject::with_deployment("", policy)
            .manifest("op/2.yaml", &binding)
            .page("op", "place: {management: [Deployment, RoleBinding]}");
        let spec = &project.render("mc")[0]["spec"]["template"]["spec"];
        assert_eq!(spec.get("automountServiceAccountToken"), None, "{subject}");
    }
}
