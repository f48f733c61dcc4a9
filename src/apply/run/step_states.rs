//! The progress of all steps of a rollout, and which of them can start.

use serde_json::Value;
use tokio::time::Instant;

use crate::apply::decide::rollout::{ClusterId, Dependency, Rollout, StepId};

/// The progress of a step.
pub(crate) enum StepState {
    /// It has not started.
    Pending,
    /// A request is in flight.
    Running,
    /// It failed transiently and is tried again.
    Retrying,
    /// The object exists and is not ready yet.
    Applied {
        rendered: Value,
        since: Instant,
        /// The reason of its last `waiting` event; empty if there was none.
        reported: String,
    },
    /// It is done. If transship waits for readiness, the object is ready.
    Done,
    /// It failed or cannot start.
    Failed,
}

/// When the next run level of a cluster starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelRule {
    /// At once: run levels do not matter.
    None,
    /// When the objects of the earlier levels exist.
    Exists,
    /// When the objects of the earlier levels are ready.
    Ready,
}

/// The progress of all steps.
pub(crate) struct StepStates<'r, 'a> {
    rollout: &'r Rollout<'a>,
    states: Vec<StepState>,
}

impl<'r, 'a> StepStates<'r, 'a> {
    pub(crate) fn new(rollout: &'r Rollout<'a>) -> Self {
        Self { rollout, states: rollout.steps.iter().map(|_| StepState::Pending).collect() }
    }

    pub(crate) fn get(&self, step: StepId) -> &StepState {
        &self.states[step.0]
    }

    pub(crate) fn get_mut(&mut self, step: StepId) -> &mut StepState {
        &mut self.states[step.0]
    }

    pub(crate) fn set(&mut self, step: StepId, state: StepState) {
        self.states[step.0] = state;
    }

    /// Returns whether each step is done.
    pub(crate) fn done(&self) -> Vec<bool> {
        self.states.iter().map(|state| matches!(state, StepState::Done)).collect()
    }

    /// Returns a step that has not started, with a dependency that failed.
    pub(crate) fn find_blocked(&self) -> Option<(StepId, Dependency)> {
        for (id, step) in self.rollout.steps() {
            if !matches!(self.get(id), StepState::Pending) {
                continue;
            }
            let failed = |other: &&Dependency| matches!(self.get(other.on), StepState::Failed);
            if let Some(dependency) = step.dependencies.iter().find(failed) {
                return Some((id, *dependency));
            }
        }
        None
    }

    /// Returns the steps of a cluster that can start.
    pub(crate) fn startable(&self, cluster: ClusterId, rule: LevelRule) -> Vec<StepId> {
        let open = match rule {
            LevelRule::None => usize::MAX,
            LevelRule::Exists | LevelRule::Ready => self.first_open_stage(cluster, rule),
        };
        let mut startable = Vec::new();
        for (id, step) in self.rollout.steps_of(cluster) {
            let is_pending = matches!(self.get(id), StepState::Pending);
            let is_met = |dependency: &Dependency| self.is_met(dependency);
            if is_pending && step.stage <= open && step.dependencies.iter().all(is_met) {
                startable.push(id);
            }
        }
        startable
    }

    fn is_met(&self, dependency: &Dependency) -> bool {
        match self.get(dependency.on) {
            StepState::Done => true,
            StepState::Applied { .. } => !dependency.reason.requires_readiness(),
            _ => false,
        }
    }

    /// Returns the first stage of a cluster that is not settled.
    fn first_open_stage(&self, cluster: ClusterId, rule: LevelRule) -> usize {
        let mut first = usize::MAX;
        for (id, step) in self.rollout.steps_of(cluster) {
            let is_settled = match self.get(id) {
                // A retried step waits for something that someone else creates, such as a namespace or a CRD. That may
                // need the objects of later stages, so they must not wait.
                StepState::Done | StepState::Failed | StepState::Retrying => true,
                StepState::Applied { .. } => rule != LevelRule::Ready,
                StepState::Pending | StepState::Running => false,
            };
            if !is_settled {
                first = first.min(step.stage);
            }
        }
        first
    }

    /// Returns whether a cluster has steps that can still be done.
    pub(crate) fn has_open(&self, cluster: ClusterId) -> bool {
        let is_open = |id: StepId| !matches!(self.get(id), StepState::Done | StepState::Failed);
        self.rollout.steps_of(cluster).any(|(id, _)| is_open(id))
    }

    /// Returns whether a cluster has a step with a request in flight.
    pub(crate) fn has_running(&self, cluster: ClusterId) -> bool {
        self.rollout.steps_of(cluster).any(|(id, _)| matches!(self.get(id), StepState::Running))
    }

    /// Returns whether any step has a request in flight.
    pub(crate) fn any_running(&self) -> bool {
        self.states.iter().any(|state| matches!(state, StepState::Running))
    }

    /// Returns whether a cluster has steps to wait for.
    pub(crate) fn is_waiting(&self, cluster: ClusterId) -> bool {
        let is_waiting = |id: StepId| matches!(self.get(id), StepState::Applied { .. } | StepState::Retrying);
        self.rollout.steps_of(cluster).any(|(id, _)| is_waiting(id))
    }

    /// Returns the steps of a cluster whose objects are not ready yet.
    pub(crate) fn not_ready(&self, cluster: ClusterId) -> Vec<StepId> {
        let steps = self.rollout.steps_of(cluster).map(|(id, _)| id);
        steps.filter(|id| matches!(self.get(*id), StepState::Applied { .. })).collect()
    }
}
