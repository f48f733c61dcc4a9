//! Intents that a profile fulfills from parameters: the proxy and the TLS settings.

use serde_json::json;

use super::project_with_token;
use crate::support::{TestProject, unindent};

const PARAMETERS: &str = r"
    parameters:
      p.httpProxy: {type: string, description: d, optional: true}
      p.httpsProxy: {type: string, description: d, optional: true}
      p.noProxy: {type: string, description: d, optional: true}
      t.minVersion: {type: string, description: d, optional: true}
      t.cipherSuites: {type: list, description: d, optional: true}
    ";

const FROM_PARAMETERS: &str = "intents: {proxy: '${p}', tls: '${t}'}";

const PROXY: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: a, namespace: ns, annotations: {config.openshift.io/inject-proxy: 'c, i'}}
    spec:
      template:
        spec:
          initContainers: [{name: i}]
          containers: [{name: c, env: [{name: NO_PROXY, value: mine}]}, {name: d}]
    ";

#[test]
fn proxy_variables_are_added_to_the_containers_that_the_annotation_names() {
    let project = TestProject::new()
        .manifest("op/1.yaml", PROXY)
        .page("op", "place: {management: [Deployment]}")
        .mc_and_guest(FROM_PARAMETERS, FROM_PARAMETERS)
        .parameters(PARAMETERS);
    assert_eq!(
        project.render("mc")[0]["spec"]["template"]["spec"],
        json!({
            "initContainers": [{"name": "i"}],
            "containers": [{"name": "c", "env": [{"name": "NO_PROXY", "value": "mine"}]}, {"name": "d"}],
        }),
        "absent parameters add nothing"
    );
    let settings = ["--set", "p.httpProxy=http://p", "--set", "p.noProxy=x"];
    assert_eq!(
        project.render_with("mc", &settings)[0]["spec"]["template"]["spec"],
        json!({
            "initContainers": [
                {"name": "i", "env": [{"name": "HTTP_PROXY", "value": "http://p"}, {"name": "NO_PROXY", "value": "x"}]},
            ],
            "containers": [
                {"name": "c", "env": [{"name": "NO_PROXY", "value": "mine"}, {"name": "HTTP_PROXY", "value": "http://p"}]},
                {"name": "d"},
            ],
        }),
        "variables that a container has stay unchanged"
    );
    let project = project.manifest("op/1.yaml", &PROXY.replace("'c, i'", "e"));
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/1.yaml:3:84: there is no container `e` for the proxy variables
          object: Deployment.apps/a in ns
          help: list the names of containers in the annotation, separated by commas
        ",
    );
}

const TLS: &str = r"
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a, namespace: ns, annotations: {config.openshift.io/inject-tls: 'true'}}
    data:
      config.yaml: |
        apiVersion: operator.openshift.io/v1alpha1
        kind: GenericOperatorConfig
        servingInfo: {bindAddress: x}
      other.yaml: |
        kind: Other
      text: 'a: : b'
    ";

#[test]
fn tls_settings_are_written_only_into_the_configuration_of_operators() {
    let project = TestProject::new()
        .manifest("op/1.yaml", TLS)
        .page("op", "place: {management: [ConfigMap]}")
        .mc_and_guest(FROM_PARAMETERS, FROM_PARAMETERS)
        .parameters(PARAMETERS);
    assert_eq!(
        project.render("mc")[0]["data"]["config.yaml"],
        unindent(
            r"
            apiVersion: operator.openshift.io/v1alpha1
            kind: GenericOperatorConfig
            servingInfo: {bindAddress: x}
            "
        ),
        "absent parameters change nothing"
    );
    let settings = ["--set", "t.minVersion=VersionTLS12", "--set", "t.cipherSuites=[A, B]"];
    let data = &project.render_with("mc", &settings)[0]["data"];
    assert_eq!(
        data["config.yaml"],
        unindent(
            r"
            apiVersion: operator.openshift.io/v1alpha1
            kind: GenericOperatorConfig
            servingInfo:
              bindAddress: x
              cipherSuites:
              - A
              - B
              minTLSVersion: VersionTLS12
            "
        )
    );
    assert_eq!(data["other.yaml"], "kind: Other\n");
    assert_eq!(data["text"], "a: : b");
}

#[test]
fn not_every_intent_can_be_fulfilled_from_parameters() {
    let project = project_with_token("intents: {projected-token: '${p}'}")
        .parameters("parameters: {p.x: {type: string, description: d, default: x}}");
    project.assert_render_error(
        "mc",
        r"
        error: profiles/mc.yaml:6:11: the intent `projected-token` cannot be fulfilled from parameters
          help: write `keep`, a fragment, or `refuse: <reason>`
        ",
    );
}
