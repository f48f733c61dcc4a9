//! The progress of all steps of a rollout, and which of them can start.
//!
//! After each finished step, transship looks for steps that can start. So the questions for that are answered from counts
//! that [`StepStates::set`] updates, without a look at all steps.

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::time::Instant;

use crate::apply::decide::rollout::{ClusterId, Dependency, Rollout, StepId};

/// How many steps of a cluster run at the same time. A running step holds what it sends, and only a few requests are in
/// flight; the others wait for something, such as the deletion of an object.
const MAX_RUNNING: usize = 256;

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
    clusters: Vec<ClusterProgress>,
    /// Whether a step failed, or became pending again, since the last search for blocked steps that found none.
    may_block: bool,
}

/// The progress of the steps of one cluster.
#[derive(Default)]
struct ClusterProgress {
    /// The steps that have not started. A later step is never in an earlier stage.
    pending: BTreeSet<StepId>,
    stages: Vec<StageProgress>,
    running: usize,
    /// How many steps are applied but not ready, or retried.
    waiting: usize,
}

/// The progress of the steps of one stage.
#[derive(Clone, Default)]
struct StageProgress {
    /// How many steps have not started or are running.
    unapplied: usize,
    /// How many steps are applied but not ready.
    unready: usize,
}

impl ClusterProgress {
    /// Counts a step that enters a state. `number` is the number of its stage.
    fn enter(&mut self, id: StepId, number: usize, state: &StepState) {
        if matches!(state, StepState::Pending) {
            self.pending.insert(id);
        }
        if self.stages.len() <= number {
            self.stages.resize(number + 1, StageProgress::default());
        }
        if let Some(count) = self.count(number, state) {
            *count += 1;
        }
        self.running += usize::from(matches!(state, StepState::Running));
        self.waiting += usize::from(is_waiting(state));
    }

    /// Stops to count a step that leaves a state.
    fn leave(&mut self, id: StepId, number: usize, state: &StepState) {
        self.pending.remove(&id);
        if let Some(count) = self.count(number, state) {
            *count -= 1;
        }
        self.running -= usize::from(matches!(state, StepState::Running));
        self.waiting -= usize::from(is_waiting(state));
    }

    /// Returns the number that counts the steps of a stage in a state; `None` if the state is settled.
    fn count(&mut self, number: usize, state: &StepState) -> Option<&mut usize> {
        match state {
            StepState::Pending | StepState::Running => Some(&mut self.stages[number].unapplied),
            StepState::Applied { .. } => Some(&mut self.stages[number].unready),
            // A retried step waits for something that someone else creates, such as a namespace or a CRD. That may
            // need the objects of later stages, so they must not wait.
            StepState::Retrying | StepState::Done | StepState::Failed => None,
        }
    }

    /// Returns the first stage that is not settled.
    fn first_open_stage(&self, rule: LevelRule) -> usize {
        if rule == LevelRule::None {
            return usize::MAX;
        }
        let is_open =
            |stage: &StageProgress| stage.unapplied > 0 || rule == LevelRule::Ready && stage.unready > 0;
        self.stages.iter().position(is_open).unwrap_or(usize::MAX)
    }
}

fn is_waiting(state: &StepState) -> bool {
    matches!(state, StepState::Applied { .. } | StepState::Retrying)
}

impl<'r, 'a> StepStates<'r, 'a> {
    pub(crate) fn new(rollout: &'r Rollout<'a>) -> Self {
        let mut clusters = Vec::new();
        for (id, step) in rollout.steps() {
            if clusters.len() <= step.cluster.0 {
                clusters.resize_with(step.cluster.0 + 1, ClusterProgress::default);
            }
            clusters[step.cluster.0].enter(id, step.stage, &StepState::Pending);
        }
        let states = rollout.steps.iter().map(|_| StepState::Pending).collect();
        Self { rollout, states, clusters, may_block: false }
    }

    pub(crate) fn get(&self, step: StepId) -> &StepState {
        &self.states[step.0]
    }

