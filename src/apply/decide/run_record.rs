//! The history of an inventory: the runs that changed something.

use serde::{Deserialize, Serialize};

use crate::apply::decide::event::single_line;

/// How many runs an inventory records.
const MAX_RUNS: usize = 20;
/// The longest line of a history that transship reads.
const MAX_LINE: usize = 4096;

/// A run that changed something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct RunRecord {
    /// The ID of the run, which events and the Lease name as well.
    pub(crate) id: String,
    /// The command.
    pub(crate) command: String,
    /// When it started, in UTC.
    pub(crate) started: String,
    /// When it ended, in UTC; empty if it did not.
    pub(crate) ended: String,
    /// How it ended.
    pub(crate) outcome: Outcome,
    /// The user, as the API server knows them.
    pub(crate) user: String,
    /// The version of transship.
    pub(crate) version: String,
    /// The version of the payload; empty if it has none.
    pub(crate) payload: String,
    /// The render digest.
    pub(crate) render_digest: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    /// It has not ended.
    #[default]
    Running,
    /// Everything was done.
    Complete,
    /// Something failed.
    Incomplete,
    /// Only a part of the objects was wanted, and that part was done.
    Partial,
    /// Something interrupted it, and another run followed.
    Interrupted,
}

impl Outcome {
    /// Returns the word for text output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::Partial => "partial",
            Self::Interrupted => "interrupted",
        }
    }
}

/// The runs that changed something, the latest last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History(Vec<RunRecord>);

impl History {
    /// Reads the lines of a history. Ignores lines that are not a run: the guest's administrator can edit them.
    pub(crate) fn parse(text: &str) -> Self {
        let lines = text.lines().take(2 * MAX_RUNS).filter(|line| line.len() <= MAX_LINE);
        let runs = lines.filter_map(|line| serde_json::from_str::<RunRecord>(line).ok());
        Self(runs.filter(|run| !run.id.is_empty()).collect())
    }

    /// Formats the history, one run per line.
    pub(crate) fn lines(&self) -> String {
        let mut lines = String::new();
        for run in &self.0 {
            lines.push_str(&serde_json::to_string(run).unwrap_or_default());
            lines.push('\n');
        }
        lines
    }

    /// Records a run, or its end. Another run that has not ended was interrupted.
    pub(crate) fn record(&mut self, run: RunRecord) {
        self.0.retain(|other| other.id != run.id);
        for other in self.0.iter_mut().filter(|other| other.outcome == Outcome::Running) {
            other.outcome = Outcome::Interrupted;
        }
        self.0.push(run);
        let surplus = self.0.len().saturating_sub(MAX_RUNS);
        self.0.drain(..surplus);
    }

    /// Returns the runs, with texts that are safe to print.
    pub(crate) fn into_runs(self) -> Vec<RunRecord> {
        let mut runs = self.0;
        for run in &mut runs {
            let RunRecord { id, command, started, ended, user, version, payload, render_digest, .. } = run;
            for text in [id, command, started, ended, user, version, payload, render_digest] {
                *text = single_line(text);
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::{History, MAX_RUNS, Outcome, RunRecord};

    fn run(id: &str, outcome: Outcome) -> RunRecord {
        RunRecord { id: id.to_owned(), command: "apply".to_owned(), outcome, ..RunRecord::default() }
    }

    fn outcomes(history: &History) -> Vec<(&str, &str)> {
        history.0.iter().map(|run| (run.id.as_str(), run.outcome.word())).collect()
    }

    #[test]
    fn a_run_is_recorded_when_it_starts_and_when_it_ends() {
        let mut history = History::default();
        history.record(run("a", Outcome::Running));
        history.record(run("a", Outcome::Complete));
        history.record(run("b", Outcome::Running));
        assert_eq!(outcomes(&history), [("a", "complete"), ("b", "running")]);
        history.record(run("c", Outcome::Running));
        assert_eq!(outcomes(&history), [("a", "complete"), ("b", "interrupted"), ("c", "running")]);
    }

    #[test]
    fn old_runs_are_forgotten() {
        let mut history = History::default();
        for number in 0..MAX_RUNS + 3 {
            history.record(run(&number.to_string(), Outcome::Complete));
        }
        assert_eq!(history.0.len(), MAX_RUNS);
        assert_eq!(history.0[0].id, "3");
    }

    #[test]
    fn lines_survive_a_round_trip_and_other_lines_are_ignored() {
        let mut history = History::default();
        history.record(run("a", Outcome::Incomplete));
        let text = history.lines();
        assert_eq!(
            text,
            "{\"id\":\"a\",\"command\":\"apply\",\"started\":\"\",\"ended\":\"\",\"outcome\":\"incomplete\",\
             \"user\":\"\",\"version\":\"\",\"payload\":\"\",\"renderDigest\":\"\"}\n"
        );
        assert_eq!(History::parse(&format!("x\n{text}{{\"outcome\": 7}}\n[]\n")), history);
        let long = format!("{{\"id\": \"{}\"}}\n", "x".repeat(5000));
        assert_eq!(History::parse(&long), History::default());
    }

    #[test]
    fn runs_are_safe_to_print() {
        let mut history = History::default();
        history.record(run("a\u{1b}[2J\nforged", Outcome::Complete));
        assert_eq!(history.into_runs()[0].id, "a [2J forged");
    }
}
