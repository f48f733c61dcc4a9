//! The time of day, by which certificates are issued and renewed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time of this machine, or a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    ahead: Duration,
}

impl Clock {
    /// Creates a clock that is this much ahead.
    pub(crate) fn ahead_by(ahead: Duration) -> Self {
        Self { ahead }
    }

    /// Returns the seconds since 1970.
    pub(crate) fn now(self) -> i64 {
        let since = (SystemTime::now() + self.ahead).duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }
}
