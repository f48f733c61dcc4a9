//! Declarations of issued kubeconfigs and certificates: what they become, and what is refused.

use serde_json::{Value, json};

use crate::support::{TestProject, find, object, unindent};

/// Creates a component that declares an issued object with this `spec` in the management cluster.
fn project(kind: &str, spec: &str) -> TestProject {
    project_with(kind, spec, "", "")
}

/// Creates a component that declares an issued object. Its page and the profile of the management cluster have these fields.
fn project_with(kind: &str, spec: &str, page: &str, profile: &str) -> TestProject {
    let (page, profile) = (unindent(page), unindent(profile));
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "cm", ""))
        .page(
            "op",
            &format!(
                "\
place: {{management: [ConfigMap]}}
adds:
- in: [mc]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: {kind}
    metadata: {{name: issued, namespace: ns, annotations: {{own: stays}}}}
    spec: {spec}
{page}"
            ),
        )
        .profile("mc", &format!("topology: two\ncluster: management\nnamespace: clusters-a\n{profile}"))
        .profile("guest", "topology: two\ncluster: guest\n")
}

/// Returns the rendered Secret.
fn secret(project: &TestProject) -> Value {
    find(&project.render("mc"), "Secret", "issued").clone()
}

/// Returns what the annotation of the rendered Secret says.
fn issued(project: &TestProject) -> Value {
    let annotation = secret(project)["metadata"]["annotations"]["transship.openshift.io/issued"].clone();
    serde_json::from_str(annotation.as_str().unwrap()).unwrap()
}

/// Checks that a declaration is refused with this message: its column, its text and its notes.
#[track_caller]
fn assert_refused(kind: &str, spec: &str, message: &str) {
    let expected = format!("error: payload/op/component.yaml:11:{}\n", unindent(message).trim_end());
    let error = project(kind, spec).render_error("mc");
    let error = error.replace(&format!("\n  object: {kind}.transship.openshift.io/issued in ns"), "");
    assert_eq!(error, expected, "{spec}");
}

const PLACE: &str = "server: 'https://api:6443', authority: root-ca";

fn kubeconfig(identity: &str) -> String {
    format!("{{{PLACE}, signer: client-ca, as: {identity}}}")
}

#[test]
fn a_kubeconfig_has_a_certificate_or_a_token() {
    let account = "{namespace: op, serviceAccount: op.v1}";
    assert_eq!(
        secret(&project("IssuedKubeconfig", &kubeconfig(account))),
        json!({
            "apiVersion": "v1",
            "data": {"kubeconfig": ""},
            "kind": "Secret",
            "metadata": {
                "annotations": {
                    "own": "stays",
                    "transship.openshift.io/issued": r#"{"kubeconfig":{"authority":"root-ca","server":"https://api:6443","signer":"client-ca","user":"system:serviceaccount:op:op.v1"}}"#,
                },
                "labels": {"transship.openshift.io/issued": "kubeconfig"},
                "name": "issued",
                "namespace": "clusters-a",
            },
            "type": "Opaque",
        })
    );
    let token = project("IssuedKubeconfig", &format!("{{{PLACE}, as: {account}}}"));
    assert_eq!(
        issued(&token),
        json!({"kubeconfig": {
            "authority": "root-ca",
            "server": "https://api:6443",
            "token": true,
            "user": "system:serviceaccount:op:op.v1",
        }})
    );
    let user = project("IssuedKubeconfig", &kubeconfig("{user: op, groups: [one, two]}"));
    assert_eq!(issued(&user)["kubeconfig"]["user"], "op");
}

#[test]
fn the_names_of_a_certificate_follow_the_namespace_of_the_profile() {
    let certificate = |spec: &str| issued(&project("IssuedCertificate", spec))["certificate"].clone();
    assert_eq!(
        certificate("{signer: root-ca, service: op}"),
        json!({
            "dnsNames": ["op", "op.clusters-a.svc", "op.clusters-a.svc.cluster.local", "localhost"],
            "signer": "root-ca",
        })
    );
    assert_eq!(
        certificate("{signer: root-ca, dnsNames: ['*.op.example', op.example], key: RSA2048, client: true}"),
        json!({"client": true, "dnsNames": ["*.op.example", "op.example"], "key": "RSA2048", "signer": "root-ca"})
    );
    assert_eq!(
        certificate(
            "{signer: root-ca, service: op, dnsNames: [op.example, localhost], key: P256, client: false}"
        ),
        json!({
            "dnsNames": ["op", "op.clusters-a.svc", "op.clusters-a.svc.cluster.local", "localhost", "op.example"],
            "signer": "root-ca",
        })
    );
}

