//! The documents of a cloud role: what it may do in its cloud, and which ServiceAccounts of a guest may use it. They follow
//! from the `CredentialsRequest` that a standalone cluster uses, so that permissions are written once.
//!
//! | cloud | permissions | trust |
//! |---|---|---|
//! | AWS | the policy document of a role | its trust policy |
//! | Azure | a custom role, and the names of predefined ones | the federated credentials of a managed identity |
//! | Google Cloud | a custom role, and the names of predefined ones | the IAM policy of a service account |

mod aws;
mod azure;
mod gcp;
mod request;
mod trust;

use serde::Serialize;

use crate::diagnostic::Diagnostics;

pub(crate) use request::{CredentialsRequest, Permissions};
pub(crate) use trust::Trust;

/// The documents of one cloud role.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleDocuments {
    /// The name of the `CredentialsRequest`.
    credentials_request: String,
    cloud: &'static str,
    #[serde(flatten)]
    documents: Documents,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Documents {
    Aws(aws::Documents),
    Azure(azure::Documents),
    Gcp(gcp::Documents),
}

/// Returns the documents of the role for a `CredentialsRequest`. Without `trust`, only those with its permissions.
pub(crate) fn documents(
    request: &CredentialsRequest,
    trust: Option<&Trust<'_>>,
) -> Result<RoleDocuments, Diagnostics> {
    let documents = match &request.permissions {
        Permissions::Aws(statements) => Documents::Aws(aws::documents(request, statements, trust)?),
        Permissions::Azure(permissions) => Documents::Azure(azure::documents(request, permissions, trust)?),
        Permissions::Gcp(permissions) => Documents::Gcp(gcp::documents(request, permissions, trust)?),
    };
    Ok(RoleDocuments {
        credentials_request: request.name.clone(),
        cloud: request.permissions.cloud().name(),
        documents,
    })
}
