//! `transship credentials policy`: the documents of cloud roles say exactly what their `CredentialsRequest` says.

use serde_json::{Value, json};

use crate::support::{Run, TestProject, repository, run_in};

/// Runs the command with the storage payload.
fn storage(arguments: &[&str]) -> Run {
    run_in(&repository(), &[&["credentials", "policy"][..], arguments].concat(), "")
}

/// Returns the documents that a command printed, one for each role.
#[track_caller]
fn documents(run: &Run) -> Vec<Value> {
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let documents = serde_json::Deserializer::from_str(&run.stdout).into_iter();
    documents.map(Result::unwrap).collect()
}

const EBS: &str = "aws-ebs-csi-driver-operator";
const ISSUER: [&str; 3] = ["--trust", "--issuer-url", "https://issuer.example/guest"];

#[test]
fn the_policy_of_the_ebs_driver_has_exactly_the_statements_of_its_credentials_request() {
    let file = "payload/storage/0000_50_cluster-storage-operator_03_credentials_request_aws.yaml";
    let request = run_in(&repository(), &["fmt", "-o", "json", file], "").json().remove(0);
    let mut expected = Vec::new();
    for entry in request["spec"]["providerSpec"]["statementEntries"].as_array().unwrap() {
        let mut statement =
            json!({"Effect": entry["effect"], "Action": entry["action"], "Resource": entry["resource"]});
        if let Some(condition) = entry.get("policyCondition") {
            statement["Condition"] = condition.clone();
        }
        expected.push(statement);
    }
    let printed = documents(&storage(&[EBS]));
    assert_eq!(
        printed,
        [json!({
            "credentialsRequest": EBS,
            "cloud": "aws",
            "policyDocument": {"Version": "2012-10-17", "Statement": expected},
        })]
    );
}

#[test]
fn the_statements_of_the_ebs_driver() {
    let printed = documents(&storage(&[EBS]));
    assert_eq!(
        printed[0]["policyDocument"],
        json!({
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Action": [
                        "ec2:AttachVolume",
                        "ec2:CopyVolumes",
                        "ec2:CreateSnapshot",
                        "ec2:CreateTags",
                        "ec2:CreateVolume",
                        "ec2:DeleteSnapshot",
                        "ec2:DeleteTags",
                        "ec2:DeleteVolume",
                        "ec2:DescribeAvailabilityZones",
                        "ec2:DescribeInstances",
                        "ec2:DescribeInstanceTypes",
                        "ec2:DescribeSnapshots",
                        "ec2:DescribeTags",
                        "ec2:DescribeVolumes",
                        "ec2:DescribeVolumesModifications",
                        "ec2:DescribeVolumeStatus",
                        "ec2:DetachVolume",
                        "ec2:EnableFastSnapshotRestores",
                        "ec2:LockSnapshot",
                        "ec2:ModifyVolume",
                    ],
                    "Resource": "*",
                },
                {
                    "Effect": "Allow",
                    "Action": [
                        "kms:ReEncrypt*",
                        "kms:Decrypt",
                        "kms:Encrypt",
                        "kms:GenerateDataKey",
                        "kms:GenerateDataKeyWithoutPlainText",
                        "kms:DescribeKey",
                    ],
                    "Resource": "*",
                },
                {
                    "Effect": "Allow",
                    "Action": ["kms:RevokeGrant", "kms:CreateGrant", "kms:ListGrants"],
                    "Resource": "*",
                    "Condition": {"Bool": {"kms:GrantIsForAWSResource": true}},
                },
            ],
        })
    );
}

/// The bundled payload issues cloud credentials for the EBS driver only, and only on AWS.
#[test]
fn without_a_name_the_roles_of_the_hosted_control_plane_are_printed() {
    assert_eq!(storage(&[]).stdout, storage(&[EBS]).stdout);
    let run = storage(&["--set", "platform.type=Azure"]);
    assert_eq!(
        run.refusal(),
        "\
error: no Secret of a CredentialsRequest of the profile `standalone` is issued
  note: the pages declare no IssuedCredentials with the name of such a Secret
  help: name the CredentialsRequests
"
    );
}

/// Returns the trust policy of a role of AWS.
fn trust_policy(provider: &str, issuer: &str) -> Value {
    json!({
        "Version": "2012-10-17",
        "Statement": [{
            "Effect": "Allow",
            "Principal": {"Federated": provider},
            "Action": ["sts:AssumeRoleWithWebIdentity"],
            "Condition": {"StringEquals": {issuer: [
                "system:serviceaccount:openshift-cluster-csi-drivers:aws-ebs-csi-driver-operator",
                "system:serviceaccount:openshift-cluster-csi-drivers:aws-ebs-csi-driver-controller-sa",
            ]}},
        }],
    })
}

