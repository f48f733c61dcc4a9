//! Limits the load on one API server. After a 429, fewer requests may be in flight; their number then grows slowly again.
//! A token bucket limits the rate of retries.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// The largest number of requests in flight by default.
const DEFAULT_IN_FLIGHT: NonZeroUsize = NonZeroUsize::new(16).unwrap();
/// After this many requests without a 429, one more request may be in flight.
const REQUESTS_PER_INCREASE: usize = 16;
/// The size of the token bucket for retries.
const RETRY_BURST: f64 = 20.0;
/// The number of tokens that the bucket gains per second.
const RETRIES_PER_SECOND: f64 = 2.0;

/// The largest load on one API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimits {
    /// The number of requests in flight.
    pub in_flight: NonZeroUsize,
    /// The number of requests per second; without it, any number.
    pub per_second: Option<NonZeroU32>,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self { in_flight: DEFAULT_IN_FLIGHT, per_second: None }
    }
}

/// Limits the requests in flight, the rate of requests and the rate of retries.
pub(crate) struct Throttle {
    /// The largest number of requests in flight. The limit starts with this number.
    max_in_flight: usize,
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
    retries: TokenBucket,
    /// `None` if any number of requests may start.
    requests: Option<TokenBucket>,
}

/// Limits a rate. The bucket holds as many tokens as may be taken at once.
struct TokenBucket {
    tokens: f64,
    size: f64,
    per_second: f64,
    updated: Instant,
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
        if state.since_change >= REQUESTS_PER_INCREASE && state.limit < self.throttle.max_in_flight {
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
    pub(crate) fn new(limits: RequestLimits) -> Self {
        let max_in_flight = limits.in_flight.get();
        let requests = limits.per_second.map(|rate| {
            let rate = f64::from(rate.get());
            TokenBucket::new(rate, rate)
        });
        let state = State {
            limit: max_in_flight,
            halvings: 0,
            in_flight: 0,
            since_change: 0,
            retries: TokenBucket::new(RETRY_BURST, RETRIES_PER_SECOND),
            requests,
        };
        Self { max_in_flight, state: Mutex::new(state), released: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until another request may be in flight, and until there is a token for it.
    pub(crate) async fn acquire(&self) -> Permit<'_> {
        let permit = loop {
            match self.try_acquire() {
                Some(permit) => break permit,
                None => self.released.notified().await,
            }
        };
        loop {
            let taken = self.lock().requests.as_mut().map_or(Ok(()), TokenBucket::take);
            match taken {
                Ok(()) => return permit,
                Err(wait) => sleep(wait).await,
            }
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
            let taken = self.lock().retries.take();
            match taken {
                Ok(()) => return,
                Err(wait) => sleep(wait).await,
            }
        }
    }
}

impl TokenBucket {
    fn new(size: f64, per_second: f64) -> Self {
        Self { tokens: size, size, per_second, updated: Instant::now() }
    }

    /// Takes a token. If there is none, fails with the time until there is one.
    fn take(&mut self) -> Result<(), Duration> {
        let now = Instant::now();
        let gained = now.duration_since(self.updated).as_secs_f64() * self.per_second;
        self.tokens = (self.tokens + gained).min(self.size);
        self.updated = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - self.tokens) / self.per_second))
    }
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroUsize};
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Permit, RequestLimits, Throttle};

    fn limit(throttle: &Throttle) -> usize {
        throttle.lock().limit
    }

    #[tokio::test]
    async fn requests_in_flight_together_halve_the_limit_once() {
        let throttle = Throttle::new(RequestLimits::default());
        let mut burst = Vec::new();
        for _ in 0..16 {
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
        let throttle = Throttle::new(RequestLimits::default());
        throttle.acquire().await.throttled();
        for (responses, expected) in [(15, 8), (1, 9), (16, 10), (1000, 16)] {
            for _ in 0..responses {
                throttle.acquire().await.not_throttled();
            }
            assert_eq!(limit(&throttle), expected);
        }
    }

    #[tokio::test]
    async fn the_limits_of_the_user_hold() {
        let limits = RequestLimits { in_flight: NonZeroUsize::MIN, per_second: NonZeroU32::new(20) };
        let throttle = Throttle::new(limits);
        assert_eq!(limit(&throttle), 1);
        let started = Instant::now();
        // The first second's requests may start at once.
        for _ in 0..25 {
            throttle.acquire().await.not_throttled();
        }
        assert!(started.elapsed() >= Duration::from_millis(240), "{:?}", started.elapsed());
        assert_eq!(limit(&throttle), 1, "the limit does not grow beyond that of the user");
    }
}
