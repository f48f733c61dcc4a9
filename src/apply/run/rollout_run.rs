//! Runs a rollout: starts every step whose dependencies are met, retries and polls, until all steps are done or failed.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{debug, info};

use crate::apply::cluster::contact::Contact;
use crate::apply::cluster::crd::{self, CRD};
use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::desired::rendered;
use crate::apply::decide::event::{Event, EventKind};
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::object_error::{ErrorClass, ObjectError};
use crate::apply::decide::readiness::{Readiness, readiness, readiness_of_missing};
use crate::apply::decide::rollout::{Action, ClusterId, Rollout, Step, StepId};
use crate::apply::object::apply_object::{AfterStep, Applied, apply_object};
use crate::apply::run::cluster_start::ClusterStart;
use crate::apply::run::clusters::{OTHER_ROLLOUT_STARTED, OnEvent, unusable_event};
use crate::apply::run::contacts::{Contacts, RETRY_DELAY, Topology};
use crate::apply::run::readiness_poll::{Observation, Poll, PollRequest, PollTimer};
use crate::apply::run::rollout_result::RolloutResult;
use crate::apply::run::step_retries::{StepRetries, may_retry};
use crate::apply::run::step_states::{LevelRule, StepState, StepStates};
use crate::apply::wire::error::RequestError;

/// The result of one of the futures in [`RolloutRun::work`].
enum Finished<'a> {
    ClusterRead(ClusterId, Box<Result<LiveCluster<'a>, ClusterError>>),
    /// Whether an inventory could be written that could not be written before.
    InventoryRetried(ClusterId, Result<(), ClusterError>),
    StepApplied(StepId, Box<Result<Applied, ObjectError>>),
    /// Whether the resources of a CRD are served.
    CrdServed {
        step: StepId,
        announced: Announced,
        result: Result<(), ObjectError>,
    },
    Polled(Poll),
    RetryDue(StepId),
}

/// Whether transship reported that it waits for an object. Only then does it report that the object is ready.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Announced {
    Yes,
    No,
}

/// A rollout in progress.
pub(crate) struct RolloutRun<'r, 'a> {
    rollout: &'r Rollout<'a>,
    topology: &'r Topology<'r, 'a>,
    targets: &'r [TargetCluster<'a>],
    options: &'r Options,
    /// The first contact with each cluster, until it is read.
    contacts: Vec<Option<Contact>>,
    /// How many clusters are being read.
    reading: usize,
    on_event: &'r mut OnEvent<'r>,
    /// The clusters, as soon as they respond.
    clusters: Vec<Option<Arc<LiveCluster<'a>>>>,
    /// Why a cluster cannot be used yet.
    cluster_errors: Vec<Option<ClusterError>>,
    polls: Vec<PollTimer>,
    states: StepStates<'r, 'a>,
    retries: StepRetries,
    entries: BTreeMap<StepId, InventoryEntry>,
    /// The warnings of API servers that were reported, each once.
    warned: HashSet<String>,
    /// Whether any step changed an object. Objects that were read before may no longer be ready.
    wrote: bool,
    /// Whether each cluster has a write of its inventory in flight that failed before.
    retrying_inventory: Vec<bool>,
    work: FuturesUnordered<BoxFuture<'r, Finished<'a>>>,
}

impl<'r, 'a> RolloutRun<'r, 'a> {
    pub(crate) fn new(
        rollout: &'r Rollout<'a>,
        topology: &'r Topology<'r, 'a>,
        on_event: &'r mut OnEvent<'r>,
    ) -> Self {
        let Topology { targets, options, .. } = *topology;
        Self {
            contacts: targets.iter().map(|_| None).collect(),
            reading: 0,
            clusters: targets.iter().map(|_| None).collect(),
            cluster_errors: targets.iter().map(|_| None).collect(),
            polls: targets.iter().map(|_| PollTimer::new()).collect(),
            states: StepStates::new(rollout),
            retries: StepRetries::default(),
            entries: BTreeMap::new(),
            warned: HashSet::new(),
            wrote: false,
            retrying_inventory: targets.iter().map(|_| false).collect(),
            work: FuturesUnordered::new(),
            rollout,
            topology,
            targets,
            options,
            on_event,
        }
    }

