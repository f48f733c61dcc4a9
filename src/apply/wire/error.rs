//! Why a request failed.

use std::fmt;
use std::time::Duration;

use kube::core::Status;
use kube::core::response::StatusCause;

/// A request that failed.
#[derive(Clone, Debug)]
pub(crate) enum RequestError {
    /// The API server rejected the request.
    Api(Box<ApiError>),
    /// The connection failed. The text says why, in one line.
    Connection(String),
    /// The certificate of the API server is not valid. The text says why, in one line.
    Certificate(String),
    /// There was no response within this time.
    Timeout(Duration),
    /// There was no response before the deadline of the whole command.
    DeadlineExceeded,
    /// The response is not JSON.
    NotJson,
    /// The response is larger than this many bytes.
    TooLarge(usize),
    /// All responses that are in memory together would need more than this many bytes.
    TooMuchMemory(usize),
    /// The response to a discovery request is not aggregated discovery.
    NotDiscovery { path: String },
    /// The request cannot be built.
    InvalidRequest(String),
    /// The command may not write any more: its Lease ended, and another command may write now.
    LeaseEnded,
    /// The command may not write. The text says why.
    MayNotWrite(String),
}

/// An error that the API server reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct ApiError {
    /// The HTTP status code.
    pub(crate) code: u16,
    /// The body of the response.
    pub(crate) status: Status,
    /// When to try again, if the API server says so.
    pub(crate) retry_after: Option<Duration>,
}

/// Phrases with which the API server says that a field is immutable. It has no reason code for that.
const IMMUTABLE: [&str; 2] = ["field is immutable", "may not be changed in an update"];
/// The number of bytes that a message quotes from a response that is not a `Status`.
const QUOTED_BYTES: usize = 200;
/// The number of characters that a message quotes from the message of a `Status`.
const QUOTED_CHARACTERS: usize = 10_000;

impl ApiError {
    /// Reads the body of a response: a `Status`, or the text of a proxy.
    pub(crate) fn parse(code: u16, retry_after: Option<Duration>, body: &[u8]) -> Self {
        let mut status: Status = serde_json::from_slice(body).unwrap_or_default();
        if status.message.is_empty() {
            let text = String::from_utf8_lossy(&body[..body.len().min(QUOTED_BYTES)]);
            text.trim().clone_into(&mut status.message);
        }
        if let Some((end, _)) = status.message.char_indices().nth(QUOTED_CHARACTERS) {
            status.message.truncate(end);
        }
        Self { code, status, retry_after }
    }

    pub(crate) fn message(&self) -> &str {
        &self.status.message
    }

    pub(crate) fn causes(&self) -> &[StatusCause] {
        self.status.details.as_ref().map_or(&[], |details| details.causes.as_slice())
    }

    /// Returns whether the namespace of the object does not exist.
    pub(crate) fn is_namespace_missing(&self) -> bool {
        self.code == 404 && self.status.details.as_ref().is_some_and(|details| details.kind == "namespaces")
    }

    /// Returns whether the role of a binding does not exist.
    pub(crate) fn is_role_missing(&self) -> bool {
        let is_role = |kind: &str| matches!(kind.trim_end_matches('s'), "role" | "clusterrole");
        self.code == 404 && self.status.details.as_ref().is_some_and(|details| is_role(&details.kind))
    }

    /// Returns whether the namespace of the object is being deleted.
    pub(crate) fn is_namespace_terminating(&self) -> bool {
        self.causes().iter().any(|cause| cause.reason == "NamespaceTerminating")
    }

    /// Returns the admission webhook that does not respond.
    pub(crate) fn failed_webhook(&self) -> Option<&str> {
        let (_, name) = self.message().split_once("failed calling webhook \"")?;
        Some(name.split_once('"')?.0)
    }

    /// Returns whether an admission webhook or policy rejected the request, or a webhook does not respond.
    pub(crate) fn is_rejected_by_admission(&self) -> bool {
        let phrases = ["admission webhook \"", "ValidatingAdmissionPolicy '"];
        self.failed_webhook().is_some() || phrases.iter().any(|phrase| self.message().contains(phrase))
    }

    /// Returns whether another field manager owns a field of the request.
    pub(crate) fn is_field_conflict(&self) -> bool {
        self.code == 409 && self.causes().iter().any(|cause| cause.reason == "FieldManagerConflict")
    }

    /// Returns whether a precondition of the request does not hold: the resource version or the uid of the object.
    pub(crate) fn is_overtaken(&self) -> bool {
        self.code == 409 && self.status.reason == "Conflict" && !self.is_field_conflict()
    }

    /// Returns the API version of managed fields that the API server no longer serves, if the error is about one.
    pub(crate) fn version_not_served(&self) -> Option<&str> {
        let (_, version) =
            self.message().split_once("request to convert CR to an invalid group/version: ")?;
        version.split_whitespace().next()
    }

    /// Returns whether a field is not in the schema of its kind.
    pub(crate) fn is_unknown_field(&self) -> bool {
        let message = self.message();
        message.contains("field not declared in schema") || message.contains("unknown field \"")
    }

