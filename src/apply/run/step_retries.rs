//! Retries of whole steps, with `--wait`: if an object cannot be applied yet, for example because its namespace does
//! not exist, decides when to try again. `wire::request_retries` decides about single requests.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::apply::cluster::options::Options;
use crate::apply::decide::object_error::{ErrorClass, ObjectError};
use crate::apply::decide::rollout::StepId;
use crate::apply::wire::backoff::Backoff;

const FIRST_DELAY: Duration = Duration::from_secs(1);
const MAX_DELAY: Duration = Duration::from_secs(8);

/// Returns whether to retry a step: with `--wait`, before the deadline, and if the error may go away.
pub(crate) fn may_retry(error: &ObjectError, options: &Options) -> bool {
    let may_go_away = match error.class() {
        ErrorClass::Transient | ErrorClass::ClusterUnreachable => true,
        ErrorClass::Permanent | ErrorClass::MayNotWrite => false,
    };
    options.wait && may_go_away && Instant::now() < options.deadline()
}

/// The steps that failed transiently.
#[derive(Default)]
pub(crate) struct StepRetries(BTreeMap<StepId, Retry>);

struct Retry {
    since: Instant,
    /// The reason of the last failure.
    reason: String,
    backoff: Backoff,
}

/// When to try a step again.
pub(crate) struct NextAttempt {
    pub(crate) delay: Duration,
    /// Whether the reason differs from the one before.
    pub(crate) is_news: bool,
}

impl StepRetries {
    /// Records a failed attempt.
    pub(crate) fn record(&mut self, step: StepId, reason: &str) -> NextAttempt {
        let retry = self.0.entry(step).or_insert_with(|| Retry {
            since: Instant::now(),
            reason: String::new(),
            backoff: Backoff::new(FIRST_DELAY, MAX_DELAY),
        });
        let is_news = retry.reason != reason;
        reason.clone_into(&mut retry.reason);
        NextAttempt { delay: retry.backoff.next_delay(), is_news }
    }

    /// Describes the failures of a step; `None` if it did not fail.
    pub(crate) fn describe(&self, step: StepId) -> Option<String> {
        let Retry { since, reason, .. } = self.0.get(&step)?;
        Some(format!("{reason}, for {} s", since.elapsed().as_secs()))
    }
}
