//! What is waited for: it is looked at until it is ready, and not for ever.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::definition::{self, DEFINITION};
use super::event::What;
use super::failure::Problem;
use super::ready::{Readiness, readiness};
use super::rollout::{Action, Rollout, Step};
use super::run::{Outcome, Run, State, Work};
use super::side::Side;
use crate::object::ObjectId;

/// How soon what is waited for is looked at: soon at first, since definitions are established in no time.
pub(super) const FIRST_LOOK: Duration = Duration::from_millis(100);
pub(super) const LAST_LOOK: Duration = Duration::from_secs(1);

/// What is seen of all that is waited for.
pub(super) struct Looked {
    pub(super) objects: Vec<(usize, Result<Value, Problem>)>,
    /// Clusters in which another rollout has begun.
    pub(super) overtaken: Vec<usize>,
}

impl<'r, 'a> Run<'r, 'a> {
    /// A definition must be served before objects of its kind can be there; the rest if somebody waits.
    pub(super) fn waits_for_readiness(&self, at: usize) -> bool {
        let step = self.step(at);
        step.action == Action::Apply && (self.options.wait || step.object.id.kind == DEFINITION)
    }

    pub(super) fn waiting(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|at| matches!(self.states[*at], State::There { .. })).collect()
    }

    /// Looks at everything that is waited for: one list for every kind and cluster.
    pub(super) fn look(&self, waiting: Vec<usize>, pause: Duration) -> Work<'r, 'a> {
        let (rollout, sides, options) = (self.rollout, self.sides, self.options);
        Box::pin(async move {
            sleep(pause).await;
            let mut by_kind: BTreeMap<(usize, &str, &str), Vec<usize>> = BTreeMap::new();
            for at in waiting {
                let step = &rollout.steps[at];
                by_kind.entry((step.half, &step.object.id.group, &step.object.id.kind)).or_default().push(at);
            }
            // Definitions are there in no time; nobody else begins meanwhile.
            let halves: BTreeSet<usize> =
                by_kind.keys().map(|(half, ..)| *half).filter(|_| options.wait).collect();
            let looks = by_kind.into_values().map(|steps| look_at(rollout, sides, steps));
            let overtaken = halves
                .into_iter()
                .map(|half| async move { sides[half].get()?.is_overtaken().await.then_some(half) });
            let (objects, overtaken) = join(join_all(looks), join_all(overtaken)).await;
            let overtaken = overtaken.into_iter().flatten().collect();
            Outcome::Looked(Looked { objects: objects.into_iter().flatten().collect(), overtaken })
        })
    }

    pub(super) fn looked(&mut self, at: usize, live: Result<Value, Problem>) -> Option<Work<'r, 'a>> {
        let State::There { manifest, seen, .. } = &mut self.states[at] else { return None };
        let live = match live {
            Ok(live) => live,
            Err(problem) => {
                self.failed(at, &problem);
                return None;
            }
        };
        let readiness = match live {
            Value::Null => Readiness::Waiting("it is not there any more".to_owned()),
            _ => readiness(&live, manifest),
        };
        match readiness {
            Readiness::Ready => return self.served(at, live),
            Readiness::Failed(why) => self.failed(at, &Problem::new(why)),
            Readiness::Waiting(why) if why != *seen => {
                seen.clone_from(&why);
                self.tell(at, What::Waiting, why);
            }
            Readiness::Waiting(_) => {}
        }
        None
    }

    /// A definition is ready when what it defines is served.
    fn served(&mut self, at: usize, live: Value) -> Option<Work<'r, 'a>> {
        let step = self.step(at);
        if step.object.id.kind != DEFINITION {
            self.ready(at);
            return None;
        }
        let (side, deadline) = (self.side(step.half)?, self.options.deadline());
        self.states[at] = State::Runs;
        Some(Box::pin(async move { Outcome::Served(at, definition::served(side, &live, deadline).await) }))
    }

    pub(super) fn ready(&mut self, at: usize) {
        // Only who has heard that it is waited for wants to hear the end of it.
        let waited = matches!(&self.states[at], State::There { seen, .. } if !seen.is_empty());
        self.states[at] = State::Done;
        if waited {
            self.tell(at, What::Ready, String::new());
        }
    }

    /// At the deadline everything that is waited for is told, with what was seen last and since when.
    pub(super) fn give_up_if_late(&mut self) {
        if Instant::now() < self.options.deadline() {
            return;
        }
        for at in 0..self.states.len() {
            match &self.states[at] {
                State::There { since, seen, .. } => {
                    let waited = since.elapsed().as_secs();
                    let message = format!("it is not ready after {waited} s: {seen}");
                    self.failed(at, &Problem::new(message));
                }
                State::Waits if self.side(self.step(at).half).is_some() => {
                    self.states[at] = State::Failed;
                    self.tell(at, What::Blocked, "the time was over before it could begin".to_owned());
                }
                State::Waits | State::Runs | State::Done | State::Failed => {}
            }
        }
    }
}

/// Looks at some objects of one kind in one cluster; null stands for one that is not there.
async fn look_at(
    rollout: &Rollout<'_>,
    sides: &[OnceCell<Side<'_>>],
    steps: Vec<usize>,
) -> Vec<(usize, Result<Value, Problem>)> {
    let Step { half, object, .. } = &rollout.steps[steps[0]];
    let Some(side) = sides[*half].get() else { return Vec::new() };
    let Some(resource) = side.resource(object) else { return Vec::new() };
    let list = side.list(&resource).await.map(|list| list.into_iter().collect::<BTreeMap<ObjectId, Value>>());
    let of = |at: usize| {
        let id = &rollout.steps[at].object.id;
        match &list {
            Ok(list) => Ok(list.get(id).cloned().unwrap_or_default()),
            Err(failure) => Err(Problem::of(failure, id)),
        }
    };
    steps.into_iter().map(|at| (at, of(at))).collect()
}