    /// Returns the immutable fields that the request would change.
    pub(crate) fn immutable_fields(&self) -> Vec<&str> {
        if self.code != 422 {
            return Vec::new();
        }
        let is_immutable =
            |cause: &&StatusCause| IMMUTABLE.iter().any(|phrase| cause.message.contains(phrase));
        self.causes().iter().filter(is_immutable).map(|cause| cause.field.as_str()).collect()
    }
}

impl RequestError {
    /// Returns the HTTP status code, if the API server responded.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Api(error) => Some(error.code),
            _ => None,
        }
    }

    pub(crate) fn is_not_found(&self) -> bool {
        self.code() == Some(404)
    }

    /// Returns whether the object exists already, or whether someone else wrote it since it was read.
    pub(crate) fn is_conflict(&self) -> bool {
        self.code() == Some(409)
    }

    /// Returns whether someone else wrote, deleted or recreated the object since it was read.
    pub(crate) fn is_overtaken(&self) -> bool {
        matches!(self, Self::Api(error) if error.is_overtaken())
    }

    /// Returns when to try again, if the API server says so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api(error) => error.retry_after,
            _ => None,
        }
    }

    /// Returns whether there was no response, or a response that cannot come from an API server.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Timeout(_) | Self::DeadlineExceeded | Self::NotJson)
    }

    /// Returns whether the command may not write any more.
    pub(crate) fn may_not_write(&self) -> bool {
        matches!(self, Self::LeaseEnded | Self::MayNotWrite(_))
    }

    /// Returns whether a response, or all responses together, exceed transship's limits.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge(_) | Self::TooMuchMemory(_))
    }

    /// Describes the error without quoting the API server, because its message may contain values of a Secret.
    pub(crate) fn message_without_values(&self) -> String {
        let Self::Api(error) = self else { return self.to_string() };
        if let Some(webhook) = error.failed_webhook() {
            return format!("an admission webhook does not respond: `{webhook}`");
        }
        let mut message = format!("the API server returns {} {}", error.code, error.status.reason);
        let fields: Vec<&str> = error
            .causes()
            .iter()
            .map(|cause| cause.field.as_str())
            .filter(|field| !field.is_empty())
            .collect();
        if !fields.is_empty() {
            message.push_str(" because of ");
            message.push_str(&fields.join(", "));
        }
        message
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(error) => error.fmt(f),
            Self::Connection(reason) => write!(f, "no response: {reason}"),
            Self::Certificate(reason) => write!(
                f,
                "the certificate of the API server is not trusted: {reason}; check `certificate-authority-data`, \
                 `tls-server-name` and `server` of the kubeconfig"
            ),
            Self::Timeout(limit) => write!(f, "no response within {} s", limit.as_secs()),
            Self::DeadlineExceeded => f.write_str("no response before the timeout"),
            Self::NotJson => f.write_str("the response is not JSON"),
            Self::TooLarge(limit) => write!(
                f,
                "a response of the API server is larger than {} MiB, so transship stops reading it",
                limit >> 20
            ),
            Self::TooMuchMemory(limit) => write!(
                f,
                "the responses of the API server need more than {} MiB of memory, so transship stops reading them",
                limit >> 20
            ),
            Self::NotDiscovery { path } => {
                write!(f, "the response to {path} is not aggregated discovery, which needs Kubernetes 1.27")
            }
            Self::InvalidRequest(reason) => write!(f, "the request is invalid: {reason}"),
            Self::MayNotWrite(reason) => f.write_str(reason),
            Self::LeaseEnded => f.write_str(
                "the Lease of this command ended before it could be renewed, so another command may write now",
            ),
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.message();
        if self.failed_webhook().is_some() {
            return write!(f, "an admission webhook does not respond: {message}");
        }
        match self.code {
            403 => write!(f, "forbidden: {message}"),
            code if message.is_empty() => write!(f, "the API server returns {code}"),
            code => write!(f, "the API server returns {code}: {message}"),
        }
    }
}

impl From<kube::core::request::Error> for RequestError {
    fn from(error: kube::core::request::Error) -> Self {
        Self::InvalidRequest(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ApiError, RequestError};

    fn error(code: u16, body: &str) -> RequestError {
        RequestError::Api(Box::new(ApiError::parse(code, None, body.as_bytes())))
    }

    fn status(code: u16, message: &str) -> RequestError {
        error(code, &json!({"kind": "Status", "message": message, "reason": "Reason"}).to_string())
    }

    #[test]
    fn messages_quote_the_api_server() {
        for (error, expected) in [
            (status(403, "not you"), "forbidden: not you"),
            (status(422, "bad value"), "the API server returns 422: bad value"),
            (
                error(502, "<html>bad gateway</html>\n"),
                "the API server returns 502: <html>bad gateway</html>",
            ),
            (error(502, ""), "the API server returns 502"),
            (error(500, "[]"), "the API server returns 500: []"),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn messages_without_values_name_only_fields_and_webhooks() {
        let causes = json!([{"field": "data[password]", "message": "s3cret"}, {"message": "s3cret"}]);
        let body = json!({"message": "s3cret", "reason": "Invalid", "details": {"causes": causes}});
        let invalid = error(422, &body.to_string());
        assert_eq!(
            invalid.message_without_values(),
            "the API server returns 422 Invalid because of data[password]"
        );
        let webhook = status(500, "failed calling webhook \"w\": s3cret");
        assert_eq!(webhook.message_without_values(), "an admission webhook does not respond: `w`");
    }
}
