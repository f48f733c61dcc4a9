//! Azure: a custom role, the names of predefined roles, and the federated credentials of a managed identity.

use serde::Serialize;

use super::request::{AzurePermissions, CredentialsRequest};
use super::trust::{AUDIENCE, Missing, Trust, value};
use crate::diagnostic::Diagnostics;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Documents {
    #[serde(skip_serializing_if = "Option::is_none")]
    role_definition: Option<RoleDefinition>,
    /// The names of roles that exist in Azure.
    roles: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    federated_credentials: Option<Vec<FederatedCredential>>,
}

/// A custom role, as `az role definition create` reads it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "PascalCase")]
struct RoleDefinition {
    name: String,
    is_custom: bool,
    description: String,
    actions: Vec<String>,
    data_actions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    assignable_scopes: Vec<String>,
}

/// A ServiceAccount that may use a managed identity.
#[derive(Debug, Serialize)]
struct FederatedCredential {
    name: String,
    issuer: String,
    subject: String,
    audiences: [&'static str; 1],
}

/// Returns the documents of a managed identity.
pub(super) fn documents(
    request: &CredentialsRequest,
    permissions: &AzurePermissions,
    trust: Option<&Trust<'_>>,
) -> Result<Documents, Diagnostics> {
    let AzurePermissions { actions, data_actions, roles } = permissions;
    let subscription = trust.and_then(|trust| value(trust, "subscriptionID"));
    let has_custom_role = !actions.is_empty() || !data_actions.is_empty();
    let role_definition = has_custom_role.then(|| RoleDefinition {
        name: request.name.clone(),
        is_custom: true,
        description: format!("The permissions of the CredentialsRequest {}", request.name),
        actions: actions.clone(),
        data_actions: data_actions.clone(),
        assignable_scopes: subscription.iter().map(|id| format!("/subscriptions/{id}")).collect(),
    });
    let federated_credentials = match trust {
        Some(trust) => Some(federated_credentials(request, trust)?),
        None => None,
    };
    Ok(Documents { role_definition, roles: roles.clone(), federated_credentials })
}

fn federated_credentials(
    request: &CredentialsRequest,
    trust: &Trust<'_>,
) -> Result<Vec<FederatedCredential>, Diagnostics> {
    let mut missing = Missing::new(request);
    let issuer = missing.issuer_url(trust);
    let mut credentials = Vec::new();
    for (name, subject) in request.service_accounts() {
        credentials.push(FederatedCredential {
            name: name.clone(),
            issuer: issuer.to_owned(),
            subject,
            audiences: [AUDIENCE],
        });
    }
    missing.into_result(credentials)
}
