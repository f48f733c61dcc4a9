//! A project that the library applies in this process, so that its future can be dropped in the middle of a request.

use std::path::Path;
use std::time::Duration;

use transship::Cluster;
use transship::Diagnostic;
use transship::Plan;
use transship::Profile;
use transship::apply::{
    self, Approval, DeleteOutcome, Endpoint, Event, Options, Rebinding, Rotation, Summary, TargetCluster,
};

use crate::test_cluster::TestCluster;

pub(crate) struct Project {
    of: transship::Project,
    topology: &'static str,
    plans: Vec<Plan>,
    /// The largest size of the list of objects in one part of an inventory.
    part_size: usize,
    /// How far ahead of the clock it acts.
    pub(crate) ahead: Duration,
    /// The credentials to renew.
    pub(crate) rotation: Rotation,
    /// Whether to wait until every object is ready.
    pub(crate) wait: bool,
    /// How long clients need to read the authorities that they trust.
    pub(crate) trust_delay: Duration,
}

/// The command to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Apply,
    /// `apply --rebind`
    Rebind,
    Delete,
}

impl Project {
    pub(crate) fn load(folder: &Path, topology: &'static str) -> Self {
        let of = transship::Project::load(folder).unwrap();
        let plans = transship::render(&of.context(), &profiles(&of, topology)).unwrap();
        let Options { part_size, ahead, rotation, wait, trust_delay, .. } = Options::default();
        Self { of, topology, plans, part_size, ahead, rotation, wait, trust_delay }
    }

    /// Stores inventories in shards.
    pub(crate) fn with_shards(mut self) -> Self {
        self.part_size = 300;
        self
    }

    /// Runs a command on the clusters of the profiles.
    pub(crate) async fn run(
        &self,
        verb: Verb,
        clusters: &[(Cluster, &TestCluster)],
    ) -> Result<Summary, Diagnostic> {
        let mut targets = Vec::new();
        for (profile, plan) in profiles(&self.of, self.topology).into_iter().zip(&self.plans) {
            let (_, cluster) = clusters.iter().find(|(cluster, _)| *cluster == profile.cluster).unwrap();
            let kubeconfig = Some(cluster.kubeconfig().to_owned());
            let client = Endpoint { kubeconfig, ..Endpoint::default() }.connect(|_| {}).await.unwrap();
            let render_digest = self.of.render_digest();
            let payload_version = self.of.payload.version().unwrap_or_default().to_owned();
            targets.push(TargetCluster { client, profile, plan, render_digest, payload_version });
        }
        let options = Options {
            // A busy API server takes long to delete a CRD.
            timeout: Duration::from_secs(300),
            retry_timeout: Duration::from_secs(10),
            prune: true,
            approval: Approval::All,
            // The next run waits that long for an interrupted one.
            lease_duration: Duration::from_secs(1),
            part_size: self.part_size,
            ahead: self.ahead,
            rotation: self.rotation.clone(),
            wait: self.wait,
            trust_delay: self.trust_delay,
            rebinding: if verb == Verb::Rebind { Rebinding::On } else { Rebinding::Off },
            ..Options::default()
        };
        let tell = |event: &Event| {
            if event.kind.is_problem() {
                eprintln!("{}", event.line());
            }
        };
        match verb {
            Verb::Apply | Verb::Rebind => apply::apply(targets, &options, tell).await,
            Verb::Delete => Ok(match apply::delete(targets, &options, tell).await? {
                DeleteOutcome::Done(summary) => summary,
                // An interrupted run deleted everything.
                DeleteOutcome::NothingFound(_) => Summary::default(),
            }),
        }
    }
}

fn profiles<'p>(project: &'p transship::Project, topology: &str) -> Vec<&'p Profile> {
    project.profiles.iter().filter(|profile| profile.topology == topology).collect()
}
