//! Walks a rollout: whatever can be done is under way, what fails holds back only what needs it, and nothing waits for ever.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::Options;
use super::body;
use super::definition::{self, DEFINITION};
use super::event::{Event, What};
use super::failure::Problem;
use super::inventory::Entry;
use super::ready::{Readiness, readiness};
use super::rollout::{Action, Rollout, Step};
use super::side::Side;
use super::step::{self, Done};
use crate::object::ObjectId;

/// How soon what is waited for is looked at: soon at first, since definitions are established in no time.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const LAST_LOOK: Duration = Duration::from_secs(1);

/// How far a step is.
enum State {
    /// It has not begun.
    Waits,
    /// A request is under way.
    Runs,
    /// Its object is there, and is not ready yet.
    There { manifest: Value, since: Instant, seen: String },
    /// Done, and ready where that matters.
    Done,
    /// It failed, or cannot begin.
    Failed,
}

/// What comes back from what was under way.
enum Outcome {
    Performed(usize, Result<Done, Problem>),
    Served(usize, Result<(), Problem>),
    Looked(Vec<(usize, Result<Value, Problem>)>),
}

type Work<'r> = Pin<Box<dyn Future<Output = Outcome> + 'r>>;

pub(super) struct Run<'r, 'a> {
    rollout: &'r Rollout<'a>,
    /// The clusters; none for one that does not answer.
    sides: &'r [Option<Side<'a>>],
    options: &'r Options,
    states: Vec<State>,
    /// What the inventory will say of each step.
    entries: BTreeMap<usize, Entry>,
    /// For each half, whether a level waits for the readiness of those before it.
    strict: Vec<bool>,
    tell: &'r mut dyn FnMut(Event),
}

/// What became of all steps.
pub(super) struct Ended {
    /// Entries for the inventory, by step.
    pub(super) entries: BTreeMap<usize, Entry>,
    /// For each step, whether it is done.
    pub(super) done: Vec<bool>,
}

