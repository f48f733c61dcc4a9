//! Google Cloud: a custom role, the names of predefined roles, and the IAM policy of a service account.

use serde::Serialize;

use super::request::{CredentialsRequest, GcpPermissions};
use super::trust::{Missing, Trust, value};
use crate::diagnostic::Diagnostics;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Documents {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    /// The names of roles that exist in Google Cloud.
    predefined_roles: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iam_policy: Option<IamPolicy>,
}

/// A custom role, as `gcloud iam roles create --file` reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Role {
    title: String,
    description: String,
    stage: &'static str,
    included_permissions: Vec<String>,
}

/// The policy of a service account, as `gcloud iam service-accounts set-iam-policy` reads it.
#[derive(Debug, Serialize)]
struct IamPolicy {
    bindings: [Binding; 1],
}

#[derive(Debug, Serialize)]
struct Binding {
    role: &'static str,
    members: Vec<String>,
}

/// Returns the documents of a service account.
pub(super) fn documents(
    request: &CredentialsRequest,
    permissions: &GcpPermissions,
    trust: Option<&Trust<'_>>,
) -> Result<Documents, Diagnostics> {
    let GcpPermissions { permissions, roles } = permissions;
    let role = (!permissions.is_empty()).then(|| Role {
        title: request.name.clone(),
        description: format!("The permissions of the CredentialsRequest {}", request.name),
        stage: "GA",
        included_permissions: permissions.clone(),
    });
    let iam_policy = match trust {
        Some(trust) => Some(iam_policy(request, trust)?),
        None => None,
    };
    Ok(Documents { role, predefined_roles: roles.clone(), iam_policy })
}

/// Returns the policy that lets ServiceAccounts of the guest use the service account. The workload identity provider of
/// the pool knows the issuer.
fn iam_policy(request: &CredentialsRequest, trust: &Trust<'_>) -> Result<IamPolicy, Diagnostics> {
    const HELP: &str = "pass --hosted-control-plane with a HostedControlPlane that has it, and give it to the IssuedCredentials of the page";
    let mut missing = Missing::new(request);
    let project =
        missing.require(value(trust, "projectNumber"), "the number of the project is not known", HELP);
    let pool = missing.require(value(trust, "poolID"), "the workload identity pool is not known", HELP);
    let member = |subject: String| {
        format!(
            "principal://iam.googleapis.com/projects/{project}/locations/global/workloadIdentityPools/{pool}/subject/{subject}"
        )
    };
    let members = request.subjects().into_iter().map(member).collect();
    missing.into_result(IamPolicy { bindings: [Binding { role: "roles/iam.workloadIdentityUser", members }] })
}
