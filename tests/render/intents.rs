//! Intents: what manifests ask for in fields that exist, and how profiles handle it.

mod from_parameters;

use serde_json::{Value, json};

use crate::support::{TestProject, find, unindent};

const TOKEN: &str = r"
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: a, namespace: ns, annotations: {x: x}}
    spec:
      template:
        spec:
          serviceAccountName: sa
          containers:
          - {name: first, volumeMounts: [{name: other, mountPath: /other}]}
          - {name: driver, volumeMounts: [{name: token, mountPath: /var/token, readOnly: true}]}
          volumes:
          - {name: other, emptyDir: {}}
          - name: token
            projected: {sources: [{serviceAccountToken: {audience: sts, path: jwt}}]}
    ";

/// Creates a project with a Deployment that mounts a projected token. The profile `mc` has these rules.
fn project_with_token(mc: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", TOKEN)
        .page("op", "place: {management: [Deployment]}")
        .mc_and_guest(mc, "")
}

const MINTER: &str = r"
    inputs: {workload: workload, container: container, volume: name, mountPath: path, serviceAccount: name, file: string, audience: string}
    adds:
    - {in: [guest], objects: [{apiVersion: v1, kind: ServiceAccount, metadata: {name: '${serviceAccount}', namespace: '${workload.namespace}'}}]}
    - in: [mc]
      pod:
        spec:
          volumes: [{name: '${volume}', emptyDir: {medium: Memory}}]
          containers: [{name: minter, image: x, args: ['${audience}', '${mountPath}/${file}', '${container}']}]
    ";

fn volumes(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["volumes"]
}

#[test]
fn a_fragment_replaces_a_projected_token_in_both_clusters() {
    let project = project_with_token("intents: {projected-token: minter}").fragment("minter", MINTER);
    assert_eq!(
        project.render("mc")[0]["spec"]["template"]["spec"],
        json!({
            "containers": [
                {"name": "first", "volumeMounts": [{"mountPath": "/other", "name": "other"}]},
                {"name": "driver", "volumeMounts": [{"mountPath": "/var/token", "name": "token", "readOnly": true}]},
                {"args": ["sts", "/var/token/jwt", "driver"], "image": "x", "name": "minter"},
            ],
            "serviceAccountName": "sa",
            "volumes": [
                {"emptyDir": {}, "name": "other"},
                {"emptyDir": {"medium": "Memory"}, "name": "token"},
            ],
        })
    );
    assert_eq!(
        project.render("guest")[0],
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "ns"}})
    );
}

#[test]
fn explain_names_the_intent_that_removed_a_field() {
    let project = project_with_token("intents: {projected-token: minter}").fragment("minter", MINTER);
    let path = "/spec/template/spec/volumes/[name=token]";
    let run = project.run(&["explain", "deployment/a", "--profile", "mc", "--path", path]);
    assert_eq!(run.stderr, "");
    assert_eq!(
        run.stdout,
        unindent(
            r#"
            Deployment.apps/a in ns (profile mc)
            /spec/template/spec/volumes/[name=token]/emptyDir/medium: "Memory"
              from profiles/fragments/minter.yaml:11:56, set by the fragment minter: a test, used at profiles/mc.yaml:6:11
            /spec/template/spec/volumes/[name=token]/name: "token"
              from payload/op/1.yaml:13:15
            /spec/template/spec/volumes/[name=token]/projected is not set
              removed by the `intents` entry at profiles/mc.yaml:6:11, because of payload/op/1.yaml:13:9
              was {"sources":[{"serviceAccountToken":{"audience":"sts","path":"jwt"}}]} at payload/op/1.yaml:14:20
            "#
        )
    );
}

