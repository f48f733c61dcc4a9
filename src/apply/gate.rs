//! How much is asked of one API server at a time: less when it says that it is too much, and then slowly more again.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// So many requests are under way to start with, and never more.
const MOST: usize = 16;
/// So many answers in a row make room for one more.
const GROWTH: usize = 16;
/// So many retries may come at once; behind them, this many a second.
const RETRIES: f64 = 20.0;
const RETRIES_A_SECOND: f64 = 2.0;

pub(super) struct Gate {
    state: RefCell<State>,
    left: Notify,
}

struct State {
    limit: usize,
    inside: usize,
    answers: usize,
    retries: f64,
    filled: Instant,
}

/// One request under way.
pub(super) struct Pass<'g>(&'g Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().inside -= 1;
        self.0.left.notify_one();
    }
}

impl Gate {
    pub(super) fn new() -> Self {
        let state = State { limit: MOST, inside: 0, answers: 0, retries: RETRIES, filled: Instant::now() };
        Self { state: RefCell::new(state), left: Notify::new() }
    }

    /// Waits for room.
    pub(super) async fn enter(&self) -> Pass<'_> {
        loop {
            {
                let mut state = self.state.borrow_mut();
                if state.inside < state.limit {
                    state.inside += 1;
                    return Pass(self);
                }
            }
            self.left.notified().await;
        }
    }

    /// An answer that was no complaint.
    pub(super) fn answered(&self) {
        let mut state = self.state.borrow_mut();
        state.answers += 1;
        if state.answers >= GROWTH && state.limit < MOST {
            state.answers = 0;
            state.limit += 1;
            self.left.notify_one();
        }
    }

    /// The server said that it is too much.
    pub(super) fn too_much(&self) {
        let mut state = self.state.borrow_mut();
        state.limit = (state.limit / 2).max(1);
        state.answers = 0;
    }

    /// Waits until another try is in the budget.
    pub(super) async fn retry(&self) {
        loop {
            let wait = self.state.borrow_mut().take_retry();
            match wait {
                None => return,
                Some(wait) => sleep(wait).await,
            }
        }
    }
}

impl State {
    /// Takes one retry from the budget, or says how long it is empty.
    fn take_retry(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let gained = now.duration_since(self.filled).as_secs_f64() * RETRIES_A_SECOND;
        self.retries = (self.retries + gained).min(RETRIES);
        self.filled = now;
        if self.retries >= 1.0 {
            self.retries -= 1.0;
            return None;
        }
        Some(Duration::from_secs_f64((1.0 - self.retries) / RETRIES_A_SECOND))
    }
}
