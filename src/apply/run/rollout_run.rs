//! Walks a rollout: whatever can be done is under way, what fails holds back only what needs it, and nothing waits for ever.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::apply::cluster::live_cluster::Side;
use crate::apply::decide::desired as body;
use crate::apply::decide::event::{Event, What};
use crate::apply::decide::inventory::Entry;
use crate::apply::decide::rollout::{Need, Rollout, Step};
use crate::apply::object::apply_object::{self as step, Done};
use crate::apply::run::inventory_update as settle;
use crate::apply::run::readiness_poll::{FIRST_LOOK, LAST_LOOK, Looked, Looks};
use crate::apply::run::retry::{Tried, may_pass};
use crate::apply::wire::error::{Failure, Problem, Verdict};
use crate::apply::{OVERTAKEN, Options, Target};

/// How far a step is.
pub(in crate::apply) enum State {
    /// It has not begun.
    Waits,
    /// A request is under way.
    Runs,
    /// It could not be done yet, and is tried again.
    Later,
    /// Its object is there, and is not ready yet.
    There { manifest: Value, since: Instant, seen: String },
    /// Done, and ready where that matters.
    Done,
    /// It failed, or cannot begin.
    Failed,
}

/// What comes back from what was under way.
pub(in crate::apply) enum Outcome<'a> {
    /// A cluster, if it answers.
    Entered(usize, Box<Result<Side<'a>, Failure>>),
    Performed(usize, Box<Result<Done, Problem>>),
    /// Whether what a definition defines is served, and whether somebody was told to wait for that.
    Served(usize, bool, Result<(), Problem>),
    Looked(Looked),
    /// It is time to try a step again.
    Again(usize),
}

pub(in crate::apply) type Work<'r, 'a> = Pin<Box<dyn Future<Output = Outcome<'a>> + 'r>>;

pub(in crate::apply) struct Run<'r, 'a> {
    pub(in crate::apply) rollout: &'r Rollout<'a>,
    targets: &'r [Target<'a>],
    /// The clusters, as soon as they answer.
    pub(in crate::apply) sides: &'r [OnceCell<Side<'a>>],
    pub(in crate::apply) options: &'r Options,
    pub(in crate::apply) states: Vec<State>,
    /// For each half, why nothing can be done there yet.
    silent: Vec<Option<Failure>>,
    /// Whether anything was written, so that what was seen before may not be so any more.
    wrote: bool,
    /// What could not be done at first.
    pub(in crate::apply) tried: BTreeMap<usize, Tried>,
    /// What the inventory will say of each step.
    entries: BTreeMap<usize, Entry>,
    tell: &'r mut dyn FnMut(Event),
}

/// What became of all steps.
pub(in crate::apply) struct Ended {
    /// Entries for the inventory, by step.
    pub(in crate::apply) entries: BTreeMap<usize, Entry>,
    /// For each step, whether it is done.
    pub(in crate::apply) done: Vec<bool>,
}

