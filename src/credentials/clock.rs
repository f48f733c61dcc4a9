//! The time of day, by which certificates are issued and renewed.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Tells the time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// The clock of this machine, shifted into the future.
    pub fn shifted(by: Duration) -> Self {
        Self(Arc::new(move || SystemTime::now() + by))
    }

    /// Returns the seconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        let since = (self.0)().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self(Arc::new(SystemTime::now))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}
