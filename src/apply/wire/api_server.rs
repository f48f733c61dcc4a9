//! One API server: sends requests with limits on size, time and load, and retries those that fail transiently.
//!
//! [`RequestRetries`] has the retry policy.

use std::time::Duration;

use http::header::ACCEPT;
use http::{HeaderValue, Method, StatusCode};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tracing::{debug, info};

use crate::apply::wire::client::root_cause;
use crate::apply::wire::error::{ApiError, RequestError};
use crate::apply::wire::memory::{Reservation, ResponseMemory, estimate};
use crate::apply::wire::request::{ApiRequest, with_query};
use crate::apply::wire::request_retries::{PROBE_TIMEOUT, RequestRetries, retry_after};
use crate::apply::wire::throttle::{RequestLimits, Throttle};
use crate::apply::wire::warnings::warnings;
use crate::apply::wire::write_guard::WriteGuard;

/// How long one attempt may take.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);
/// The largest response that transship reads. Users of the guest decide what is in it.
const MAX_RESPONSE_SIZE: usize = 64 << 20;
/// The largest response that reports an error.
const MAX_ERROR_SIZE: usize = 1 << 20;
/// The query parameter that limits how long the API server works on a write. It is shorter than [`ATTEMPT_TIMEOUT`], so
/// transship does not mistake a webhook that hangs for an API server that does not respond.
const WRITE_TIMEOUT_QUERY: &str = "timeout=12s";
/// The shortest time limit of an attempt. It holds even after the deadline, so that transship can still write the
/// inventory.
const LAST_REQUEST_TIMEOUT: Duration = Duration::from_secs(2);
/// The words of rustls for a certificate that it does not accept. hyper hides the type of the error.
const INVALID_CERTIFICATE: &str = "invalid peer certificate: ";
/// The largest ratio of a growing vector's capacity to its length.
const GROWTH: usize = 2;

/// A successful response with its JSON body.
pub(crate) struct Response<T = Value> {
    pub(crate) status: StatusCode,
    pub(crate) value: T,
    /// The memory that the body needs.
    pub(crate) memory: Reservation,
    /// The warnings of the API server.
    pub(crate) warnings: Vec<String>,
}

/// A type that a response is read into.
pub(crate) trait ResponseBody: DeserializeOwned {
    /// Returns an upper bound for the memory that the body needs, from its JSON text.
    fn memory(text: &[u8]) -> usize;
}

impl ResponseBody for Value {
    fn memory(text: &[u8]) -> usize {
        estimate(text)
    }
}

/// A connection to an API server.
pub(crate) struct ApiServer {
    client: Client,
    throttle: Throttle,
    /// How long to retry a request that fails transiently.
    retry_timeout: Duration,
    /// The deadline for all requests.
    deadline: Instant,
    /// The memory of all responses.
    memory: ResponseMemory,
    /// Decides whether requests may still write.
    guard: WriteGuard,
}

impl ApiServer {
    /// Creates a connection for a command that does not write, or that writes without a Lease.
    pub(crate) fn new(client: Client, retry_timeout: Duration, deadline: Instant) -> Self {
        let (throttle, memory) = (Throttle::new(RequestLimits::default()), ResponseMemory::default());
        Self { client, throttle, retry_timeout, deadline, memory, guard: WriteGuard::open() }
    }

    /// Allows writes only as long as a guard does.
    pub(crate) fn with_guard(mut self, guard: WriteGuard) -> Self {
        self.guard = guard;
        self
    }

    /// Limits the load on the API server.
    pub(crate) fn limited(self, limits: RequestLimits) -> Self {
        Self { throttle: Throttle::new(limits), ..self }
    }

    /// Sends a request and retries transient errors.
    pub(crate) async fn send(&self, request: ApiRequest) -> Result<Response, RequestError> {
        self.send_until(Instant::now() + self.retry_timeout, request).await
    }

    /// Sends a request that changes nothing although it is a POST, so the guard does not matter.
    pub(crate) async fn send_unguarded(&self, mut request: ApiRequest) -> Result<Response, RequestError> {
        request.extensions_mut().insert(Unguarded);
        self.send(request).await
    }

    /// Sends a GET request. Returns `None` if the API server returns 404.
    pub(crate) async fn get(&self, request: ApiRequest) -> Result<Option<Response>, RequestError> {
        self.get_as(request).await
    }

