//! The files of a Secret with cloud credentials, as the SDKs of the clouds read them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Cloud, CloudCredentials};

/// Returns the keys of the Secret.
pub(super) fn keys(cloud: Cloud) -> Vec<&'static str> {
    match cloud {
        Cloud::Aws => vec![AWS_KEY],
        Cloud::Azure => AZURE_KEYS.iter().map(|(key, _)| *key).collect(),
        Cloud::Gcp => vec![GCP_KEY],
    }
}

/// Returns the content of each key of the Secret, for credentials whose fields all have a value.
pub(super) fn files(credentials: &CloudCredentials) -> BTreeMap<&'static str, String> {
    match credentials.cloud {
        Cloud::Aws => BTreeMap::from([(AWS_KEY, aws(credentials))]),
        Cloud::Azure => {
            AZURE_KEYS.iter().map(|(key, field)| (*key, value(credentials, field).to_owned())).collect()
        }
        Cloud::Gcp => BTreeMap::from([(GCP_KEY, gcp(credentials))]),
    }
}

fn value<'c>(credentials: &'c CloudCredentials, field: &str) -> &'c str {
    credentials.value(field).unwrap_or_default()
}

const AWS_KEY: &str = "credentials";

/// Returns a file in the format of `~/.aws/credentials`.
fn aws(credentials: &CloudCredentials) -> String {
    format!(
        "[default]\nrole_arn = {}\nweb_identity_token_file = {}\nsts_regional_endpoints = regional\nregion = {}\n",
        value(credentials, "roleARN"),
        value(credentials, "tokenFile"),
        value(credentials, "region"),
    )
}

/// The keys for Azure, and the field with the value of each.
const AZURE_KEYS: [(&str, &str); 5] = [
    ("azure_client_id", "clientID"),
    ("azure_federated_token_file", "tokenFile"),
    ("azure_region", "location"),
    ("azure_subscription_id", "subscriptionID"),
    ("azure_tenant_id", "tenantID"),
];

const GCP_KEY: &str = "service_account.json";

/// A credential configuration of Google Cloud.
#[derive(Serialize)]
struct ExternalAccount<'a> {
    r#type: &'a str,
    audience: String,
    subject_token_type: &'a str,
    token_url: &'a str,
    service_account_impersonation_url: String,
    credential_source: CredentialSource<'a>,
}

/// The file from which Google's libraries read the token.
#[derive(Serialize)]
struct CredentialSource<'a> {
    file: &'a str,
    format: SourceFormat<'a>,
}

#[derive(Serialize)]
struct SourceFormat<'a> {
    r#type: &'a str,
}

fn gcp(credentials: &CloudCredentials) -> String {
    let audience = format!(
        "//iam.googleapis.com/projects/{}/locations/global/workloadIdentityPools/{}/providers/{}",
        value(credentials, "projectNumber"),
        value(credentials, "poolID"),
        value(credentials, "providerID"),
    );
    let impersonation_url = format!(
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{}:generateAccessToken",
        value(credentials, "serviceAccountEmail"),
    );
    let account = ExternalAccount {
        r#type: "external_account",
        audience,
        subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
        token_url: "https://sts.googleapis.com/v1/token",
        service_account_impersonation_url: impersonation_url,
        credential_source: CredentialSource {
            file: value(credentials, "tokenFile"),
            format: SourceFormat { r#type: "text" },
        },
    };
    // A struct of strings can always be written.
    serde_json::to_string(&account).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Cloud, CloudCredentials, keys};
    use crate::object::cloud_credentials::tests::credentials;

    const ID: &str = "01234567-89ab-cdef-0123-456789abcdef";

    #[track_caller]
    fn assert_files(credentials: &CloudCredentials, expected: &[(&'static str, &str)]) {
        let files = credentials.files().unwrap();
        assert_eq!(keys(credentials.cloud()), files.keys().copied().collect::<Vec<_>>());
        let expected: BTreeMap<&str, String> =
            expected.iter().map(|(key, content)| (*key, (*content).to_owned())).collect();
        assert_eq!(files, expected);
    }

    #[test]
    fn aws_reads_an_ini_file() {
        let aws = credentials(
            Cloud::Aws,
            &[("roleARN", "arn:aws:iam::123456789012:role/guest-ebs"), ("region", "eu-west-1")],
        );
        assert_files(
            &aws,
            &[(
                "credentials",
                "\
[default]
role_arn = arn:aws:iam::123456789012:role/guest-ebs
web_identity_token_file = /var/run/secrets/openshift/serviceaccount/token
sts_regional_endpoints = regional
region = eu-west-1
",
            )],
        );
    }

    #[test]
    fn azure_reads_one_key_for_each_value() {
        let azure = credentials(
            Cloud::Azure,
            &[
                ("clientID", ID),
                ("tenantID", "11111111-1111-1111-1111-111111111111"),
                ("subscriptionID", "22222222-2222-2222-2222-222222222222"),
                ("location", "eastus"),
                ("tokenFile", "/token"),
            ],
        );
        assert_files(
            &azure,
            &[
                ("azure_client_id", ID),
                ("azure_federated_token_file", "/token"),
                ("azure_region", "eastus"),
                ("azure_subscription_id", "22222222-2222-2222-2222-222222222222"),
                ("azure_tenant_id", "11111111-1111-1111-1111-111111111111"),
            ],
        );
    }

    #[test]
    fn gcp_reads_an_external_account() {
        let gcp = credentials(
            Cloud::Gcp,
            &[
                ("serviceAccountEmail", "storage@project-1.iam.gserviceaccount.com"),
                ("projectNumber", "123456789012"),
                ("poolID", "guest-pool"),
                ("providerID", "guest-provider"),
            ],
        );
        assert_files(
            &gcp,
            &[(
                "service_account.json",
                concat!(
                    r#"{"type":"external_account","#,
                    r#""audience":"//iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/guest-pool/providers/guest-provider","#,
                    r#""subject_token_type":"urn:ietf:params:oauth:token-type:jwt","#,
                    r#""token_url":"https://sts.googleapis.com/v1/token","#,
                    r#""service_account_impersonation_url":"https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/storage@project-1.iam.gserviceaccount.com:generateAccessToken","#,
                    r#""credential_source":{"file":"/var/run/secrets/openshift/serviceaccount/token","format":{"type":"text"}}}"#,
                ),
            )],
        );
    }
}
