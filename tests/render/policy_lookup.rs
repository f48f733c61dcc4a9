//! `lookup` in policy: a rule that applies to the objects and containers that a map names.

use serde_json::{Value, json};

use crate::support::{TestProject, item, pod_spec, unindent};

const DEPLOYMENT: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: d, namespace: ns, annotations: {x: x}}
    spec:
      template:
        spec:
          initContainers: [{name: i}]
          containers: [{name: a, resources: {requests: {cpu: 1m, memory: 1Mi}}}, {name: b}]
    ";

fn project(policy: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", DEPLOYMENT)
        .parameters("parameters:\n  requests: {type: map, description: d, optional: true}\n  text: {type: string, description: d, default: t}\n")
        .profile("test", &format!("topology: test\ncluster: both\npolicy:\n{}", unindent(policy)))
}

const RULE: &str = r"
    - {for: container, lookup: {map: '${requests}', key: '${workload.name}.${container.name}'}, set: {resources: {requests: '${lookup.value}'}}}
    - {for: pod, default: {metadata: {labels: {t: '${text}'}}}}
    ";

fn requests(objects: &[Value], list: &str, name: &str) -> Value {
    item(&pod_spec(objects, "d")[list], name)["resources"]["requests"].clone()
}

#[test]
fn a_rule_applies_to_the_keys_of_a_map() {
    let set = "requests={d.a: {memory: 9Mi}, d.i: {cpu: 3m}, other.b: {cpu: 5m}}";
    let objects = project(RULE).render_with("test", &["--set", set]);
    assert_eq!(requests(&objects, "containers", "a"), json!({"cpu": "1m", "memory": "9Mi"}));
    assert_eq!(requests(&objects, "initContainers", "i"), json!({"cpu": "3m"}));
    assert_eq!(requests(&objects, "containers", "b"), Value::Null);
}

/// A rule without an entry must not remove the field.
#[test]
fn a_rule_does_not_apply_without_a_map() {
    let objects = project(RULE).render("test");
    assert_eq!(requests(&objects, "containers", "a"), json!({"cpu": "1m", "memory": "1Mi"}));
}

#[test]
fn a_condition_can_test_the_value() {
    let rule = RULE.replace("set: {resources", "when: {lookup.value: present, text: t}, set: {resources");
    let set = "requests={d.b: {memory: 9Mi}}";
    let objects = project(&rule).render_with("test", &["--set", set]);
    assert_eq!(requests(&objects, "containers", "b"), json!({"memory": "9Mi"}));
    let objects = project(&rule).render_with("test", &["--set", set, "--set", "text=u"]);
    assert_eq!(requests(&objects, "containers", "b"), Value::Null);
}

#[test]
fn mistakes_are_errors() {
    project(&RULE.replace("'${requests}'", "'${text}'").replace("t: '${text}'", "t: '${requests}'"))
        .assert_render_error(
            "test",
            "
            error: profiles/test.yaml:7:34: `map` must be a map, not text
              object: Deployment.apps/d in ns
              help: name a parameter of the type `map`
            ",
        );
    project(&RULE.replace("lookup: {map: '${requests}', key: '${workload.name}.${container.name}'}, ", ""))
        .assert_render_error(
            "test",
            "
            error: profiles/parameters.yaml:5:3: nothing uses the parameter `requests`
              note: setting it has no effect
              help: remove it
            ",
        );
    project(&RULE.replace("t: '${text}'", "t: '${text}', u: '${lookup.value}'")).assert_render_error(
        "test",
        "
        error: profiles/test.yaml:8:61: `${lookup.value}` is not defined
          object: Deployment.apps/d in ns
          help: it is defined only in a policy rule with `lookup`
        ",
    );
    project(&RULE.replace("${container.name}'", "${container.nmae}'")).assert_render_error(
        "test",
        "
        error: profiles/test.yaml:7:54: `${container.nmae}` is not defined
          help: did you mean `${container.name}`?
        ",
    );
}
