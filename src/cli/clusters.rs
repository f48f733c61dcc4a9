//! The flags that name the clusters of a topology.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use crate::Project;
use crate::apply::{Endpoint, Event, Options, RequestLimits, Summary, TargetCluster};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::language::Profile;
use crate::object::Cluster;
use crate::order::Plan;
use clap::{Args, ValueEnum};

use super::command_run::CommandRun;
use super::progress::Progress;
use super::wait_for::duration;
use super::{Outcome, output, topology};

#[derive(Args)]
pub(super) struct Clusters {
    /// The topology whose clusters the command uses
    #[arg(long, value_name = "NAME")]
    topology: Option<String>,
    /// The kubeconfig of a standalone cluster; by default KUBECONFIG, ~/.kube/config or the pod's own ServiceAccount
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    context: Option<String>,
    /// The kubeconfig of the management cluster; same default as --kubeconfig
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    management_kubeconfig: Option<PathBuf>,
    /// The context of the management cluster's kubeconfig
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    management_context: Option<String>,
    /// The kubeconfig of the guest
    #[arg(long, value_name = "FILE", help_heading = "Clusters")]
    guest_kubeconfig: Option<PathBuf>,
    /// The context of the guest's kubeconfig
    #[arg(long, value_name = "NAME", help_heading = "Clusters")]
    guest_context: Option<String>,
    /// The user to impersonate
    #[arg(long = "as", value_name = "USER", help_heading = "Clusters")]
    act_as: Option<String>,
    /// The time limit for the whole command
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
    /// How long to retry a request that fails transiently
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    retry_timeout: Duration,
    /// How long to wait for another command that writes to the same clusters
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = duration)]
    lock_timeout: Duration,
    /// The largest number of requests to one cluster that are in flight at the same time
    #[arg(long, value_name = "NUMBER", default_value_t = RequestLimits::default().in_flight)]
    concurrency: NonZeroUsize,
    /// The largest number of requests to one cluster per second; by default any number
    #[arg(long, value_name = "NUMBER")]
    qps: Option<NonZeroU32>,
    /// The output format
    #[arg(short = 'o', value_enum, default_value_t = Format::Text)]
    format: Format,
    #[arg(skip)]
    run: CommandRun,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Lines of text
    Text,
    /// One JSON object per line; the summary is last
    Json,
}

