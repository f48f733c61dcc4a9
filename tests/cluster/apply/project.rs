//! A payload and its profiles, applied by the library itself: so that it can be dropped in the middle of a request.

use std::path::Path;
use std::time::Duration;

use transship::apply::{self, Approval, Endpoint, Event, Options, Summary, Target};
use transship::language::Profile;
use transship::object::Cluster;
use transship::order::Plan;

use crate::side::Side;

pub(crate) struct Project {
    of: transship::Project,
    topology: &'static str,
    plans: Vec<Plan>,
}

/// What is done with it.
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

    /// Does it, in the clusters that their profiles mean.
    pub(crate) async fn run(&self, verb: Verb, sides: &[(Cluster, &Side)]) -> Summary {
        let mut targets = Vec::new();
        for (profile, plan) in profiles(&self.of, self.topology).into_iter().zip(&self.plans) {
            let (_, side) = sides.iter().find(|(cluster, _)| *cluster == profile.cluster).unwrap();
            let kubeconfig = Some(side.kubeconfig().to_owned());
            let client = Endpoint { kubeconfig, ..Endpoint::default() }.connect().await.unwrap();
            targets.push(Target { client, profile, plan });
        }
        let options = Options {
            wait: false,
            // An API server that is busy tries long to take a definition away.
            timeout: Duration::from_secs(300),
            patience: Duration::from_secs(10),
            adopt: false,
            recreate: Vec::new(),
            prune: true,
            approval: Approval::All,
            begun: tokio::time::Instant::now(),
        };
        let tell = |event: &Event| {
            if event.what.is_problem() {
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
