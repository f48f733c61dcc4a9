//! Intents: what manifests ask for in fields that exist, and how profiles handle it.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

/// Returns a `place` that puts the namespaced kinds of a manifest into the management cluster.
fn place(manifest: &str) -> String {
    let kinds = ["Deployment", "Service", "ConfigMap"]
        .iter()
        .filter(|kind| manifest.contains(&format!("\nkind: {kind}\n")));
    format!("place: {{management: [{}]}}\n", kinds.copied().collect::<Vec<_>>().join(", "))
}

/// Creates a component with one manifest, and the profiles `mc` and `guest` with these rules.
fn folder(manifest: &str, mc: &str, guest: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", manifest);
    folder.write("payload/op/component.yaml", file("Component", "op", &place(manifest)));
    for (name, cluster, rules) in [("mc", "management", mc), ("guest", "guest", guest)] {
        let body = format!("topology: t\ncluster: {cluster}\n{rules}");
        folder.write(&format!("profiles/{name}.yaml"), file("Profile", name, &body));
    }
    folder
}

fn render(folder: &Folder, profile: &str) -> Vec<serde_json::Value> {
    folder.run(&["render", "--profile", profile, "-o", "json"]).json()
}

fn refused(folder: &Folder, profile: &str) -> String {
    folder.run(&["render", "--profile", profile]).refusal()
}

const TOKEN: &str = "\
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

const MINTER: &str = "\
description: a token
inputs: {workload: workload, container: container, volume: name, mountPath: path, serviceAccount: name, file: string, audience: string}
adds:
- {in: [guest], objects: [{apiVersion: v1, kind: ServiceAccount, metadata: {name: '${serviceAccount}', namespace: '${workload.namespace}'}}]}
- {in: [mc], pod: {spec: {volumes: [{name: '${volume}', emptyDir: {medium: Memory}}], containers: [{name: minter, image: x, args: ['${audience}', '${mountPath}/${file}', '${container}']}]}}}
";

