//! One run of a command for clusters: its id and its clock.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use k8s_openapi::jiff::Timestamp;

use crate::apply::Stamp;

/// One run of a command. The id connects events, the user agent in audit logs, and what an administrator reports.
#[derive(Clone)]
pub(super) struct CommandRun {
    pub(super) id: String,
    started: Instant,
}

impl Default for CommandRun {
    /// Starts a run with a random id.
    fn default() -> Self {
        let id = format!("{:08x}", RandomState::new().hash_one(()) >> 32);
        Self { id, started: Instant::now() }
    }
}

impl CommandRun {
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the stamp of something that happens now.
    pub(super) fn stamp(&self, dry_run: bool) -> Stamp {
        Stamp { run: self.id.clone(), time: now(), elapsed: self.elapsed(), dry_run }
    }
}

/// Returns the time in UTC, as RFC 3339 writes it.
fn now() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = i64::try_from(since_epoch.as_millis()).unwrap_or_default();
    let time = Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    format!("{time:.3}")
}
