//! A control plane on loopback, on free ports and in a temporary folder: etcd, a kube-apiserver and, if a case needs
//! controllers, a kube-controller-manager.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use http::Request;

use crate::credentials::Signers;
pub(crate) use crate::credentials::{ADMIN, STRANGER};
use crate::process::Process;
use crate::servers::{self, Controllers, Ports};

pub(crate) struct ControlPlane {
    tools: PathBuf,
    folder: tempfile::TempDir,
    ports: Ports,
    // They are dropped in this order.
    controllers: Mutex<Option<Process>>,
    api_server: Mutex<Option<Process>>,
    etcd: Mutex<Process>,
}

impl ControlPlane {
    /// Starts a control plane without controllers, and waits until it is ready.
    pub(crate) fn start(tools: &Path) -> Self {
        Self::start_with(tools, &Signers::generate())
    }

    fn start_with(tools: &Path, signers: &Signers) -> Self {
        // Another process may take a free port before its server does.
        let mut why = String::new();
        for _ in 0..3 {
            match Self::try_start(tools, signers) {
                Ok(control_plane) => return control_plane,
                Err(log) => why = log,
            }
        }
        panic!("no control plane starts:\n{why}")
    }

    /// Starts a control plane with controllers.
    pub(crate) fn with(which: Controllers, tools: &Path, signers: &Signers) -> Self {
        let it = Self::start_with(tools, signers);
        *it.controllers.lock().unwrap() = Some(servers::controller_manager(tools, it.folder.path(), which));
        it
    }

    fn try_start(tools: &Path, signers: &Signers) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let ports = free_ports();
        crate::credentials::write(folder.path(), ports.api, signers);
        let etcd = servers::etcd(tools, folder.path(), ports);
        let api_server = servers::api_server(tools, folder.path(), ports);
        let control_plane = Self {
            tools: tools.to_owned(),
            folder,
            ports,
            controllers: Mutex::new(None),
            api_server: Mutex::new(Some(api_server)),
            etcd: Mutex::new(etcd),
        };
        control_plane.becomes_ready().map(|()| control_plane)
    }

    fn becomes_ready(&self) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline && !self.has_ended() {
            if self.request("GET", "/readyz", "").is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(self.log("etcd.log") + &self.log("kube-apiserver.log"))
    }

    fn has_ended(&self) -> bool {
        let api_server = self.api_server.lock().unwrap().as_mut().is_none_or(Process::has_ended);
        api_server || self.etcd.lock().unwrap().has_ended()
    }

    fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// Kills the API server. The data in etcd stays.
    pub(crate) fn kill(&self) {
        self.api_server.lock().unwrap().take();
    }

    /// Starts the API server again at the same address, and waits until it is ready. Does nothing if it runs.
    pub(crate) fn restart(&self) {
        {
            let mut api_server = self.api_server.lock().unwrap();
            if api_server.as_mut().is_some_and(|process| !process.has_ended()) {
                return;
            }
            *api_server = Some(servers::api_server(&self.tools, self.folder.path(), self.ports));
        }
        self.becomes_ready().unwrap_or_else(|log| panic!("the API server does not start again:\n{log}"));
    }

    /// Sends a request as the administrator.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Result<String, kube::Error> {
        request(&self.kubeconfig(ADMIN), method, path, body)
    }

    /// Starts another API server with the same data, for which these names are those of this machine. Returns `None` if this
    /// machine does not allow mount namespaces; in CI, that is an error.
    pub(crate) fn another_api_server(&self, names: &[&str]) -> Option<AnotherApiServer> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ports = Ports { api: listener.local_addr().unwrap().port(), ..self.ports };
        drop(listener);
        let hosts = self.folder.path().join("hosts");
        std::fs::write(&hosts, format!("127.0.0.1 localhost {}\n", names.join(" "))).unwrap();
        let process = servers::api_server_with_hosts(&self.tools, self.folder.path(), ports, &hosts);
        let address = format!("https://127.0.0.1:{}", ports.api);
        let old = format!("https://127.0.0.1:{}", self.ports.api);
        let kubeconfig = self.folder.path().join("another-admin");
        let text = std::fs::read_to_string(self.kubeconfig(ADMIN)).unwrap();
        std::fs::write(&kubeconfig, text.replace(&old, &address)).unwrap();
        let mut it = AnotherApiServer { process, kubeconfig };
        let deadline = Instant::now() + Duration::from_secs(60);
        while it.request("GET", "/readyz", "").is_err() {
            if it.process.has_ended() || Instant::now() > deadline {
                assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "the other API server does not start");
                return None;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(it)
    }

    /// Returns the folder with the programs.
    pub(crate) fn tools(&self) -> &Path {
        &self.tools
    }

    pub(crate) fn port(&self) -> u16 {
        self.ports.api
    }

    /// Returns the address of etcd.
    pub(crate) fn etcd_port(&self) -> u16 {
        self.ports.etcd
    }

    /// Returns the folder with kubeconfigs, logs and data.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the kubeconfig for a token.
    pub(crate) fn kubeconfig(&self, token: &str) -> PathBuf {
        self.folder.path().join(token)
    }
}

/// Another API server of a control plane.
pub(crate) struct AnotherApiServer {
    process: Process,
    kubeconfig: PathBuf,
}

impl AnotherApiServer {
    /// Sends a request as the administrator.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Result<String, kube::Error> {
        request(&self.kubeconfig, method, path, body)
    }
}

/// Sends a request with a kubeconfig.
fn request(kubeconfig: &Path, method: &str, path: &str, body: &str) -> Result<String, kube::Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = transship::apply::connect(Some(kubeconfig)).await.unwrap();
        let request = Request::builder().method(method).uri(path).header("content-type", "application/yaml");
        client.request_text(request.body(body.into()).unwrap()).await
    })
}

/// Returns free ports, all at once, so that none is returned twice.
fn free_ports() -> Ports {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [etcd, peer, api] = listeners.map(|listener| listener.local_addr().unwrap().port());
    Ports { etcd, peer, api }
}