#[test]
fn a_kubeconfig_needs_the_address_of_an_api_server() {
    let spec = |server: &str| {
        format!("{{server: {server}, authority: a, as: {{namespace: op, serviceAccount: op}}}}")
    };
    for server in ["http://api:6443", "api:6443", "'https://a b'"] {
        let shown = server.trim_matches('\'');
        assert_refused(
            "IssuedKubeconfig",
            &spec(server),
            &format!("20: `{shown}` is not the URL of an API server\n  help: write it as https://NAME:PORT"),
        );
    }
}

#[test]
fn a_signer_is_the_name_of_a_secret() {
    for (kind, spec, column, field) in [
        (
            "IssuedKubeconfig",
            "{server: 'https://a', authority: A, as: {namespace: op, serviceAccount: op}}",
            44,
            "authority",
        ),
        (
            "IssuedKubeconfig",
            "{signer: A, server: 'https://a', authority: a, as: {namespace: op, serviceAccount: op}}",
            20,
            "signer",
        ),
        ("IssuedCertificate", "{signer: A, service: op}", 20, "signer"),
    ] {
        let message = format!("{column}: `{field}` cannot be `A`\n  help: write the name of a Secret");
        assert_refused(kind, spec, &message);
    }
}

#[test]
fn a_kubeconfig_is_for_a_service_account_or_a_user() {
    let neither = r"
        61: `as` must name either a ServiceAccount or a user
          help: write `as: {namespace: …, serviceAccount: …}` or `as: {user: …, groups: […]}`
        ";
    for identity in [
        "{}",
        "{namespace: op}",
        "{groups: [a]}",
        "{namespace: op, serviceAccount: op, user: op}",
        "{namespace: op, serviceAccount: op, groups: [a]}",
        "{namespace: op, user: op}",
    ] {
        let spec = format!("{{signer: c, {PLACE}, as: {identity}}}").replace("server", "server");
        let error = project("IssuedKubeconfig", &spec).render_error("mc");
        let (_, message) =
            unindent(neither).split_once(": ").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        assert!(error.contains(message.lines().next().unwrap()), "{identity}: {error}");
        assert!(error.ends_with(&(message.lines().last().unwrap().to_owned() + "\n")), "{identity}: {error}");
    }
}