#[test]
fn a_token_without_an_audience_is_not_an_intent() {
    let project = project_with_token("").manifest("op/1.yaml", &TOKEN.replace("audience: sts, ", ""));
    assert_eq!(
        volumes(&project.render("mc")[0])[1],
        json!({"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "jwt"}}]}})
    );
}

#[test]
fn an_intent_without_a_rule_is_an_error() {
    project_with_token("").assert_render_error(
        "mc",
        r"
        error: payload/op/1.yaml:13:9: the profile `mc` has no rule for the intent `projected-token`
          object: Deployment.apps/a in ns
          help: write `projected-token: keep`, a fragment, or `refuse: <reason>` under its `intents`
        ",
    );
}

#[test]
fn an_intent_can_be_refused_with_a_reason() {
    let project = project_with_token("intents: {projected-token: {refuse: no tokens here}}");
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/1.yaml:13:9: the intent `projected-token` is refused: no tokens here
          object: Deployment.apps/a in ns
          note: the rule is at profiles/mc.yaml:6:11
          help: remove it from the manifest, or write another rule in an `adds` entry of the component's page
        ",
    );
}

#[test]
fn an_intent_that_is_kept_stays_in_the_object() {
    let project = project_with_token("intents: {projected-token: keep}");
    assert_eq!(
        volumes(&project.render("mc")[0])[1],
        json!({
            "name": "token",
            "projected": {"sources": [{"serviceAccountToken": {"audience": "sts", "path": "jwt"}}]},
        })
    );
}

#[test]
fn a_page_overrides_the_rule_of_the_profile() {
    let project = project_with_token("intents: {projected-token: {refuse: x}}").page(
        "op",
        r"
        place: {management: [Deployment]}
        adds: [{in: [mc], intents: {projected-token: keep}}]
        ",
    );
    assert_eq!(project.render("mc").len(), 1);
}

#[test]
fn an_intent_that_a_patch_adds_is_an_error() {
    let project = project_with_token("intents: {projected-token: minter}")
        .manifest("op/1.yaml", &TOKEN.replace("audience: sts, ", ""))
        .fragment("minter", MINTER)
        .page(
            "op",
            r"
            place: {management: [Deployment]}
            patches:
            - reason: why
              in: [mc]
              target: {kind: Deployment}
              patch:
              - {op: add, path: '/spec/template/spec/volumes/[name=token]/projected/sources/0/serviceAccountToken/audience', value: sts}
            ",
        );
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/1.yaml:13:9: the intent `projected-token` is added too late to be handled
          object: Deployment.apps/a in ns
          note: profiles/mc.yaml:6:11 handles it with `minter`, before policy and patches are applied
          help: add it in the manifest or in an `adds` entry, not in a patch or in `policy`
        ",
    );
}

const CERTIFICATE: &str = r"
    inputs: {service: object, secret: name}
    adds:
    - {in: [guest], nothing: x}
    - in: [mc]
      objects:
      - apiVersion: transship.openshift.io/v1
        kind: IssuedCertificate
        metadata: {name: '${secret}', namespace: '${service.namespace}'}
        spec: {signer: ca, service: '${service.name}', dnsNames: ['${service.apiVersion}.${service.namespace}.example']}
    ";

#[test]
fn both_annotations_ask_for_a_serving_certificate() {
    for annotation in [
        "service.alpha.openshift.io/serving-cert-secret-name",
        "service.beta.openshift.io/serving-cert-secret-name",
    ] {
        let service = format!(
            r"
            apiVersion: v1
            kind: Service
            metadata: {{name: s, namespace: ns, annotations: {{{annotation}: cert}}}}
            "
        );
        let mc = TestProject::new()
            .manifest("op/1.yaml", &service)
            .page("op", "place: {management: [Service]}")
            .mc_and_guest("intents: {serving-cert: cert}", "")
            .fragment("cert", CERTIFICATE)
            .render("mc");
        let issued = r#"{"certificate":{"dnsNames":["s","s.ns.svc","s.ns.svc.cluster.local","localhost","v1.ns.example"],"signer":"ca"}}"#;
        assert_eq!(
            mc,
            [
                json!({
                    "apiVersion": "v1",
                    "kind": "Secret",
                    "type": "kubernetes.io/tls",
                    "metadata": {
                        "name": "cert",
                        "namespace": "ns",
                        "annotations": {"transship.openshift.io/issued": issued},
                        "labels": {"transship.openshift.io/issued": "certificate"},
                    },
                    "data": {"ca.crt": "", "tls.crt": "", "tls.key": ""},
                }),
                json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "ns"}}),
            ],
            "{annotation}"
        );
    }
}

