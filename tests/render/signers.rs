//! The signers of a profile: the objects that transship renders for them, and who may use them.

use serde_json::{Value, json};

use crate::support::{TestProject, find, names, object, unindent};

const CERTIFICATE: &str = r"
    place: {management: [ConfigMap]}
    adds:
    - in: [mc]
      objects:
      - apiVersion: transship.openshift.io/v1
        kind: IssuedCertificate
        metadata: {name: cert, namespace: ns}
        spec: {signer: root-ca, service: op}
    ";

const NO_CERTIFICATE: &str = "place: {management: [ConfigMap]}\n";

/// Creates a project whose profile `mc` has this field `signers`.
fn project(page: &str, signers: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "cm", ""))
        .page("op", &format!("values: {{own-value: '${{own}}'}}\n{}", unindent(page)))
        .profile(
            "mc",
            &format!("topology: two\ncluster: management\nnamespace: clusters-a\nsigners: {signers}\n"),
        )
        .profile("guest", "topology: two\ncluster: guest\n")
        .parameters(
            r"
            parameters:
              own: {type: bool, description: d, default: false}
            ",
        )
}

const SIGNERS: &str =
    "{root-ca: {bundle: trusted, create: {own: true}}, other-ca: {bundle: other, create: {own: true}}}";

#[test]
fn a_signer_that_is_used_has_a_bundle_and_may_have_a_secret() {
    let project = project(CERTIFICATE, SIGNERS);
    assert_eq!(names(&project.render("mc")), ["ConfigMap/trusted", "ConfigMap/cm", "Secret/cert"]);
    let own = project.render_with("mc", &["--set", "own=true"]);
    assert_eq!(names(&own), ["Secret/root-ca", "ConfigMap/trusted", "ConfigMap/cm", "Secret/cert"]);
    assert_eq!(
        own[..2],
        [
            json!({
                "apiVersion": "v1",
                "data": {"ca.crt": "", "ca.key": ""},
                "kind": "Secret",
                "metadata": {
                    "annotations": {"transship.openshift.io/issued": r#"{"signer":{}}"#},
                    "labels": {"transship.openshift.io/issued": "signer"},
                    "name": "root-ca",
                    "namespace": "clusters-a",
                },
                "type": "Opaque",
            }),
            json!({
                "apiVersion": "v1",
                "data": {"ca-bundle.crt": ""},
                "kind": "ConfigMap",
                "metadata": {
                    "annotations": {"transship.openshift.io/issued": r#"{"bundle":{"signer":"root-ca"}}"#},
                    "labels": {"transship.openshift.io/issued": "bundle"},
                    "name": "trusted",
                    "namespace": "clusters-a",
                },
            }),
        ]
    );
}

#[test]
fn a_signer_that_nothing_uses_has_no_objects() {
    let rendered = project(NO_CERTIFICATE, SIGNERS).render_with("mc", &["--set", "own=true"]);
    assert_eq!(names(&rendered), ["ConfigMap/cm"]);
    assert_eq!(names(&project(CERTIFICATE, "{root-ca: {}}").render("mc")), ["ConfigMap/cm", "Secret/cert"]);
}

#[test]
fn the_objects_of_signers_are_a_component_of_their_own() {
    let project = project(CERTIFICATE, SIGNERS);
    let signers = project.render_with("mc", &["--component", "signers"]);
    assert_eq!(names(&signers), ["ConfigMap/trusted"]);
    let taken = project.manifest("signers/1.yaml", &object("v1", "ConfigMap", "ns", "other", ""));
    assert_eq!(
        taken.page("signers", "place: {management: [ConfigMap]}\n").render_error("mc"),
        "\
error: the payload has a component `signers`
  note: the objects of the profile's signers are in a component of that name
  help: rename the component of the payload
"
    );
}

/// The extending profile replaces a signer of the same name as a whole.
#[test]
fn a_profile_inherits_signers() {
    let base = "abstract: true\ntopology: two\nsigners: {root-ca: {bundle: base, create: {own: true}}, other-ca: {bundle: other}}\n";
    let rendered = |signers: &str| {
        let project = project(CERTIFICATE, "{}")
            .profile("base", base)
            .profile("mc", &format!("extends: base\ncluster: management\nnamespace: clusters-a\n{signers}"));
        names(&project.render_with("mc", &["--set", "own=true"]))
    };
    assert_eq!(rendered(""), ["Secret/root-ca", "ConfigMap/base", "ConfigMap/cm", "Secret/cert"]);
    assert_eq!(
        rendered("signers: {root-ca: {bundle: new}}\n"),
        ["ConfigMap/new", "ConfigMap/cm", "Secret/cert"]
    );
}

#[test]
fn signers_are_in_the_namespace_of_the_profile() {
    let project = project(CERTIFICATE, "{}")
        .profile("mc", "topology: two\ncluster: management\nsigners: {root-ca: {bundle: trusted}}\n");
    project.assert_render_error(
        "mc",
        r"
        error: profiles/mc.yaml:6:11: the profile has no namespace for the signer `root-ca`
          help: set `namespace` in the profile
        ",
    );
}

#[test]
fn misuse_of_signers() {
    let unknown = project(CERTIFICATE, "{root-ca: {create: {owm: true}}}");
    unknown.assert_render_error(
        "mc",
        r"
        error: profiles/mc.yaml:7:30: `owm` is not defined
          help: did you mean `own`?
        ",
    );
    let bundle = project(CERTIFICATE, "{root-ca: {bundle: A}}");
    bundle.assert_render_error(
        "mc",
        r"
        error: profiles/mc.yaml:7:29: `bundle` cannot be `A`
          help: use at most 63 lower-case letters, digits and `-`, with no `-` at either end
        ",
    );
    let field = project(CERTIFICATE, "{root-ca: {creates: {}}}");
    field.assert_render_error(
        "mc",
        r"
        error: profiles/mc.yaml:7:21: a signer has no field `creates`
          help: did you mean `create`?
        ",
    );
}

#[test]
fn an_issued_object_needs_its_signer() {
    let lint = |project: TestProject| project.lint(&["--profile", "mc"]).stdout;
    let missing = project(CERTIFICATE, "{root-ca: {bundle: trusted}}");
    let finding = |location: &str, object: &str| {
        format!(
            "\
error[missing-object]: {location}: there is no Secret `root-ca` in the namespace `clusters-a`, which is the signer
  object: {object} in clusters-a
  note: `apply` cannot issue certificates without it
  note: found in mc
  help: declare it under `externals` in checks.yaml, or let the profile create it under `signers`
"
        )
    };
    let bundle = finding("profiles/mc.yaml:7:29", "ConfigMap/trusted");
    let certificate = finding("payload/op/component.yaml:9:5", "Secret/cert");
    assert_eq!(lint(missing), format!("{certificate}{bundle}"));
    let external = project(CERTIFICATE, "{root-ca: {bundle: trusted}}")
        .checks("externals: [{objects: [Secret/root-ca], in: [mc], reason: someone creates it}]\n");
    assert_eq!(lint(external), "");
    let created = project(CERTIFICATE, "{root-ca: {create: {own: false}}}");
    assert_eq!(lint(created), "");
}

/// A project whose guest has a webhook with the annotation.
fn with_webhook(annotation: &str, checks: &str) -> TestProject {
    let webhook = format!(
        r"
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {{name: op, annotations: {{x: x, {annotation}}}}}
        webhooks:
        - name: op.example.test
          admissionReviewVersions: [v1]
          sideEffects: None
          failurePolicy: Ignore
          clientConfig: {{url: 'https://op.clusters-a.svc:443/'}}
        "
    );
    project(NO_CERTIFICATE, "{root-ca: {bundle: trusted}}")
        .manifest("op/2.yaml", &webhook)
        .checks(&format!("externals: [{checks}]\n"))
}

const ANNOTATION: &str = "transship.openshift.io/ca-bundle: root-ca";

#[test]
fn the_authorities_of_a_webhook_are_those_of_a_signer() {
    let external = "{objects: [Secret/root-ca], in: [mc], reason: someone creates it}";
    let trusting = with_webhook(ANNOTATION, external);
    let guest = trusting.render("guest");
    let webhook = find(&guest, "ValidatingWebhookConfiguration", "op");
    assert_eq!(webhook["metadata"]["annotations"]["transship.openshift.io/ca-bundle"], "root-ca");
    assert_eq!(webhook["webhooks"][0]["clientConfig"], json!({"url": "https://op.clusters-a.svc:443/"}));
    assert_eq!(trusting.lint(&["--profile", "guest"]).stdout, "");
    let without = with_webhook("z: z", external).lint(&["--profile", "guest"]).stdout;
    assert!(without.contains("the API server cannot verify the certificate of the webhook"), "{without}");
}

#[test]
fn a_webhook_cannot_trust_a_signer_that_does_not_exist() {
    let lint = with_webhook(ANNOTATION, "").lint(&["--profile", "guest"]).stdout;
    assert_eq!(
        lint,
        "\
error[missing-object]: payload/op/2.yaml:3:76: there is no Secret `root-ca` in the namespace `clusters-a`, which is the signer
  object: ValidatingWebhookConfiguration.admissionregistration.k8s.io/op, at /metadata/annotations/transship.openshift.io~1ca-bundle
  note: `apply` cannot issue certificates without it
  note: found in guest
  help: declare it under `externals` in checks.yaml, or let the profile create it under `signers`
"
    );
}

#[test]
fn a_standalone_cluster_has_no_signers() {
    let webhook = format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {{name: op, annotations: {{{ANNOTATION}}}}}\nwebhooks: []\n"
    );
    let project = TestProject::standalone().manifest("op/1.yaml", &webhook).checks("externals: []\n");
    let lint = project.lint(&[]).stdout;
    assert_eq!(
        lint,
        "\
error[missing-object]: payload/op/1.yaml:3:70: the signer `root-ca` has no namespace
  object: MutatingWebhookConfiguration.admissionregistration.k8s.io/op, at /metadata/annotations/transship.openshift.io~1ca-bundle
  note: a signer is a Secret in the namespace of the hosted control plane, and this topology has none
  note: found in test
  help: use service-ca's annotation `service.beta.openshift.io/inject-cabundle`
"
    );
}

#[test]
fn only_objects_with_a_ca_bundle_can_have_the_annotation() {
    let key = "transship.openshift.io/ca-bundle";
    let of_kind = |header: &str, value: &str| {
        format!("{header}\nmetadata:\n  name: v1.a.b\n  namespace: ns\n  annotations:\n    {key}: {value}\n")
    };
    let service = "apiVersion: apiregistration.k8s.io/v1\nkind: APIService";
    for (manifest, id) in [
        (of_kind("apiVersion: v1\nkind: ConfigMap", "root-ca"), "ConfigMap/v1.a.b in ns"),
        (of_kind(service, "''").replace("  namespace: ns\n", ""), "APIService.apiregistration.k8s.io/v1.a.b"),
    ] {
        let error = TestProject::standalone().manifest("op/1.yaml", &manifest).render_error("test");
        let line = manifest.lines().count();
        let expected = format!(
            "\
error: payload/op/1.yaml:{line}:39: the annotation `{key}` cannot be used here
  object: {id}
  note: it names the signer whose authorities an object with `caBundle` trusts
  help: use it on webhook configurations, CustomResourceDefinitions with a conversion webhook, and APIServices
"
        );
        assert_eq!(error, expected);
    }
}

/// Returns the messages of findings of a check.
fn findings(project: &TestProject, check: &str) -> Vec<Value> {
    let run = project.run(&["lint", "-o", "json"]);
    let lines = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|finding| finding["code"] == check).map(|finding| finding["message"].clone()).collect()
}

