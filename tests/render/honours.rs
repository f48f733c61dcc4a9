//! What manifests already ask for, and how profiles honour it.

use crate::support::Folder;

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

fn file(kind: &str, name: &str, body: &str) -> String {
    format!("{HEADER}kind: {kind}\nmetadata: {{name: {name}}}\n{body}")
}

/// The namespaced kinds of a manifest, all in the management cluster.
fn place(manifest: &str) -> String {
    let kinds = ["Deployment", "Service", "ConfigMap"]
        .iter()
        .filter(|kind| manifest.contains(&format!("\nkind: {kind}\n")));
    format!("place: {{management: [{}]}}\n", kinds.copied().collect::<Vec<_>>().join(", "))
}

/// One manifest, a management and a guest profile with these honours, and a page.
fn folder(manifest: &str, mc: &str, guest: &str) -> Folder {
    let folder = Folder::new();
    folder.write("payload/op/1.yaml", manifest);
    folder.write("payload/op/component.yaml", file("Component", "op", &place(manifest)));
    for (name, cluster, honours) in [("mc", "management", mc), ("guest", "guest", guest)] {
        let body = format!("topology: t\ncluster: {cluster}\n{honours}");
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

const TOKEN: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns, annotations: {x: x}}\nspec:\n  template:\n    spec:\n      \
    serviceAccountName: sa\n      containers:\n      - {name: first, volumeMounts: [{name: other, mountPath: /other}]}\n      \
    - {name: driver, volumeMounts: [{name: token, mountPath: /var/token, readOnly: true}]}\n      volumes:\n      - {name: other, emptyDir: {}}\n      \
    - name: token\n        projected: {sources: [{serviceAccountToken: {audience: sts, path: jwt}}]}\n";

const MINTER: &str = "description: a token\n\
    inputs: {workload: workload, container: container, volume: name, mountPath: path, serviceAccount: name, file: string, audience: string}\n\
    adds:\n\
    - {in: [guest], objects: [{apiVersion: v1, kind: ServiceAccount, metadata: {name: '${serviceAccount}', namespace: '${workload.namespace}'}}]}\n\
    - {in: [mc], pod: {spec: {volumes: [{name: '${volume}', emptyDir: {medium: Memory}}], containers: [{name: minter, image: x, args: ['${audience}', '${mountPath}/${file}', '${container}']}]}}}\n";

#[test]
fn a_projected_token_is_taken_away_and_a_fragment_comes_in_its_place_in_both_clusters() {
    let folder = folder(TOKEN, "intents: {projected-token: minter}\n", "");
    folder.write("profiles/fragments/minter.yaml", file("Fragment", "minter", MINTER));
    assert_eq!(
        render(&folder, "mc")[0]["spec"]["template"]["spec"].to_string(),
        r#"{"containers":[{"name":"first","volumeMounts":[{"mountPath":"/other","name":"other"}]},{"name":"driver","volumeMounts":[{"mountPath":"/var/token","name":"token","readOnly":true}]},{"args":["sts","/var/token/jwt","driver"],"image":"x","name":"minter"}],"serviceAccountName":"sa","volumes":[{"emptyDir":{},"name":"other"},{"emptyDir":{"medium":"Memory"},"name":"token"}]}"#
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
fn a_token_without_an_audience_is_for_the_cluster_itself() {
    let folder = folder(&TOKEN.replace("audience: sts, ", ""), "", "");
    assert!(render(&folder, "mc")[0]["spec"]["template"]["spec"]["volumes"][1].get("projected").is_some());
}

#[test]
fn a_fact_that_nobody_decided_about_is_an_error_and_so_is_one_that_is_refused() {
    let folder = folder(TOKEN, "", "");
    assert_eq!(
        refused(&folder, "mc"),
        "error: payload/op/1.yaml:13:9: the profile `mc` does not say how it honours a projected-token\n  \
         object: Deployment.apps/a in ns\n  \
         help: write `projected-token: keep`, a fragment, or `refuse: why` under its `intents`\n"
    );
    folder.write(
        "profiles/mc.yaml",
        file(
            "Profile",
            "mc",
            "topology: t\ncluster: management\nintents: {projected-token: {refuse: no tokens here}}\n",
        ),
    );
    let shown = refused(&folder, "mc");
    assert!(
        shown.contains("a projected-token cannot be here: no tokens here\n")
            && shown.contains("profiles/mc.yaml:6:11 refuses it"),
        "{shown}"
    );
    let leave = "topology: t\ncluster: management\nintents: {projected-token: keep}\n";
    folder.write("profiles/mc.yaml", file("Profile", "mc", leave));
    assert!(render(&folder, "mc")[0]["spec"]["template"]["spec"]["volumes"][1].get("projected").is_some());
}

#[test]
fn a_component_may_honour_a_fact_in_its_own_way() {
    let folder = folder(TOKEN, "intents: {projected-token: {refuse: x}}\n", "");
    let page = format!("{}adds: [{{in: [mc], intents: {{projected-token: keep}}}}]\n", place(TOKEN));
    folder.write("payload/op/component.yaml", file("Component", "op", &page));
    assert_eq!(render(&folder, "mc").len(), 1);
}

#[test]
fn a_fact_that_a_patch_brings_is_an_error() {
    let folder = folder(&TOKEN.replace("audience: sts, ", ""), "intents: {projected-token: minter}\n", "");
    folder.write("profiles/fragments/minter.yaml", file("Fragment", "minter", MINTER));
    let patch = "patches:\n- reason: why\n  in: [mc]\n  target: {kind: Deployment}\n  patch:\n  - {op: add, path: '/spec/template/spec/volumes/[name=token]/projected/sources/0/serviceAccountToken/audience', value: sts}\n";
    folder.write("payload/op/component.yaml", file("Component", "op", &format!("{}{patch}", place(TOKEN))));
    let shown = refused(&folder, "mc");
    assert!(shown.contains("a projected-token that was not there when it could be honoured"), "{shown}");
}

const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  namespace: ns\n  annotations:\n    service.VERSION.openshift.io/serving-cert-secret-name: cert\n";

#[test]
fn a_serving_certificate_is_asked_for_in_two_ways() {
    for version in ["alpha", "beta"] {
        let folder = folder(&SERVICE.replace("VERSION", version), "intents: {serving-cert: cert}\n", "");
        let body = "description: c\ninputs: {service: object, secret: name}\nadds:\n- {in: [guest], nothing: x}\n- {in: [mc], objects: [{apiVersion: transship.openshift.io/v1, kind: IssuedCertificate, metadata: {name: '${secret}', namespace: '${service.namespace}'}, spec: {signer: ca, dnsNames: ['${service.name}', '${service.kind}.${service.apiVersion}']}}]}\n";
        folder.write("profiles/fragments/cert.yaml", file("Fragment", "cert", body));
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

const WEBHOOK: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: ns, annotations: {x: x}}\n---\n\
    apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}\n\
    webhooks:\n- {name: other.x.y, clientConfig: {service: {name: local, namespace: ns}}}\n- {name: a.x.y, clientConfig: {service: {name: hook, namespace: ns, path: /check}, caBundle: AA}}\n";

#[test]
fn a_webhook_whose_service_lives_in_the_other_cluster() {
    let folder = folder(WEBHOOK, "", "intents: {webhook: url}\n");
    let body = "description: u\ninputs: {config: object, webhook: string, service: object, port: port, path: {type: path, default: /}}\nadds:\n\
        - {in: [mc], objects: [{apiVersion: v1, kind: Service, metadata: {name: '${service.name}', labels: {hook: 'true'}}}]}\n\
        - {in: [guest], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: 'for-${config.name}', namespace: ns}, data: {url: 'https://${service.name}:${port}${path}', webhook: '${webhook}'}}]}\n";
    folder.write("profiles/fragments/url.yaml", file("Fragment", "url", body));
    assert_eq!(render(&folder, "mc")[0]["metadata"]["labels"]["hook"], "true");
    let guest = render(&folder, "guest");
    let find = |name: &str| guest.iter().find(|object| object["metadata"]["name"] == name).unwrap();
    assert_eq!(find("for-v")["data"].to_string(), r#"{"url":"https://hook:443/check","webhook":"a.x.y"}"#);
    let webhooks = &find("v")["webhooks"];
    assert_eq!(webhooks[0]["clientConfig"]["service"]["name"], "local", "what does not cross stays");
    assert_eq!(webhooks[1]["clientConfig"].to_string(), "{}");
    assert_eq!(
        find("v")["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"],
        "true",
        "the local one needs it"
    );
}

const PARAMETERS: &str = "parameters:\n  p.httpProxy: {type: string, description: d, optional: true}\n  p.httpsProxy: {type: string, description: d, optional: true}\n  \
    p.noProxy: {type: string, description: d, optional: true}\n  t.minVersion: {type: string, description: d, optional: true}\n  t.cipherSuites: {type: list, description: d, optional: true}\n";

const HONOURS: &str = "intents: {proxy: '${p}', tls: '${t}'}\n";

#[test]
fn the_proxy_goes_to_the_containers_that_are_named() {
    let manifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: ns, annotations: {config.openshift.io/inject-proxy: 'c, i'}}\nspec: {template: {spec: {initContainers: [{name: i}], containers: [{name: c, env: [{name: NO_PROXY, value: mine}]}, {name: d}]}}}\n";
    let folder = folder(manifest, HONOURS, HONOURS);
    folder.write("profiles/p.yaml", file("Parameters", "p", PARAMETERS));
    let spec = |folder: &Folder, more: &[&str]| {
        let run = folder.run(&[&["render", "--profile", "mc", "-o", "json"][..], more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        object["spec"]["template"]["spec"].to_string()
    };
    assert_eq!(
        spec(&folder, &[]),
        r#"{"containers":[{"env":[{"name":"NO_PROXY","value":"mine"}],"name":"c"},{"name":"d"}],"initContainers":[{"name":"i"}]}"#
    );
    assert_eq!(
        spec(&folder, &["--set", "p.httpProxy=http://p", "--set", "p.noProxy=x"]),
        r#"{"containers":[{"env":[{"name":"NO_PROXY","value":"mine"},{"name":"HTTP_PROXY","value":"http://p"}],"name":"c"},{"name":"d"}],"initContainers":[{"env":[{"name":"HTTP_PROXY","value":"http://p"},{"name":"NO_PROXY","value":"x"}],"name":"i"}]}"#
    );
    folder.write("payload/op/1.yaml", manifest.replace("'c, i'", "e"));
    let shown = refused(&folder, "mc");
    assert!(
        shown.contains("payload/op/1.yaml:3:84: there is no container `e` to give the proxy to"),
        "{shown}"
    );
}

#[test]
fn tls_settings_go_into_operators_configurations_and_nowhere_else() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns, annotations: {config.openshift.io/inject-tls: 'true'}}\ndata:\n  \
        config.yaml: |\n    apiVersion: operator.openshift.io/v1alpha1\n    kind: GenericOperatorConfig\n    servingInfo: {bindAddress: x}\n  other.yaml: |\n    kind: Other\n  text: 'a: : b'\n";
    let folder = folder(manifest, HONOURS, HONOURS);
    folder.write("profiles/p.yaml", file("Parameters", "p", PARAMETERS));
    assert!(
        render(&folder, "mc")[0]["data"]["config.yaml"]
            .as_str()
            .unwrap()
            .contains("servingInfo: {bindAddress: x}")
    );
    let run = folder.run(&[
        "render",
        "--profile",
        "mc",
        "-o",
        "json",
        "--set",
        "t.minVersion=VersionTLS12",
        "--set",
        "t.cipherSuites=[A, B]",
    ]);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        object["data"]["config.yaml"],
        "apiVersion: operator.openshift.io/v1alpha1\nkind: GenericOperatorConfig\nservingInfo:\n  bindAddress: x\n  cipherSuites:\n  - A\n  - B\n  minTLSVersion: VersionTLS12\n"
    );
    assert_eq!(
        (object["data"]["other.yaml"].as_str(), object["data"]["text"].as_str()),
        (Some("kind: Other\n"), Some("a: : b"))
    );
}

#[test]
fn a_trusted_bundle_is_found_by_its_label() {
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca, namespace: ns, annotations: {x: x}, labels: {config.openshift.io/inject-trusted-cabundle: 'true'}}\n";
    let folder = folder(manifest, "intents: {trusted-ca: keep}\n", "");
    assert_eq!(render(&folder, "mc").len(), 1);
    folder.write("profiles/mc.yaml", file("Profile", "mc", "topology: t\ncluster: management\n"));
    assert!(refused(&folder, "mc").contains("does not say how it honours a trusted-ca"));
}

#[test]
fn mistakes_in_honours() {
    for (honours, message) in [
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
        ("intents: {webhook: {refuses: x}}\n", "profiles/mc.yaml:6:20: a refusal needs the field `refuse`"),
    ] {
        let folder = folder(TOKEN, honours, "");
        folder.write("profiles/fragments/minter.yaml", file("Fragment", "minter", MINTER));
        let shown = refused(&folder, "mc");
        assert!(shown.contains(message), "{message}\nis not in\n{shown}");
    }
    let folder = folder(TOKEN, "intents: {projected-token: '${p}'}\n", "");
    folder.write(
        "profiles/p.yaml",
        file("Parameters", "p", "parameters: {p.x: {type: string, description: d, default: x}}\n"),
    );
    assert!(refused(&folder, "mc").contains("a projected-token cannot be done from parameters"));
}
