//! Cloud credentials: what a workload needs to exchange a token of the guest for credentials of its cloud, and the files
//! of the Secret that the workload reads. None of it is secret: the token is in another file.

mod fields;
mod files;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value as Json, json};

use fields::Purpose;
pub(crate) use fields::{Cloud, CloudField};

/// The file with the token, where OpenShift mounts it into every workload that uses its cloud.
const TOKEN_FILE: &str = "/var/run/secrets/openshift/serviceaccount/token";

/// The description with which a workload exchanges a token of the guest for credentials of its cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CloudCredentials {
    cloud: Cloud,
    /// The values of the fields that have one, by the names of the fields. All of them are valid.
    values: BTreeMap<&'static str, String>,
}

impl CloudCredentials {
    /// Creates credentials for a cloud. No field has a value but `tokenFile`.
    pub(crate) fn new(cloud: Cloud) -> Self {
        Self { cloud, values: BTreeMap::from([("tokenFile", TOKEN_FILE.to_owned())]) }
    }

    /// Sets a field. Fails if the value is not valid: it could end a line of a file, or mean something else there.
    pub(crate) fn set(&mut self, field: &CloudField, value: &str) -> Result<(), InvalidField> {
        if !field.accepts(value) {
            return Err(InvalidField { expected: field.expected });
        }
        self.values.insert(field.name, value.to_owned());
        Ok(())
    }

    /// Returns the cloud.
    pub(crate) fn cloud(&self) -> Cloud {
        self.cloud
    }

    /// Returns the value of a field.
    pub(crate) fn value(&self, field: &str) -> Option<&str> {
        self.values.get(field).map(String::as_str)
    }

    /// Returns the identity that the cloud knows, if it has a value: the ARN of a role, a client ID, or the email address
    /// of a service account.
    pub(crate) fn identity(&self) -> Option<&str> {
        self.value(self.cloud.identity_field())
    }

    /// Returns the URL of the issuer of the guest's tokens, if it has a value.
    pub(crate) fn issuer_url(&self) -> Option<&str> {
        self.value("issuerURL")
    }

    /// Returns the fields that the files need and that have no value, by the names that a user writes in `spec`.
    pub(crate) fn missing(&self) -> Vec<&'static str> {
        let mut missing = Vec::new();
        for field in self.cloud.fields() {
            if field.purpose == Purpose::Files && !self.values.contains_key(field.name) {
                missing.push(field.name);
            }
        }
        missing
    }

    /// Returns the keys of the Secret, in alphabetical order.
    pub(crate) fn keys(&self) -> Vec<&'static str> {
        files::keys(self.cloud)
    }

    /// Returns the content of each key of the Secret. Fails if a field has no value.
    pub(crate) fn files(&self) -> Result<BTreeMap<&'static str, String>, Missing> {
        let missing = self.missing();
        if missing.is_empty() { Ok(files::files(self)) } else { Err(Missing(missing)) }
    }

    /// Returns the fields that have a value, as they are declared: `{"aws": {"region": …}}`.
    pub(crate) fn to_json(&self) -> Json {
        json!({self.cloud.name(): self.values})
    }
}

/// Names the cloud and the identity, as in "aws as …" with the ARN of a role.
impl fmt::Display for CloudCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cloud.name())?;
        match self.identity() {
            Some(identity) => write!(f, " as {identity}"),
            None => Ok(()),
        }
    }
}

/// A value that a field does not accept. Displayed as "must be the name of a region, such as us-east-1".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidField {
    expected: &'static str,
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be {}", self.expected)
    }
}

/// Fields without a value. Displayed as "`roleARN` and `region` have no value".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) Vec<&'static str>);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = self.0.len().saturating_sub(1);
        for (index, field) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index == last => " and ",
                _ => ", ",
            };
            write!(f, "{separator}`{field}`")?;
        }
        f.write_str(if self.0.len() == 1 { " has no value" } else { " have no value" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates credentials with these values.
    pub(super) fn credentials(cloud: Cloud, values: &[(&str, &str)]) -> CloudCredentials {
        let mut credentials = CloudCredentials::new(cloud);
        for (name, value) in values {
            let field = cloud.field(name).unwrap();
            credentials.set(field, value).unwrap();
        }
        credentials
    }

    #[test]
    fn missing_fields_are_those_that_the_files_need() {
        let empty = CloudCredentials::new(Cloud::Aws);
        assert_eq!(empty.missing(), ["roleARN", "region"]);
        assert_eq!(empty.files().unwrap_err().to_string(), "`roleARN` and `region` have no value");
        assert_eq!(empty.identity(), None);
        assert_eq!(empty.to_string(), "aws");

        let region = credentials(Cloud::Aws, &[("region", "us-east-1")]);
        assert_eq!(region.files().unwrap_err().to_string(), "`roleARN` has no value");

        let azure = CloudCredentials::new(Cloud::Azure);
        assert_eq!(
            azure.files().unwrap_err().to_string(),
            "`clientID`, `tenantID`, `subscriptionID` and `location` have no value"
        );
        let gcp = CloudCredentials::new(Cloud::Gcp);
        assert_eq!(gcp.missing(), ["serviceAccountEmail", "projectNumber", "poolID", "providerID"]);
    }

    #[test]
    fn json_has_only_fields_with_a_value() {
        assert_eq!(
            CloudCredentials::new(Cloud::Gcp).to_json().to_string(),
            r#"{"gcp":{"tokenFile":"/var/run/secrets/openshift/serviceaccount/token"}}"#
        );
        let aws = credentials(
            Cloud::Aws,
            &[
                ("roleARN", "arn:aws:iam::123456789012:role/ebs"),
                ("region", "us-east-1"),
                ("tokenFile", "/t"),
            ],
        );
        assert_eq!(
            aws.to_json().to_string(),
            r#"{"aws":{"region":"us-east-1","roleARN":"arn:aws:iam::123456789012:role/ebs","tokenFile":"/t"}}"#
        );
        assert_eq!(aws.to_string(), "aws as arn:aws:iam::123456789012:role/ebs");
    }
}
