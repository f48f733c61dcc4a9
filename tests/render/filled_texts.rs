//! Numbers and booleans that are filled into texts: they become text where the field must be text.

use serde_json::json;

use crate::support::{TestProject, object};

const PARAMETERS: &str = r"
parameters:
  port: {type: port, description: d, default: 8443}
  verbose: {type: bool, description: d, default: true}
";

fn project(page: &str) -> TestProject {
    TestProject::with_deployment(page, "namespace: hcp").parameters(PARAMETERS)
}

#[test]
fn a_number_becomes_text_where_the_schema_wants_text() {
    let objects = project(
        r#"
        values: {workload: Deployment/d}
        adds:
        - workload:
            metadata:
              labels: {port: "${port}"}
              annotations:
                verbose: ${verbose}
            spec:
              template:
                spec:
                  containers:
                  - name: c
                    env:
                    - name: A
                      value: "${port}"
                    - name: B
                      value: ${verbose}
                    args: ["${port}"]
                    ports: [{containerPort: "${port}"}]
                    livenessProbe: {httpGet: {port: "${port}"}}
        "#,
    )
    .render("mc");
    let deployment = &objects[0];
    assert_eq!(deployment["metadata"]["labels"]["port"], json!("8443"));
    assert_eq!(deployment["metadata"]["annotations"]["verbose"], json!("true"));
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["env"], json!([{"name": "A", "value": "8443"}, {"name": "B", "value": "true"}]));
    assert_eq!(container["args"], json!(["run", "--config", "same.yaml", "8443"]));
    assert_eq!(container["ports"], json!([{"containerPort": 8443}]));
    // A port may be a number or a name, so it keeps its type.
    assert_eq!(container["livenessProbe"], json!({"httpGet": {"port": 8443}}));
}

/// The quotes decide only if nothing is known about the field.
#[test]
fn quotes_make_text_of_a_field_of_an_unknown_kind() {
    let objects = TestProject::standalone()
        .manifest("op/1.yaml", &object("example.test/v1", "Custom", "", "c", ""))
        .page(
            "op",
            r#"
            adds:
            - objects:
              - apiVersion: example.test/v1
                kind: Custom
                metadata: {name: c}
                spec:
                  quoted: "${port}"
                  plain: ${port}
                  number: 1
                list:
                - "${verbose}"
                - ${verbose}
            "#,
        )
        .parameters(PARAMETERS)
        .render("test");
    assert_eq!(objects[0]["spec"], json!({"quoted": "8443", "plain": 8443, "number": 1}));
    assert_eq!(objects[0]["list"], json!(["true", true]));
}

#[test]
fn a_number_becomes_text_for_an_input_that_is_text() {
    let objects = project(
        r#"
        uses: [{env: {workload: Deployment/d, a: "${port}", b: "${verbose}"}}]
        "#,
    )
    .fragment(
        "env",
        r#"
        inputs: {workload: workload, a: string, b: string}
        adds:
        - workload: {metadata: {annotations: {example.test/a: "${a}", example.test/b: "${b}"}}}
        "#,
    )
    .render("mc");
    let annotations = &objects[0]["metadata"]["annotations"];
    assert_eq!(annotations["example.test/a"], json!("8443"));
    assert_eq!(annotations["example.test/b"], json!("true"));
}

/// Only values that are filled in change their type.
#[test]
fn a_number_that_is_written_stays_a_number() {
    let project = project(
        r#"
        values: {workload: Deployment/d}
        adds:
        - workload:
            metadata: {labels: {port: "${port}", verbose: "${verbose}"}}
            spec: {template: {spec: {containers: [{name: c, env: [{name: A, value: 8443}]}]}}}
        "#,
    );
    let deployment = &project.render("mc")[0];
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["env"], json!([{"name": "A", "value": 8443}]));
}

/// The component with the object has no page, and the profile has no policy and handles no intents.
#[test]
fn a_number_that_the_page_of_another_component_adds_becomes_text() {
    let objects = TestProject::standalone()
        .manifest("a/1.yaml", &object("v1", "ConfigMap", "ns", "a", ""))
        .manifest("b/2.yaml", &object("v1", "ConfigMap", "ns", "b", ""))
        .page(
            "a",
            r#"
            adds:
            - objects:
              - apiVersion: v1
                kind: ConfigMap
                metadata: {name: b, namespace: ns}
                data: {port: "${port}", verbose: "${verbose}"}
            "#,
        )
        .parameters(PARAMETERS)
        .render("test");
    assert_eq!(objects[1]["data"], json!({"port": "8443", "verbose": "true"}));
}
