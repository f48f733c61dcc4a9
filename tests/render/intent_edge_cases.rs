//! Intents in objects that are easily confused, and intents that appear late.

use serde_json::{Value, json};

use crate::support::{TestProject, find, object, unindent};

/// The spec of a Deployment with a projected token for another service.
const TOKEN_SPEC: &str = r"spec:
  template:
    spec:
      serviceAccountName: sa
      containers: [{name: c}]
      volumes:
      - {name: v, projected: {sources: [{serviceAccountToken: {audience: a, path: t}}]}}
";

/// A fragment that replaces the volume of a token.
const MEMORY: &str = r"
    inputs: {workload: workload, volume: name}
    adds:
    - {in: [guest], nothing: x}
    - {in: [mc], pod: {spec: {volumes: [{name: '${volume}', emptyDir: {medium: Memory}}]}}}
    ";

/// Creates the Deployments `ns/d`, without a token, and `zz/d`, with a token that a fragment replaces.
fn project_with_two_namespaces() -> TestProject {
    TestProject::with_deployment("", "intents: {projected-token: memory}")
        .manifest("op/2.yaml", &object("apps/v1", "Deployment", "zz", "d", TOKEN_SPEC))
        .fragment("memory", MEMORY)
}

fn volumes(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["volumes"]
}

#[test]
fn an_intent_applies_to_the_object_in_its_own_namespace() {
    let mc = project_with_two_namespaces().render("mc");
    assert_eq!(*volumes(&mc[0]), json!([{"name": "v", "emptyDir": {}}]));
    assert_eq!(*volumes(&mc[1]), json!([{"name": "v", "emptyDir": {"medium": "Memory"}}]));
}

#[test]
fn a_page_must_name_the_namespace_of_a_workload_if_two_have_the_same_name() {
    let project = project_with_two_namespaces().page(
        "op",
        r"
        place: {management: [Deployment]}
        uses: [{memory: {workload: Deployment/d, volume: v}}]
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:5:28: several objects are `Deployment/d`
          note: Deployment.apps/d in ns is at payload/op/1.yaml:1:1
          note: Deployment.apps/d in zz is at payload/op/2.yaml:1:1
          help: write `Kind/namespace/name`
        ",
    );
    let project = project.page(
        "op",
        r"
        place: {management: [Deployment]}
        uses: [{memory: {workload: Deployment/ns/d, volume: v}}]
        ",
    );
    assert_eq!(*volumes(&project.render("mc")[0]), json!([{"name": "v", "emptyDir": {"medium": "Memory"}}]));
}

#[test]
fn a_token_is_found_behind_one_for_the_cluster_itself() {
    let two_tokens = TOKEN_SPEC.replace("sources: [", "sources: [{serviceAccountToken: {path: kube}}, ");
    let project = project_with_two_namespaces()
        .manifest("op/2.yaml", &object("apps/v1", "Deployment", "zz", "e", &two_tokens));
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/2.yaml:10:9: the fragment `memory` cannot replace this `projected-token`: its volume has other sources, which would be removed with it
          object: Deployment.apps/e in zz
          note: the rule is at profiles/mc.yaml:6:11
          help: give the token a volume of its own
        ",
    );
}

/// Creates the Services `far`, in the management cluster, and `near`, in the guest, and a component in the guest with this
/// manifest. A fragment labels the Services that webhooks of the guest call.
fn project_with_two_services(manifest: &str) -> TestProject {
    TestProject::new()
        .manifest("hook/1.yaml", manifest)
        .manifest("op/2.yaml", &object("v1", "Service", "ns", "far", ""))
        .manifest("op/3.yaml", &object("v1", "Service", "ns", "near", ""))
        .page("op", "place: {management: [Service/far], guest: [Service/near]}")
        .mc_and_guest("", "intents: {webhook: label}")
        .fragment(
            "label",
            r"
            inputs: {service: object}
            adds:
            - {in: [guest], nothing: x}
            - in: [mc]
              objects:
              - apiVersion: v1
                kind: Service
                metadata: {name: '${service.name}', namespace: '${service.namespace}', labels: {hook: 'true'}}
            ",
        )
}

