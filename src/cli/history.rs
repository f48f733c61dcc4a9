//! `transship history`

use std::fmt::Write;

use crate::apply::{self, ClusterHistory, RunRecord};
use crate::diagnostic::Diagnostics;
use crate::object::Cluster;
use crate::show;
use clap::Args;

use super::clusters::{Clusters, block_on};
use super::{Inputs, Outcome, output};

/// List the runs that changed something, as the inventories record them
#[derive(Args)]
#[command(after_help = "\
Example:
  transship history --topology standalone

The exit code is 1 if no inventory records a run.")]
pub(super) struct History {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    clusters: Clusters,
}

impl History {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let project = self.inputs.load()?;
        let profiles = self.clusters.profiles(&project)?;
        let plans = crate::render_unchecked(&project.context(), &profiles)?;
        block_on(async {
            let targets = self.clusters.targets("history", &project, &profiles, &plans).await?;
            let mut failed = false;
            let histories = apply::history(targets, &self.clusters.options(), |event| {
                failed = true;
                output::note(&event.line());
            })
            .await?;
            let is_empty = histories.iter().all(|history| history.runs.is_empty());
            if self.clusters.is_json() {
                output::json(&json_lines(&histories))?;
            } else {
                output::result(&table(&histories))?;
            }
            Ok(match (failed, is_empty) {
                (true, _) => Outcome::ClusterFailed,
                (false, true) => Outcome::Found,
                (false, false) => Outcome::Done,
            })
        })
    }
}

/// Formats the runs as one JSON object per line.
fn json_lines(histories: &[ClusterHistory]) -> String {
    let mut lines = String::new();
    for history in histories {
        for run in &history.runs {
            let line = serde_json::json!({"cluster": history.cluster.name(), "run": run});
            let _ = writeln!(lines, "{line}");
        }
    }
    lines
}

/// Formats the runs as a table, the latest last.
fn table(histories: &[ClusterHistory]) -> String {
    let mut rows =
        vec![["CLUSTER", "STARTED", "RUN", "COMMAND", "OUTCOME", "PAYLOAD", "USER"].map(str::to_owned)];
    for history in histories {
        rows.extend(history.runs.iter().map(|run| row(history.cluster, run)));
    }
    show::aligned(&rows)
}

fn row(cluster: Cluster, run: &RunRecord) -> [String; 7] {
    let cluster = if cluster == Cluster::Both { "cluster" } else { cluster.name() };
    let or_dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    [
        cluster.to_owned(),
        or_dash(&run.started),
        or_dash(&run.id),
        or_dash(&run.command),
        run.outcome.word().to_owned(),
        or_dash(&run.payload),
        or_dash(&run.user),
    ]
}
