//! Declarations of cloud credentials: what they become, and what is refused.

use serde_json::json;

use crate::support::{Folder, TestProject, object, repository, run_in};

/// Creates a component that adds cloud credentials with this `spec` to a cluster, and a secret parameter `arn`.
fn project(spec: &str) -> TestProject {
    TestProject::standalone()
        .manifest("op/1.yaml", &object("v1", "ConfigMap", "ns", "cm", ""))
        .page(
            "op",
            &format!(
                r"
                values: {{a: '${{arn}}', b: '${{region}}'}}
                adds:
                - objects:
                  - apiVersion: transship.openshift.io/v1
                    kind: IssuedCredentials
                    metadata: {{name: issued, namespace: ns}}
                    {spec}
                "
            ),
        )
        .parameters(
            r"
            parameters:
              arn: {type: string, description: a, secret: true, optional: true}
              region: {type: string, description: b, optional: true}
            ",
        )
}

/// Checks that the declaration is refused with one message, which begins with this text.
#[track_caller]
fn assert_refused(spec: &str, expected: &str) {
    let error = project(spec).render_error("test");
    let message = error.strip_prefix("error: payload/op/component.yaml:").unwrap();
    let message = message.split_once(": ").unwrap().1;
    assert_eq!(message, expected);
}

const OBJECT: &str = "\n  object: IssuedCredentials.transship.openshift.io/issued in ns\n";

#[test]
fn each_cloud_has_its_keys() {
    let keys = |spec: &str| {
        let objects = project(spec).render("test");
        let secret = objects.into_iter().find(|object| object["kind"] == "Secret").unwrap();
        assert_eq!(secret["type"], "Opaque");
        let annotation = secret["metadata"]["annotations"]["transship.openshift.io/issued"].clone();
        (secret["data"].clone(), annotation)
    };
    assert_eq!(
        keys("spec: {aws: {}}"),
        (
            json!({"credentials": ""}),
            json!(
                r#"{"credentials":{"aws":{"tokenFile":"/var/run/secrets/openshift/serviceaccount/token"}}}"#
            )
        )
    );
    assert_eq!(
        keys("spec: {azure: {clientID: 01234567-89ab-cdef-0123-456789abcdef}}"),
        (
            json!({
                "azure_client_id": "",
                "azure_federated_token_file": "",
                "azure_region": "",
                "azure_subscription_id": "",
                "azure_tenant_id": "",
            }),
            json!(
                r#"{"credentials":{"azure":{"clientID":"01234567-89ab-cdef-0123-456789abcdef","tokenFile":"/var/run/secrets/openshift/serviceaccount/token"}}}"#
            )
        )
    );
    assert_eq!(
        keys("spec: {gcp: {tokenFile: /token}}"),
        (json!({"service_account.json": ""}), json!(r#"{"credentials":{"gcp":{"tokenFile":"/token"}}}"#))
    );
}

#[test]
fn a_field_whose_parameter_has_no_value_is_absent() {
    let project = project("spec: {aws: {region: '${region}'}}");
    assert_eq!(project.run(&["render", "--profile", "test"]).code, 0);
    let error = project.render_error_with("test", &["--set", "region=x y"]);
    assert!(error.contains("`aws.region` of the IssuedCredentials must be the name of a region"), "{error}");
}

#[test]
fn a_declaration_names_one_cloud() {
    let help = "  help: write `spec: {aws: {roleARN: …, region: …}}`, or the fields of `azure` or `gcp`\n";
    assert_refused(
        "",
        &format!("the IssuedCredentials has no `spec`{OBJECT}  help: say in it what to issue\n"),
    );
    for spec in ["spec: {}", "spec: aws"] {
        assert_refused(spec, &format!("the IssuedCredentials are for no cloud{OBJECT}{help}"));
    }
    assert_refused(
        "spec: {aws: {}, gcp: {}}",
        &format!(
            "the IssuedCredentials are for several clouds: `aws`, `gcp`{OBJECT}  note: a workload runs in one cloud\n  help: write one of them, or an object for each with a condition in `when`\n"
        ),
    );
    assert_refused(
        "spec: {azur: {}}",
        &format!("an IssuedCredentials has no field `azur`{OBJECT}  help: did you mean `azure`?\n"),
    );
    assert_refused(
        "spec: {aws: {}, identity: x}",
        &format!("an IssuedCredentials has no field `identity`{OBJECT}{help}"),
    );
    assert_refused("spec: {aws: arn}", &format!("`aws` must be a map, not text{OBJECT}{help}"));
}

#[test]
fn the_fields_of_a_cloud_are_texts() {
    assert_refused(
        "spec: {gcp: {projectNumber: 123}}",
        &format!(
            "`gcp.projectNumber` of the IssuedCredentials must be text, not a number{OBJECT}  help: put the value in quotes\n"
        ),
    );
    assert_refused(
        "spec: {aws: {roleArn: x}}",
        &format!("an IssuedCredentials has no field `aws.roleArn`{OBJECT}  help: did you mean `roleARN`?\n"),
    );
}

/// The annotation of the Secret shows the identity.
#[test]
fn a_field_cannot_be_secret() {
    let project = project("spec: {aws: {roleARN: '${arn}'}}");
    let arn = "arn:aws:iam::123456789012:role/hidden";
    let error = project.render_error_with("test", &["--set", &format!("arn={arn}")]);
    assert!(error.contains("`aws.roleARN` of the IssuedCredentials is secret"), "{error}");
    assert!(!error.contains("hidden"), "{error}");
}

/// Renders the Secret of the EBS driver for a hosted control plane with this role.
fn secret_of_ebs(role: &str) -> crate::support::Run {
    let folder = Folder::new();
    let platform = json!({"aws": {"region": "eu-west-1", "rolesRef": {"storageARN": role}}});
    let hosted_control_plane = json!({
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": "a", "namespace": "clusters-a"},
        "spec": {"issuerURL": "https://issuer.example/a", "platform": platform},
    });
    folder.write("hcp.yaml", hosted_control_plane.to_string());
    let file = folder.path().join("hcp.yaml");
    let profile = ["render", "--profile", "hypershift-mc", "--component", "aws-ebs", "-o", "json"];
    run_in(&repository(), &[&profile[..], &["--hosted-control-plane", file.to_str().unwrap()]].concat(), "")
}

#[test]
fn the_role_of_the_ebs_driver_is_that_of_the_hosted_control_plane() {
    let role = "arn:aws:iam::123456789012:role/a-ebs";
    let objects = secret_of_ebs(role).json();
    let secret = objects.iter().find(|object| object["metadata"]["name"] == "ebs-cloud-credentials").unwrap();
    let expected = r#"{"credentials":{"aws":{"issuerURL":"https://issuer.example/a","region":"eu-west-1","roleARN":"arn:aws:iam::123456789012:role/a-ebs","tokenFile":"/var/run/secrets/openshift/serviceaccount/token"}}}"#;
    assert_eq!(secret["metadata"]["annotations"]["transship.openshift.io/issued"], expected);
    let error = secret_of_ebs("arn:aws:iam::123456789012:user/a").refusal();
    assert!(error.contains("the parameter `aws.storageRoleARN` must be text that matches"), "{error}");
}