    /// Runs the rollout to its end. The guest is read after the management cluster, because only the management cluster can
    /// say whether the guest belongs to it.
    pub(crate) async fn run(mut self, contacts: Contacts) -> RolloutResult<'a> {
        let primary = self.topology.primary();
        for (index, contact) in contacts.into_iter().enumerate() {
            match contact {
                Ok(contact) => self.contacts[index] = Some(contact),
                Err(error) if index == primary || !error.is_transient() => {
                    self.cluster_read(ClusterId(index), Err(error));
                }
                Err(_) => {}
            }
        }
        if self.contacts[primary].is_some() {
            self.read_cluster(ClusterId(primary), Duration::ZERO);
        }
        loop {
            self.block_dependents();
            for step in self.startable_steps() {
                self.start(step);
            }
            self.retry_inventories();
            self.start_polls();
            self.release_lock_while_waiting().await;
            let Some(finished) = self.work.next().await else { break };
            self.handle(finished);
            // A search for steps that can start looks at all steps. So first handle everything else that is finished.
            while let Some(Some(finished)) = self.work.next().now_or_never() {
                self.handle(finished);
            }
            self.give_up_after_deadline();
        }
        RolloutResult { clusters: self.clusters, entries: self.entries, done: self.states.done() }
    }

    fn handle(&mut self, finished: Finished<'a>) {
        match finished {
            Finished::ClusterRead(cluster, result) => {
                self.reading -= 1;
                self.cluster_read(cluster, *result);
            }
            Finished::InventoryRetried(cluster, result) => self.inventory_retried(cluster, result),
            Finished::StepApplied(step, result) => {
                let cluster = self.step(step).cluster;
                self.polls[cluster.0].restart();
                self.step_applied(step, *result);
            }
            Finished::CrdServed { step, announced, result: Ok(()) } => self.ready(step, announced),
            Finished::CrdServed { step, result: Err(error), .. } => self.fail(step, &error),
            Finished::Polled(poll) => self.polled(poll),
            Finished::RetryDue(step) => {
                // The step may have failed meanwhile.
                if matches!(self.states.get(step), StepState::Retrying) {
                    self.states.set(step, StepState::Pending);
                }
            }
        }
    }

    fn step(&self, id: StepId) -> &'r Step<'a> {
        self.rollout.step(id)
    }

    fn step_ids(&self) -> impl Iterator<Item = StepId> + use<> {
        (0..self.rollout.steps.len()).map(StepId)
    }

    fn cluster_of(&self, step: StepId) -> Option<Arc<LiveCluster<'a>>> {
        self.clusters[self.step(step).cluster.0].clone()
    }

    /// Returns the object of a step as it was at the start.
    fn labelled(&self, step: StepId) -> Option<Value> {
        self.cluster_of(step)?.labelled(&self.step(step).object.id)
    }

    fn report(&mut self, id: StepId, kind: EventKind, message: impl Into<String>) {
        let step = self.step(id);
        let cluster = self.targets[step.cluster.0].profile.cluster;
        let level = step.level.unwrap_or_default().to_owned();
        // Conflicts and conditions of the live object may quote its values.
        let message = step.mask(&message.into());
        let event = Event::for_object(cluster, &step.object.id, kind, message);
        (self.on_event)(Event { level, ..event });
    }

    /// Starts to read a cluster and to write its inventory ahead.
    fn read_cluster(&mut self, id: ClusterId, delay: Duration) {
        let (topology, rollout, options) = (self.topology, self.rollout, self.options);
        let contact = self.contacts[id.0].take();
        let management = self.clusters[topology.primary()].clone();
        self.reading += 1;
        self.work.push(Box::pin(async move {
            let read = async {
                sleep(delay).await;
                ClusterStart { topology, rollout, id, management }.run(contact).await
            };
            let result = match timeout_at(options.deadline(), Box::pin(read)).await {
                Ok(result) => result,
                Err(_) => Err(RequestError::DeadlineExceeded.into()),
            };
            Finished::ClusterRead(id, Box::new(result))
        }));
    }

    /// Starts to read the other clusters, once the standalone or management cluster can be used.
    fn read_other_clusters(&mut self) {
        for index in 0..self.targets.len() {
            let is_open = index != self.topology.primary() && self.clusters[index].is_none();
            if is_open && self.states.has_open(ClusterId(index)) {
                self.read_cluster(ClusterId(index), Duration::ZERO);
            }
        }
    }

    /// Gives up the other clusters, because the management cluster cannot be used.
    fn abandon_other_clusters(&mut self) {
        let error = ClusterError::WithoutManagement;
        for index in 0..self.targets.len() {
            if index != self.topology.primary() && self.states.has_open(ClusterId(index)) {
                (self.on_event)(unusable_event(self.targets[index].profile.cluster, &error));
                self.abandon_cluster(ClusterId(index), &error.to_string());
            }
        }
    }

    /// Starts to use a cluster after it was read. If reading failed transiently, reads the cluster again: with `--wait`
    /// until the deadline, otherwise for as long as transship retries a request.
    fn cluster_read(&mut self, id: ClusterId, result: Result<LiveCluster<'a>, ClusterError>) {
        let (options, cluster) = (self.options, self.targets[id.0].profile.cluster);
        let error = match result {
            Ok(live) => {
                if self.cluster_errors[id.0].is_some() {
                    let message = "the cluster responds, and objects can be applied";
                    (self.on_event)(Event::for_cluster(cluster, EventKind::Ready, message));
                }
                live.notices().for_each(&mut *self.on_event);
                self.clusters[id.0] = Some(Arc::new(live));
                if id.0 == self.topology.primary() {
                    self.read_other_clusters();
                }
                return;
            }
            Err(error) => error,
        };
        let limit = if options.wait { options.timeout } else { options.retry_timeout.min(options.timeout) };
        let may_recover = error.is_transient() || options.wait && error.is_namespace_missing();
        if may_recover && options.started.elapsed() < limit {
            let message = error.to_string();
            let before = self.cluster_errors[id.0].as_ref().map(ToString::to_string);
            if before.as_ref() != Some(&message) {
                (self.on_event)(Event::for_cluster(cluster, EventKind::Waiting, message));
            }
            let delay = error.retry_after().unwrap_or(RETRY_DELAY);
            info!(cluster = cluster.name(), %error, ?delay, "reading the cluster again");
            self.cluster_errors[id.0] = Some(error);
            self.read_cluster(id, delay);
            return;
        }
        // The last error may only say that the deadline passed. The error before it says why.
        let error = self.cluster_errors[id.0].take().unwrap_or(error);
        (self.on_event)(unusable_event(cluster, &error));
        self.abandon_cluster(id, &format!("its cluster cannot be used: {error}"));
        if id.0 == self.topology.primary() {
            self.abandon_other_clusters();
        }
    }

    /// Tries again to write inventories that could not be written, once the objects that may come first are applied.
    fn retry_inventories(&mut self) {
        for index in 0..self.clusters.len() {
            let id = ClusterId(index);
            let Some(cluster) = self.clusters[index].clone() else { continue };
            if self.retrying_inventory[index] || !cluster.is_held_back() || self.states.has_running(id) {
                continue;
            }
            self.retrying_inventory[index] = true;
            self.work.push(Box::pin(async move {
                let result = cluster.retry_inventory().await;
                if result.is_err() {
                    sleep(RETRY_DELAY).await;
                }
                Finished::InventoryRetried(id, result)
            }));
        }
    }

    fn inventory_retried(&mut self, id: ClusterId, result: Result<(), ClusterError>) {
        self.retrying_inventory[id.0] = false;
        let Err(error) = result else { return };
        let options = self.options;
        let limit = if options.wait { options.timeout } else { options.retry_timeout.min(options.timeout) };
        if options.started.elapsed() >= limit {
            (self.on_event)(unusable_event(self.targets[id.0].profile.cluster, &error));
            self.abandon_cluster(id, &error.to_string());
            self.clusters[id.0] = None;
        }
    }

    /// Lets other commands write while this one only waits until objects are ready.
    async fn release_lock_while_waiting(&mut self) {
        let is_writing = self.reading > 0 || self.states.any_running();
        if let Some(lock) = self.topology.lock.as_ref().filter(|_| self.options.wait && !is_writing) {
            lock.release().await;
        }
    }

    /// Fails all steps that depend on a step that failed.
    fn block_dependents(&mut self) {
        while let Some((step, dependency)) = self.states.find_blocked() {
            let object = &self.step(dependency.on).object.id;
            let message = format!("it needs {}, {object}", dependency.reason);
            self.states.set(step, StepState::Failed);
            self.report(step, EventKind::Blocked, message);
        }
    }

    fn startable_steps(&self) -> Vec<StepId> {
        let mut steps = Vec::new();
        for (index, cluster) in self.clusters.iter().enumerate() {
            if let Some(cluster) = cluster {
                // Run levels wait for readiness only after the first installation.
                let is_upgrade = self.options.wait && cluster.inventory.initial().installed;
                let rule = match (cluster.is_held_back(), is_upgrade) {
                    (true, _) => LevelRule::None,
                    (false, true) => LevelRule::Ready,
                    (false, false) => LevelRule::Exists,
                };
                let is_held_back = cluster.is_held_back();
                let may_start =
                    |step: StepId| !is_held_back || cluster.may_precede_inventory(&self.step(step).object.id);
                steps.extend(self.states.startable(ClusterId(index), rule, may_start));
            }
        }
        steps
    }

    fn start(&mut self, id: StepId) {
        let Some(cluster) = self.cluster_of(id) else { return };
        let (step, options) = (self.step(id), self.options);
        self.states.set(id, StepState::Running);
        self.work.push(Box::pin(async move {
            let result = match apply_object(&cluster, step.object, step.action, options).await {
                Ok(applied) => Ok(applied),
                Err(error) => Err(cluster.reclassify(error).await),
            };
            Finished::StepApplied(id, Box::new(result))
        }));
    }

    fn step_applied(&mut self, id: StepId, result: Result<Applied, ObjectError>) {
        let applied = match result {
            Ok(applied) => applied,
            Err(error) if may_retry(&error, self.options) => return self.retry_later(id, &error),
            Err(error) => return self.fail(id, &error),
        };
        self.report(id, applied.kind, applied.note);
        for warning in applied.warnings {
            if self.warned.insert(warning.clone()) {
                self.report(id, EventKind::Warning, warning);
            }
        }
        self.wrote |= applied.kind != EventKind::Unchanged;
        if let Some(entry) = applied.entry {
            self.entries.insert(id, entry);
        }
        let live = match applied.object {
            AfterStep::Read(live) if self.needs_readiness(id) => Some(live),
            AfterStep::AsAtStart if self.needs_readiness(id) => self.labelled(id),
            _ => None,
        };
        let Some(live) = live else {
            self.states.set(id, StepState::Done);
            return;
        };
        let rendered = rendered(self.step(id).object);
        self.states.set(id, StepState::Applied { rendered, since: Instant::now(), reported: String::new() });
        // An unchanged object was read at the start. If transship changed other objects since, this object may no
        // longer be ready, so the next poll decides.
        if !(self.wrote && applied.kind == EventKind::Unchanged) {
            self.observe(id, Ok(Some(live)));
        }
    }

    fn retry_later(&mut self, id: StepId, error: &ObjectError) {
        let message = self.step(id).mask(&error.to_string());
        let attempt = self.retries.record(id, &message);
        info!(object = %self.step(id).object.id, reason = message, delay = ?attempt.delay, "retrying a step");
        self.states.set(id, StepState::Retrying);
        if attempt.is_news {
            self.report(id, EventKind::Waiting, message);
        }
        let until_deadline = self.options.deadline().saturating_duration_since(Instant::now());
        let delay = attempt.delay.min(until_deadline);
        self.work.push(Box::pin(async move {
            sleep(delay).await;
            Finished::RetryDue(id)
        }));
    }

    fn fail(&mut self, id: StepId, error: &ObjectError) {
        self.states.set(id, StepState::Failed);
        self.report(id, EventKind::Failed, error.to_string());
        if error.is_cluster_unreachable() {
            let message = format!("its cluster does not respond: {error}");
            self.abandon_cluster(self.step(id).cluster, &message);
        } else if error.class() == ErrorClass::MayNotWrite {
            for index in 0..self.targets.len() {
                self.abandon_cluster(ClusterId(index), &error.to_string());
            }
        }
    }

    /// Fails all steps of a cluster that are not in flight.
    fn abandon_cluster(&mut self, cluster: ClusterId, reason: &str) {
        for id in self.step_ids() {
            let is_open = matches!(
                self.states.get(id),
                StepState::Pending | StepState::Retrying | StepState::Applied { .. }
            );
            if is_open && self.step(id).cluster == cluster {
                self.states.set(id, StepState::Failed);
                self.report(id, EventKind::Blocked, reason);
            }
        }
    }

    /// Returns whether to wait until an object is ready: always for a CRD, because its kind must be served, and for
    /// everything else with `--wait`.
    fn needs_readiness(&self, id: StepId) -> bool {
        let step = self.step(id);
        step.action == Action::Apply && (self.options.wait || step.object.id.kind == CRD)
    }

    /// Starts a poll in each cluster that has something to wait for and no poll in flight.
    fn start_polls(&mut self) {
        for index in 0..self.clusters.len() {
            let id = ClusterId(index);
            let Some(cluster) = self.clusters[index].clone() else { continue };
            if self.polls[index].in_flight || !self.states.is_waiting(id) {
                continue;
            }
            let delay = self.polls[index].start();
            let (rollout, options) = (self.rollout, self.options);
            let steps = self.states.not_ready(id);
            self.work.push(Box::pin(async move {
                let request = PollRequest { rollout, cluster_id: id, cluster: &cluster, steps };
                Finished::Polled(request.send(delay, options).await)
            }));
        }
    }

    fn polled(&mut self, poll: Poll) {
        self.polls[poll.cluster.0].in_flight = false;
        for (step, observation) in poll.objects {
            self.observe(step, observation);
        }
        if poll.taken_over {
            self.abandon_cluster(poll.cluster, OTHER_ROLLOUT_STARTED);
        }
    }

    /// Updates the state of a step with its live object: ready, failed or still waiting.
    fn observe(&mut self, id: StepId, observation: Observation) {
        let StepState::Applied { rendered, reported, .. } = self.states.get_mut(id) else { return };
        let readiness = match &observation {
            Ok(None) => readiness_of_missing(rendered),
            Ok(Some(live)) => readiness(live, rendered),
            Err(error) if may_retry(error, self.options) => Readiness::Waiting(error.to_string()),
            Err(error) => return self.fail(id, error),
        };
        let step = self.rollout.step(id);
        debug!(object = %step.object.id, readiness = step.mask(&format!("{readiness:?}")), "readiness");
        match readiness {
            Readiness::Ready => {
                let announced = if reported.is_empty() { Announced::No } else { Announced::Yes };
                self.reached_readiness(id, announced, observation.ok().flatten());
            }
            Readiness::Failed(reason) => self.fail(id, &ObjectError::NotReady(reason)),
            Readiness::Waiting(reason) if reason != *reported => {
                reported.clone_from(&reason);
                self.report(id, EventKind::Waiting, reason);
            }
            Readiness::Waiting(_) => {}
        }
    }

    /// Finishes the step of an object that is ready. For a CRD, first waits until its resources are served.
    fn reached_readiness(&mut self, id: StepId, announced: Announced, live: Option<Value>) {
        let is_crd = self.step(id).object.id.kind == CRD;
        let (Some(cluster), Some(live), true) = (self.cluster_of(id), live, is_crd) else {
            return self.ready(id, announced);
        };
        let options = self.options;
        self.states.set(id, StepState::Running);
        self.work.push(Box::pin(async move {
            let result = crd::wait_until_served(&cluster, &live, options).await;
            Finished::CrdServed { step: id, announced, result }
        }));
    }

    fn ready(&mut self, id: StepId, announced: Announced) {
        self.states.set(id, StepState::Done);
        if announced == Announced::Yes {
            self.report(id, EventKind::Ready, "");
        }
    }

    /// Fails all steps that are not done at the deadline, each with the last known reason.
    fn give_up_after_deadline(&mut self) {
        if Instant::now() < self.options.deadline() {
            return;
        }
        for id in self.step_ids() {
            let message = match self.states.get(id) {
                StepState::Applied { since, reported, .. } => {
                    Some(format!("it is not ready after {} s: {reported}", since.elapsed().as_secs()))
                }
                StepState::Pending | StepState::Retrying => self.retries.describe(id),
                _ => None,
            };
            if let Some(message) = message {
                self.fail(id, &ObjectError::DeadlineExceeded(message));
            }
        }
        self.block_dependents();
        for id in self.step_ids() {
            if matches!(self.states.get(id), StepState::Pending) && self.cluster_of(id).is_some() {
                self.states.set(id, StepState::Failed);
                self.report(id, EventKind::Blocked, "the timeout ended before it could start");
            }
        }
    }
}
