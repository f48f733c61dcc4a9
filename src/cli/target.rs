//! Which clusters a topology is rolled out to, and how they are reached.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use transship::Project;
use transship::apply::{Approval, Endpoint, Event, Options, Summary, Target};
use transship::diagnostic::{Diagnostic, Diagnostics};
use transship::language::{Profile, Selector};
use transship::object::Cluster;
use transship::order::Plan;

use super::progress::Progress;
use super::wait_for::duration;
use super::{Outcome, output};

#[derive(Args)]
pub(super) struct Clusters {
    /// The topology
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,
    /// The kubeconfig of a standalone cluster; without it, KUBECONFIG, ~/.kube/config, or the pod's own token
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    kubeconfig: Option<PathBuf>,
    /// A context of it
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    context: Option<String>,
    /// The kubeconfig of the management cluster; without it, as for a standalone cluster
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    management_kubeconfig: Option<PathBuf>,
    /// A context of it
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    management_context: Option<String>,
    /// The kubeconfig of the guest
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    guest_kubeconfig: Option<PathBuf>,
    /// A context of it
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    guest_context: Option<String>,
    /// Act as this user
    #[arg(long = "as", value_name = "USER", help_heading = "Clusters")]
    act_as: Option<String>,
    /// After this long everything that is not done is given up
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
    /// For this long a request is tried again that a cluster does not answer, or answers with "later"
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    request_timeout: Duration,
    /// What happens, as lines for people or of JSON
    #[arg(short = 'o', value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Lines for people
    Text,
    /// An event a line, and the summary last
    Json,
}

impl Clusters {
    /// The profiles of the topology.
    pub(super) fn profiles<'p>(&self, project: &'p Project) -> Result<Vec<&'p Profile>, Diagnostics> {
        let all: Vec<&Profile> = project.profiles.iter().collect();
        let mut names: Vec<&str> = all.iter().map(|profile| profile.topology.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let Some(topology) = &self.topology else {
            return Err(Diagnostic::error("which topology?")
                .help(format!("choose one with --topology: {}", names.join(", ")))
                .into());
        };
        let found: Vec<&Profile> = all.into_iter().filter(|profile| profile.topology == *topology).collect();
        if found.is_empty() {
            return Err(Diagnostic::error(format!("there is no topology `{topology}`"))
                .help(format!("there are {}", names.join(", ")))
                .into());
        }
        Ok(found)
    }

    /// The clusters of some profiles, with what belongs there.
    pub(super) async fn targets<'a>(
        &self,
        profiles: &[&'a Profile],
        plans: &'a [Plan],
    ) -> Result<Vec<Target<'a>>, Diagnostics> {
        self.fit(profiles)?;
        let mut targets = Vec::new();
        for (profile, plan) in profiles.iter().zip(plans) {
            let client = self.endpoint(profile.cluster)?.connect().await?;
            targets.push(Target { client, profile, plan });
        }
        Ok(targets)
    }

    /// A cluster that nothing is done in is not named, except by mistake: another one would be taken in its place.
    fn fit(&self, profiles: &[&Profile]) -> Result<(), Diagnostic> {
        for (cluster, prefix, given) in [
            (Cluster::Both, "", [self.kubeconfig.is_some(), self.context.is_some()]),
            (
                Cluster::Management,
                "management-",
                [self.management_kubeconfig.is_some(), self.management_context.is_some()],
            ),
            (Cluster::Guest, "guest-", [self.guest_kubeconfig.is_some(), self.guest_context.is_some()]),
        ] {
            let flags = ["kubeconfig", "context"];
            let given = flags.into_iter().zip(given).find(|(_, given)| *given);
            if let Some((flag, _)) = given
                && profiles.iter().all(|profile| profile.cluster != cluster)
            {
                let named = profiles.iter().map(|profile| match profile.cluster {
                    Cluster::Both => "--kubeconfig or --context",
                    Cluster::Management => "--management-kubeconfig or --management-context",
                    Cluster::Guest => "--guest-kubeconfig or --guest-context",
                });
                return Err(Diagnostic::error(format!("--{prefix}{flag} names no cluster of this topology"))
                    .note("nothing would be done in the cluster that it names")
                    .help(format!("give {}", named.collect::<Vec<_>>().join(", "))));
            }
        }
        Ok(())
    }

    fn endpoint(&self, cluster: Cluster) -> Result<Endpoint, Diagnostic> {
        let (kubeconfig, context) = match cluster {
            Cluster::Both => (&self.kubeconfig, &self.context),
            Cluster::Management => (&self.management_kubeconfig, &self.management_context),
            Cluster::Guest => (&self.guest_kubeconfig, &self.guest_context),
        };
        if cluster == Cluster::Guest && kubeconfig.is_none() && context.is_none() {
            return Err(Diagnostic::error("which cluster is the guest?")
                .note("without a word it would be the management cluster")
                .help("give --guest-kubeconfig or --guest-context"));
        }
        Ok(Endpoint { kubeconfig: kubeconfig.clone(), context: context.clone(), act_as: self.act_as.clone() })
    }

    /// How it is done, where nothing else is said.
    pub(super) fn options(&self) -> Options {
        Options {
            wait: false,
            timeout: self.timeout,
            patience: self.request_timeout,
            adopt: false,
            recreate: Vec::<Selector>::new(),
            prune: false,
            approval: Approval::default(),
            begun: tokio::time::Instant::now(),
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// What would happen is the result of a dry run.
    pub(super) fn show(&self, event: &Event) {
        let _ = output::result(&(if self.is_json() { event.json() } else { event.line() } + "\n"));
    }

    /// Tells what happens to the objects of some profiles.
    pub(super) fn progress(&self, profiles: &[&Profile], plans: &[Plan]) -> Progress {
        let totals = profiles.iter().zip(plans);
        Progress::new(self.format, totals.map(|(profile, plan)| (profile.cluster, plan.objects.len())))
    }

    pub(super) fn end(&self, summary: &Summary) -> Result<Outcome, Diagnostics> {
        output::result(&match self.format {
            Format::Json => summary.json() + "\n",
            Format::Text => summary.lines(),
        })?;
        Ok(if summary.has_problems() { Outcome::ClusterFailed } else { Outcome::Done })
    }
}

/// One thread is enough: everything waits for the network.
pub(super) fn block_on<T>(future: impl Future<Output = Result<T, Diagnostics>>) -> Result<T, Diagnostics> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Diagnostic::error(format!("no runtime: {error}")))?.block_on(future)
}
