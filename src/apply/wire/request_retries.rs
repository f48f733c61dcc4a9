//! The retry policy of requests: which errors transship retries, after which delays and for how long. [`Throttle`] limits how
//! many retries there are per second. `run::step_retries` retries whole steps.
//!
//! [`Throttle`]: super::throttle::Throttle

use std::time::Duration;

use http::header::{HeaderMap, RETRY_AFTER};
use tokio::time::Instant;

use crate::apply::wire::backoff::Backoff;
use crate::apply::wire::error::{ApiError, RequestError};

/// How long to retry a request to an API server that may not be running yet.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest `Retry-After` that transship obeys.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);
const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);

/// Decides whether and when to send one request again.
pub(super) struct RequestRetries {
    deadline: Instant,
    backoff: Backoff,
}

impl RequestRetries {
    pub(super) fn until(deadline: Instant) -> Self {
        Self { deadline, backoff: Backoff::new(FIRST_DELAY, MAX_DELAY) }
    }

    /// Returns the delay before the next attempt: the one that the API server asks for, otherwise a growing one. `None` if
    /// transship does not retry the request, because the error is permanent or the deadline is too near.
    pub(super) fn next_delay(&mut self, error: &RequestError) -> Option<Duration> {
        let delay = error.retry_after().unwrap_or_else(|| self.backoff.next_jittered_delay());
        let may_retry = error.is_transient() && Instant::now() + delay <= self.deadline;
        may_retry.then_some(delay)
    }
}

/// Reads the delay that the API server asks for.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(MAX_RETRY_AFTER))
}

impl RequestError {
    /// Returns whether another attempt may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Api(error) => error.is_transient(),
            other => other.is_unreachable(),
        }
    }
}

impl ApiError {
    /// Returns whether another attempt may help: the API server, or a server that it calls, is busy or starting.
    fn is_transient(&self) -> bool {
        match self.code {
            408 | 429 | 502 | 503 | 504 => true,
            // The API server also returns 500 if an applied field is not in the schema, or if managed fields have a
            // version that is no longer served. Another attempt does not help then.
            500 => {
                !self.message().starts_with("failed to create typed patch object")
                    && self.version_not_served().is_none()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use tokio::time::Instant;

    use super::{ApiError, RequestError, RequestRetries};

    fn status(code: u16, message: &str) -> RequestError {
        let body = json!({"kind": "Status", "message": message, "reason": "Reason"}).to_string();
        RequestError::Api(Box::new(ApiError::parse(code, None, body.as_bytes())))
    }

    fn busy(retry_after: Option<Duration>) -> RequestError {
        RequestError::Api(Box::new(ApiError::parse(429, retry_after, b"busy")))
    }

    #[test]
    fn the_delay_is_that_of_the_api_server_or_grows() {
        let mut retries = RequestRetries::until(Instant::now() + Duration::from_secs(60));
        let asked_for = Duration::from_secs(7);
        assert_eq!(retries.next_delay(&busy(Some(asked_for))), Some(asked_for));
        let delays: Vec<Duration> = (0..2).filter_map(|_| retries.next_delay(&busy(None))).collect();
        assert!((50..=100).contains(&delays[0].as_millis()), "{delays:?}");
        assert!((100..=200).contains(&delays[1].as_millis()), "{delays:?}");
    }

    #[test]
    fn permanent_errors_and_delays_beyond_the_deadline_are_not_retried() {
        let mut retries = RequestRetries::until(Instant::now() + Duration::from_secs(5));
        assert_eq!(retries.next_delay(&status(404, "gone")), None);
        assert_eq!(retries.next_delay(&busy(Some(Duration::from_secs(6)))), None);
    }

    #[test]
    fn only_errors_that_can_go_away_are_transient() {
        for (error, transient) in [
            (status(429, "busy"), true),
            (status(500, "etcd is down"), true),
            (status(500, "failed to create typed patch object: field not declared in schema"), false),
            (status(500, "request to convert CR to an invalid group/version: a.b/v1 x"), false),
            (status(503, ""), true),
            (status(409, "conflict"), false),
            (RequestError::Connection("refused".to_owned()), true),
            (RequestError::NotJson, true),
            (RequestError::TooLarge(1), false),
            (RequestError::TooMuchMemory(1), false),
            (RequestError::InvalidRequest("no name".to_owned()), false),
        ] {
            assert_eq!(error.is_transient(), transient, "{error}");
        }
    }
}
