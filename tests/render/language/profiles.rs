//! Profiles: what they extend, and their policy.

use serde_json::{Value, json};

use super::{declare_parameters, project_with_three_objects};
use crate::support::names;

#[test]
fn a_profile_merges_with_the_one_that_it_extends() {
    let project = project_with_three_objects()
        .manifest(
            "op/1.yaml",
            r"
            apiVersion: apps/v1
            kind: Deployment
            metadata: {name: a, namespace: ns, annotations: {p: x, q/r: s, keep: it}}
            ",
        )
        .profile(
            "base",
            r"
            topology: t
            abstract: true
            cluster: guest
            strip: [p]
            omit: {Service: theirs, ConfigMap: theirs}
            ",
        )
        .profile(
            "test",
            r"
            topology: t
            extends: base
            cluster: both
            strip: ['q/*']
            omit: {Service: mine}
            ",
        );
    let rendered = project.render("test");
    assert_eq!(names(&rendered), ["Deployment/a"]);
    assert_eq!(rendered[0]["metadata"]["annotations"], json!({"keep": "it"}));
    let list = project.run(&["list", "--profile", "test"]).stdout;
    assert!(list.contains("omitted: mine"), "{list}");
    assert!(list.contains("omitted: theirs"), "{list}");
    assert_eq!(project.run(&["render", "--profile", "base"]).code, 2, "an abstract profile is not rendered");
}

#[test]
fn a_profile_cannot_extend_itself_or_an_unknown_profile() {
    let project = project_with_three_objects().profile(
        "test",
        r"
        topology: t
        extends: bsae
        cluster: both
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: profiles/test.yaml:5:10: there is no profile `bsae` to extend
        ",
    );
    let project = project.profile(
        "test",
        r"
        topology: t
        extends: test
        cluster: both
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: profiles/test.yaml:5:10: the profile `test` extends itself
        ",
    );
}

#[test]
fn profiles_that_extend_each_other_are_reported_once_each() {
    let project = project_with_three_objects()
        .profile("one", "topology: t\nextends: two\ncluster: both\n")
        .profile("two", "topology: t\nextends: one\ncluster: both\n");
    project.assert_render_error(
        "test",
        r"
        error: profiles/two.yaml:5:10: the profile `one` extends itself
        error: profiles/one.yaml:5:10: the profile `two` extends itself
        2 errors
        ",
    );
}

#[test]
fn a_policy_applies_to_pods_containers_workloads_and_kinds() {
    let project = declare_parameters(project_with_three_objects()).profile(
        "test",
        r"
        topology: t
        cluster: both
        policy:
        - for: pod
          set:
            metadata: {labels: {hcp: x}}
            spec: {hostNetwork: null, tolerations: [{key: new}], nodeSelector: '${a.none}'}
        - {for: pod, default: {metadata: {labels: {app: other, more: m}}}}
        - {for: container, default: {terminationMessagePolicy: FallbackToLogsOnError}}
        - {for: workload, set: {metadata: {labels: {managed-by: '${component.owner}'}}}}
        - {for: ConfigMap, add: {data: {k: v}}}
        ",
    );
    let rendered = project.render("test");
    assert_eq!(
        rendered[0]["spec"]["template"],
        json!({
            "metadata": {"labels": {"app": "a", "hcp": "x", "more": "m"}},
            "spec": {
                "initContainers": [{"name": "i", "terminationMessagePolicy": "FallbackToLogsOnError"}],
                "containers": [
                    {"args": ["run"], "name": "c", "terminationMessagePolicy": "FallbackToLogsOnError"},
                ],
                "tolerations": [{"key": "new"}],
            },
        })
    );
    assert_eq!(rendered[0]["metadata"]["labels"], json!({"managed-by": "op"}));
    assert_eq!(rendered[1]["metadata"]["labels"], Value::Null, "a Service is no workload");
    assert_eq!(rendered[2]["data"], json!({"k": "v"}));
}

#[test]
fn the_order_of_policy_entries_does_not_matter() {
    let entries = [
        "{for: pod, set: {spec: {priorityClassName: p}}}",
        "{for: pod, default: {spec: {priorityClassName: q, dnsPolicy: Default}}}",
        "{for: container, set: {tty: true}}",
        "{for: workload, set: {metadata: {labels: {a: b}}}}",
    ];
    let mut results = Vec::new();
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]] {
        let policy = order.map(|index| entries[index]).join(", ");
        let project = project_with_three_objects()
            .profile("test", &format!("topology: t\ncluster: both\npolicy: [{policy}]"));
        results.push(project.render("test"));
    }
    for result in &results {
        assert_eq!(*result, results[0]);
    }
    assert_eq!(results[0][0]["spec"]["template"]["spec"]["priorityClassName"], "p");
}

#[test]
fn policy_entries_that_disagree_are_an_error_that_names_both() {
    let project = project_with_three_objects().profile(
        "test",
        r"
        topology: t
        cluster: both
        policy:
        - {for: pod, set: {spec: {priorityClassName: p}}}
        - {for: pod, set: {spec: {priorityClassName: q}}}
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: profiles/test.yaml:8:46: two policy rules set `/spec/template/spec/priorityClassName` differently
          object: Deployment.apps/a in ns
          note: the other rule is at profiles/test.yaml:7:46
          help: limit one of them with `when`, or remove one
        ",
    );
}

#[test]
fn a_policy_entry_that_adds_another_value_than_the_manifest_is_an_error() {
    let project = project_with_three_objects().profile(
        "test",
        r"
        topology: t
        cluster: both
        policy: [{for: pod, add: {spec: {hostNetwork: false}}}]
        ",
    );
    project.assert_render_error(
        "test",
        r"
        error: profiles/test.yaml:6:47: `/spec/template/spec/hostNetwork` cannot be set to `false`, because it is `true`
          object: Deployment.apps/a in ns
          note: the other value is at payload/op/1.yaml:8:20
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}
