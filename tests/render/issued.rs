//! Issued Secrets in the guest: kubeconfigs and credentials do not belong there.

use serde_json::Value;

use crate::support::{TestProject, object};

/// Returns path and message of the findings about secrets in the guest. The component adds an issued object, and the
/// profile of the guest continues with these fields.
fn findings(kind: &str, spec: &str, guest: &str) -> Vec<(String, String)> {
    let adds = format!(
        "\
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
    let project = TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "cm", ""))
        .page("op", &adds)
        .mc_and_guest("", guest);
    let mut findings = Vec::new();
    for line in project.lint(&["--profile", "guest", "-o", "json"]).stdout.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        if finding["code"] == "secret-in-guest" {
            let text = |field: &str| finding[field].as_str().unwrap().to_owned();
            findings.push((text("path"), text("message")));
        }
    }
    findings
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
        findings("IssuedKubeconfig", KUBECONFIG, ""),
        finding(ANNOTATION, "the guest receives a kubeconfig")
    );
    assert_eq!(
        findings("IssuedCredentials", CREDENTIALS, ""),
        finding(ANNOTATION, "the guest receives credentials")
    );
}

#[test]
fn an_issued_certificate_may_be_in_the_guest() {
    assert_eq!(findings("IssuedCertificate", CERTIFICATE, ""), []);
}

/// The check must not depend on the annotation, which `strip`, policy and patches can change.
#[test]
fn an_issued_kubeconfig_is_found_without_its_annotation() {
    let strip = "strip: [transship.openshift.io/*]\n";
    assert_eq!(
        findings("IssuedKubeconfig", KUBECONFIG, strip),
        finding("", "the guest receives a kubeconfig")
    );
    let reworded = r"
        policy:
        - for: Secret
          set: {metadata: {annotations: {transship.openshift.io/issued: an access file}}}
        ";
    assert_eq!(
        findings("IssuedKubeconfig", KUBECONFIG, reworded),
        finding(ANNOTATION, "the guest receives a kubeconfig")
    );
}
