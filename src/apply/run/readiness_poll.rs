//! Polls the objects that are not ready yet.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::apply::cluster::crd::{self, CRD};
use crate::apply::cluster::error::error_about;
use crate::apply::cluster::listing::LabelledObjects;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::decide::rollout::{ClusterId, Rollout, StepId};
use crate::apply::wire::backoff::Backoff;
use crate::apply::wire::memory::HeldMemory;
use crate::object::ObjectId;

/// CRDs are established almost at once, so the first polls follow quickly.
const FIRST_POLL: Duration = Duration::from_millis(100);
const MAX_POLL: Duration = Duration::from_secs(1);

/// When to poll a cluster.
pub(crate) struct PollTimer {
    pub(crate) in_flight: bool,
    backoff: Backoff,
}

impl PollTimer {
    pub(crate) fn new() -> Self {
        Self { in_flight: false, backoff: Backoff::new(FIRST_POLL, MAX_POLL) }
    }

    /// Starts a poll. Returns the delay before it.
    pub(crate) fn start(&mut self) -> Duration {
        self.in_flight = true;
        self.backoff.next_delay()
    }

    /// Starts again with short delays, because an object was applied.
    pub(crate) fn restart(&mut self) {
        self.backoff = Backoff::new(FIRST_POLL, MAX_POLL);
    }
}

/// A live object; `None` if it does not exist.
pub(crate) type Observation = Result<Option<Value>, ObjectError>;

/// The result of a poll.
pub(crate) struct Poll {
    pub(crate) cluster: ClusterId,
    pub(crate) objects: Vec<(StepId, Observation)>,
    /// Whether a rollout of other objects started in the cluster.
    pub(crate) taken_over: bool,
    /// The memory of the objects.
    _memory: Vec<HeldMemory>,
}

/// The objects to poll.
pub(crate) struct PollRequest<'p, 'a> {
    pub(crate) rollout: &'p Rollout<'a>,
    pub(crate) cluster_id: ClusterId,
    pub(crate) cluster: &'p LiveCluster<'a>,
    pub(crate) steps: Vec<StepId>,
}

impl PollRequest<'_, '_> {
    /// Reads all objects after a delay, with one list per kind.
    pub(crate) async fn send(self, delay: Duration, options: &Options) -> Poll {
        sleep(delay).await;
        let mut by_kind: BTreeMap<(&str, &str), Vec<StepId>> = BTreeMap::new();
        for step in &self.steps {
            let ObjectId { group, kind, .. } = &self.rollout.step(*step).object.id;
            by_kind.entry((group, kind)).or_default().push(*step);
        }
        let reads = join_all(by_kind.into_values().map(|steps| self.read_kind(steps)));
        // Without `--wait`, transship polls only CRDs, and only for a moment, so another rollout does not matter.
        let taken_over = async { options.wait && self.cluster.inventory.is_taken_over().await };
        let result = timeout_at(options.deadline(), join(reads, taken_over)).await;
        let (kinds, taken_over) = result.unwrap_or_default();
        let (objects, memory): (Vec<_>, Vec<_>) = kinds.into_iter().unzip();
        let objects = objects.into_iter().flatten().collect();
        Poll { cluster: self.cluster_id, objects, taken_over, _memory: memory }
    }

    /// Reads objects of one kind. Returns them with the memory that they need.
    async fn read_kind(&self, steps: Vec<StepId>) -> (Vec<(StepId, Observation)>, HeldMemory) {
        let Some(resource) = self.cluster.resource(self.rollout.step(steps[0]).object) else {
            return Default::default();
        };
        // An object that cannot be listed, or has lost its label, is read by itself.
        let LabelledObjects { objects: mut list, memory, .. } =
            self.cluster.list_labelled(&resource).await.unwrap_or_default();
        let mut observations = Vec::new();
        let mut missing = Vec::new();
        for step in steps {
            let live = list.remove(&self.rollout.step(step).object.id);
            match live.and_then(|live| live.parse()) {
                Some(live) => observations.push((step, Ok(Some(live)))),
                None => missing.push(step),
            }
        }
        let missing = missing.into_iter().map(|step| self.read_one(step, &memory));
        observations.extend(join_all(missing).await);
        self.update_installing_crds(&observations).await;
        (observations, memory)
    }

    /// Updates the CRDs that stay at `Installing`.
    async fn update_installing_crds(&self, observations: &[(StepId, Observation)]) {
        for (step, observation) in observations {
            let object = self.rollout.step(*step).object;
            let (Ok(Some(live)), CRD) = (observation, object.id.kind.as_str()) else { continue };
            if self.cluster.installing_crds.needs_update(&object.id, live, Instant::now())
                && let Some(path) = self.cluster.path(object)
            {
                crd::update_installing(self.cluster, &object.id, &path).await;
            }
        }
    }

    async fn read_one(&self, step: StepId, memory: &HeldMemory) -> (StepId, Observation) {
        let object = self.rollout.step(step).object;
        let Some(path) = self.cluster.path(object) else { return (step, Ok(None)) };
        let observation = match self.cluster.get(&path, memory).await {
            Ok(live) => Ok(live),
            Err(error) => Err(self.cluster.reclassify(error_about(&error, object)).await),
        };
        (step, observation)
    }
}
