//! Stops writes of a command that no longer holds its Lease.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::Instant;
use tower::BoxError;

/// Decides whether a command may write. All clones decide alike.
#[derive(Clone, Debug)]
pub(crate) struct WriteGuard(Arc<Mutex<Limit>>);

#[derive(Clone, Copy, Debug)]
enum Limit {
    /// Writes are not limited: the command has no Lease and needs none.
    None,
    /// Writes are allowed until the Lease ends.
    Until(Instant),
    /// No writes are allowed.
    Closed,
}

impl WriteGuard {
    /// Creates a guard that allows everything.
    pub(crate) fn open() -> Self {
        Self(Arc::new(Mutex::new(Limit::None)))
    }

    /// Creates a guard that allows nothing yet.
    pub(crate) fn closed() -> Self {
        Self(Arc::new(Mutex::new(Limit::Closed)))
    }

    fn limit(&self) -> MutexGuard<'_, Limit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allows writes until the Lease ends.
    pub(crate) fn allow_until(&self, end: Instant) {
        *self.limit() = Limit::Until(end);
    }

    /// Allows writes without a limit.
    pub(crate) fn allow(&self) {
        *self.limit() = Limit::None;
    }

    /// Allows no more writes.
    pub(crate) fn close(&self) {
        *self.limit() = Limit::Closed;
    }

    /// Returns whether a write is allowed now.
    pub(crate) fn allows(&self) -> bool {
        match *self.limit() {
            Limit::None => true,
            Limit::Until(end) => Instant::now() < end,
            Limit::Closed => false,
        }
    }
}

/// The body of a request. hyper asks for it in the moment in which it writes the request to its connection, so the guard is
/// asked as late as possible: a process that was paused and wakes up after its Lease ended sends at most the one request that
/// it was writing when it was paused.
pub(super) struct GuardedBody {
    body: kube::client::Body,
    /// The guard of a write; `None` for a request that only reads.
    guard: Option<WriteGuard>,
}

impl GuardedBody {
    /// Puts the body of a request under its guard, which is an extension of the request.
    pub(super) fn wrap(mut request: http::Request<kube::client::Body>) -> http::Request<Self> {
        let guard = request.extensions_mut().remove::<WriteGuard>();
        request.map(|body| Self { body, guard })
    }
}

/// The error of a body that must not be sent.
#[derive(Debug)]
pub(super) struct NotAllowed;

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the Lease has ended")
    }
}

impl std::error::Error for NotAllowed {}

impl Body for GuardedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.guard.as_ref().is_some_and(|guard| !guard.allows()) {
            return Poll::Ready(Some(Err(NotAllowed.into())));
        }
        Pin::new(&mut self.body).poll_frame(context).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::BodyExt;
    use tokio::time::Instant;

    use super::{GuardedBody, WriteGuard};

    async fn send(guard: &WriteGuard) -> Option<Vec<u8>> {
        let mut request = http::Request::new(kube::client::Body::from(b"x".to_vec()));
        request.extensions_mut().insert(guard.clone());
        let collected = GuardedBody::wrap(request).into_body().collect().await.ok()?;
        Some(collected.to_bytes().to_vec())
    }

    #[tokio::test]
    async fn a_body_is_sent_only_while_writes_are_allowed() {
        let guard = WriteGuard::closed();
        assert_eq!(send(&guard).await, None);
        guard.allow_until(Instant::now() + Duration::from_secs(60));
        assert_eq!(send(&guard).await, Some(b"x".to_vec()));
        guard.allow_until(Instant::now());
        assert_eq!(send(&guard).await, None);
        guard.allow();
        assert_eq!(send(&guard).await, Some(b"x".to_vec()));
        guard.close();
        assert_eq!(send(&guard).await, None);
    }
}
