//! AWS: the policy document and the trust policy of a role.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::request::{AwsStatement, CredentialsRequest};
use super::trust::{Missing, Trust, value};
use crate::diagnostic::Diagnostics;

/// The documents, named as the flags of `aws iam` that take them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Documents {
    policy_document: PolicyDocument,
    #[serde(skip_serializing_if = "Option::is_none")]
    assume_role_policy_document: Option<PolicyDocument>,
}

/// A document of IAM.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct PolicyDocument {
    version: &'static str,
    statement: Vec<Statement>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Statement {
    effect: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal: Option<Json>,
    action: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Json>,
}

/// The version of the language of all documents.
const VERSION: &str = "2012-10-17";

/// Returns the documents of a role.
pub(super) fn documents(
    request: &CredentialsRequest,
    statements: &[AwsStatement],
    trust: Option<&Trust<'_>>,
) -> Result<Documents, Diagnostics> {
    let assume_role_policy_document = match trust {
        Some(trust) => Some(trust_policy(request, trust)?),
        None => None,
    };
    let statement = statements.iter().map(statement).collect();
    Ok(Documents {
        policy_document: PolicyDocument { version: VERSION, statement },
        assume_role_policy_document,
    })
}

fn statement(entry: &AwsStatement) -> Statement {
    Statement {
        effect: entry.effect.clone(),
        principal: None,
        action: entry.action.clone(),
        resource: Some(entry.resource.clone()),
        condition: entry.condition.clone(),
    }
}

/// Returns the trust policy: ServiceAccounts of the guest may assume the role with tokens of its issuer.
fn trust_policy(request: &CredentialsRequest, trust: &Trust<'_>) -> Result<PolicyDocument, Diagnostics> {
    let mut missing = Missing::new(request);
    let issuer_url = missing.issuer_url(trust);
    let role = value(trust, "roleARN").map(parts_of_role);
    let account = missing.require(
        trust.account_id.or(role.map(|(_, account)| account)),
        "the AWS account of the role is not known",
        "pass --account-id, or --hosted-control-plane with a HostedControlPlane that has the ARN of the role",
    );
    let partition = role.map_or_else(|| partition_of(value(trust, "region")), |(partition, _)| partition);
    // IAM names an identity provider by its URL without the scheme.
    let provider = issuer_url.strip_prefix("https://").unwrap_or(issuer_url);
    let statement = Statement {
        effect: "Allow".to_owned(),
        principal: Some(
            json!({"Federated": format!("arn:{partition}:iam::{account}:oidc-provider/{provider}")}),
        ),
        action: vec!["sts:AssumeRoleWithWebIdentity".to_owned()],
        resource: None,
        condition: Some(json!({"StringEquals": {format!("{provider}:sub"): request.subjects()}})),
    };
    missing.into_result(PolicyDocument { version: VERSION, statement: vec![statement] })
}

/// Returns the partition and the account of the ARN of a role.
fn parts_of_role(arn: &str) -> (&str, &str) {
    let mut parts = arn.split(':').skip(1);
    let partition = parts.next().unwrap_or_default();
    (partition, parts.nth(2).unwrap_or_default())
}

/// Returns the partition of a region.
fn partition_of(region: Option<&str>) -> &'static str {
    match region {
        Some(region) if region.starts_with("cn-") => "aws-cn",
        Some(region) if region.starts_with("us-gov-") => "aws-us-gov",
        _ => "aws",
    }
}

#[cfg(test)]
mod tests {
    use super::{partition_of, parts_of_role};

    #[test]
    fn partition_and_account_follow_from_the_role_or_the_region() {
        assert_eq!(parts_of_role("arn:aws-cn:iam::123456789012:role/a:b"), ("aws-cn", "123456789012"));
        assert_eq!(partition_of(None), "aws");
        assert_eq!(partition_of(Some("eu-west-1")), "aws");
        assert_eq!(partition_of(Some("cn-north-1")), "aws-cn");
        assert_eq!(partition_of(Some("us-gov-west-1")), "aws-us-gov");
    }
}
