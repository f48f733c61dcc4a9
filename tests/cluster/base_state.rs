//! The initial state of a cluster, and how to restore it: directly in etcd, because the API waits for finalizers and
//! namespaces. API server and controllers see that like any other change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use kube::Client;
use serde_json::Value;

use crate::control_plane::ControlPlane;
use crate::credentials::STAND_IN;
use crate::etcd::{self, Change, Stored};
use crate::requests::{block_on, open_client};

/// The interval between checks: long enough for a controller to react.
const PAUSE: Duration = Duration::from_millis(60);
/// The number of checks that must find no difference.
const QUIET: usize = 2;
/// After this many checks, something else changes the cluster.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct BaseState {
    stored: Mutex<BTreeMap<String, Stored>>,
    served: BTreeSet<String>,
}

impl BaseState {
    /// Waits until nothing changes, and records everything.
    pub(crate) fn remember(cluster: &ControlPlane) -> Self {
        block_on(async {
            let client = open_client(cluster.etcd_port());
            let mut before = BTreeMap::new();
            for _ in 0..100 {
                let now = etcd::read(&client, false).await.into_iter();
                let now: BTreeMap<_, _> =
                    now.filter(|(key, _)| !is_restless(key)).map(|(key, it)| (key, it.revision)).collect();
                if now == before {
                    break;
                }
                before = now;
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            let mut stored = etcd::read(&client, true).await;
            stored.retain(|key, _| !is_restless(key));
            Self { stored: Mutex::new(stored), served: served(&api_client(cluster).await).await }
        })
    }

    /// Restores the state, and waits until API server and controllers have settled.
    pub(crate) fn restore(&self, cluster: &ControlPlane) {
        let deadline = Instant::now() + PATIENCE;
        block_on(async {
            let etcd = open_client(cluster.etcd_port());
            let api = api_client(cluster).await;
            let mut quiet = 0;
            while quiet < QUIET {
                let mut differences = self.restore_once(&etcd).await;
                differences.extend(self.differently_served(&api).await);
                quiet = if differences.is_empty() { quiet + 1 } else { 0 };
                let is_late = Instant::now() >= deadline;
                assert!(!is_late || quiet > 0, "the cluster does not come to rest: {differences:?}");
                tokio::time::sleep(PAUSE).await;
            }
        });
    }

    /// Returns the kinds that are served and should not be, and the reverse.
    async fn differently_served(&self, api: &Client) -> Vec<String> {
        served(api).await.symmetric_difference(&self.served).cloned().collect()
    }

    /// Returns the keys that had to be restored, without events.
    async fn restore_once(&self, etcd: &Client) -> Vec<String> {
        let now = etcd::read(etcd, false).await;
        let changes = self.changes(&now);
        let keys = changes.iter().map(Change::key).filter(|key| !key.starts_with("/registry/events/"));
        let differences = keys.map(str::to_owned).collect();
        for round in rounds(changes) {
            let revision = etcd::change(etcd, &round).await;
            let mut stored = self.stored.lock().unwrap();
            for key in round.iter().map(Change::key) {
                if let Some(stored) = stored.get_mut(key) {
                    stored.revision.clone_from(&revision);
                }
            }
        }
        differences
    }

    fn changes(&self, now: &BTreeMap<String, Stored>) -> Vec<Change> {
        let stored = self.stored.lock().unwrap();
        let new = now.keys().filter(|key| !stored.contains_key(*key) && !is_of_a_server(key));
        let changed =
            stored.iter().filter(|(key, it)| now.get(*key).is_none_or(|now| now.revision != it.revision));
        new.map(|key| Change::Delete(key.clone()))
            .chain(changed.map(|(key, it)| Change::Put(key.clone(), it.value.clone())))
            .collect()
    }
}

/// An API server expects one change per etcd revision. Changes of one revision are therefore of different kinds, so
/// that no watch sees two of them.
fn rounds(changes: Vec<Change>) -> Vec<Vec<Change>> {
    let mut rounds: Vec<Vec<Change>> = Vec::new();
    let mut so_far: BTreeMap<String, usize> = BTreeMap::new();
    for change in changes {
        let kind = change.key().split('/').nth(2).unwrap_or_default().to_owned();
        let round = so_far.entry(kind).or_default();
        if *round == rounds.len() {
            rounds.push(Vec::new());
        }
        rounds[*round].push(change);
        *round += 1;
    }
    rounds
}

/// What an API server writes for itself, which is irrelevant for tests: its Lease, which it renews all the time, and the
/// `ServiceCIDR`, whose status Kubernetes 1.33 writes again after every change.
fn is_of_a_server(key: &str) -> bool {
    ["leases/kube-system/apiserver-", "masterleases/", "servicecidrs/"]
        .iter()
        .any(|prefix| key.strip_prefix("/registry/").is_some_and(|rest| rest.starts_with(prefix)))
}

fn is_restless(key: &str) -> bool {
    is_of_a_server(key) || key.starts_with("/registry/events/")
}

/// Not the administrator, so these requests are not in the audit log.
async fn api_client(cluster: &ControlPlane) -> Client {
    crate::requests::client(&cluster.kubeconfig(STAND_IN), "test").await
}

/// Returns every kind that the API server serves. The kinds of a case must be gone before the next one starts.
async fn served(client: &Client) -> BTreeSet<String> {
    let request = http::Request::builder()
        .uri("/apis")
        .header("accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    let Ok(groups) = client.request::<Value>(request.body(Vec::new()).unwrap()).await else {
        return BTreeSet::new();
    };
    let list = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
    let mut served = BTreeSet::new();
    for group in list(&groups, "items") {
        for version in list(&group, "versions") {
            for resource in list(&version, "resources") {
                served.insert(format!(
                    "{}/{}/{}",
                    group["metadata"]["name"], version["version"], resource["resource"]
                ));
            }
        }
    }
    served
}