const WEBHOOK: &str = r"
    apiVersion: v1
    kind: Service
    metadata: {name: hook, namespace: ns, annotations: {x: x}}
    ---
    apiVersion: admissionregistration.k8s.io/v1
    kind: ValidatingWebhookConfiguration
    metadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}
    webhooks:
    - {name: other.x.y, clientConfig: {service: {name: local, namespace: ns}}}
    - {name: a.x.y, clientConfig: {service: {name: hook, namespace: ns, path: /check}, caBundle: AA}}
    ";

const URL: &str = r"
    inputs: {config: object, webhook: string, service: object, port: port, path: {type: path, default: /}}
    adds:
    - in: [mc]
      objects:
      - {apiVersion: v1, kind: Service, metadata: {name: '${service.name}', labels: {hook: 'true'}}}
    - in: [guest]
      objects:
      - apiVersion: v1
        kind: ConfigMap
        metadata: {name: 'for-${config.name}', namespace: ns}
        data: {url: 'https://${service.name}:${port}${path}', webhook: '${webhook}'}
    ";

#[test]
fn a_fragment_replaces_a_webhook_whose_service_lives_in_the_other_cluster() {
    let project = TestProject::new()
        .manifest("op/1.yaml", WEBHOOK)
        .page("op", "place: {management: [Service]}")
        .mc_and_guest("", "intents: {webhook: url}")
        .fragment("url", URL);
    assert_eq!(project.render("mc")[0]["metadata"]["labels"]["hook"], "true");
    let guest = project.render("guest");
    assert_eq!(
        find(&guest, "ConfigMap", "for-v")["data"],
        json!({"url": "https://hook:443/check", "webhook": "a.x.y"})
    );
    let configuration = find(&guest, "ValidatingWebhookConfiguration", "v");
    assert_eq!(
        configuration["webhooks"],
        json!([
            {"name": "other.x.y", "clientConfig": {"service": {"name": "local", "namespace": "ns"}}},
            {"name": "a.x.y", "clientConfig": {}},
        ]),
        "a Service of the same cluster stays"
    );
    assert_eq!(
        configuration["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"], "true",
        "the local Service still needs its CA bundle"
    );
}

#[test]
fn a_label_asks_for_the_trusted_ca_bundle() {
    let config_map = r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: ca, namespace: ns, annotations: {x: x}, labels: {config.openshift.io/inject-trusted-cabundle: 'true'}}
        ";
    let project = TestProject::new()
        .manifest("op/1.yaml", config_map)
        .page("op", "place: {management: [ConfigMap]}")
        .mc_and_guest("intents: {trusted-ca: keep}", "");
    assert_eq!(project.render("mc").len(), 1);
    let project = project.mc_and_guest("", "");
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/1.yaml:3:112: the profile `mc` has no rule for the intent `trusted-ca`
          object: ConfigMap/ca in ns
          help: write `trusted-ca: keep`, a fragment, or `refuse: <reason>` under its `intents`
        ",
    );
}

#[test]
fn mistakes_in_rules_for_intents_are_reported_with_their_line() {
    for (rules, message) in [
        (
            "intents: {projected-tokens: leave}",
            r"
            error: profiles/mc.yaml:6:11: `intents` cannot be `projected-tokens`
              help: did you mean `projected-token`?
            ",
        ),
        (
            "intents: {projected-token: mintr}",
            r"
            error: profiles/mc.yaml:6:11: there is no fragment `mintr`
              help: did you mean `minter`?
            ",
        ),
        (
            "intents: {proxy: '${nothing}'}",
            r"
            error: profiles/mc.yaml:6:11: there is no group of parameters `nothing`
              help: declare `nothing.…` in a Parameters file
            ",
        ),
        (
            "intents: {webhook: {refuses: x}}",
            r"
            error: profiles/mc.yaml:6:20: an intent needs the field `refuse`
            error: profiles/mc.yaml:6:21: an intent has no field `refuses`
              help: did you mean `refuse`?
            2 errors
            ",
        ),
    ] {
        let project = project_with_token(rules).fragment("minter", MINTER);
        assert_eq!(project.render_error("mc"), unindent(message), "{rules}");
    }
}