    /// Returns the state of a step, to change what is recorded in it. [`Self::set`] changes to another state.
    pub(crate) fn get_mut(&mut self, step: StepId) -> &mut StepState {
        &mut self.states[step.0]
    }

    pub(crate) fn set(&mut self, id: StepId, state: StepState) {
        let step = self.rollout.step(id);
        let progress = &mut self.clusters[step.cluster.0];
        progress.leave(id, step.stage, &self.states[id.0]);
        progress.enter(id, step.stage, &state);
        self.may_block |= matches!(state, StepState::Failed | StepState::Pending);
        self.states[id.0] = state;
    }

    /// Returns whether each step is done.
    pub(crate) fn done(&self) -> Vec<bool> {
        self.states.iter().map(|state| matches!(state, StepState::Done)).collect()
    }

    /// Returns a step that has not started, with a dependency that failed.
    pub(crate) fn find_blocked(&mut self) -> Option<(StepId, Dependency)> {
        if !self.may_block {
            return None;
        }
        for id in self.clusters.iter().flat_map(|cluster| &cluster.pending) {
            let dependencies = &self.rollout.step(*id).dependencies;
            let failed = |other: &&Dependency| matches!(self.get(other.on), StepState::Failed);
            if let Some(dependency) = dependencies.iter().find(failed) {
                return Some((*id, *dependency));
            }
        }
        self.may_block = false;
        None
    }