#[test]
fn a_user_has_a_name_and_at_most_two_groups() {
    let user = |identity: &str| format!("{{as: {identity}, signer: c, {PLACE}}}");
    assert_refused(
        "IssuedKubeconfig",
        &user("{user: ''}"),
        "23: the name of a user or group must not be empty or have control characters",
    );
    assert_refused(
        "IssuedKubeconfig",
        &user(r#"{user: u, groups: ["a\tb"]}"#),
        "35: the name of a user or group must not be empty or have control characters",
    );
    assert_refused(
        "IssuedKubeconfig",
        &user("{user: u, groups: [a, b, c]}"),
        "16: a user can have at most 2 groups",
    );
    let with_token = format!("{{as: {{user: u}}, {PLACE}}}");
    assert_refused(
        "IssuedKubeconfig",
        &with_token,
        r"
        16: only a ServiceAccount can have a token
          help: add `signer`, or write `as: {namespace: …, serviceAccount: …}`
        ",
    );
}

#[test]
fn the_service_account_of_a_kubeconfig_can_exist_and_is_its_own() {
    let account = |identity: &str| format!("{{as: {identity}, signer: c, {PLACE}}}");
    assert_refused(
        "IssuedKubeconfig",
        &account("{serviceAccount: op}"),
        r"
        16: the ServiceAccount in `as` has no namespace
          note: the kubeconfig would be for system:serviceaccount::…, which is not a ServiceAccount
          help: set `as.namespace`; `${workload.namespace}` is empty if the manifest of the workload has no namespace
        ",
    );
    assert_refused(
        "IssuedKubeconfig",
        &account("{namespace: HCP_NAMESPACE, serviceAccount: op}"),
        r"
        28: `as.namespace` is `HCP_NAMESPACE`, which is not a valid name for a namespace
          note: it looks like a placeholder that nothing replaced
          help: write the name of a namespace, or a parameter such as `${workload.namespace}`
        ",
    );
    assert_refused(
        "IssuedKubeconfig",
        &account("{namespace: op, serviceAccount: default}"),
        r"
        48: the kubeconfig is for the ServiceAccount `default`
          note: every pod of the namespace that names no ServiceAccount runs as `default`, and would share the rights
          help: set `serviceAccountName` in the workload, or name a ServiceAccount of its own in `as.serviceAccount`
        ",
    );
    assert_refused(
        "IssuedKubeconfig",
        &account("{namespace: op, serviceAccount: 'op:admin'}"),
        r"
        48: `op:admin` is not a valid name for a ServiceAccount
          help: use lower-case letters, digits, `-` and `.`
        ",
    );
}

#[test]
fn a_certificate_has_a_name() {
    assert_refused(
        "IssuedCertificate",
        "{signer: c}",
        "11: the certificate has no name\n  help: set `service` or `dnsNames`",
    );
    for name in ["Op.example", "'*'", "a.*.b", "''"] {
        let shown = name.trim_matches('\'');
        assert_refused(
            "IssuedCertificate",
            &format!("{{dnsNames: [{name}], signer: c}}"),
            &format!("23: `{shown}` is not a DNS name"),
        );
    }
    assert_refused(
        "IssuedCertificate",
        "{key: RSA4096, signer: c, service: op}",
        "17: `key` cannot be `RSA4096`\n  help: did you mean `RSA2048`?",
    );
}

/// A process would get another credential than the one that its page declares.
#[test]
fn policy_patches_and_strip_cannot_change_what_is_issued() {
    let spec = kubeconfig("{namespace: op, serviceAccount: op}");
    let plain = issued(&project("IssuedKubeconfig", &spec));
    let forged = r#"{"kubeconfig":{"user":"system:admin"}}"#;
    let annotation = format!("metadata: {{annotations: {{transship.openshift.io/issued: '{forged}'}}}}");
    let patch = format!(
        "patches: [{{reason: x, in: [mc], patch: {{apiVersion: v1, kind: Secret, {}}}}}]\n",
        annotation.replace("metadata: {", "metadata: {name: issued, ")
    );
    for (page, profile) in [
        (patch, String::new()),
        (String::new(), format!("policy: [{{for: Secret, set: {{{annotation}}}}}]\n")),
        (String::new(), "strip: ['transship.openshift.io/*', '*']\n".to_owned()),
    ] {
        let changed = project_with("IssuedKubeconfig", &spec, &page, &profile);
        assert_eq!(issued(&changed), plain, "{page}{profile}");
    }
}

/// `apply` finds issued objects in the cluster by the label.
#[test]
fn the_label_of_issued_objects_is_for_them_only() {
    let expected = |location: &str, object: &str| {
        format!(
            "error: {location}: the label `transship.openshift.io/issued` marks issued objects\n  object: {object}\n  help: remove the label\n"
        )
    };
    let label = "metadata: {labels: {transship.openshift.io/issued: certificate}}";
    let spec = kubeconfig("{namespace: op, serviceAccount: op}");
    let other = project_with(
        "IssuedKubeconfig",
        &spec,
        "",
        &format!("policy: [{{for: ConfigMap, set: {{{label}}}}}]\n"),
    );
    assert_eq!(other.render_error("mc"), expected("profiles/mc.yaml:7:84", "ConfigMap/cm in clusters-a"));
    let wrong = project_with(
        "IssuedKubeconfig",
        &spec,
        "",
        &format!("policy: [{{for: Secret, set: {{{label}}}}}]\n"),
    );
    assert_eq!(wrong.render_error("mc"), expected("profiles/mc.yaml:7:81", "Secret/issued in clusters-a"));
    let patch = "patches: [{reason: x, in: [mc], patch: {apiVersion: v1, kind: Secret, metadata: {name: issued, labels: {transship.openshift.io/issued: null}}}}]\n";
    let removed = project_with("IssuedKubeconfig", &spec, patch, "");
    assert_eq!(
        secret(&removed)["metadata"].get("labels"),
        Some(&json!({"transship.openshift.io/issued": "kubeconfig"}))
    );
}

/// Values under `stringData` would replace those that `apply` issues.
#[test]
fn policy_and_patches_cannot_set_the_values_of_an_issued_object() {
    let spec = kubeconfig("{namespace: op, serviceAccount: op}");
    for (fields, column) in [
        ("stringData: {kubeconfig: forged}", 77),
        ("data: {kubeconfig: Zm9yZ2Vk}", 84),
        ("data: {other: ''}", 79),
        ("binaryData: {other: ''}", 77),
    ] {
        let patch =
            format!("patches: [{{reason: x, in: [mc], target: {{kind: Secret}}, patch: {{{fields}}}}}]\n");
        let error = project_with("IssuedKubeconfig", &spec, &patch, "").render_error("mc");
        assert_eq!(
            error,
            format!(
                "\
error: payload/op/component.yaml:12:{column}: the object is issued, so nothing else can set its values
  object: Secret/issued in clusters-a
  note: `apply` would replace them, or they would replace those of `apply`
  help: remove them from the policy or the patch
"
            ),
            "{fields}"
        );
    }
}