#[test]
fn the_trust_policy_is_for_the_issuer_and_the_account_of_the_hosted_control_plane() {
    let hcp = "apiVersion: hypershift.openshift.io/v1beta1
kind: HostedControlPlane
metadata: {name: a, namespace: clusters-a}
spec:
  issuerURL: https://oidc.s3.us-gov-west-1.amazonaws.com/a
  platform: {aws: {region: us-gov-west-1, rolesRef: {storageARN: 'arn:aws-us-gov:iam::123456789012:role/a-ebs'}}}
";
    let folder = crate::support::Folder::new();
    folder.write("hcp.yaml", hcp);
    let file = folder.path().join("hcp.yaml");
    let hosted = ["--hosted-control-plane", file.to_str().unwrap()];

    let printed = documents(&storage(&[&[EBS, "--trust"][..], &hosted].concat()));
    let provider = "arn:aws-us-gov:iam::123456789012:oidc-provider/oidc.s3.us-gov-west-1.amazonaws.com/a";
    assert_eq!(
        printed[0]["assumeRolePolicyDocument"],
        trust_policy(provider, "oidc.s3.us-gov-west-1.amazonaws.com/a:sub")
    );
    assert_eq!(printed[0]["policyDocument"], documents(&storage(&[EBS]))[0]["policyDocument"]);

    // Flags override the HostedControlPlane.
    let flags = [&ISSUER[..], &["--account-id", "210987654321"]].concat();
    let printed = documents(&storage(&[&[EBS][..], &flags, &hosted].concat()));
    let provider = "arn:aws-us-gov:iam::210987654321:oidc-provider/issuer.example/guest";
    assert_eq!(printed[0]["assumeRolePolicyDocument"], trust_policy(provider, "issuer.example/guest:sub"));
}

/// The role of a new cluster does not exist yet, so its ARN may be unknown.
#[test]
fn the_trust_policy_can_be_printed_before_the_role_exists() {
    let flags = [&ISSUER[..], &["--account-id", "123456789012"]].concat();
    let provider = |arguments: &[&str]| {
        let printed = documents(&storage(&[arguments, &flags].concat()));
        printed[0]["assumeRolePolicyDocument"]["Statement"][0]["Principal"]["Federated"].clone()
    };
    assert_eq!(provider(&[]), "arn:aws:iam::123456789012:oidc-provider/issuer.example/guest");
    assert_eq!(
        provider(&["--set", "aws.region=cn-north-1"]),
        "arn:aws-cn:iam::123456789012:oidc-provider/issuer.example/guest"
    );
}

#[test]
fn what_is_missing_for_the_trust_policy_is_an_error() {
    assert_eq!(
        storage(&["--trust"]).refusal(),
        "\
error: the issuer of the guest's tokens is not known
  object: CredentialsRequest.cloudcredential.openshift.io/aws-ebs-csi-driver-operator in openshift-cloud-credential-operator
  note: the trust of its cloud role would be incomplete
  help: pass --issuer-url, or --hosted-control-plane with a HostedControlPlane that has `spec.issuerURL`
error: the AWS account of the role is not known
  object: CredentialsRequest.cloudcredential.openshift.io/aws-ebs-csi-driver-operator in openshift-cloud-credential-operator
  note: the trust of its cloud role would be incomplete
  help: pass --account-id, or --hosted-control-plane with a HostedControlPlane that has the ARN of the role
2 errors
"
    );
    assert!(storage(&ISSUER).refusal().starts_with("error: the AWS account of the role is not known\n"));
}

#[test]
fn invalid_flags_are_refused() {
    let refused = |arguments: &[&str], expected: &str| {
        let run = storage(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""));
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    };
    for url in ["http://issuer.example", "https://a\",\"b", "https://a?b=c", "https://"] {
        refused(&["--trust", "--issuer-url", url], "it must be a URL such as https://issuer.example/guest");
    }
    for id in ["12345678901", "12345678901a"] {
        refused(&["--trust", "--account-id", id], "it must have 12 digits");
    }
    refused(&["--issuer-url", "https://a"], "--trust");
}

