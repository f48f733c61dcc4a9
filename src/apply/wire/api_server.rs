//! One API server: requests go out, answers come back, and what passes by itself is tried again.

use std::time::Duration;

use http::{Method, Request};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::apply::wire::client::reason;
use crate::apply::wire::error::{Failure, Refusal};
use crate::apply::wire::throttle::Gate;

/// How long one answer may take.
const ANSWER: Duration = Duration::from_secs(20);
/// No answer may be larger: the guest's users decide what is in it.
const LARGEST: usize = 64 << 20;
/// How long a server is asked that may not be there yet, before that is told.
const KNOCK: Duration = Duration::from_secs(2);
/// So long the server itself may take over a write, and then says so: whatever it leans on, be it a webhook that hangs, is
/// no reason to think that the server is gone.
const WRITE: &str = "timeout=12s";
/// What is asked when the time is over has this long, so that the last word can be said.
const LAST_WORD: Duration = Duration::from_secs(2);
/// Whatever a server says, it is asked again after this long.
const LATEST: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// An answer that was no refusal.
pub(in crate::apply) struct Answer {
    /// Whether the object was made by the request.
    pub(in crate::apply) created: bool,
    pub(in crate::apply) value: Value,
}

/// What goes into a request, and how it is to be read.
#[derive(Clone, Copy)]
pub(in crate::apply) enum Content<'b> {
    Nothing,
    /// Nothing either, and of the objects in the answer only what they are called.
    Names,
    Json(&'b str),
    /// Server-side apply.
    Apply(&'b str),
    /// RFC 6902.
    JsonPatch(&'b str),
    /// RFC 7386.
    MergePatch(&'b str),
}

pub(in crate::apply) struct Server {
    client: Client,
    gate: Gate,
    /// How long a request is tried again, and until when all of them are.
    patience: Duration,
    deadline: Instant,
}

impl Server {
    pub(in crate::apply) fn new(client: Client, patience: Duration, deadline: Instant) -> Self {
        Self { client, gate: Gate::new(), patience, deadline }
    }

    pub(in crate::apply) async fn get(&self, path: &str) -> Result<Value, Failure> {
        Ok(self.send(Method::GET, path, Content::Nothing).await?.value)
    }

    /// Asks a server that may not be there yet, without much patience.
    pub(in crate::apply) async fn knock(&self, path: &str) -> Result<Value, Failure> {
        let deadline = Instant::now() + self.patience.min(KNOCK);
        Ok(self.send_until(deadline, Method::GET, path, Content::Nothing).await?.value)
    }

    /// Sends a request until it is answered for good, or patience ends.
    pub(in crate::apply) async fn send(
        &self,
        method: Method,
        path: &str,
        content: Content<'_>,
    ) -> Result<Answer, Failure> {
        self.send_until(Instant::now() + self.patience, method, path, content).await
    }

    async fn send_until(
        &self,
        deadline: Instant,
        method: Method,
        path: &str,
        content: Content<'_>,
    ) -> Result<Answer, Failure> {
        let deadline = deadline.min(self.deadline);
        let mut pause = FIRST_PAUSE;
        loop {
            let failure = match self.once(method.clone(), path, content).await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            let wanted = failure.retry_after().unwrap_or_else(|| jittered(pause));
            if !failure.is_passing() || Instant::now() + wanted > deadline {
                return Err(failure);
            }
            if timeout_at(deadline, self.gate.retry()).await.is_err() {
                return Err(failure);
            }
            sleep(wanted).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn once(&self, method: Method, path: &str, content: Content<'_>) -> Result<Answer, Failure> {
        let pass = self.gate.enter().await;
        let left = self.deadline.saturating_duration_since(Instant::now());
        let limit = ANSWER.min(left.max(LAST_WORD));
        let answer = timeout(limit, self.exchange(method, path, content)).await;
        let none = |_| Err(Failure::NoAnswer(format!("none within {} s", limit.as_secs())));
        let answer = answer.unwrap_or_else(none);
        match &answer {
            Err(Failure::Refused(Refusal { code: 429, .. })) => pass.too_much(),
            _ => pass.answered(),
        }
        answer
    }

    async fn exchange(&self, method: Method, path: &str, content: Content<'_>) -> Result<Answer, Failure> {
        let (kind, body) = match content {
            Content::Nothing | Content::Names | Content::Json("") => ("application/json", ""),
            Content::Json(body) => ("application/json", body),
            Content::Apply(body) => ("application/apply-patch+yaml", body),
            Content::JsonPatch(body) => ("application/json-patch+json", body),
            Content::MergePatch(body) => ("application/merge-patch+json", body),
        };
        let path = match (&method, path.contains('?')) {
            (&Method::GET, _) => path.to_owned(),
            (_, true) => format!("{path}&{WRITE}"),
            (_, false) => format!("{path}?{WRITE}"),
        };
        let request = Request::builder().method(method).uri(&path);
        let request = request.header("content-type", kind).header("accept", accept(&path, content));
        let request = request.body(Body::from(body.as_bytes().to_vec()));
        let request = request.map_err(|error| Failure::NoAnswer(error.to_string()))?;
        let answer = self.client.send(request).await.map_err(|error| Failure::NoAnswer(reason(&error)))?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, LARGEST).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                return Failure::Unreadable(format!("an answer of more than {LARGEST} bytes"));
            }
            Failure::NoAnswer(reason(&*error))
        })?;
        let body = body.to_bytes();
        if head.status.is_success() {
            let broken = |_| Failure::NoAnswer("the answer is not JSON".to_owned());
            let value = serde_json::from_slice(&body).map_err(broken)?;
            return Ok(Answer { created: head.status.as_u16() == 201, value });
        }
        let retry_after = head.headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let retry_after = retry_after.map(|seconds| Duration::from_secs(seconds).min(LATEST));
        Err(Failure::Refused(Refusal::read(head.status.as_u16(), retry_after, &body)))
    }
}

/// All groups and their kinds come in one answer if they are asked for so.
fn accept(path: &str, content: Content<'_>) -> &'static str {
    match path {
        _ if matches!(content, Content::Names) => {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
        }
        "/api" | "/apis" => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        _ => "application/json",
    }
}

/// Between half of a time and all of it, so that many who wait do not come back at once.
fn jittered(time: Duration) -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    time.mul_f64(0.5 + f64::from(now.subsec_nanos() % 1000) / 2000.0)
}
