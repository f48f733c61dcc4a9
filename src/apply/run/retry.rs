//! What could not be done yet is tried again while somebody waits, and not for ever.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::apply::Options;
use crate::apply::decide::event::What;
use crate::apply::run::rollout_run::{Outcome, Run, State, Work};
use crate::apply::wire::error::{Problem, Verdict};

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What is known of a step that could not be done yet.
pub(in crate::apply) struct Tried {
    since: Instant,
    /// Why, as it was told last.
    seen: String,
    /// Before the next try.
    pause: Duration,
}

/// Whether it is worth waiting until something is otherwise, and somebody does.
pub(in crate::apply) fn may_pass(problem: &Problem, options: &Options) -> bool {
    options.wait && problem.verdict != Verdict::Failed && Instant::now() < options.deadline()
}

impl<'r, 'a> Run<'r, 'a> {
    /// Puts a step off until the next try.
    pub(in crate::apply) fn later(&mut self, at: usize, problem: Problem) -> Work<'r, 'a> {
        let new = || Tried { since: Instant::now(), seen: String::new(), pause: FIRST_PAUSE };
        let tried = self.tried.entry(at).or_insert_with(new);
        let pause = tried.pause;
        tried.pause = (pause * 2).min(LONGEST_PAUSE);
        let is_news = tried.seen != problem.message;
        tried.seen.clone_from(&problem.message);
        self.states[at] = State::Later;
        if is_news {
            self.tell(at, What::Waiting, problem.message);
        }
        let until_late = self.options.deadline().saturating_duration_since(Instant::now());
        Box::pin(async move {
            sleep(pause.min(until_late)).await;
            Outcome::Again(at)
        })
    }

    /// It is time for the next try, unless the step was given up meanwhile.
    pub(in crate::apply) fn again(&mut self, at: usize) {
        if matches!(self.states[at], State::Later) {
            self.states[at] = State::Waits;
        }
    }

    /// At the deadline everything that is waited for is told, with what was seen last and since when.
    pub(in crate::apply) fn give_up_if_late(&mut self) {
        if Instant::now() < self.options.deadline() {
            return;
        }
        for at in 0..self.states.len() {
            let message = match (&self.states[at], self.tried.get(&at)) {
                (State::There { since, seen, .. }, _) => {
                    format!("it is not ready after {} s: {seen}", since.elapsed().as_secs())
                }
                (State::Waits | State::Later, Some(Tried { since, seen, .. })) => {
                    format!("{seen}, for {} s", since.elapsed().as_secs())
                }
                _ => continue,
            };
            self.failed(at, &Problem::new(message));
        }
        self.block();
        for at in 0..self.states.len() {
            if matches!(self.states[at], State::Waits) && self.side(self.step(at).half).is_some() {
                self.states[at] = State::Failed;
                self.tell(at, What::Blocked, "the time was over before it could begin".to_owned());
            }
        }
    }
}