impl<'r, 'a> Run<'r, 'a> {
    pub(super) fn new(
        rollout: &'r Rollout<'a>,
        sides: &'r [Option<Side<'a>>],
        options: &'r Options,
        tell: &'r mut dyn FnMut(Event),
    ) -> Self {
        let strict =
            |side: &Option<Side<'_>>| options.wait && side.as_ref().is_some_and(|side| side.known.installed);
        Self {
            states: rollout.steps.iter().map(|_| State::Waits).collect(),
            strict: sides.iter().map(strict).collect(),
            entries: BTreeMap::new(),
            rollout,
            sides,
            options,
            tell,
        }
    }

    pub(super) async fn walk(mut self) -> Ended {
        let mut work: FuturesUnordered<Work<'r>> = FuturesUnordered::new();
        let (mut looking, mut pause) = (false, FIRST_LOOK);
        loop {
            self.block();
            for at in self.startable() {
                self.states[at] = State::Runs;
                work.push(self.perform(at));
            }
            let waiting: Vec<usize> = self.waiting();
            if !waiting.is_empty() && !looking {
                looking = true;
                work.push(self.look(waiting, pause));
                pause = (pause * 2).min(LAST_LOOK);
            }
            let Some(outcome) = work.next().await else { break };
            looking &= !matches!(outcome, Outcome::Looked(..));
            match outcome {
                Outcome::Performed(at, result) => {
                    pause = FIRST_LOOK;
                    if let Some(next) = self.performed(at, result) {
                        work.push(next);
                    }
                }
                Outcome::Served(at, Ok(())) => self.ready(at),
                Outcome::Served(at, Err(problem)) => self.failed(at, &problem),
                Outcome::Looked(seen) => {
                    work.extend(seen.into_iter().filter_map(|(at, live)| self.looked(at, live)));
                }
            }
            self.give_up_if_late();
        }
        let done = self.states.iter().map(|state| matches!(state, State::Done)).collect();
        Ended { entries: self.entries, done }
    }

    fn step(&self, at: usize) -> &'r Step<'a> {
        &self.rollout.steps[at]
    }

    fn tell(&mut self, at: usize, what: What, message: String) {
        let step = self.step(at);
        let Some(side) = &self.sides[step.half] else { return };
        let level = step.level.unwrap_or_default().to_owned();
        (self.tell)(Event { level, ..Event::of_object(side.cluster, &step.object.id, what, message) });
    }

    /// Whether others that need a step may begin: it is there, or ready where that is what they need.
    fn is_met(&self, at: usize, readiness: bool) -> bool {
        match self.states[at] {
            State::Done => true,
            State::There { .. } => !readiness,
            _ => false,
        }
    }

    /// Steps that need something which will not come.
    fn block(&mut self) {
        for at in 0..self.states.len() {
            if !matches!(self.states[at], State::Waits) {
                continue;
            }
            let step = self.step(at);
            let missing = step.needs.iter().find(|(other, _)| {
                matches!(self.states[*other], State::Failed) || self.sides[self.step(*other).half].is_none()
            });
            if let Some((other, need)) = missing {
                let message = format!("it needs {}, {}", need.words(), self.step(*other).object.id);
                self.states[at] = State::Failed;
                self.tell(at, What::Blocked, message);
            } else if self.sides[step.half].is_none() {
                self.states[at] = State::Failed;
            }
        }
    }

    fn startable(&self) -> Vec<usize> {
        let open: Vec<usize> = (0..self.sides.len()).map(|half| self.open_stage(half)).collect();
        let begins = |at: &usize| {
            let step = self.step(*at);
            matches!(self.states[*at], State::Waits)
                && step.stage <= open[step.half]
                && step.needs.iter().all(|(other, need)| self.is_met(*other, need.is_of_readiness()))
        };
        (0..self.states.len()).filter(begins).collect()
    }

    /// The first stage of a cluster that is not settled.
    fn open_stage(&self, half: usize) -> usize {
        let unsettled = |(at, step): (usize, &Step<'_>)| {
            let settled = match self.states[at] {
                State::Done | State::Failed => true,
                State::There { .. } => !self.strict[half],
                State::Waits | State::Runs => false,
            };
            (step.half == half && !settled).then_some(step.stage)
        };
        self.rollout.steps.iter().enumerate().filter_map(unsettled).min().unwrap_or(usize::MAX)
    }

    fn perform(&self, at: usize) -> Work<'r> {
        let (step, options) = (self.step(at), self.options);
        let side = self.sides[step.half].as_ref();
        Box::pin(async move {
            let result = match side {
                Some(side) => step::perform(side, step.object, step.action, options).await,
                None => Err(Problem::new("its cluster does not answer")),
            };
            Outcome::Performed(at, result)
        })
    }

    fn performed(&mut self, at: usize, result: Result<Done, Problem>) -> Option<Work<'r>> {
        let done = match result {
            Ok(done) => done,
            Err(problem) => {
                self.failed(at, &problem);
                return None;
            }
        };
        self.tell(at, done.what, String::new());
        if let Some(entry) = done.entry {
            self.entries.insert(at, entry);
        }
        match done.live {
            Some(live) if self.waits_for_readiness(at) => {
                let manifest = body::manifest(self.step(at).object);
                self.states[at] = State::There { manifest, since: Instant::now(), seen: String::new() };
                self.looked(at, Ok(live))
            }
            _ => {
                self.states[at] = State::Done;
                None
            }
        }
    }

    /// A definition must be served before objects of its kind can be there; the rest if somebody waits.
    fn waits_for_readiness(&self, at: usize) -> bool {
        let step = self.step(at);
        step.action == Action::Apply && (self.options.wait || step.object.id.kind == DEFINITION)
    }

    fn waiting(&self) -> Vec<usize> {
        (0..self.states.len()).filter(|at| matches!(self.states[*at], State::There { .. })).collect()
    }

    /// Looks at everything that is waited for: one list for every kind and cluster.
    fn look(&self, waiting: Vec<usize>, pause: Duration) -> Work<'r> {
        let (rollout, sides) = (self.rollout, self.sides);
        Box::pin(async move {
            sleep(pause).await;
            let mut by_kind: BTreeMap<(usize, &str, &str), Vec<usize>> = BTreeMap::new();
            for at in waiting {
                let step = &rollout.steps[at];
                by_kind.entry((step.half, &step.object.id.group, &step.object.id.kind)).or_default().push(at);
            }
            let looks = by_kind.into_values().map(|steps| look_at(rollout, sides, steps));
            Outcome::Looked(join_all(looks).await.into_iter().flatten().collect())
        })
    }

    fn looked(&mut self, at: usize, live: Result<Value, Problem>) -> Option<Work<'r>> {
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
    fn served(&mut self, at: usize, live: Value) -> Option<Work<'r>> {
        let step = self.step(at);
        if step.object.id.kind != DEFINITION {
            self.ready(at);
            return None;
        }
        let (side, deadline) = (self.sides[step.half].as_ref()?, self.options.deadline());
        self.states[at] = State::Runs;
        Some(Box::pin(async move { Outcome::Served(at, definition::served(side, &live, deadline).await) }))
    }

    fn ready(&mut self, at: usize) {
        // Only who has heard that it is waited for wants to hear the end of it.
        let waited = matches!(&self.states[at], State::There { seen, .. } if !seen.is_empty());
        self.states[at] = State::Done;
        if waited {
            self.tell(at, What::Ready, String::new());
        }
    }

    fn failed(&mut self, at: usize, problem: &Problem) {
        self.states[at] = State::Failed;
        self.tell(at, What::Failed, problem.message.clone());
        if problem.lost {
            self.lost(self.step(at).half, problem);
        }
    }

    /// A cluster that stopped to answer is not asked for everything else as well.
    fn lost(&mut self, half: usize, problem: &Problem) {
        for at in 0..self.states.len() {
            if self.step(at).half == half && matches!(self.states[at], State::Waits | State::There { .. }) {
                self.states[at] = State::Failed;
                self.tell(at, What::Blocked, format!("its cluster does not answer: {}", problem.message));
            }
        }
    }

    /// At the deadline everything that is waited for is told, with what was seen last and since when.
    fn give_up_if_late(&mut self) {
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
                State::Waits => {
                    self.states[at] = State::Failed;
                    self.tell(at, What::Blocked, "the time was over before it could begin".to_owned());
                }
                State::Runs | State::Done | State::Failed => {}
            }
        }
    }
}

/// Looks at some objects of one kind in one cluster; null stands for one that is not there.
async fn look_at(
    rollout: &Rollout<'_>,
    sides: &[Option<Side<'_>>],
    steps: Vec<usize>,
) -> Vec<(usize, Result<Value, Problem>)> {
    let Step { half, object, .. } = &rollout.steps[steps[0]];
    let Some(side) = &sides[*half] else { return Vec::new() };
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