impl<'r, 'a> Run<'r, 'a> {
    pub(in crate::apply) fn new(
        rollout: &'r Rollout<'a>,
        targets: &'r [Target<'a>],
        sides: &'r [OnceCell<Side<'a>>],
        options: &'r Options,
        tell: &'r mut dyn FnMut(Event),
    ) -> Self {
        Self {
            states: rollout.steps.iter().map(|_| State::Waits).collect(),
            silent: vec![None; targets.len()],
            wrote: false,
            tried: BTreeMap::new(),
            entries: BTreeMap::new(),
            rollout,
            targets,
            sides,
            options,
            tell,
        }
    }

    pub(in crate::apply) async fn walk(mut self) -> Ended {
        let mut work: FuturesUnordered<Work<'r, 'a>> = FuturesUnordered::new();
        work.extend((0..self.sides.len()).map(|half| self.enter(half, Duration::ZERO)));
        let mut looks = vec![Looks { under_way: false, pause: FIRST_LOOK }; self.sides.len()];
        loop {
            self.block();
            for at in self.startable() {
                self.states[at] = State::Runs;
                work.push(self.perform(at));
            }
            for (half, looks) in looks.iter_mut().enumerate().filter(|(_, looks)| !looks.under_way) {
                if self.is_waiting(half) {
                    work.push(self.look(half, looks.pause));
                    *looks = Looks { under_way: true, pause: (looks.pause * 2).min(LAST_LOOK) };
                }
            }
            let Some(outcome) = work.next().await else { break };
            match outcome {
                Outcome::Entered(half, side) => work.extend(self.entered(half, *side)),
                Outcome::Performed(at, result) => {
                    looks[self.step(at).half].pause = FIRST_LOOK;
                    work.extend(self.performed(at, *result));
                }
                Outcome::Served(at, waited, Ok(())) => self.ready(at, waited),
                Outcome::Served(at, _, Err(problem)) => self.failed(at, &problem),
                Outcome::Again(at) => self.again(at),
                Outcome::Looked(seen) => {
                    looks[seen.half].under_way = false;
                    work.extend(seen.objects.into_iter().filter_map(|(at, live)| self.looked(at, live)));
                    if seen.overtaken {
                        self.abandon(seen.half, OVERTAKEN);
                    }
                }
            }
            self.give_up_if_late();
        }
        let done = self.states.iter().map(|state| matches!(state, State::Done)).collect();
        Ended { entries: self.entries, done }
    }

    pub(in crate::apply) fn side(&self, half: usize) -> Option<&'r Side<'a>> {
        self.sides[half].get()
    }

    /// Looks at a cluster, and says there what will be in it. Others do not wait for that.
    fn enter(&self, half: usize, pause: Duration) -> Work<'r, 'a> {
        let (target, rollout, options) = (&self.targets[half], self.rollout, self.options);
        Box::pin(async move {
            let entered = timeout_at(options.deadline(), async {
                sleep(pause).await;
                let mut side = crate::apply::enter(target, options).await?;
                side.find_strangers(&target.plan.objects).await;
                settle::write_ahead(&side, rollout, half).await?;
                Ok(side)
            });
            Outcome::Entered(half, Box::new(entered.await.unwrap_or_else(|_| Err(Failure::late()))))
        })
    }

    /// A cluster answers, or is asked again: for as long as a request, or for as long as everything if somebody waits.
    fn entered(&mut self, half: usize, side: Result<Side<'a>, Failure>) -> Option<Work<'r, 'a>> {
        let (options, cluster) = (self.options, self.targets[half].profile.cluster);
        let patience = if options.wait { options.timeout } else { options.patience.min(options.timeout) };
        // Whoever waits, waits for a place for the inventory, too.
        let is_passing =
            |failure: &Failure| failure.is_passing() || options.wait && matches!(failure, Failure::NoHome(_));
        match side {
            Ok(side) => {
                if self.silent[half].is_some() {
                    let now = "objects can go there now".to_owned();
                    (self.tell)(Event::of_cluster(cluster, What::Ready, now));
                }
                let _ = self.sides[half].set(side);
                None
            }
            Err(failure) if is_passing(&failure) && options.begun.elapsed() < patience => {
                let (why, pause) =
                    (failure.words(false), failure.retry_after().unwrap_or(crate::apply::PAUSE));
                if self.silent[half].as_ref().is_none_or(|before| before.words(false) != why) {
                    (self.tell)(Event::of_cluster(cluster, What::Waiting, why));
                }
                self.silent[half] = Some(failure);
                Some(self.enter(half, pause))
            }
            Err(failure) => {
                // When the time is over, what was seen until then says more.
                let failure = self.silent[half].take().unwrap_or(failure);
                (self.tell)(crate::apply::lost(cluster, &failure));
                self.abandon(half, &format!("nothing can be done in its cluster: {}", failure.words(false)));
                None
            }
        }
    }

    pub(in crate::apply) fn step(&self, at: usize) -> &'r Step<'a> {
        &self.rollout.steps[at]
    }

    pub(in crate::apply) fn tell(&mut self, at: usize, what: What, message: String) {
        let step = self.step(at);
        let cluster = self.targets[step.half].profile.cluster;
        let level = step.level.unwrap_or_default().to_owned();
        (self.tell)(Event { level, ..Event::of_object(cluster, &step.object.id, what, message) });
    }

    /// Whether others that need a step may begin: it is there, or ready where that is what they need.
    fn is_met(&self, at: usize, readiness: bool) -> bool {
        match self.states[at] {
            State::Done => true,
            State::There { .. } => !readiness,
            _ => false,
        }
    }

    /// Steps that need something which will not come, and what needs those in turn.
    pub(in crate::apply) fn block(&mut self) {
        while let Some((at, other, need)) = self.blocked() {
            let message = format!("it needs {}, {}", need.words(), self.step(other).object.id);
            self.states[at] = State::Failed;
            self.tell(at, What::Blocked, message);
        }
    }

    fn blocked(&self) -> Option<(usize, usize, Need)> {
        let waits = (0..self.states.len()).filter(|at| matches!(self.states[*at], State::Waits));
        let mut missing =
            waits.flat_map(|at| self.step(at).needs.iter().map(move |need| (at, need.0, need.1)));
        missing.find(|(_, other, _)| matches!(self.states[*other], State::Failed))
    }

    fn startable(&self) -> Vec<usize> {
        let open: Vec<usize> = (0..self.sides.len()).map(|half| self.open_stage(half)).collect();
        let begins = |at: &usize| {
            let step = self.step(*at);
            matches!(self.states[*at], State::Waits)
                && self.side(step.half).is_some()
                && step.stage <= open[step.half]
                && step.needs.iter().all(|(other, need)| self.is_met(*other, need.is_of_readiness()))
        };
        (0..self.states.len()).filter(begins).collect()
    }

    /// The first stage of a cluster that is not settled.
    fn open_stage(&self, half: usize) -> usize {
        // A level waits for the readiness of those before it once everything was there.
        let strict = self.options.wait && self.side(half).is_some_and(|side| side.known.installed);
        let unsettled = |(at, step): (usize, &Step<'_>)| {
            let settled = match self.states[at] {
                // What others must bring may be what those behind it are for.
                State::Done | State::Failed | State::Later => true,
                State::There { .. } => !strict,
                State::Waits | State::Runs => false,
            };
            (step.half == half && !settled).then_some(step.stage)
        };
        self.rollout.steps.iter().enumerate().filter_map(unsettled).min().unwrap_or(usize::MAX)
    }

    fn perform(&self, at: usize) -> Work<'r, 'a> {
        let (step, options) = (self.step(at), self.options);
        let side = self.side(step.half);
        Box::pin(async move {
            let Some(side) = side else {
                return Outcome::Performed(at, Box::new(Err(Problem::new("no cluster"))));
            };
            let result = match step::perform(side, step.object, step.action, options).await {
                Err(problem) => Err(problem.unless_others_are_answered(side).await),
                done => done,
            };
            Outcome::Performed(at, Box::new(result))
        })
    }

    fn performed(&mut self, at: usize, result: Result<Done, Problem>) -> Option<Work<'r, 'a>> {
        let done = match result {
            Ok(done) => done,
            Err(problem) => return self.missed(at, problem),
        };
        self.tell(at, done.what, done.note.to_owned());
        self.wrote |= done.what != What::Unchanged;
        if let Some(entry) = done.entry {
            self.entries.insert(at, entry);
        }
        match done.live {
            Some(live) if self.waits_for_readiness(at) => {
                let manifest = body::manifest(self.step(at).object);
                self.states[at] = State::There { manifest, since: Instant::now(), seen: String::new() };
                // What is as it was may have been broken by what was changed before it.
                if self.wrote && done.what == What::Unchanged { None } else { self.looked(at, Ok(live)) }
            }
            _ => {
                self.states[at] = State::Done;
                None
            }
        }
    }

    /// A step could not be done: now, or at all.
    fn missed(&mut self, at: usize, problem: Problem) -> Option<Work<'r, 'a>> {
        if may_pass(&problem, self.options) {
            return Some(self.later(at, problem));
        }
        self.failed(at, &problem);
        None
    }

    pub(in crate::apply) fn failed(&mut self, at: usize, problem: &Problem) {
        self.states[at] = State::Failed;
        self.tell(at, What::Failed, problem.message.clone());
        if problem.verdict == Verdict::Lost {
            // A cluster that stopped to answer is not asked for everything else as well.
            self.abandon(self.step(at).half, &format!("its cluster does not answer: {}", problem.message));
        }
    }

    /// What has not begun in a cluster, and what is waited for there, is left as it is.
    fn abandon(&mut self, half: usize, why: &str) {
        for at in 0..self.states.len() {
            let ends = matches!(self.states[at], State::Waits | State::Later | State::There { .. });
            if ends && self.step(at).half == half {
                self.states[at] = State::Failed;
                self.tell(at, What::Blocked, why.to_owned());
            }
        }
    }
}
