//! The guest in the documents: the issuer of its tokens, and where its cloud knows the issuer.

use super::request::CredentialsRequest;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::object::CloudCredentials;

/// The audience of the tokens that OpenShift's operators and drivers send to a cloud.
pub(super) const AUDIENCE: &str = "openshift";

/// The issuer of a guest's tokens, and the account that knows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trust<'a> {
    /// The credentials that a profile declares for the same Secret.
    pub(crate) credentials: Option<&'a CloudCredentials>,
    /// The URL of the issuer, instead of that of the credentials.
    pub(crate) issuer_url: Option<&'a str>,
    /// The account of AWS, instead of that of the role.
    pub(crate) account_id: Option<&'a str>,
}

/// Collects what is missing for the trust of one role.
pub(super) struct Missing<'a> {
    request: &'a CredentialsRequest,
    errors: Diagnostics,
}

impl<'a> Missing<'a> {
    /// Reports a request without ServiceAccounts.
    pub(super) fn new(request: &'a CredentialsRequest) -> Self {
        let mut missing = Self { request, errors: Diagnostics::default() };
        if request.subjects().is_empty() {
            missing.add(
                "the CredentialsRequest names no ServiceAccount",
                "add `spec.serviceAccountNames` to its manifest",
            );
        }
        missing
    }

    /// Returns a value, or reports that it is missing.
    pub(super) fn require<'v>(&mut self, value: Option<&'v str>, problem: &str, help: &str) -> &'v str {
        if value.is_none() {
            self.add(problem, help);
        }
        value.unwrap_or_default()
    }

    /// Returns the URL of the issuer.
    pub(super) fn issuer_url<'v>(&mut self, trust: &Trust<'v>) -> &'v str {
        self.require(
            trust.issuer_url.or(trust.credentials.and_then(CloudCredentials::issuer_url)),
            "the issuer of the guest's tokens is not known",
            "pass --issuer-url, or --hosted-control-plane with a HostedControlPlane that has `spec.issuerURL`",
        )
    }

    fn add(&mut self, problem: &str, help: &str) {
        let error = Diagnostic::error(problem)
            .object(&self.request.id)
            .note("the trust of its cloud role would be incomplete")
            .help(help);
        self.errors.0.push(error);
    }

    /// Returns a document, unless something is missing.
    pub(super) fn into_result<T>(self, document: T) -> Result<T, Diagnostics> {
        self.errors.into_result(document)
    }
}

/// Returns the value of a field of the credentials.
pub(super) fn value<'v>(trust: &Trust<'v>, field: &str) -> Option<&'v str> {
    trust.credentials.and_then(|credentials| credentials.value(field))
}
