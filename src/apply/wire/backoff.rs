//! Exponential backoff: delays between attempts or polls. Each caller has its own first and largest delay.

use std::time::Duration;

/// Delays that double up to a maximum.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, max: Duration) -> Self {
        Self { next: first, max }
    }

    /// Returns the delay before the next attempt.
    pub(crate) fn next_delay(&mut self) -> Duration {
        let delay = self.next;
        self.next = (delay * 2).min(self.max);
        delay
    }

    /// Returns the delay before the next attempt with jitter: at least half of it, at most all of it. Jitter keeps many
    /// clients of one API server from retrying at the same time.
    pub(crate) fn next_jittered_delay(&mut self) -> Duration {
        self.next_delay().mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Backoff;

    #[test]
    fn delays_double_up_to_the_maximum() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(3));
        let delays: Vec<u64> = (0..4).map(|_| backoff.next_delay().as_secs()).collect();
        assert_eq!(delays, [1, 2, 3, 3]);
    }

    #[test]
    fn jitter_keeps_at_least_half_of_the_delay() {
        for _ in 0..100 {
            let delay = Backoff::new(Duration::from_secs(2), Duration::MAX).next_jittered_delay();
            assert!((1000..=2000).contains(&delay.as_millis()), "{delay:?}");
        }
    }
}
