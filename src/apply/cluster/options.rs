//! How a command treats the clusters.

use std::time::Duration;

use tokio::time::Instant;

use crate::apply::decide::object_error::WaitHint;
use crate::apply::decide::ownership::Adoption;
use crate::apply::decide::prune::Approval;
use crate::apply::wire::throttle::RequestLimits;
use crate::language::Selector;
use crate::object::ObjectId;

/// How a command treats the clusters.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to wait until every object is ready.
    pub wait: bool,
    /// The time limit for the whole command.
    pub timeout: Duration,
    /// How long to retry a request that fails transiently.
    pub retry_timeout: Duration,
    /// Whether to take over objects that others created.
    pub adoption: Adoption,
    /// Objects to recreate if a field is immutable. Jobs are always recreated.
    pub recreate: Vec<Selector>,
    /// Whether to delete objects that are no longer rendered.
    pub prune: bool,
    /// Which deletions the user approved.
    pub approval: Approval,
    /// Whether only some of the rendered objects are given. Then the inventory keeps the entries of all others, nothing is
    /// pruned, and the rollout does not count as an installation.
    pub partial: bool,
    /// The load on each API server.
    pub limits: RequestLimits,
    /// When the command started.
    pub started: Instant,
}

impl Options {
    pub(crate) fn deadline(&self) -> Instant {
        self.started + self.timeout
    }

    /// Returns whether an object may be deleted and created again.
    pub(crate) fn may_recreate(&self, id: &ObjectId) -> bool {
        let is_job = id.group == "batch" && id.kind == "Job";
        is_job || self.recreate.iter().any(|selector| selector.matches(id))
    }

    /// Returns whether messages should mention `--wait`.
    pub(crate) fn wait_hint(&self) -> WaitHint {
        if self.wait { WaitHint::Omit } else { WaitHint::Mention }
    }
}
