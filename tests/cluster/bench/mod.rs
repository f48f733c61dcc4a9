//! `make bench`: a first apply and one that changes nothing, compared with kubectl on the same API server.
//!
//! Wall time is the median of several runs; requests are counted by the API server.
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench talks to a terminal, in rough figures"
)]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::apply::program;
use crate::servers::Controllers;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;
use crate::tools;

const OBJECTS: usize = 500;
const NAMESPACES: usize = 4;
const RUNS: usize = 3;

/// The measurements of one run.
#[derive(Clone, Copy)]
struct Cost {
    time: Duration,
    requests: usize,
}

pub(crate) fn run() {
    let Some(tools) = tools::find(&[tools::CLUSTER, &["kubectl"]].concat()) else { return };
    let kubectl = tools.join("kubectl");
    let bed = TestBed::start(&tools, Controllers::All);
    let cluster = bed.standalone();
    cluster.stand_in.pause(true);
    let folder = tempfile::tempdir().unwrap();
    write_project(folder.path());
    let all = folder.path().join("all.yaml");
    let rendered = program(folder.path()).args(["render", "--profile", "standalone"]).output().unwrap();
    assert!(rendered.status.success(), "{}", String::from_utf8_lossy(&rendered.stderr));
    std::fs::write(&all, rendered.stdout).unwrap();
    let kubeconfig = cluster.direct().display().to_string();
    let ours = || {
        let mut command = program(folder.path());
        command.args(["apply", "--topology", "standalone", "--kubeconfig", &kubeconfig]);
        command
    };
    let theirs = || {
        let mut command = Command::new(&kubectl);
        command.args(["apply", "--server-side", "--kubeconfig", &kubeconfig, "--filename"]).arg(&all);
        command
    };
    println!(
        "\n{OBJECTS} objects in {NAMESPACES} namespaces, one API server: wall time and requests, median of {RUNS}\n"
    );
    let (mut first, mut again) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..RUNS {
        for (at, command) in [&ours as &dyn Fn() -> Command, &theirs].iter().enumerate() {
            bed.reset();
            cluster.stand_in.pause(true);
            bed.standalone();
            first[at].push(measure(cluster, command()));
            again[at].push(measure(cluster, command()));
        }
    }
    let [ours, theirs] = [0, 1].map(|at| [median(&first[at]), median(&again[at])]);
    row("", &["first apply", "requests", "no-op apply", "requests"].map(str::to_owned));
    row("transship apply", &cells(ours));
    row("kubectl apply --server-side", &cells(theirs));
    let faster = |at: usize| theirs[at].time.as_secs_f64() / ours[at].time.as_secs_f64();
    let fewer = |at: usize| theirs[at].requests as f64 / ours[at].requests as f64;
    row(
        "  ours is better by",
        &[faster(0), fewer(0), faster(1), fewer(1)].map(|times| format!("{times:.1}x")),
    );
}

fn cells([first, again]: [Cost; 2]) -> [String; 4] {
    [
        format!("{} ms", first.time.as_millis()),
        first.requests.to_string(),
        format!("{} ms", again.time.as_millis()),
        again.requests.to_string(),
    ]
}

fn row(name: &str, cells: &[String; 4]) {
    println!("{name:<28}{:>14}{:>12}{:>14}{:>12}", cells[0], cells[1], cells[2], cells[3]);
}

fn measure(cluster: &TestCluster, mut command: Command) -> Cost {
    let mark = cluster.audit.mark();
    let began = Instant::now();
    let output = command.stdout(Stdio::null()).output().unwrap();
    let time = began.elapsed();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let agents = ["transship", "kubectl"];
    let of_either = cluster
        .audit
        .since(mark)
        .into_iter()
        .filter(|entry| agents.iter().any(|agent| entry.user_agent.starts_with(agent)));
    Cost { time, requests: of_either.count() }
}

fn median(costs: &[Cost]) -> Cost {
    let mut costs = costs.to_vec();
    costs.sort_by_key(|cost| cost.time);
    costs[costs.len() / 2]
}

/// Objects of several kinds, as components have them.
fn write_project(folder: &Path) {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let header = "apiVersion: transship.openshift.io/v1\n";
    write(
        "profiles/standalone.yaml",
        &format!(
            "{header}kind: Profile\nmetadata: {{name: standalone}}\ntopology: standalone\ncluster: both\n"
        ),
    );
    let annotations = "annotations: {include.release.openshift.io/any: 'true'}\n";
    write(
        "payload/op/component.yaml",
        &format!("{header}kind: Component\nmetadata: {{name: op}}\n{annotations}"),
    );
    let mut namespaces = String::new();
    for namespace in 0..NAMESPACES {
        let _ = write!(
            namespaces,
            "apiVersion: v1\nkind: Namespace\nmetadata: {{name: bench-{namespace}}}\n---\n"
        );
    }
    write("payload/op/0000_10_op_00.yaml", &namespaces);
    for number in 0..(OBJECTS - NAMESPACES) {
        let metadata = format!(
            "metadata: {{name: bench-{number}, namespace: bench-{}, labels: {{app: bench-{number}}}}}\n",
            number / 8 % NAMESPACES
        );
        let text = object(number, &metadata);
        write(&format!("payload/op/0000_20_op_{number:04}.yaml"), &text);
    }
}

fn object(number: usize, metadata: &str) -> String {
    let rbac = "apiVersion: rbac.authorization.k8s.io/v1\n";
    match number % 8 {
        0 | 1 => format!(
            "apiVersion: v1\nkind: ConfigMap\n{metadata}data: {{key: value, text: 'a longer text of some words'}}\n"
        ),
        2 => format!("apiVersion: v1\nkind: ServiceAccount\n{metadata}"),
        3 => format!(
            "{rbac}kind: Role\n{metadata}rules: [{{apiGroups: [''], resources: [pods], verbs: [get, list]}}]\n"
        ),
        4 => format!(
            "{rbac}kind: RoleBinding\n{metadata}roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: bench-{}}}\n\
             subjects: [{{kind: ServiceAccount, name: bench-{}, namespace: bench-{}}}]\n",
            number - 1,
            number - 2,
            number / 8 % NAMESPACES
        ),
        5 => format!("apiVersion: v1\nkind: Secret\n{metadata}data: {{key: dmFsdWU=}}\n"),
        6 => format!("apiVersion: v1\nkind: Service\n{metadata}spec: {{ports: [{{port: 443}}]}}\n"),
        _ => format!(
            "apiVersion: apps/v1\nkind: Deployment\n{metadata}spec:\n  replicas: 0\n  selector: {{matchLabels: {{app: bench-{number}}}}}\n  \
             template:\n    metadata: {{labels: {{app: bench-{number}}}}}\n    spec:\n      containers:\n      \
             - {{name: main, image: 'example.test/image:1', resources: {{requests: {{cpu: 10m, memory: 50Mi}}}}}}\n"
        ),
    }
}
