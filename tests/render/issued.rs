//! Issued Secrets in the guest: kubeconfigs and credentials do not belong there.

use serde_json::{Value, json};

use crate::support::{TestProject, object};

/// Creates a component that adds an issued object to the guest. The profile of the guest has these fields.
fn project_with_issued(kind: &str, spec: &str, guest: &str) -> TestProject {
    let page = format!(
        r"
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
    TestProject::new()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "cm", ""))
        .page("op", &page)
        .mc_and_guest("", guest)
}

/// Returns the path and the message of each finding about secrets in the guest.
fn findings(project: &TestProject) -> Vec<Value> {
    let run = project.run(&["lint", "--profile", "guest", "-o", "json"]);
    let mut findings = Vec::new();
    for line in run.stdout.lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        if finding["code"] == "secret-in-guest" {
            findings.push(json!({"path": finding["path"], "message": finding["message"]}));
        }
    }
    findings
}

const KUBECONFIG: &str =
    "{server: 'https://api:6443', authority: root-ca, as: {namespace: ns, serviceAccount: sa}}";
const ANNOTATION: &str = "/metadata/annotations/transship.openshift.io~1issued";

#[test]
fn an_issued_kubeconfig_in_the_guest_is_found() {
    let project = project_with_issued("IssuedKubeconfig", KUBECONFIG, "");
    assert_eq!(
        findings(&project),
        [json!({"path": ANNOTATION, "message": "the guest receives a kubeconfig"})]
    );
}

#[test]
fn issued_credentials_in_the_guest_are_found() {
    let spec = "{aws: {region: us-east-1}}";
    let project = project_with_issued("IssuedCredentials", spec, "");
    assert_eq!(
        findings(&project),
        [json!({"path": ANNOTATION, "message": "the guest receives credentials"})]
    );
}

#[test]
fn an_issued_certificate_may_be_in_the_guest() {
    let spec = "{signer: root-ca, dnsNames: [a.ns.svc]}";
    let project = project_with_issued("IssuedCertificate", spec, "");
    assert_eq!(findings(&project), [Value::Null; 0]);
}

/// Neither `strip` nor policy can change the annotation, which the finding points at.
#[test]
fn an_issued_kubeconfig_is_found_whatever_the_profile_does() {
    for guest in [
        "strip: [transship.openshift.io/*]",
        "policy: [{for: Secret, set: {metadata: {annotations: {transship.openshift.io/issued: an access file}}}}]",
    ] {
        let project = project_with_issued("IssuedKubeconfig", KUBECONFIG, guest);
        assert_eq!(
            findings(&project),
            [json!({"path": ANNOTATION, "message": "the guest receives a kubeconfig"})],
            "{guest}"
        );
    }
}