#[test]
fn a_webhook_of_another_component_is_handled_for_one_of_two_services() {
    let project = project_with_two_services(
        r"
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}
        webhooks:
        - {name: a.x.y, clientConfig: {service: {name: far, namespace: ns}}}
        - {name: b.x.y, clientConfig: {service: {name: near, namespace: ns}}}
        ",
    );
    let mc = project.render("mc");
    assert_eq!(mc.len(), 1);
    assert_eq!(find(&mc, "Service", "far")["metadata"]["labels"], json!({"hook": "true"}));
    let guest = project.render("guest");
    let configuration = find(&guest, "ValidatingWebhookConfiguration", "v");
    assert_eq!(configuration["webhooks"][1]["clientConfig"]["service"]["name"], "near");
    assert_eq!(
        configuration["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"], "true",
        "the Service `near` still needs its CA bundle"
    );
}

#[test]
fn an_aggregated_api_cannot_be_replaced_by_a_fragment() {
    let project = project_with_two_services(
        r"
        apiVersion: apiregistration.k8s.io/v1
        kind: APIService
        metadata: {name: v1.x.y, annotations: {x: x}}
        spec: {service: {name: far, namespace: ns}}
        ",
    );
    project.assert_render_error(
        "guest",
        r"
        error: payload/hook/1.yaml:4:17: the fragment `label` cannot replace this `webhook`: an aggregated API needs a Service in its own cluster
          object: APIService.apiregistration.k8s.io/v1.x.y
          note: the rule is at profiles/guest.yaml:6:11
          help: write `intents: {webhook: keep}` in an `adds` entry of its page, and add a Service there
        ",
    );
}

#[test]
fn an_annotation_that_a_patch_adds_is_an_error() {
    let project = TestProject::with_deployment(
        r"
        patches:
        - {reason: x, in: [mc], target: {kind: Deployment}, patch: {metadata: {annotations: {config.openshift.io/inject-proxy: c}}}}
        ",
        "intents: {proxy: '${p}'}",
    )
    .parameters(
        r"
        parameters:
          p.httpProxy: {type: string, description: d, optional: true}
          p.httpsProxy: {type: string, description: d, optional: true}
          p.noProxy: {type: string, description: d, optional: true}
        ",
    );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:6:120: the intent `proxy` is added too late to be handled
          object: Deployment.apps/d in ns
          note: profiles/mc.yaml:6:11 handles it with `p`, before policy and patches are applied
          help: add it in the manifest or in an `adds` entry, not in a patch or in `policy`
        ",
    );
}

#[test]
fn every_document_of_a_tls_configuration_is_kept() {
    let project = TestProject::with_deployment("", "intents: {tls: '${t}'}")
        .manifest(
            "op/2.yaml",
            r"
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: c, namespace: ns, annotations: {config.openshift.io/inject-tls: 'true'}}
            data:
              c.yaml: |
                kind: GenericOperatorConfig
                servingInfo:
                ---
                kind: Other
            ",
        )
        .page("op", "place: {management: [Deployment, ConfigMap]}")
        .parameters(
            r"
            parameters:
              t.minVersion: {type: string, description: d, default: V}
              t.cipherSuites: {type: list, description: d, optional: true}
            ",
        );
    assert_eq!(
        project.render("mc")[1]["data"]["c.yaml"],
        unindent(
            r"
            kind: GenericOperatorConfig
            servingInfo:
              minTLSVersion: V
            ---
            kind: Other
            "
        )
    );
}

#[test]
fn additions_for_an_intent_are_merged_together() {
    let project = TestProject::with_deployment("", "intents: {projected-token: minter}")
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", TOKEN_SPEC))
        .fragment(
            "minter",
            r"
            inputs: {workload: workload}
            adds:
            - {in: [guest], nothing: x}
            - {in: [mc], pod: {spec: {containers: [{name: minter, image: q}]}}}
            - {in: [mc], pod: {spec: {initContainers: [{name: minter}]}}}
            ",
        );
    let spec = &project.render("mc")[0]["spec"]["template"]["spec"];
    assert_eq!(spec["initContainers"], json!([{"name": "minter", "image": "q"}]));
    assert_eq!(spec["containers"], json!([{"name": "c"}]));
}
