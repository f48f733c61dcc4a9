//! etcd and a kube-apiserver of its own, on loopback, on free ports, in a folder that goes away with them.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::Request;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

/// Both are tokens, in a file that the API server reads.
pub(crate) const ADMIN: &str = "token-of-the-admin";
/// Somebody who may look at what is served, and at nothing that is in there.
pub(crate) const STRANGER: &str = "token-of-a-stranger";

pub(crate) struct ControlPlane {
    folder: tempfile::TempDir,
    port: u16,
    // Ended in this order.
    api_server: Process,
    etcd: Process,
}

/// Ends with its owner.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl ControlPlane {
    /// Starts one and waits until it is ready.
    pub(crate) fn start(tools: &Path) -> Self {
        // A free port may be taken by somebody else before its server gets to it.
        let mut why = String::new();
        for _ in 0..3 {
            match Self::try_start(tools) {
                Ok(control_plane) => return control_plane,
                Err(log) => why = log,
            }
        }
        panic!("no control plane starts:\n{why}")
    }

    fn try_start(tools: &Path) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let [client_port, peer_port, port] = free_ports();
        let authority = write_certificates(folder.path());
        let tokens = format!("{ADMIN},admin,1,system:masters\n{STRANGER},stranger,2\n");
        std::fs::write(folder.path().join("tokens.csv"), tokens).unwrap();
        // Written once: cases that run at the same time read them.
        for token in [ADMIN, STRANGER] {
            let text = kubeconfig(&format!("https://127.0.0.1:{port}"), &authority, token);
            std::fs::write(folder.path().join(token), text).unwrap();
        }
        let etcd = start_etcd(tools, folder.path(), client_port, peer_port);
        let api_server = start_api_server(tools, folder.path(), client_port, port);
        let mut control_plane = Self { folder, port, api_server, etcd };
        control_plane.becomes_ready().map(|()| control_plane)
    }

    fn becomes_ready(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline && !self.api_server.has_ended() && !self.etcd.has_ended() {
            if self.request("GET", "/readyz", "").is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        let log = |name: &str| std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        Err(log("etcd.log") + &log("kube-apiserver.log"))
    }

    /// Makes a request as the admin.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> Result<String, kube::Error> {
        let kubeconfig = self.kubeconfig(ADMIN);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = transship::apply::connect(Some(&kubeconfig)).await.unwrap();
            let request =
                Request::builder().method(method).uri(path).header("content-type", "application/yaml");
            client.request_text(request.body(body.into()).unwrap()).await
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// A kubeconfig for the bearer of a token.
    pub(crate) fn kubeconfig(&self, token: &str) -> PathBuf {
        self.folder.path().join(token)
    }
}

/// The text of a kubeconfig.
fn kubeconfig(server: &str, authority: &str, token: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: it\ncontexts:\n- name: it\n  context:\n    cluster: it\n    user: it\n\
         clusters:\n- name: it\n  cluster:\n    server: {server}\n    certificate-authority-data: {}\n\
         users:\n- name: it\n  user:\n    token: {token}\n",
        BASE64.encode(authority)
    )
}

impl Process {
    fn start(program: &Path, folder: &Path, arguments: &[String]) -> Self {
        let log = File::create(folder.join(program.file_name().unwrap()).with_extension("log")).unwrap();
        let errors = log.try_clone().unwrap();
        let mut command = Command::new(program);
        let child = command.args(arguments).current_dir(folder).stdout(log).stderr(errors).spawn();
        Self(child.unwrap_or_else(|error| panic!("{}: {error}", program.display())))
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }
}

fn start_etcd(tools: &Path, folder: &Path, client: u16, peer: u16) -> Process {
    let (client, peer) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    let arguments = [
        "--data-dir=etcd".to_owned(),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=error".to_owned(),
        format!("--listen-client-urls={client}"),
        format!("--advertise-client-urls={client}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
    ];
    Process::start(&tools.join("etcd"), folder, &arguments)
}

fn start_api_server(tools: &Path, folder: &Path, etcd: u16, port: u16) -> Process {
    let arguments = [
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--secure-port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--cert-dir=certificates".to_owned(),
        "--tls-cert-file=server.crt".to_owned(),
        "--tls-private-key-file=server.key".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-account-signing-key-file=server.key".to_owned(),
        "--service-account-key-file=server.pub".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--token-auth-file=tokens.csv".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
    ];
    Process::start(&tools.join("kube-apiserver"), folder, &arguments)
}

/// Writes the server's certificate and key; the authority comes back.
fn write_certificates(folder: &Path) -> String {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    std::fs::write(folder.join("server.crt"), certificate.pem()).unwrap();
    std::fs::write(folder.join("server.key"), key.serialize_pem()).unwrap();
    std::fs::write(folder.join("server.pub"), key.public_key_pem()).unwrap();
    authority.pem()
}

/// All at once, so that none is given twice.
fn free_ports() -> [u16; 3] {
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