    /// Sends a GET request and reads the response into a type. Returns `None` if the API server returns 404.
    pub(crate) async fn get_as<T: ResponseBody>(
        &self,
        request: ApiRequest,
    ) -> Result<Option<Response<T>>, RequestError> {
        match self.send_until(Instant::now() + self.retry_timeout, request).await {
            Ok(response) => Ok(Some(response)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends a request to an API server that may not be running yet, and gives up soon.
    pub(crate) async fn probe(&self, request: ApiRequest) -> Result<Response, RequestError> {
        let deadline = Instant::now() + self.retry_timeout.min(PROBE_TIMEOUT);
        self.send_until(deadline, request).await
    }

    /// Sends a request, and retries transient errors with a growing delay, or after the time that the API server asks for.
    async fn send_until<T: ResponseBody>(
        &self,
        deadline: Instant,
        mut request: ApiRequest,
    ) -> Result<Response<T>, RequestError> {
        if request.method() != Method::GET {
            request = with_query(request, WRITE_TIMEOUT_QUERY)?;
        }
        request.headers_mut().entry(ACCEPT).or_insert(HeaderValue::from_static("application/json"));
        let deadline = deadline.min(self.deadline);
        let mut retries = RequestRetries::until(deadline);
        let mut attempt = 0;
        loop {
            attempt += 1;
            let error = match self.attempt(&request, attempt).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let Some(delay) = retries.next_delay(&error) else { return Err(error) };
            if timeout_at(deadline, self.throttle.acquire_retry()).await.is_err() {
                return Err(error);
            }
            info!(
                method = %request.method(), path = request.uri().path(), attempt, ?delay,
                reason = error.message_without_values(), "retrying a request"
            );
            sleep(delay).await;
        }
    }

    /// Sends a request once, as soon as the throttle allows it.
    async fn attempt<T: ResponseBody>(
        &self,
        request: &ApiRequest,
        attempt: usize,
    ) -> Result<Response<T>, RequestError> {
        let permit = self.throttle.acquire().await;
        let started = Instant::now();
        let until_deadline = self.deadline.saturating_duration_since(started);
        let limit = ATTEMPT_TIMEOUT.min(until_deadline.max(LAST_REQUEST_TIMEOUT));
        let result = match timeout(limit, self.exchange(request.clone())).await {
            Ok(result) => result,
            Err(_) => Err(RequestError::Timeout(limit)),
        };
        let status = match &result {
            Ok(response) => Some(response.status.as_u16()),
            Err(error) => error.code(),
        };
        debug!(
            method = %request.method(), path = %request.uri(), status, duration = ?started.elapsed(), attempt,
            "request"
        );
        if status == Some(429) {
            permit.throttled();
        } else {
            permit.not_throttled();
        }
        result
    }

    /// Sends a request and reads the response.
    async fn exchange<T: ResponseBody>(&self, request: ApiRequest) -> Result<Response<T>, RequestError> {
        let is_write = is_write(&request);
        let mut request = request.map(Body::from);
        if is_write {
            request.extensions_mut().insert(self.guard.clone());
        }
        let response = self.client.send(request).await.map_err(|error| {
            let has_ended = is_write && !self.guard.allows();
            if has_ended { RequestError::LeaseEnded } else { connection_error(&error) }
        })?;
        let (head, body) = response.into_parts();
        let mut memory = self.memory.reserve();
        let limit = if head.status.is_success() { MAX_RESPONSE_SIZE } else { MAX_ERROR_SIZE };
        let body = read_body(body, limit, &mut memory).await?;
        if !head.status.is_success() {
            let code = head.status.as_u16();
            let error = ApiError::parse(code, retry_after(&head.headers), &body);
            return Err(RequestError::Api(Box::new(error)));
        }
        memory.grow(T::memory(&body))?;
        let value = serde_json::from_slice(&body).map_err(|_| RequestError::NotJson)?;
        memory.shrink(GROWTH * body.len());
        Ok(Response { status: head.status, value, memory, warnings: warnings(&head.headers) })
    }
}

/// Converts an error without a response. An invalid certificate stays invalid, so such a request is not sent again.
fn connection_error(error: &kube::Error) -> RequestError {
    let reason = root_cause(error);
    match reason.strip_prefix(INVALID_CERTIFICATE) {
        Some(reason) => RequestError::Certificate(reason.to_owned()),
        None => RequestError::Connection(reason),
    }
}

/// Marks a request that changes nothing.
#[derive(Clone, Copy)]
struct Unguarded;

/// Returns whether a request changes anything.
fn is_write(request: &ApiRequest) -> bool {
    if request.extensions().get::<Unguarded>().is_some() {
        return false;
    }
    let is_dry_run = request.uri().query().is_some_and(|query| query.contains("dryRun=All"));
    request.method() != Method::GET && !is_dry_run
}

/// Reads a body, and counts the memory that it needs.
async fn read_body(mut body: Body, limit: usize, memory: &mut Reservation) -> Result<Vec<u8>, RequestError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| RequestError::Connection(root_cause(&error)))?;
        let Ok(data) = frame.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(RequestError::TooLarge(limit));
        }
        memory.grow(GROWTH * data.len())?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}
