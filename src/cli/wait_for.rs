//! `transship wait-for`

use std::path::PathBuf;
use std::time::Duration;

use crate::apply::{self, Endpoint, WaitProgress, WaitTarget};
use crate::diagnostic::Diagnostics;
use clap::Args;

use super::clusters::block_on;
use super::{Outcome, output};

/// Wait until objects exist in a cluster
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship wait-for --kubeconfig guest.kubeconfig ClusterOperator.config.openshift.io/storage
  transship wait-for --timeout 30s CSISnapshotController.operator.openshift.io/cluster Secret/kube-system/token")]
pub(super) struct WaitFor {
    /// The objects to wait for: Kind.group/name or Kind.group/namespace/name
    #[arg(value_name = "OBJECT", required = true)]
    objects: Vec<WaitTarget>,
    /// The kubeconfig of the cluster; by default KUBECONFIG, ~/.kube/config or the pod's own ServiceAccount
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How long to wait; exit code 1 after that
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
}

impl WaitFor {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        block_on(async {
            let endpoint = Endpoint {
                kubeconfig: self.kubeconfig.clone(),
                timeout: Some(self.timeout),
                user_agent: vec!["wait-for".to_owned()],
                ..Endpoint::default()
            };
            let client = endpoint.connect(|warning| output::warn(&[warning])).await?;
            let missing = apply::wait_for(&client, &self.objects, self.timeout, report).await?;
            if let Some((_, state)) = missing.iter().find(|(_, state)| state.is_permanent()) {
                output::note(&format!("gave up on the cluster of {}: {state}", self.kubeconfig_name()));
                return Ok(Outcome::ClusterFailed);
            }
            for (object, state) in &missing {
                output::note(&format!("{object}: gave up after {}: {state}", format_duration(self.timeout)));
            }
            Ok(if missing.is_empty() { Outcome::Done } else { Outcome::Found })
        })
    }

    /// Returns the kubeconfig for messages.
    fn kubeconfig_name(&self) -> String {
        self.kubeconfig
            .as_ref()
            .map_or_else(|| "the default kubeconfig".to_owned(), |path| path.display().to_string())
    }
}

fn report(progress: &WaitProgress<'_>) {
    let WaitProgress { object, state, elapsed } = progress;
    output::note(&format!("{object}: {state} (after {})", format_duration(*elapsed)));
}

fn format_duration(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// Reads `90s`, `10m` or `1h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let read = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*seconds).filter(|all| *all <= 86_400)
    });
    read.map(Duration::from_secs)
        .ok_or_else(|| "write seconds, minutes or hours, such as 90s, 10m or 1h; at most a day".to_owned())
}