    /// Returns the next steps of a cluster that can start and may start.
    pub(crate) fn startable(
        &self,
        cluster: ClusterId,
        rule: LevelRule,
        may_start: impl Fn(StepId) -> bool,
    ) -> Vec<StepId> {
        let Some(progress) = self.clusters.get(cluster.0) else { return Vec::new() };
        let open = progress.first_open_stage(rule);
        let free = MAX_RUNNING.saturating_sub(progress.running);
        let mut startable = Vec::new();
        for id in &progress.pending {
            let step = self.rollout.step(*id);
            if step.stage > open || startable.len() == free {
                break;
            }
            let is_met = |dependency: &Dependency| self.is_met(dependency);
            if may_start(*id) && step.dependencies.iter().all(is_met) {
                startable.push(*id);
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

    /// Returns whether a cluster has steps that can still be done.
    pub(crate) fn has_open(&self, cluster: ClusterId) -> bool {
        let is_open = |progress: &ClusterProgress| {
            !progress.pending.is_empty() || progress.running > 0 || progress.waiting > 0
        };
        self.clusters.get(cluster.0).is_some_and(is_open)
    }

    /// Returns whether a cluster has a step with a request in flight.
    pub(crate) fn has_running(&self, cluster: ClusterId) -> bool {
        self.clusters.get(cluster.0).is_some_and(|progress| progress.running > 0)
    }

    /// Returns whether any step has a request in flight.
    pub(crate) fn any_running(&self) -> bool {
        self.clusters.iter().any(|progress| progress.running > 0)
    }

    /// Returns whether a cluster has steps to wait for.
    pub(crate) fn is_waiting(&self, cluster: ClusterId) -> bool {
        self.clusters.get(cluster.0).is_some_and(|progress| progress.waiting > 0)
    }

    /// Returns the steps of a cluster whose objects are not ready yet.
    pub(crate) fn not_ready(&self, cluster: ClusterId) -> Vec<StepId> {
        let steps = self.rollout.steps_of(cluster).map(|(id, _)| id);
        steps.filter(|id| matches!(self.get(*id), StepState::Applied { .. })).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use tokio::time::Instant;

    use super::{LevelRule, MAX_RUNNING, StepState, StepStates};
    use crate::Project;
    use crate::apply::decide::rollout::{ClusterId, ClusterPlan, Rollout, StepId};
    use crate::object::Cluster;
    use crate::order::Plan;

    const CLUSTER: ClusterId = ClusterId(0);

    /// Renders manifests, each with the run level of its file.
    fn plan(manifests: &[(&str, String)]) -> Plan {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let profile = "apiVersion: transship.openshift.io/v1\nkind: Profile\nmetadata: {name: p}\ntopology: t\ncluster: both\n";
        write("profiles/p.yaml", profile);
        for (level, text) in manifests {
            write(&format!("payload/op/0000_{level}_op_1.yaml"), text);
        }
        let project = Project::load(folder.path()).unwrap();
        let profiles = project.profiles.named(Some("p")).unwrap();
        crate::render_unchecked(&project.context(), &profiles).unwrap().remove(0)
    }

    fn object(kind: &str, name: &str, more: &str) -> String {
        format!(
            "apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}{more}, annotations: {{a: b}}}}\n---\n"
        )
    }

    fn rollout(plan: &Plan) -> Rollout<'_> {
        Rollout::new(&[ClusterPlan { cluster: Cluster::Both, plan }]).unwrap()
    }

    fn applied() -> StepState {
        StepState::Applied { rendered: Value::Null, since: Instant::now(), reported: String::new() }
    }

    #[test]
    fn a_level_waits_for_objects_that_do_not_exist_or_are_not_ready() {
        let plan = plan(&[("10", object("Namespace", "a", "")), ("20", object("Namespace", "b", ""))]);
        let rollout = rollout(&plan);
        let mut states = StepStates::new(&rollout);
        let startable = |states: &StepStates<'_, '_>, rule| states.startable(CLUSTER, rule, |_| true);
        assert_eq!(startable(&states, LevelRule::Exists), [StepId(0)]);
        states.set(StepId(0), StepState::Running);
        assert_eq!(startable(&states, LevelRule::Exists), []);
        states.set(StepId(0), applied());
        assert!(states.is_waiting(CLUSTER));
        assert_eq!(startable(&states, LevelRule::Exists), [StepId(1)]);
        assert_eq!(startable(&states, LevelRule::Ready), []);
        states.set(StepId(0), StepState::Retrying);
        assert!(states.is_waiting(CLUSTER));
        assert_eq!(startable(&states, LevelRule::Ready), [StepId(1)]);
        states.set(StepId(0), StepState::Pending);
        assert_eq!(startable(&states, LevelRule::Exists), [StepId(0)]);
        states.set(StepId(0), StepState::Done);
        assert!(!states.is_waiting(CLUSTER));
        assert_eq!(startable(&states, LevelRule::Ready), [StepId(1)]);
    }

    #[test]
    fn a_step_with_a_failed_dependency_is_blocked() {
        let namespace = object("Namespace", "a", "");
        let plan = plan(&[("10", namespace + &object("ConfigMap", "c", ", namespace: a"))]);
        let rollout = rollout(&plan);
        let mut states = StepStates::new(&rollout);
        assert!(states.find_blocked().is_none());
        assert_eq!(states.startable(CLUSTER, LevelRule::Exists, |_| true), [StepId(0)]);
        states.set(StepId(0), StepState::Failed);
        assert_eq!(
            states.find_blocked().map(|(step, dependency)| (step, dependency.on)),
            Some((StepId(1), StepId(0)))
        );
        states.set(StepId(1), StepState::Retrying);
        assert!(states.find_blocked().is_none());
        // A step that is tried again may have lost its dependency meanwhile.
        states.set(StepId(1), StepState::Pending);
        assert!(states.find_blocked().is_some());
    }

    #[test]
    fn only_a_limited_number_of_steps_runs_at_the_same_time() {
        let namespaces: String =
            (0..MAX_RUNNING + 10).map(|number| object("Namespace", &format!("n{number}"), "")).collect();
        let plan = plan(&[("10", namespaces)]);
        let rollout = rollout(&plan);
        let mut states = StepStates::new(&rollout);
        let first = states.startable(CLUSTER, LevelRule::Exists, |_| true);
        assert_eq!(first.len(), MAX_RUNNING);
        for step in &first {
            states.set(*step, StepState::Running);
        }
        assert_eq!(states.startable(CLUSTER, LevelRule::Exists, |_| true), []);
        states.set(first[0], StepState::Done);
        assert_eq!(states.startable(CLUSTER, LevelRule::Exists, |_| true), [StepId(MAX_RUNNING)]);
    }
}
