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

pub(in crate::apply) struct Gate {
    state: RefCell<State>,
    left: Notify,
}

struct State {
    limit: usize,
    /// How often the limit was halved.
    halved: usize,
    inside: usize,
    answers: usize,
    retries: f64,
    filled: Instant,
}

/// One request under way.
pub(in crate::apply) struct Pass<'g> {
    gate: &'g Gate,
    /// How often the limit was halved before it.
    halved: usize,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.gate.state.borrow_mut().inside -= 1;
        self.gate.left.notify_one();
    }
}

impl Pass<'_> {
    /// An answer that was no complaint.
    pub(in crate::apply) fn answered(&self) {
        let mut state = self.gate.state.borrow_mut();
        state.answers += 1;
        if state.answers >= GROWTH && state.limit < MOST {
            state.answers = 0;
            state.limit += 1;
            self.gate.left.notify_one();
        }
    }

    /// The server said that it is too much. All who were under way together hear that; it is one complaint.
    pub(in crate::apply) fn too_much(&self) {
        let mut state = self.gate.state.borrow_mut();
        state.answers = 0;
        if self.halved == state.halved {
            state.halved += 1;
            state.limit = (state.limit / 2).max(1);
        }
    }
}

impl Gate {
    pub(in crate::apply) fn new() -> Self {
        let (limit, retries, filled) = (MOST, RETRIES, Instant::now());
        let state = State { limit, halved: 0, inside: 0, answers: 0, retries, filled };
        Self { state: RefCell::new(state), left: Notify::new() }
    }

    /// Waits for room.
    pub(in crate::apply) async fn enter(&self) -> Pass<'_> {
        loop {
            {
                let mut state = self.state.borrow_mut();
                if state.inside < state.limit {
                    state.inside += 1;
                    return Pass { gate: self, halved: state.halved };
                }
            }
            self.left.notified().await;
        }
    }

    /// Waits until another try is in the budget.
    pub(in crate::apply) async fn retry(&self) {
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

#[cfg(test)]
mod tests {
    use super::{Gate, MOST};

    fn limit(gate: &Gate) -> usize {
        gate.state.borrow().limit
    }

    #[tokio::test]
    async fn complaints_of_one_burst_are_one_complaint() {
        let gate = Gate::new();
        let mut burst = Vec::new();
        for _ in 0..MOST {
            burst.push(gate.enter().await);
        }
        burst.iter().for_each(super::Pass::too_much);
        assert_eq!(limit(&gate), 8);
        drop(burst);
        gate.enter().await.too_much();
        assert_eq!(limit(&gate), 4);
        for _ in 0..5 {
            gate.enter().await.too_much();
        }
        assert_eq!(limit(&gate), 1, "one request can always be made");
    }

    #[tokio::test]
    async fn answers_make_room_again() {
        let gate = Gate::new();
        gate.enter().await.too_much();
        for (answers, expected) in [(15, 8), (1, 9), (16, 10), (1000, MOST)] {
            for _ in 0..answers {
                gate.enter().await.answered();
            }
            assert_eq!(limit(&gate), expected);
        }
    }
}
