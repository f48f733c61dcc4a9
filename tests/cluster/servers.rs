//! The servers of a control plane, with arguments that make them small, fast and local.

use std::path::Path;

use crate::credentials::CONTROLLERS;
use crate::process::Process;

/// The ports on loopback.
#[derive(Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) etcd: u16,
    pub(crate) peer: u16,
    pub(crate) api: u16,
}

/// Logs every request except those of controllers and stand-ins. Logs also that a request arrived, so that a test
/// knows when all responses are logged.
pub(crate) const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n\
    - level: None\n  users: [system:apiserver, controllers, stand-in]\n\
    - level: Metadata\n";

pub(crate) fn etcd(tools: &Path, folder: &Path, ports: Ports) -> Process {
    let client = format!("http://127.0.0.1:{}", ports.etcd);
    let peer = format!("http://127.0.0.1:{}", ports.peer);
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

pub(crate) fn api_server(tools: &Path, folder: &Path, ports: Ports) -> Process {
    let arguments = api_server_arguments(folder, ports, "audit.log");
    Process::start(&tools.join("kube-apiserver"), folder, &arguments)
}

/// Starts an API server in a mount namespace of its own, in which this is the file `/etc/hosts`.
pub(crate) fn api_server_with_hosts(tools: &Path, folder: &Path, ports: Ports, hosts: &Path) -> Process {
    let script = "mount --bind \"$0\" /etc/hosts && exec \"$@\"";
    let program = tools.join("kube-apiserver");
    let words = ["--map-root-user", "--mount", "sh", "-c", script].map(str::to_owned).into_iter();
    let paths = [hosts, &program].map(|path| path.display().to_string());
    let arguments = words.chain(paths).chain(api_server_arguments(folder, ports, "another-audit.log"));
    let arguments: Vec<String> = arguments.collect();
    Process::start(Path::new("unshare"), folder, &arguments)
}

fn api_server_arguments(folder: &Path, ports: Ports, audit_log: &str) -> Vec<String> {
    std::fs::write(folder.join("audit-policy.yaml"), AUDIT_POLICY).unwrap();
    let arguments = [
        format!("--etcd-servers=http://127.0.0.1:{}", ports.etcd),
        format!("--secure-port={}", ports.api),
        "--bind-address=127.0.0.1".to_owned(),
        "--cert-dir=certificates".to_owned(),
        "--tls-cert-file=server.crt".to_owned(),
        "--tls-private-key-file=server.key".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-account-signing-key-file=server.key".to_owned(),
        "--service-account-key-file=server.pub".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
        "--token-auth-file=tokens.csv".to_owned(),
        "--client-ca-file=clients.crt".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        "--audit-policy-file=audit-policy.yaml".to_owned(),
        format!("--audit-log-path={audit_log}"),
        "--audit-log-mode=blocking".to_owned(),
        "--audit-log-maxsize=0".to_owned(),
    ];
    arguments.to_vec()
}

/// The controllers to run.
#[derive(Clone, Copy)]
pub(crate) enum Controllers {
    All,
    /// All controllers except those that create pods. If no test needs pods, they use half of the CPU for nothing.
    AllButWorkloads,
}

/// Without a kubelet nobody renews the leases of nodes, so the grace period is long.
pub(crate) fn controller_manager(tools: &Path, folder: &Path, which: Controllers) -> Process {
    let which = match which {
        Controllers::All => "*",
        Controllers::AllButWorkloads => {
            "*,-deployment-controller,-daemonset-controller,-disruption-controller"
        }
    };
    let arguments = [
        format!("--kubeconfig={CONTROLLERS}"),
        format!("--controllers={which}"),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        "--root-ca-file=authority.crt".to_owned(),
        "--service-account-private-key-file=server.key".to_owned(),
        "--node-monitor-grace-period=24h".to_owned(),
        "--kube-api-qps=500".to_owned(),
        "--kube-api-burst=1000".to_owned(),
    ];
    Process::start(&tools.join("kube-controller-manager"), folder, &arguments)
}