#[test]
fn a_fragment_replaces_a_projected_token_in_both_clusters() {
    let folder = folder(TOKEN, "intents: {projected-token: minter}\n", "");
    folder.write("profiles/fragments/minter.yaml", file("Fragment", "minter", MINTER));
    assert_eq!(
        render(&folder, "mc")[0]["spec"]["template"]["spec"],
        serde_json::json!({
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
        render(&folder, "guest")[0].to_string(),
        r#"{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"sa","namespace":"ns"}}"#
    );
    let run = folder.run(&[
        "explain",
        "deployment/a",
        "--profile",
        "mc",
        "--path",
        "/spec/template/spec/volumes/[name=token]",
    ]);
    assert_eq!(
        run.stdout,
        "Deployment.apps/a in ns (profile mc)\n\
         /spec/template/spec/volumes/[name=token]/emptyDir/medium: \"Memory\"\n  \
         from profiles/fragments/minter.yaml:8:76, set by the fragment minter: a token, used at profiles/mc.yaml:6:11\n\
         /spec/template/spec/volumes/[name=token]/name: \"token\"\n  from payload/op/1.yaml:13:15\n\
         /spec/template/spec/volumes/[name=token]/projected is not set\n  \
         removed by the `intents` entry at profiles/mc.yaml:6:11, because of payload/op/1.yaml:13:9\n  \
         was {\"sources\":[{\"serviceAccountToken\":{\"audience\":\"sts\",\"path\":\"jwt\"}}]} at payload/op/1.yaml:14:20\n",
        "{}",
        run.stderr
    );
}

#[test]
fn a_token_without_an_audience_is_not_an_intent() {
    let folder = folder(&TOKEN.replace("audience: sts, ", ""), "", "");
    assert!(render(&folder, "mc")[0]["spec"]["template"]["spec"]["volumes"][1].get("projected").is_some());
}

#[test]
fn an_intent_without_a_rule_is_an_error() {
    let folder = folder(TOKEN, "", "");
    assert_eq!(
        refused(&folder, "mc"),
        "error: payload/op/1.yaml:13:9: the profile `mc` has no rule for the intent `projected-token`\n  \
         object: Deployment.apps/a in ns\n  \
         help: write `projected-token: keep`, a fragment, or `refuse: <reason>` under its `intents`\n"
    );
}

#[test]
fn an_intent_can_be_refused_with_a_reason() {
    let folder = folder(TOKEN, "intents: {projected-token: {refuse: no tokens here}}\n", "");
    assert_eq!(
        refused(&folder, "mc"),
        "error: payload/op/1.yaml:13:9: the intent `projected-token` is refused: no tokens here\n  \
         object: Deployment.apps/a in ns\n  \
         note: the rule is at profiles/mc.yaml:6:11\n  \
         help: remove it from the manifest, or write another rule in an `adds` entry of the component's page\n"
    );
}

#[test]
fn an_intent_that_is_kept_stays_in_the_object() {
    let folder = folder(TOKEN, "intents: {projected-token: keep}\n", "");
    assert!(render(&folder, "mc")[0]["spec"]["template"]["spec"]["volumes"][1].get("projected").is_some());
}

#[test]
fn a_page_overrides_the_rule_of_the_profile() {
    let folder = folder(TOKEN, "intents: {projected-token: {refuse: x}}\n", "");
    let page = format!("{}adds: [{{in: [mc], intents: {{projected-token: keep}}}}]\n", place(TOKEN));
    folder.write("payload/op/component.yaml", file("Component", "op", &page));
    assert_eq!(render(&folder, "mc").len(), 1);
}

#[test]
fn an_intent_that_a_patch_adds_is_an_error() {
    let folder = folder(&TOKEN.replace("audience: sts, ", ""), "intents: {projected-token: minter}\n", "");
    folder.write("profiles/fragments/minter.yaml", file("Fragment", "minter", MINTER));
    let patch = "\
patches:
- reason: why
  in: [mc]
  target: {kind: Deployment}
  patch:
  - {op: add, path: '/spec/template/spec/volumes/[name=token]/projected/sources/0/serviceAccountToken/audience', value: sts}
";
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{}{patch}", place(TOKEN))));
    assert_eq!(
        refused(&folder, "mc"),
        "error: payload/op/1.yaml:13:9: the intent `projected-token` is added too late to be handled\n  \
         object: Deployment.apps/a in ns\n  \
         note: profiles/mc.yaml:6:11 handles it with `minter`, before policy and patches are applied\n  \
         help: add it in the manifest or in an `adds` entry, not in a patch or in `policy`\n"
    );
}

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: s
  namespace: ns
  annotations:
    service.VERSION.openshift.io/serving-cert-secret-name: cert
";

const CERTIFICATE: &str = "\
description: c
inputs: {service: object, secret: name}
adds:
- {in: [guest], nothing: x}
- in: [mc]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: IssuedCertificate
    metadata: {name: '${secret}', namespace: '${service.namespace}'}
    spec: {signer: ca, dnsNames: ['${service.name}', '${service.kind}.${service.apiVersion}']}
";

#[test]
fn both_annotations_ask_for_a_serving_certificate() {
    for version in ["alpha", "beta"] {
        let folder = folder(&SERVICE.replace("VERSION", version), "intents: {serving-cert: cert}\n", "");
        folder.write("profiles/fragments/cert.yaml", file("Fragment", "cert", CERTIFICATE));
        let mc = render(&folder, "mc");
        assert_eq!(
            mc[0]["metadata"]["annotations"]["transship.openshift.io/issued"],
            "certificate for s, Service.v1 signed by ca"
        );
        assert_eq!(
            (mc[0]["type"].as_str(), mc[0]["data"].to_string().as_str()),
            (Some("kubernetes.io/tls"), r#"{"tls.crt":"","tls.key":""}"#)
        );
        assert_eq!(mc[1]["metadata"].to_string(), r#"{"name":"s","namespace":"ns"}"#);
    }
}

const WEBHOOK: &str = "\
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

const URL: &str = "\
description: u
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
    let folder = folder(WEBHOOK, "", "intents: {webhook: url}\n");
    folder.write("profiles/fragments/url.yaml", file("Fragment", "url", URL));
    assert_eq!(render(&folder, "mc")[0]["metadata"]["labels"]["hook"], "true");
    let guest = render(&folder, "guest");
    let find = |name: &str| guest.iter().find(|object| object["metadata"]["name"] == name).unwrap();
    assert_eq!(find("for-v")["data"].to_string(), r#"{"url":"https://hook:443/check","webhook":"a.x.y"}"#);
    let webhooks = &find("v")["webhooks"];
    assert_eq!(
        webhooks[0]["clientConfig"]["service"]["name"], "local",
        "a Service of the same cluster stays"
    );
    assert_eq!(webhooks[1]["clientConfig"].to_string(), "{}");
    assert_eq!(
        find("v")["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"],
        "true",
        "the local Service still needs its CA bundle"
    );
}

const PARAMETERS: &str = "\
parameters:
  p.httpProxy: {type: string, description: d, optional: true}
  p.httpsProxy: {type: string, description: d, optional: true}
  p.noProxy: {type: string, description: d, optional: true}
  t.minVersion: {type: string, description: d, optional: true}
  t.cipherSuites: {type: list, description: d, optional: true}
";

const FROM_PARAMETERS: &str = "intents: {proxy: '${p}', tls: '${t}'}\n";

const PROXY: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: ns, annotations: {config.openshift.io/inject-proxy: 'c, i'}}
spec: {template: {spec: {initContainers: [{name: i}], containers: [{name: c, env: [{name: NO_PROXY, value: mine}]}, {name: d}]}}}
";

#[test]
fn proxy_variables_are_added_to_the_containers_that_the_annotation_names() {
    let folder = folder(PROXY, FROM_PARAMETERS, FROM_PARAMETERS);
    folder.write("profiles/p.yaml", file("Parameters", "p", PARAMETERS));
    let spec = |more: &[&str]| {
        let run = folder.run(&[&["render", "--profile", "mc", "-o", "json"][..], more].concat());
        run.json()[0]["spec"]["template"]["spec"].to_string()
    };
    assert_eq!(
        spec(&[]),
        r#"{"containers":[{"env":[{"name":"NO_PROXY","value":"mine"}],"name":"c"},{"name":"d"}],"initContainers":[{"name":"i"}]}"#,
        "absent parameters add nothing"
    );
    assert_eq!(
        spec(&["--set", "p.httpProxy=http://p", "--set", "p.noProxy=x"]),
        r#"{"containers":[{"env":[{"name":"NO_PROXY","value":"mine"},{"name":"HTTP_PROXY","value":"http://p"}],"name":"c"},{"name":"d"}],"initContainers":[{"env":[{"name":"HTTP_PROXY","value":"http://p"},{"name":"NO_PROXY","value":"x"}],"name":"i"}]}"#,
        "variables that a container has stay unchanged"
    );
    folder.write("payload/op/1.yaml", PROXY.replace("'c, i'", "e"));
    assert_eq!(
        refused(&folder, "mc"),
        "error: payload/op/1.yaml:3:84: there is no container `e` for the proxy variables\n  \
         object: Deployment.apps/a in ns\n  \
         help: list the names of containers in the annotation, separated by commas\n"
    );
}

const TLS: &str = "\
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
    let folder = folder(TLS, FROM_PARAMETERS, FROM_PARAMETERS);
    folder.write("profiles/p.yaml", file("Parameters", "p", PARAMETERS));
    let unchanged = &render(&folder, "mc")[0]["data"]["config.yaml"];
    assert!(unchanged.as_str().unwrap().contains("servingInfo: {bindAddress: x}"), "{unchanged}");
    let settings = ["--set", "t.minVersion=VersionTLS12", "--set", "t.cipherSuites=[A, B]"];
    let run = folder.run(&[&["render", "--profile", "mc", "-o", "json"][..], &settings].concat());
    let data = &run.json()[0]["data"];
    assert_eq!(
        data["config.yaml"],
        "\
apiVersion: operator.openshift.io/v1alpha1
kind: GenericOperatorConfig
servingInfo:
  bindAddress: x
  cipherSuites:
  - A
  - B
  minTLSVersion: VersionTLS12
"
    );
    assert_eq!((data["other.yaml"].as_str(), data["text"].as_str()), (Some("kind: Other\n"), Some("a: : b")));
}

#[test]
fn a_label_asks_for_the_trusted_ca_bundle() {
    let manifest = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: ca, namespace: ns, annotations: {x: x}, labels: {config.openshift.io/inject-trusted-cabundle: 'true'}}
";
    let folder = folder(manifest, "intents: {trusted-ca: keep}\n", "");
    assert_eq!(render(&folder, "mc").len(), 1);
    folder.write("profiles/mc.yaml", file("Profile", "mc", "topology: t\ncluster: management\n"));
    assert!(refused(&folder, "mc").contains("has no rule for the intent `trusted-ca`"));
}

#[test]
fn mistakes_in_rules_for_intents() {
    for (rules, message) in [
        (
            "intents: {projected-tokens: leave}\n",
            "profiles/mc.yaml:6:11: `intents` cannot be `projected-tokens`\n  help: did you mean `projected-token`?",
        ),
        (
            "intents: {projected-token: mintr}\n",
            "profiles/mc.yaml:6:11: there is no fragment `mintr`\n  help: did you mean `minter`?",
        ),
        (
            "intents: {proxy: '${nothing}'}\n",
            "profiles/mc.yaml:6:11: there is no group of parameters `nothing`",
        ),
        ("intents: {webhook: {refuses: x}}\n", "profiles/mc.yaml:6:20: an intent needs the field `refuse`"),
    ] {
        let folder = folder(TOKEN, rules, "");
        folder.write("profiles/fragments/minter.yaml", file("Fragment", "minter", MINTER));
        let shown = refused(&folder, "mc");
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
}

#[test]
fn not_every_intent_can_be_fulfilled_from_parameters() {
    let folder = folder(TOKEN, "intents: {projected-token: '${p}'}\n", "");
    let parameters = "parameters: {p.x: {type: string, description: d, default: x}}\n";
    folder.write("profiles/p.yaml", file("Parameters", "p", parameters));
    assert_eq!(
        refused(&folder, "mc"),
        "error: profiles/mc.yaml:6:11: the intent `projected-token` cannot be fulfilled from parameters\n  \
         help: write `keep`, a fragment, or `refuse: <reason>`\n"
    );
}