#[test]
fn unknown_names_and_other_clouds_are_refused() {
    let run = storage(&["aws-ebs", "aws-ebs-csi-driver-operatr"]);
    let error = run.refusal();
    assert!(
        error.starts_with("error: the profile `standalone` has no CredentialsRequest `aws-ebs`\n"),
        "{error}"
    );
    assert!(error.contains("did you mean `aws-ebs-csi-driver-operator`?"), "{error}");
    assert_eq!(
        storage(&["manila-csi-driver-operator"]).refusal(),
        "\
error: payload/storage/0000_50_cluster-storage-operator_03_credentials_request_manila.yaml:17:5: a cloud role has no documents for `kind: OpenStackProviderSpec`
  object: CredentialsRequest.cloudcredential.openshift.io/manila-csi-driver-operator in openshift-cloud-credential-operator
  help: name a CredentialsRequest of another kind: AWSProviderSpec, AzureProviderSpec, GCPProviderSpec
"
    );
}

/// Creates a project with one `CredentialsRequest`, whose Secret is issued in the management cluster.
fn project(provider: &str, issued: &str) -> TestProject {
    let request = format!(
        r"
        apiVersion: cloudcredential.openshift.io/v1
        kind: CredentialsRequest
        metadata: {{name: disks, namespace: ns, annotations: {{x: x}}}}
        spec:
          secretRef: {{name: creds, namespace: drivers}}
          serviceAccountNames: [operator, controller]
          providerSpec: {provider}
        "
    );
    let page = format!(
        r"
        place: {{guest: [CredentialsRequest]}}
        adds:
        - in: [mc]
          objects:
          - apiVersion: transship.openshift.io/v1
            kind: IssuedCredentials
            metadata: {{name: creds, namespace: drivers}}
            spec: {issued}
        "
    );
    TestProject::new()
        .manifest("op/1.yaml", &request)
        .page("op", &page)
        .mc_and_guest("", "")
        .profile("sa", "topology: sa\ncluster: both\n")
}

fn policy(project: &TestProject, arguments: &[&str]) -> Run {
    project.run(&[&["credentials", "policy"][..], arguments].concat())
}

#[test]
fn azure_has_a_custom_role_and_federated_credentials() {
    let project = project(
        "{kind: AzureProviderSpec, permissions: [Microsoft.Compute/disks/*], dataPermissions: [a/read], roleBindings: [{role: Reader}]}",
        "{azure: {subscriptionID: 01234567-89ab-cdef-0123-456789abcdef, issuerURL: 'https://issuer.example/guest'}}",
    );
    let role = json!({
        "Name": "disks",
        "IsCustom": true,
        "Description": "The permissions of the CredentialsRequest disks",
        "Actions": ["Microsoft.Compute/disks/*"],
        "DataActions": ["a/read"],
    });
    let request = json!({
        "credentialsRequest": "disks", "cloud": "azure", "roleDefinition": role, "roles": ["Reader"],
    });
    assert_eq!(documents(&policy(&project, &[]))[0], request);

    let mut with_trust = request;
    with_trust["roleDefinition"]["AssignableScopes"] =
        json!(["/subscriptions/01234567-89ab-cdef-0123-456789abcdef"]);
    let federated = |name: &str| {
        json!({
            "name": name,
            "issuer": "https://issuer.example/guest",
            "subject": format!("system:serviceaccount:drivers:{name}"),
            "audiences": ["openshift"],
        })
    };
    with_trust["federatedCredentials"] = json!([federated("operator"), federated("controller")]);
    assert_eq!(documents(&policy(&project, &["--trust"])), [with_trust]);
}

#[test]
fn azure_without_permissions_has_no_custom_role() {
    let project = project("{kind: AzureProviderSpec, roleBindings: [{role: Reader}]}", "{azure: {}}");
    assert_eq!(
        documents(&policy(&project, &["disks"])),
        [json!({"credentialsRequest": "disks", "cloud": "azure", "roles": ["Reader"]})]
    );
    let error = policy(&project, &["--trust"]).refusal();
    assert!(error.starts_with("error: the issuer of the guest's tokens is not known\n"), "{error}");
}

