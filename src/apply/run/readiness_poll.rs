//! What is waited for: it is looked at until it is ready, and not for ever.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::Value;
use tokio::time::{sleep, timeout_at};

use crate::apply::cluster::crd::{self as definition, DEFINITION};
use crate::apply::cluster::live_cluster::Side;
use crate::apply::decide::event::What;
use crate::apply::decide::readiness::{Readiness, readiness};
use crate::apply::decide::rollout::{Action, Rollout};
use crate::apply::run::retry::may_pass;
use crate::apply::run::rollout_run::{Outcome, Run, State, Work};
use crate::apply::wire::error::Problem;
use crate::object::ObjectId;

/// How soon what is waited for is looked at: soon at first, since definitions are established in no time.
pub(in crate::apply) const FIRST_LOOK: Duration = Duration::from_millis(100);
pub(in crate::apply) const LAST_LOOK: Duration = Duration::from_secs(1);

/// When what is waited for in a cluster is looked at.
#[derive(Clone)]
pub(in crate::apply) struct Looks {
    pub(in crate::apply) under_way: bool,
    /// Before the next one.
    pub(in crate::apply) pause: Duration,
}

/// What is seen of all that is waited for in a cluster.
pub(in crate::apply) struct Looked {
    pub(in crate::apply) half: usize,
    pub(in crate::apply) objects: Vec<(usize, Result<Value, Problem>)>,
    /// Whether another rollout has begun there.
    pub(in crate::apply) overtaken: bool,
}

impl<'r, 'a> Run<'r, 'a> {
    /// A definition must be served before objects of its kind can be there; the rest if somebody waits.
    pub(in crate::apply) fn waits_for_readiness(&self, at: usize) -> bool {
        let step = self.step(at);
        step.action == Action::Apply && (self.options.wait || step.object.id.kind == DEFINITION)
    }

    /// Whether anything is waited for in a cluster.
    pub(in crate::apply) fn is_waiting(&self, half: usize) -> bool {
        let waits = |state: &State| matches!(state, State::There { .. } | State::Later);
        (0..self.states.len()).any(|at| self.step(at).half == half && waits(&self.states[at]))
    }

    /// What is there and is not ready yet.
    fn unready(&self, half: usize) -> Vec<usize> {
        let waits =
            |at: &usize| self.step(*at).half == half && matches!(self.states[*at], State::There { .. });
        (0..self.states.len()).filter(waits).collect()
    }

    /// Looks at everything that is waited for in a cluster: one list for every kind.
    pub(in crate::apply) fn look(&self, half: usize, pause: Duration) -> Work<'r, 'a> {
        let (rollout, options, side) = (self.rollout, self.options, self.side(half));
        let waiting = self.unready(half);
        Box::pin(async move {
            sleep(pause).await;
            let mut by_kind: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
            for at in waiting {
                let ObjectId { group, kind, .. } = &rollout.steps[at].object.id;
                by_kind.entry((group, kind)).or_default().push(at);
            }
            let Some(side) = side else {
                return Outcome::Looked(Looked { half, objects: Vec::new(), overtaken: false });
            };
            let looks = join_all(by_kind.into_values().map(|steps| look_at(rollout, side, steps)));
            // Definitions are there in no time; nobody else begins meanwhile.
            let overtaken = async { options.wait && side.is_overtaken().await };
            let looked = timeout_at(options.deadline(), join(looks, overtaken)).await;
            let (objects, overtaken) = looked.unwrap_or_default();
            Outcome::Looked(Looked { half, objects: objects.into_iter().flatten().collect(), overtaken })
        })
    }

    pub(in crate::apply) fn looked(
        &mut self,
        at: usize,
        live: Result<Value, Problem>,
    ) -> Option<Work<'r, 'a>> {
        let State::There { manifest, seen, .. } = &mut self.states[at] else { return None };
        let readiness = match &live {
            Ok(Value::Null) => Readiness::Waiting("it is not there any more".to_owned()),
            Ok(live) => readiness(live, manifest),
            Err(problem) if may_pass(problem, self.options) => Readiness::Waiting(problem.message.clone()),
            Err(problem) => {
                self.failed(at, problem);
                return None;
            }
        };
        match readiness {
            Readiness::Ready => return self.served(at, live.unwrap_or_default()),
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
        // Only who has heard that it is waited for wants to hear the end of it.
        let waited = matches!(&self.states[at], State::There { seen, .. } if !seen.is_empty());
        if step.object.id.kind != DEFINITION {
            self.ready(at, waited);
            return None;
        }
        let (side, options) = (self.side(step.half)?, self.options);
        self.states[at] = State::Runs;
        Some(Box::pin(
            async move { Outcome::Served(at, waited, definition::served(side, &live, options).await) },
        ))
    }

    pub(in crate::apply) fn ready(&mut self, at: usize, waited: bool) {
        self.states[at] = State::Done;
        if waited {
            self.tell(at, What::Ready, String::new());
        }
    }
}

/// Looks at some objects of one kind in one cluster; null stands for one that is not there.
async fn look_at(
    rollout: &Rollout<'_>,
    side: &Side<'_>,
    steps: Vec<usize>,
) -> Vec<(usize, Result<Value, Problem>)> {
    let Some(resource) = side.resource(rollout.steps[steps[0]].object) else { return Vec::new() };
    let list = match side.list(&resource).await {
        Ok(list) => list.into_iter().collect::<BTreeMap<ObjectId, Value>>(),
        // Objects that cannot be listed are asked for one after the other.
        Err(_) => return join_all(steps.into_iter().map(|at| look_at_one(rollout, side, at))).await,
    };
    // One that has lost its label is not in it.
    let look = |at: usize| async move { look_at_one(rollout, side, at).await };
    let of = |at: usize| list.get(&rollout.steps[at].object.id).cloned();
    let (listed, missing): (Vec<_>, Vec<_>) =
        steps.into_iter().map(|at| (at, of(at))).partition(|(_, live)| live.is_some());
    let listed = listed.into_iter().filter_map(|(at, live)| Some((at, Ok(live?))));
    let asked = join_all(missing.into_iter().map(|(at, _)| look(at))).await;
    listed.chain(asked).collect()
}

async fn look_at_one(rollout: &Rollout<'_>, side: &Side<'_>, at: usize) -> (usize, Result<Value, Problem>) {
    let object = rollout.steps[at].object;
    let live = match side.get(&side.path(object).unwrap_or_default()).await {
        Ok(live) => Ok(live.unwrap_or_default()),
        Err(failure) => Err(Problem::of(&failure, &object.id).unless_others_are_answered(side).await),
    };
    (at, live)
}