impl Clusters {
    /// Returns the profiles of the topology.
    pub(super) fn profiles<'p>(&self, project: &'p Project) -> Result<Vec<&'p Profile>, Diagnostics> {
        Ok(topology::profiles(project, self.topology.as_deref())?)
    }

    /// Returns the clusters of the profiles, with the objects that are rendered for them.
    pub(super) async fn targets<'a>(
        &self,
        command: &str,
        project: &Project,
        profiles: &[&'a Profile],
        plans: &'a [Plan],
    ) -> Result<Vec<TargetCluster<'a>>, Diagnostics> {
        // A command may leave out clusters of the topology.
        self.check_flags(&self.profiles(project)?)?;
        project.require_hosted_control_plane(profiles)?;
        let render_digest = project.render_digest();
        let payload_version = project.payload.version().unwrap_or_default().to_owned();
        let user_agent = self.user_agent(command, profiles, plans);
        let mut targets = Vec::new();
        for (profile, plan) in profiles.iter().zip(plans) {
            let endpoint = Endpoint { user_agent: user_agent.clone(), ..self.endpoint(profile.cluster)? };
            let client = endpoint.connect(|warning| output::warn(&[warning])).await?;
            let (render_digest, payload_version) = (render_digest.clone(), payload_version.clone());
            targets.push(TargetCluster { client, profile, plan, render_digest, payload_version });
        }
        Ok(targets)
    }

    /// Returns what the user agent says about the run: the command, the topology, the hosted cluster and the id.
    fn user_agent(&self, command: &str, profiles: &[&Profile], plans: &[Plan]) -> Vec<String> {
        let mut parts = vec![command.to_owned()];
        parts.extend(profiles.first().map(|profile| profile.topology.clone()));
        let hosted = profiles.iter().zip(plans).find(|(profile, _)| profile.cluster == Cluster::Management);
        parts.extend(hosted.and_then(|(_, plan)| plan.namespace.clone()));
        parts.push(format!("run {}", self.run.id));
        parts
    }

    /// Refuses flags for clusters that are not in the topology. The command would otherwise ignore them and use the default
    /// kubeconfig.
    fn check_flags(&self, profiles: &[&Profile]) -> Result<(), Diagnostic> {
        for (flag, cluster, is_given) in [
            ("--kubeconfig", Cluster::Both, self.kubeconfig.is_some()),
            ("--context", Cluster::Both, self.context.is_some()),
            ("--management-kubeconfig", Cluster::Management, self.management_kubeconfig.is_some()),
            ("--management-context", Cluster::Management, self.management_context.is_some()),
            ("--guest-kubeconfig", Cluster::Guest, self.guest_kubeconfig.is_some()),
            ("--guest-context", Cluster::Guest, self.guest_context.is_some()),
        ] {
            if is_given && profiles.iter().all(|profile| profile.cluster != cluster) {
                let flags: Vec<&str> = profiles.iter().map(|profile| flags_of(profile.cluster)).collect();
                return Err(Diagnostic::error(format!("{flag} names no cluster of this topology"))
                    .note("nothing would be applied to the cluster that it names")
                    .help(format!("use {}", flags.join(", "))));
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
            return Err(Diagnostic::error("no kubeconfig or context is given for the guest")
                .note("the default kubeconfig is that of the management cluster")
                .help("use --guest-kubeconfig or --guest-context"));
        }
        Ok(Endpoint {
            kubeconfig: kubeconfig.clone(),
            context: context.clone(),
            act_as: self.act_as.clone(),
            timeout: Some(self.timeout),
            user_agent: Vec::new(),
        })
    }

    /// Returns the options with their defaults.
    pub(super) fn options(&self) -> Options {
        Options {
            timeout: self.timeout,
            retry_timeout: self.retry_timeout,
            lock_timeout: self.lock_timeout,
            limits: RequestLimits { in_flight: self.concurrency, per_second: self.qps },
            run_id: self.run.id.clone(),
            author: author(),
            ..Options::default()
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints an event to stdout: the result of a dry run.
    pub(super) fn print(&self, event: &Event) {
        let _ = match self.format {
            Format::Json => output::json(&(event.json(&self.run.stamp(true)) + "\n")),
            Format::Text => output::result(&(event.dry_run_line() + "\n")),
        };
    }

    /// Returns a printer for the events of a rollout.
    pub(super) fn progress(&self, profiles: &[&Profile], plans: &[Plan]) -> Progress {
        let totals = profiles.iter().zip(plans);
        Progress::new(
            self.format,
            &self.run,
            totals.map(|(profile, plan)| (profile.cluster, plan.objects.len())),
        )
    }

    /// Prints the summary of a dry run.
    pub(super) fn finish_dry_run(&self, summary: &Summary) -> Result<Outcome, Diagnostics> {
        match self.format {
            Format::Json => output::json(&(summary.json(&self.run.stamp(true)) + "\n")),
            Format::Text => output::result(&summary.dry_run_lines()),
        }?;
        Ok(if summary.has_problems() { Outcome::ClusterFailed } else { Outcome::Done })
    }

    /// Prints the summary.
    pub(super) fn finish(&self, summary: &Summary) -> Result<Outcome, Diagnostics> {
        match self.format {
            Format::Json => output::json(&(summary.json(&self.run.stamp(false)) + "\n"))?,
            Format::Text => {
                output::result(&summary.lines())?;
                output::note(&format!("run {} took {:.1} s", self.run.id, self.run.elapsed().as_secs_f64()));
            }
        }
        Ok(if summary.has_problems() { Outcome::ClusterFailed } else { Outcome::Done })
    }
}

/// Returns the user and the machine that run the command, for people who wait for it.
fn author() -> String {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default();
    let host = std::env::var("HOSTNAME").or_else(|_| std::fs::read_to_string("/proc/sys/kernel/hostname"));
    let host = host.unwrap_or_default();
    match (user.as_str(), host.trim()) {
        ("", host) => host.to_owned(),
        (user, "") => user.to_owned(),
        (user, host) => format!("{user}@{host}"),
    }
}

fn flags_of(cluster: Cluster) -> &'static str {
    match cluster {
        Cluster::Both => "--kubeconfig or --context",
        Cluster::Management => "--management-kubeconfig or --management-context",
        Cluster::Guest => "--guest-kubeconfig or --guest-context",
    }
}

/// Runs a future on this thread. One thread is enough, because everything waits for the network.
pub(super) fn block_on<T>(future: impl Future<Output = Result<T, Diagnostics>>) -> Result<T, Diagnostics> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .map_err(|error| Diagnostic::error(format!("cannot start the async runtime: {error}")))?
        .block_on(future)
}
