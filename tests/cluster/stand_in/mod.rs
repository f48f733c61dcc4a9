//! Stands in for components that these clusters lack: the scheduler and kubelet for pods, and operators for their
//! status. It polls several times a second, which is simple and misses nothing.

mod nodes;
mod operators;
mod pods;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};

use crate::requests;

/// The poll interval.
const PAUSE: Duration = Duration::from_millis(150);
/// The version that operators report by default.
const VERSION: &str = "4.22.0";

/// The behaviour.
pub(crate) struct Switches {
    pods_fail: AtomicBool,
    operators_fail: AtomicBool,
    operators_run: AtomicBool,
    paused: AtomicBool,
    nodes: AtomicUsize,
    version: Mutex<String>,
    ends: AtomicBool,
    /// Held during a poll, so that `pause` can wait for its end.
    looking: Mutex<()>,
}

pub(crate) struct StandIn {
    switches: Arc<Switches>,
    thread: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Starts it with its own kubeconfig.
    pub(crate) fn start(kubeconfig: &Path) -> Self {
        let switches = Arc::new(Switches {
            pods_fail: AtomicBool::new(false),
            operators_fail: AtomicBool::new(false),
            operators_run: AtomicBool::new(false),
            paused: AtomicBool::new(false),
            nodes: AtomicUsize::new(1),
            version: Mutex::new(VERSION.to_owned()),
            ends: AtomicBool::new(false),
            looking: Mutex::new(()),
        });
        let (its, kubeconfig) = (Arc::clone(&switches), kubeconfig.to_owned());
        let thread = Some(std::thread::spawn(move || live(&its, &kubeconfig)));
        Self { switches, thread }
    }

    /// Pods are scheduled, but their containers never start. Running pods continue.
    pub(crate) fn pods_fail(&self, fail: bool) {
        self.switches.pods_fail.store(fail, Ordering::SeqCst);
    }

    /// Operators report that they are unavailable and degraded.
    pub(crate) fn operators_fail(&self, fail: bool) {
        self.switches.operators_fail.store(fail, Ordering::SeqCst);
    }

    /// Operators run in the test, so they report their status themselves.
    pub(crate) fn operators_run(&self, run: bool) {
        self.switches.operators_run.store(run, Ordering::SeqCst);
    }

    /// Stops all activity. Returns when the current poll has ended.
    pub(crate) fn pause(&self, pause: bool) {
        self.switches.paused.store(pause, Ordering::SeqCst);
        drop(self.switches.looking.lock().unwrap());
    }

    /// Sets the number of nodes: `node-1` and so on.
    pub(crate) fn nodes(&self, count: usize) {
        self.switches.nodes.store(count, Ordering::SeqCst);
    }

    /// Sets the version that operators report.
    pub(crate) fn version(&self, version: &str) {
        version.clone_into(&mut self.switches.version.lock().unwrap());
    }

    /// Restores the initial behaviour.
    pub(crate) fn reset(&self) {
        self.pods_fail(false);
        self.operators_fail(false);
        self.operators_run(false);
        self.nodes(1);
        self.version(VERSION);
        self.pause(false);
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.switches.ends.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn live(switches: &Switches, kubeconfig: &Path) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(requests::client(kubeconfig, "stand-in"));
    while !switches.ends.load(Ordering::SeqCst) {
        {
            let _looking = switches.looking.lock().unwrap();
            if !switches.paused.load(Ordering::SeqCst) {
                runtime.block_on(look(switches, &client));
            }
        }
        std::thread::sleep(PAUSE);
    }
}

async fn look(switches: &Switches, client: &Client) {
    let nodes = switches.nodes.load(Ordering::SeqCst);
    nodes::look(client, nodes).await;
    pods::look(client, nodes, switches.pods_fail.load(Ordering::SeqCst)).await;
    if switches.operators_run.load(Ordering::SeqCst) {
        return;
    }
    let version = switches.version.lock().unwrap().clone();
    operators::look(client, &version, switches.operators_fail.load(Ordering::SeqCst)).await;
}

/// Lists a kind; empty if it is not served or the server does not respond. The response may be slightly old.
async fn list(client: &Client, path: &str) -> Vec<Value> {
    let response = requests::get(client, &format!("{path}?resourceVersion=0")).await.ok();
    let list = response.and_then(|response| response.ok().ok()).unwrap_or_default();
    list["items"].as_array().cloned().unwrap_or_default()
}

/// Sends a request. The next poll repeats it if it fails and is still needed.
async fn send(client: &Client, method: &str, path: &str, body: &Value) {
    let _ = requests::send(client, method, path, body).await;
}

/// Returns a condition.
fn condition(kind: &str, holds: bool, reason: &str, message: &str) -> Value {
    let status = if holds { "True" } else { "False" };
    json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": now()})
}

fn now() -> String {
    let now = k8s_openapi::jiff::Timestamp::now();
    k8s_openapi::jiff::Timestamp::from_second(now.as_second()).unwrap().to_string()
}
