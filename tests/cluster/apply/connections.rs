//! Connections to clusters work as with kubectl.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::fixture::Project;
use super::{Run, program};
use crate::TestBedCase;
use crate::control_plane::ADMIN;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;
use crate::wait_for::forward;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::connections::kubeconfig_can_name_several_files", kubeconfig_can_name_several_files),
    ("apply::connections::flags_of_another_topology_are_rejected", flags_of_another_topology_are_rejected),
    ("apply::connections::credential_plugins_work", credential_plugins_work),
    (
        "apply::connections::an_untrusted_certificate_is_not_waited_out",
        an_untrusted_certificate_is_not_waited_out,
    ),
    ("apply::connections::the_proxy_of_a_kubeconfig_is_used", the_proxy_of_a_kubeconfig_is_used),
    (
        "apply::connections::a_local_cluster_is_reached_without_a_proxy",
        a_local_cluster_is_reached_without_a_proxy,
    ),
];

/// Runs `apply --dry-run` on one cluster with an environment and flags.
fn dry_run(project: &Project, environment: &[(&str, String)], more: &[&str]) -> Run {
    let mut command = program(project.path());
    command.args(["apply", "--topology", "standalone", "--dry-run", "--retry-timeout", "1s"]).args(more);
    command.envs(environment.iter().map(|(name, value)| (name, value))).output().unwrap().into()
}

fn assert_reached(run: &Run) {
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.ends_with(
            "cluster: 13 would be created, 0 would be changed, 1 unchanged, 0 would be pruned, 0 would fail\n"
        ),
        "{}",
        run.stdout
    );
}

/// Copies a kubeconfig and replaces a text.
fn copy_kubeconfig(kubeconfig: &Path, from: &str, to: &str) -> tempfile::NamedTempFile {
    let text = std::fs::read_to_string(kubeconfig).unwrap();
    assert!(text.contains(from), "{text}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text.replace(from, to)).unwrap();
    file
}

/// A flag for a cluster of another topology is rejected. Otherwise another cluster than intended would be used.
fn flags_of_another_topology_are_rejected(bed: &TestBed) {
    let (project, kubeconfig) = (Project::new(), bed.guest.kubeconfig().display().to_string());
    let environment = [("KUBECONFIG", kubeconfig.clone())];
    let run = dry_run(&project, &environment, &["--management-kubeconfig", &kubeconfig]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(
        run.stderr.contains("--management-kubeconfig names no cluster of this topology")
            && run.stderr.contains("use --kubeconfig or --context"),
        "{}",
        run.stderr
    );
}

/// `KUBECONFIG` names several files. The first one with a current context wins, and a context of any file can be
/// chosen.
fn kubeconfig_can_name_several_files(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let kubeconfig = cluster.kubeconfig();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        elsewhere.path(),
        "apiVersion: v1\nkind: Config\ncurrent-context: nowhere\ncontexts: [{name: nowhere, context: {cluster: nowhere, user: nobody}}]\n\
         clusters: [{name: nowhere, cluster: {server: \"http://127.0.0.1:1\"}}]\nusers: [{name: nobody, user: {}}]\n",
    )
    .unwrap();
    let both = format!("{}:{}", elsewhere.path().display(), kubeconfig.display());
    let run = dry_run(&project, &[("KUBECONFIG", both.clone())], &[]);
    assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
    assert_reached(&dry_run(&project, &[("KUBECONFIG", both)], &["--context", "it"]));
}

/// A credential plugin provides the token, as those of cloud providers do.
fn credential_plugins_work(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let credential = format!(
        "{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{ADMIN}\"}}}}"
    );
    let plugin = format!(
        "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      \
         command: echo\n      args: ['{credential}']\n"
    );
    let kubeconfig = copy_kubeconfig(&cluster.direct(), &format!("    token: {ADMIN}\n"), &plugin);
    assert_reached(&dry_run(&project, &[], &["--kubeconfig", &kubeconfig.path().display().to_string()]));
}

/// The kubeconfig has the certificate authority of another cluster. The message says so at once.
fn an_untrusted_certificate_is_not_waited_out(bed: &TestBed) {
    let project = Project::new();
    let authority = |cluster: &TestCluster| {
        let text = std::fs::read_to_string(cluster.direct()).unwrap();
        let line = text.lines().find(|line| line.contains("certificate-authority-data")).unwrap();
        line.to_owned()
    };
    let (right, wrong) = (authority(&bed.guest), authority(&bed.management));
    let kubeconfig = copy_kubeconfig(&bed.guest.direct(), &right, &wrong);
    let kubeconfig = kubeconfig.path().display().to_string();
    let expected = [
        "the certificate of the API server is not trusted: ",
        "; check `certificate-authority-data`, `tls-server-name` and `server` of the kubeconfig",
    ];
    for more in [
        &["apply", "--topology", "standalone", "--wait", "--retry-timeout", "2m"][..],
        &["wait-for", "Namespace/default"],
    ] {
        let started = Instant::now();
        let mut command = program(project.path());
        let run: Run = command.args(more).args(["--kubeconfig", &kubeconfig]).output().unwrap().into();
        assert_eq!(run.code, 3, "{}{}", run.stdout, run.stderr);
        assert!(expected.iter().all(|text| run.stderr.contains(text)), "{}", run.stderr);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
}

/// An HTTP proxy that connects and records the requests.
struct ConnectProxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl ConnectProxy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, asked) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let remembers = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, asked) = (stream.unwrap(), Arc::clone(&remembers));
                std::thread::spawn(move || connect(stream, &asked));
            }
        });
        Self { port, asked }
    }
}

fn connect(mut client: TcpStream, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        reader.read_line(&mut head).ok().filter(|read| *read > 0)?;
    }
    asked.lock().unwrap().push(head.clone());
    let server = TcpStream::connect(head.strip_prefix("CONNECT ")?.split(' ').next()?).ok()?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").ok()?;
    forward(client, server);
    Some(())
}

/// A kubeconfig names a proxy with credentials. The API server is reached through it, with TLS from end to end.
fn the_proxy_of_a_kubeconfig_is_used(bed: &TestBed) {
    let (cluster, project, proxy) = (&bed.guest, Project::new(), ConnectProxy::start());
    let url = format!("    proxy-url: http://somebody:s%40me@127.0.0.1:{}\n    server: ", proxy.port);
    let kubeconfig = copy_kubeconfig(&cluster.direct(), "    server: ", &url);
    let run = dry_run(&project, &[], &["--kubeconfig", &kubeconfig.path().display().to_string()]);
    assert_reached(&run);
    let asked = proxy.asked.lock().unwrap();
    assert!(
        !asked.is_empty() && asked.iter().all(|head| head.starts_with("CONNECT 127.0.0.1:")),
        "{asked:?}"
    );
    let who = "somebody:s@me in base64: c29tZWJvZHk6c0BtZQ==";
    assert!(asked[0].contains(&who[who.len() - 20..]), "{who}: {asked:?}");
}

/// The environment names a proxy, but a cluster on this machine is reached directly.
fn a_local_cluster_is_reached_without_a_proxy(bed: &TestBed) {
    let (cluster, project) = (&bed.guest, Project::new());
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let nowhere =
        [("HTTPS_PROXY", "http://127.0.0.1:1".to_owned()), ("https_proxy", "http://127.0.0.1:1".to_owned())];
    assert_reached(&dry_run(&project, &nowhere, &["--kubeconfig", &kubeconfig]));
}
