//! Issued Secrets in the guest: kubeconfigs and credentials do not belong there.

use crate::support::{Folder, run_checked};

const HEADER: &str = "apiVersion: transship.openshift.io/v1\n";

/// Creates a component that adds an issued object to the guest, and a profile for the guest with these fields.
fn folder(kind: &str, spec: &str, profile: &str) -> Folder {
    let folder = Folder::new();
    folder.write(
        "payload/op/1.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm, namespace: ns, annotations: {x: x}}\n",
    );
    let page = format!(
        "\
{HEADER}kind: Component
metadata: {{name: op}}
place: {{guest: [ConfigMap]}}
adds:
- in: [guest]
  objects:
  - apiVersion: transship.openshift.io/v1
    kind: {kind}
    metadata: {{name: issued, namespace: ns}}
    spec: {spec}
"
    );
    folder.write("payload/op/component.yaml", page);
    for (name, cluster, fields) in [("guest", "guest", profile), ("mc", "management", "")] {
        let body =
            format!("{HEADER}kind: Profile\nmetadata: {{name: {name}}}\ntopology: t\ncluster: {cluster}\n");
        folder.write(&format!("profiles/{name}.yaml"), format!("{body}{fields}"));
    }
    folder
}

/// Returns path and message of the findings about secrets in the guest.
fn findings(folder: &Folder) -> Vec<(String, String)> {
    let run = run_checked(folder.path(), &["lint", "--profile", "guest", "-o", "json"], "");
    let mut found = Vec::new();
    for line in run.stdout.lines() {
        let finding: serde_json::Value = serde_json::from_str(line).unwrap();
        if finding["code"] == "secret-in-guest" {
            let text = |field: &str| finding[field].as_str().unwrap().to_owned();
            found.push((text("path"), text("message")));
        }
    }
    found
}

const KUBECONFIG: &str = "{cluster: management, as: {namespace: ns, serviceAccount: sa}}";
const CREDENTIALS: &str = "{cloud: aws, identity: arn, keys: [credentials]}";
const CERTIFICATE: &str = "{signer: root-ca, dnsNames: [a.ns.svc]}";
const ANNOTATION: &str = "/metadata/annotations/transship.openshift.io~1issued";

fn finding(path: &str, message: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), message.to_owned())]
}

#[test]
fn an_issued_kubeconfig_or_credentials_in_the_guest_are_found() {
    assert_eq!(
        findings(&folder("IssuedKubeconfig", KUBECONFIG, "")),
        finding(ANNOTATION, "the guest receives a kubeconfig")
    );
    assert_eq!(
        findings(&folder("IssuedCredentials", CREDENTIALS, "")),
        finding(ANNOTATION, "the guest receives credentials")
    );
}

#[test]
fn an_issued_certificate_may_be_in_the_guest() {
    assert_eq!(findings(&folder("IssuedCertificate", CERTIFICATE, "")), []);
}

/// The check must not depend on the annotation, which `strip`, policy and patches can change.
#[test]
fn an_issued_kubeconfig_is_found_without_its_annotation() {
    let strip = "strip: [transship.openshift.io/*]\n";
    assert_eq!(
        findings(&folder("IssuedKubeconfig", KUBECONFIG, strip)),
        finding("", "the guest receives a kubeconfig")
    );
    let reworded = "policy: [{for: Secret, set: {metadata: {annotations: {transship.openshift.io/issued: an access file}}}}]\n";
    assert_eq!(
        findings(&folder("IssuedKubeconfig", KUBECONFIG, reworded)),
        finding(ANNOTATION, "the guest receives a kubeconfig")
    );
}
