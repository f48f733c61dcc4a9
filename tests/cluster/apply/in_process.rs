//! A project that the library applies in this process, so that its future can be dropped in the middle of a request.

use std::path::Path;
use std::time::Duration;

use transship::Cluster;
use transship::Plan;
use transship::Profile;
use transship::apply::{
    self, Adoption, Approval, Endpoint, Event, Options, RequestLimits, Summary, TargetCluster,
};

use crate::test_cluster::TestCluster;

pub(crate) struct Project {
    of: transship::Project,
    topology: &'static str,
    plans: Vec<Plan>,
}

/// The command to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Apply,
    Delete,
}

impl Project {
    pub(crate) fn load(folder: &Path, topology: &'static str) -> Self {
        let of = transship::Project::load(folder).unwrap();
        let plans = transship::render(&of.context(), &profiles(&of, topology)).unwrap();
        Self { of, topology, plans }
    }

    /// Runs a command on the clusters of the profiles.
    pub(crate) async fn run(&self, verb: Verb, clusters: &[(Cluster, &TestCluster)]) -> Summary {
        let mut targets = Vec::new();
        for (profile, plan) in profiles(&self.of, self.topology).into_iter().zip(&self.plans) {
            let (_, cluster) = clusters.iter().find(|(cluster, _)| *cluster == profile.cluster).unwrap();
            let kubeconfig = Some(cluster.kubeconfig().to_owned());
            let client = Endpoint { kubeconfig, ..Endpoint::default() }.connect(|_| {}).await.unwrap();
            let render_digest = self.of.render_digest();
            targets.push(TargetCluster { client, profile, plan, render_digest });
        }
        let options = Options {
            wait: false,
            // A busy API server takes long to delete a CRD.
            timeout: Duration::from_secs(300),
            retry_timeout: Duration::from_secs(10),
            adoption: Adoption::Off,
            recreate: Vec::new(),
            prune: true,
            approval: Approval::All,
            partial: false,
            limits: RequestLimits::default(),
            started: tokio::time::Instant::now(),
        };
        let tell = |event: &Event| {
            if event.kind.is_problem() {
                eprintln!("{}", event.line());
            }
        };
        let ended = match verb {
            Verb::Apply => apply::apply(targets, &options, tell).await,
            Verb::Delete => apply::delete(targets, &options, tell).await,
        };
        ended.unwrap()
    }
}

fn profiles<'p>(project: &'p transship::Project, topology: &str) -> Vec<&'p Profile> {
    project.profiles.iter().filter(|profile| profile.topology == topology).collect()
}