#[test]
fn gcp_has_a_custom_role_and_the_policy_of_a_service_account() {
    let provider = "{kind: GCPProviderSpec, permissions: [compute.instances.get], predefinedRoles: [roles/compute.storageAdmin], skipServiceCheck: true}";
    let known = project(provider, "{gcp: {projectNumber: '123', poolID: pool-1}}");
    let member = |name: &str| {
        format!(
            "principal://iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/pool-1/subject/system:serviceaccount:drivers:{name}"
        )
    };
    assert_eq!(
        documents(&policy(&known, &["--trust"])),
        [json!({
            "credentialsRequest": "disks",
            "cloud": "gcp",
            "role": {
                "title": "disks",
                "description": "The permissions of the CredentialsRequest disks",
                "stage": "GA",
                "includedPermissions": ["compute.instances.get"],
            },
            "predefinedRoles": ["roles/compute.storageAdmin"],
            "iamPolicy": {"bindings": [{
                "role": "roles/iam.workloadIdentityUser",
                "members": [member("operator"), member("controller")],
            }]},
        })]
    );
    let error = policy(&project(provider, "{gcp: {}}"), &["--trust"]).refusal();
    assert!(error.starts_with("error: the number of the project is not known\n"), "{error}");
    assert!(error.contains("error: the workload identity pool is not known\n"), "{error}");
}

/// A document that lacks a part of the request would grant too much or too little.
#[test]
fn a_request_that_is_not_understood_is_refused() {
    let messages = |provider: &str| -> Vec<String> {
        let error = policy(&project(provider, "{aws: {}}"), &["disks"]).refusal();
        let first_lines = error.lines().filter_map(|line| line.strip_prefix("error: payload/op/1.yaml:"));
        first_lines.map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
    };
    assert_eq!(
        messages(
            "{kind: AWSProviderSpec, statementEntries: [{effect: allow, action: [a, 1], notResource: x, policyCondition: x}]}"
        ),
        [
            "the field `spec.providerSpec.statementEntries[0].notResource` is not known",
            "`spec.providerSpec.statementEntries[0].effect` must be `Allow` or `Deny`, not `allow`",
            "each item of `spec.providerSpec.statementEntries[0].action` must be text, and one is a number",
            "`spec.providerSpec.statementEntries[0].resource` must be text, and is absent",
            "`spec.providerSpec.statementEntries[0].policyCondition` must be a map, and is text",
        ]
    );
    assert_eq!(messages("{kind: AWSProviderSpec}"), ["`spec.providerSpec.statementEntries` is empty"]);
    assert_eq!(
        messages("{kind: AzureProviderSpec, permissions: a, roleBindings: [{role: '', scope: x}], extra: x}"),
        [
            "the field `spec.providerSpec.extra` is not known",
            "`spec.providerSpec.permissions` must be a list, and is text",
            "the field `spec.providerSpec.roleBindings[0].scope` is not known",
            "`spec.providerSpec.roleBindings[0].role` must be text, and is empty",
        ]
    );
    assert_eq!(messages("text"), ["`spec.providerSpec` must be a map, and is text"]);
    assert_eq!(messages("{}"), ["`spec.providerSpec.kind` must be text, and is absent"]);
}

#[test]
fn an_empty_condition_is_left_out() {
    let provider = "{kind: AWSProviderSpec, statementEntries: [{effect: Deny, action: [a:B], resource: '*', policyCondition: {}}]}";
    let printed = documents(&policy(&project(provider, "{aws: {}}"), &["disks"]));
    assert_eq!(
        printed[0]["policyDocument"]["Statement"],
        json!([{"Effect": "Deny", "Action": ["a:B"], "Resource": "*"}])
    );
}

#[test]
fn the_profile_must_be_known_if_several_have_one_cluster() {
    let project =
        project("{kind: GCPProviderSpec}", "{gcp: {}}").profile("sb", "topology: sb\ncluster: both\n");
    assert_eq!(
        policy(&project, &[]).refusal(),
        "\
error: several profiles have all objects in one cluster
  note: the permissions of a cloud role are those of a standalone cluster
  help: choose a profile with --profile
"
    );
    assert_eq!(documents(&policy(&project, &["--profile", "sb"])).len(), 1);
    let error = policy(&project, &["--profile", "mc", "disks"]).refusal();
    assert!(error.starts_with("error: the profile `mc` has no CredentialsRequest `disks`\n"), "{error}");
}

/// Only rendered objects show a secret value.
#[test]
fn a_request_with_a_secret_value_is_refused() {
    let project = project("{kind: AzureProviderSpec, roleBindings: [{role: '${role}'}]}", "{azure: {}}")
        .parameters("parameters: {hidden: {type: string, description: a, secret: true, default: hide-me}}")
        .page("op", "place: {guest: [CredentialsRequest]}\nvalues: {role: '${hidden}'}\n");
    let error = policy(&project, &["disks"]).refusal();
    assert!(error.contains("the CredentialsRequest has a secret value"), "{error}");
    assert!(!error.contains("hide-me"), "{error}");
}
