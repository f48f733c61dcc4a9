//! Limits the load on one API server. After a 429, fewer requests may be in flight; their number then grows slowly again.
//! A token bucket limits the rate of retries.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// The largest number of requests in flight. The limit starts with this number.
const MAX_IN_FLIGHT: usize = 16;
/// After this many requests without a 429, one more request may be in flight.
const REQUESTS_PER_INCREASE: usize = 16;
/// The size of the token bucket for retries.
const RETRY_BURST: f64 = 20.0;
/// The number of tokens that the bucket gains per second.
const RETRIES_PER_SECOND: f64 = 2.0;

/// Limits the requests in flight and the rate of retries.
pub(crate) struct Throttle {
    state: Mutex<State>,
    released: Notify,
}

struct State {
    /// How many requests may be in flight.
    limit: usize,
    /// How often the limit was halved.
    halvings: usize,
    in_flight: usize,
    /// Requests without a 429 since the limit last changed.
    since_change: usize,
    /// Tokens in the bucket: how many retries may start now.
    retry_tokens: f64,
    tokens_updated: Instant,
}

/// Allows one request to be in flight.
pub(crate) struct Permit<'t> {
    throttle: &'t Throttle,
    /// How often the limit had been halved when the request started.
    halvings: usize,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.throttle.lock().in_flight -= 1;
        self.throttle.released.notify_one();
    }
}

impl Permit<'_> {
    /// Records that a request ended without a 429: with success, another error or no response.
    pub(crate) fn not_throttled(&self) {
        let mut state = self.throttle.lock();
        state.since_change += 1;
        if state.since_change >= REQUESTS_PER_INCREASE && state.limit < MAX_IN_FLIGHT {
            state.since_change = 0;
            state.limit += 1;
            self.throttle.released.notify_one();
        }
    }

    /// Records a 429. The limit is halved once for all requests that were in flight together.
    pub(crate) fn throttled(&self) {
        let mut state = self.throttle.lock();
        state.since_change = 0;
        if self.halvings == state.halvings {
            state.halvings += 1;
            state.limit = (state.limit / 2).max(1);
            tracing::info!(limit = state.limit, "the API server returns 429: sending fewer requests at once");
        }
    }
}

impl Throttle {
    pub(crate) fn new() -> Self {
        let state = State {
            limit: MAX_IN_FLIGHT,
            halvings: 0,
            in_flight: 0,
            since_change: 0,
            retry_tokens: RETRY_BURST,
            tokens_updated: Instant::now(),
        };
        Self { state: Mutex::new(state), released: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another request may be in flight.
    pub(crate) async fn acquire(&self) -> Permit<'_> {
        loop {
            if let Some(permit) = self.try_acquire() {
                return permit;
            }
            self.released.notified().await;
        }
    }

    fn try_acquire(&self) -> Option<Permit<'_>> {
        let mut state = self.lock();
        if state.in_flight >= state.limit {
            return None;
        }
        state.in_flight += 1;
        Some(Permit { throttle: self, halvings: state.halvings })
    }

    /// Waits until there is a token for a retry, and takes it.
    pub(crate) async fn acquire_retry(&self) {
        loop {
            let taken = self.lock().take_retry();
            match taken {
                Ok(()) => return,
                Err(wait) => sleep(wait).await,
            }
        }
    }
}

impl State {
    /// Takes a token for a retry. If there is none, fails with the time until there is one.
    fn take_retry(&mut self) -> Result<(), Duration> {
        let now = Instant::now();
        let gained = now.duration_since(self.tokens_updated).as_secs_f64() * RETRIES_PER_SECOND;
        self.retry_tokens = (self.retry_tokens + gained).min(RETRY_BURST);
        self.tokens_updated = now;
        if self.retry_tokens >= 1.0 {
            self.retry_tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.retry_tokens) / RETRIES_PER_SECOND))
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_IN_FLIGHT, Permit, Throttle};

    fn limit(throttle: &Throttle) -> usize {
        throttle.lock().limit
    }

    #[tokio::test]
    async fn requests_in_flight_together_halve_the_limit_once() {
        let throttle = Throttle::new();
        let mut burst = Vec::new();
        for _ in 0..MAX_IN_FLIGHT {
            burst.push(throttle.acquire().await);
        }
        burst.iter().for_each(Permit::throttled);
        assert_eq!(limit(&throttle), 8);
        drop(burst);
        throttle.acquire().await.throttled();
        assert_eq!(limit(&throttle), 4);
        for _ in 0..5 {
            throttle.acquire().await.throttled();
        }
        assert_eq!(limit(&throttle), 1, "one request can always be sent");
    }

    #[tokio::test]
    async fn responses_increase_the_limit_again() {
        let throttle = Throttle::new();
        throttle.acquire().await.throttled();
        for (responses, expected) in [(15, 8), (1, 9), (16, 10), (1000, MAX_IN_FLIGHT)] {
            for _ in 0..responses {
                throttle.acquire().await.not_throttled();
            }
            assert_eq!(limit(&throttle), expected);
        }
    }
}