#[test]
fn a_kubeconfig_of_an_administrator_is_found() {
    let page = |identity: &str| {
        format!(
            r"
            place: {{management: [ConfigMap]}}
            adds:
            - in: [mc]
              objects:
              - apiVersion: transship.openshift.io/v1
                kind: IssuedKubeconfig
                metadata: {{name: admin, namespace: ns}}
                spec: {{server: 'https://api', authority: root-ca, signer: admin-ca, as: {identity}}}
            "
        )
    };
    let administrator = project(&page("{user: boss, groups: ['system:masters']}"), "{}");
    assert_eq!(
        findings(&administrator, "guest-admin"),
        ["the kubeconfig is for `boss`, who administers the guest"]
    );
    let other = project(&page("{user: boss, groups: [readers]}"), "{}");
    assert_eq!(findings(&other, "guest-admin"), [Value::Null; 0]);
    let reach = |project: &TestProject| project.run(&["lint", "--report", "reach"]).stdout;
    assert_eq!(
        reach(&administrator),
        "management readers of Secret/clusters-a/admin -> kubeconfig -> guest User/boss: cluster-admin\n"
    );
    assert_eq!(
        reach(&other),
        "management readers of Secret/clusters-a/admin -> kubeconfig -> guest User/boss: what the guest grants to boss and readers\n"
    );
    let alone = project(&page("{user: boss}"), "{}");
    assert_eq!(
        reach(&alone),
        "management readers of Secret/clusters-a/admin -> kubeconfig -> guest User/boss: what the guest grants to boss\n"
    );
}
