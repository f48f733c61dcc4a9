//! How clusters are reached: as kubectl reaches them.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::fixture::Project;
use super::{Run, program};
use crate::BedCase;
use crate::bed::Bed;
use crate::control_plane::ADMIN;
use crate::wait_for::forward;

pub(crate) const CASES: &[BedCase] = &[
    ("apply::reach::by_several_files", by_several_files),
    ("apply::reach::a_cluster_of_another_topology", a_cluster_of_another_topology),
    ("apply::reach::with_a_plugin", with_a_plugin),
    ("apply::reach::through_a_proxy", through_a_proxy),
    ("apply::reach::past_the_proxy_of_the_environment", past_the_proxy_of_the_environment),
];

/// What an apply to one cluster would do, with more in its environment and on its command line.
fn dry_run(project: &Project, environment: &[(&str, String)], more: &[&str]) -> Run {
    let mut command = program(project.path());
    command.args(["apply", "--topology", "standalone", "--dry-run", "--request-timeout", "1s"]).args(more);
    command.envs(environment.iter().map(|(name, value)| (name, value))).output().unwrap().into()
}

fn assert_reached(run: &Run) {
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        run.stdout.ends_with("cluster: 13 created, 0 changed, 1 unchanged, 0 pruned, 0 failed\n"),
        "{}",
        run.stdout
    );
}

/// A kubeconfig like another one, with something else in it.
fn like(kubeconfig: &Path, from: &str, to: &str) -> tempfile::NamedTempFile {
    let text = std::fs::read_to_string(kubeconfig).unwrap();
    assert!(text.contains(from), "{text}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text.replace(from, to)).unwrap();
    file
}

/// A flag that names a cluster of another topology is a mistake: without it another cluster would be taken.
fn a_cluster_of_another_topology(bed: &Bed) {
    let (project, kubeconfig) = (Project::new(), bed.guest.kubeconfig().display().to_string());
    let environment = [("KUBECONFIG", kubeconfig.clone())];
    let run = dry_run(&project, &environment, &["--management-kubeconfig", &kubeconfig]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(
        run.stderr.contains("--management-kubeconfig names no cluster of this topology")
            && run.stderr.contains("give --kubeconfig or --context"),
        "{}",
        run.stderr
    );
}

/// `KUBECONFIG` names several files: the first that says which context is meant wins, and a context of any can be chosen.
fn by_several_files(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let kubeconfig = side.kubeconfig();
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

/// A program says who we are, as those of clouds do.
fn with_a_plugin(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let credential = format!(
        "{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"{ADMIN}\"}}}}"
    );
    let plugin = format!(
        "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      interactiveMode: Never\n      \
         command: echo\n      args: ['{credential}']\n"
    );
    let kubeconfig = like(&side.direct(), &format!("    token: {ADMIN}\n"), &plugin);
    assert_reached(&dry_run(&project, &[], &["--kubeconfig", &kubeconfig.path().display().to_string()]));
}

/// A proxy that connects whoever asks, and remembers how he did.
struct Connects {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Connects {
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

/// A kubeconfig names a proxy, and who asks it: the API server is reached through it, with TLS from end to end.
fn through_a_proxy(bed: &Bed) {
    let (side, project, proxy) = (&bed.guest, Project::new(), Connects::start());
    let url = format!("    proxy-url: http://somebody:s%40me@127.0.0.1:{}\n    server: ", proxy.port);
    let kubeconfig = like(&side.direct(), "    server: ", &url);
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

/// The environment names a proxy, and the cluster is on this machine: nobody asks the proxy.
fn past_the_proxy_of_the_environment(bed: &Bed) {
    let (side, project) = (&bed.guest, Project::new());
    let kubeconfig = side.kubeconfig().display().to_string();
    let nowhere =
        [("HTTPS_PROXY", "http://127.0.0.1:1".to_owned()), ("https_proxy", "http://127.0.0.1:1".to_owned())];
    assert_reached(&dry_run(&project, &nowhere, &["--kubeconfig", &kubeconfig]));
}
