//! `transship wait-for`

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use transship::apply::{self, Awaited, Progress};
use transship::diagnostic::{Diagnostic, Diagnostics};

use super::{Outcome, output};

/// Wait until objects exist in a cluster, and with them their kinds
#[derive(Args)]
#[command(after_help = "\
Examples:
  transship wait-for --kubeconfig guest.kubeconfig ClusterOperator.config.openshift.io/storage
  transship wait-for --timeout 30s CSISnapshotController.operator.openshift.io/cluster Secret/kube-system/token")]
pub(super) struct WaitFor {
    /// What must exist: Kind.group/name or Kind.group/namespace/name
    #[arg(value_name = "OBJECT", required = true)]
    objects: Vec<Awaited>,
    /// The kubeconfig of the cluster; without it, KUBECONFIG, ~/.kube/config, or the pod's own token
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// After this long it is given up, with exit code 1
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
}

impl WaitFor {
    pub(super) fn run(self) -> Result<Outcome, Diagnostics> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Diagnostic::error(format!("no runtime: {error}")))?;
        runtime.block_on(async {
            let client = apply::connect(self.kubeconfig.as_deref()).await?;
            let missing = apply::wait_for(&client, &self.objects, self.timeout, tell).await?;
            for (object, seen) in &missing {
                output::note(&format!("{object}: gave up after {}: {seen}", shown(self.timeout)));
            }
            Ok(if missing.is_empty() { Outcome::Done } else { Outcome::Found })
        })
    }
}

fn tell(progress: &Progress<'_>) {
    let Progress { object, seen, after } = progress;
    output::note(&format!("{object}: {seen} (after {})", shown(*after)));
}

fn shown(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds >= 60 && seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// `90s`, `10m` or `1h`
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let read = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*seconds).filter(|all| *all <= 86_400)
    });
    read.map(Duration::from_secs)
        .ok_or_else(|| "write seconds, minutes or hours, such as 90s, 10m or 1h; at most a day".to_owned())
}
