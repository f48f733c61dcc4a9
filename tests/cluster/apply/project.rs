//! A payload and its profiles, applied by the library itself: so that it can be dropped in the middle of a request.

use std::path::Path;
use std::time::Duration;

use transship::apply::{self, Approval, Endpoint, Home, Options, Summary, Target};
use transship::expand::Context;
use transship::object::Cluster;
use transship::order::Plan;
use transship::payload::Payload;
use transship::profile::{Given, Profile, Profiles};

use crate::side::Side;

pub(crate) struct Project {
    profiles: Profiles,
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
        let mut payload = Payload::load(&folder.join("payload")).unwrap();
        let mut profiles = Profiles::load(&folder.join("profiles")).unwrap();
        payload.adopt(&profiles).unwrap();
        let set = profiles.sets.get("default").cloned().unwrap_or_default();
        let parameters = profiles.bind(&set, Given::default(), &payload.private_parameters()).unwrap();
        let sources = payload.sources.and(&profiles.sources);
        let context = Context {
            payload: &payload,
            profiles: &profiles,
            parameters: &parameters,
            sources: &sources,
            recording: false,
        };
        let chosen: Vec<&Profile> = profiles.iter().filter(|profile| profile.topology == topology).collect();
        let plans = transship::render(&context, &chosen).unwrap();
        Self { profiles, topology, plans }
    }

    /// Does it, in the clusters that their profiles mean.
    pub(crate) async fn run(&self, verb: Verb, sides: &[(Cluster, &Side)]) -> Summary {
        let mut targets = Vec::new();
        let chosen = self.profiles.iter().filter(|profile| profile.topology == self.topology);
        for (profile, plan) in chosen.zip(&self.plans) {
            let (_, side) = sides.iter().find(|(cluster, _)| *cluster == profile.cluster).unwrap();
            let kubeconfig = Some(side.kubeconfig().to_owned());
            let client = Endpoint { kubeconfig, ..Endpoint::default() }.connect().await.unwrap();
            let namespace = plan.namespace.clone().unwrap_or_else(|| "openshift-config-managed".to_owned());
            let home = Home { namespace, name: format!("transship-{}", self.topology) };
            targets.push(Target { cluster: profile.cluster, client, profile, plan, home });
        }
        let options = Options {
            wait: false,
            timeout: Duration::from_secs(60),
            patience: Duration::from_secs(10),
            adopt: false,
            recreate: Vec::new(),
            prune: true,
            approval: Approval::All,
            begun: tokio::time::Instant::now(),
        };
        let ended = match verb {
            Verb::Apply => apply::apply(targets, &options, |_| {}).await,
            Verb::Delete => apply::delete(targets, &options, |_| {}).await,
        };
        ended.unwrap()
    }
}
