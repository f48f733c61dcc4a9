//! One cluster of the test bed, with its proxy, audit log and stand-in.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::api::PatchParams;
use serde_json::Value;

use crate::audit::Audit;
use crate::base_state::BaseState;
use crate::control_plane::{ADMIN, ControlPlane};
use crate::credentials::{STAND_IN, Signers, kubeconfig};
use crate::fault_proxy::Proxy;
use crate::platform;
use crate::requests::{self, Response, block_on};
use crate::servers::Controllers;
use crate::stand_in::StandIn;

/// Its methods send requests directly to the API server, as the administrator, with the user agent `test`.
pub(crate) struct TestCluster {
    base: BaseState,
    pub(crate) stand_in: StandIn,
    pub(crate) proxy: Proxy,
    pub(crate) audit: Audit,
    pub(crate) control_plane: ControlPlane,
    through_proxy: PathBuf,
}

impl TestCluster {
    /// Starts a cluster with these signers, and with the platform of a folder of `platform/` and more objects.
    pub(crate) fn start(
        tools: &Path,
        (folder, more): (&str, &[Value]),
        which: Controllers,
        signers: &Signers,
    ) -> Self {
        let control_plane = ControlPlane::with(which, tools, signers);
        let direct = control_plane.kubeconfig(ADMIN);
        let stand_in = StandIn::start(&control_plane.kubeconfig(STAND_IN));
        let more = more.iter().map(Value::to_string);
        let manifests: Vec<String> = platform::manifests(folder).into_iter().chain(more).collect();
        apply(&direct, &manifests.join("\n---\n"));
        controllers_work(&direct);
        let proxy = Proxy::start(&direct);
        let through_proxy = control_plane.folder().join("through-the-proxy");
        let text = kubeconfig(&format!("http://127.0.0.1:{}", proxy.port()), None, ADMIN);
        std::fs::write(&through_proxy, text).unwrap();
        let audit = Audit::new(control_plane.folder());
        let base = BaseState::remember(&control_plane);
        Self { base, stand_in, proxy, audit, control_plane, through_proxy }
    }

    /// Restores the initial state.
    pub(crate) fn reset(&self) {
        self.proxy.reset();
        self.stand_in.pause(true);
        self.control_plane.restart();
        self.base.restore(&self.control_plane);
        self.stand_in.reset();
    }

    /// Returns a kubeconfig of the administrator, through the proxy.
    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.through_proxy
    }

    /// Returns a kubeconfig of the administrator, without the proxy.
    pub(crate) fn direct(&self) -> PathBuf {
        self.control_plane.kubeconfig(ADMIN)
    }

    /// Returns an object, if it exists.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        let response = self.call("GET", path, "application/json", "");
        if response.code == 404 { None } else { Some(response.ok().unwrap()) }
    }

    /// Returns the objects of a list; empty if the kind is not served.
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        let list = self.get(path).unwrap_or_default();
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Applies every object of a text with force, and waits for kinds that are not served yet.
    pub(crate) fn apply_yaml(&self, text: &str) {
        apply(&self.direct(), text);
    }

    /// Applies every object of a text under a field manager and without force.
    pub(crate) fn apply_yaml_as(&self, manager: &str, text: &str) {
        block_on(async {
            let client = requests::client(&self.direct(), "test").await;
            platform::apply_as(&client, text, &PatchParams::apply(manager)).await;
        });
    }

    /// Patches an object and returns it.
    pub(crate) fn patch(&self, path: &str, content_type: &str, body: &str) -> Value {
        self.call("PATCH", path, content_type, body).ok().unwrap()
    }

    /// Deletes an object, if it exists.
    pub(crate) fn delete(&self, path: &str) {
        let response = self.call("DELETE", path, "application/json", "");
        assert!(matches!(response.code, 200..=299 | 404), "{response:?}");
    }

    /// Sends any request.
    pub(crate) fn call(&self, method: &str, path: &str, content_type: &str, body: &str) -> Response {
        block_on(async {
            let client = requests::client(&self.direct(), "test").await;
            requests::call_with_retry(&client, method, path, content_type, body.into()).await
        })
    }

    /// Sends a request once. Returns `None` if there is no response.
    pub(crate) fn attempt(&self, method: &str, path: &str, body: &Value) -> Option<Response> {
        block_on(async {
            let client = requests::client(&self.direct(), "test").await;
            requests::send(&client, method, path, body).await.ok()
        })
    }

    /// Waits until a condition holds for an object, and returns it.
    pub(crate) fn wait(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut last = None;
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            last = self.get(path);
            match last {
                Some(object) if is_so(&object) => return object,
                _ => std::thread::sleep(Duration::from_millis(50)),
            }
        }
        panic!("{path} never becomes what it should be: {last:#?}")
    }
}

fn apply(kubeconfig: &Path, text: &str) {
    block_on(async {
        let client = requests::client(kubeconfig, "test").await;
        platform::apply(&client, text).await;
    });
}

/// Waits until the controllers have created the default objects of every namespace.
fn controllers_work(kubeconfig: &Path) {
    let deadline = Instant::now() + Duration::from_secs(60);
    block_on(async {
        let client = requests::client(kubeconfig, "test").await;
        let count = async |path: &str| {
            let list = requests::get(&client, path)
                .await
                .ok()
                .and_then(|response| response.ok().ok())
                .unwrap_or_default();
            list["items"].as_array().map_or(0, Vec::len)
        };
        loop {
            let namespaces = count("/api/v1/namespaces").await;
            let named = "?fieldSelector=metadata.name%3D";
            let accounts = count(&format!("/api/v1/serviceaccounts{named}default")).await;
            let authorities = count(&format!("/api/v1/configmaps{named}kube-root-ca.crt")).await;
            if namespaces > 0
                && (namespaces, namespaces) == (accounts, authorities)
                && count("/api/v1/nodes").await == 1
            {
                return;
            }
            assert!(Instant::now() < deadline, "the controllers do not work");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
}
