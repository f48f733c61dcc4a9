//! `make bench`: a first apply and one that changes nothing, compared with kubectl on the same API server, and with a
//! loop that only sends the objects.
//!
//! Wall time is the median of several runs. The API server counts the requests, the kernel measures CPU time and memory.
#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints its results, in rough figures"
)]

mod bare_loop;
pub(crate) mod meter;
mod project;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::apply::program;
use crate::servers::Controllers;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;
use crate::tools;
use bare_loop::BareLoop;
use meter::Usage;

/// The numbers of objects at which the tools are compared.
const SIZES: [usize; 3] = [500, 2000, 5000];
/// The numbers of objects between which the CPU time of an apply without changes is compared.
const CPU_SIZES: [usize; 2] = [250, 8000];
const RUNS: usize = 3;

/// The limits that the printed ratios are compared with.
const MAX_TIMES_BARE_LOOP: f64 = 1.3;
const MIN_TIMES_FASTER_NO_OP: f64 = 15.0;
const MAX_MEMORY_MB: f64 = 100.0;
const MAX_TIMES_CPU: f64 = 40.0;

/// The measurements of one run.
#[derive(Clone, Copy, Default)]
struct Cost {
    usage: Usage,
    requests: usize,
}

/// The measurements of one tool: of a first apply, and of another one that changes nothing.
#[derive(Default)]
struct Costs {
    first: Vec<Cost>,
    no_op: Vec<Cost>,
}

pub(crate) fn run() {
    let Some(tools) = tools::find(&[tools::CLUSTER, &["kubectl"]].concat()) else { return };
    let bed = TestBed::start(&tools, Controllers::All);
    for size in SIZES {
        compare(&bed, &tools.join("kubectl"), size);
    }
    compare_cpu(&bed);
}

/// Compares the tools at one number of objects. They take turns, so that other load on the machine affects all of them.
fn compare(bed: &TestBed, kubectl: &Path, size: usize) {
    let folder = tempfile::tempdir().unwrap();
    project::write(folder.path(), size);
    let all = folder.path().join("all.yaml");
    std::fs::write(&all, render(folder.path(), "yaml")).unwrap();
    let bare_loop = BareLoop::new(&render(folder.path(), "json"));
    let kubeconfig = bed.guest.direct();
    let ours = || apply(folder.path(), &kubeconfig);
    let theirs = || {
        let mut command = Command::new(kubectl);
        command.args(["apply", "--server-side", "--kubeconfig"]).arg(&kubeconfig).arg("--filename").arg(&all);
        command
    };
    let mut bare = Costs::default();
    let mut costs = [Costs::default(), Costs::default()];
    for _ in 0..RUNS {
        let cluster = fresh(bed);
        bare.first.push(measure_bare_loop(cluster, &bare_loop));
        for (command, costs) in [&ours as &dyn Fn() -> Command, &theirs].into_iter().zip(&mut costs) {
            let cluster = fresh(bed);
            costs.first.push(measure(cluster, &command()));
            costs.no_op.push(measure(cluster, &command()));
        }
    }
    let [ours, theirs] = costs;
    print(size, &bare, &ours, &theirs);
}

fn print(size: usize, bare: &Costs, ours: &Costs, theirs: &Costs) {
    println!("\n{size} objects, one API server: median of {RUNS} runs\n");
    row(["", "first apply", "requests", "no-op apply", "requests", "peak memory"].map(str::to_owned));
    let bare = median(&bare.first);
    let none = String::new;
    row(["16 parallel applies".into(), millis(bare), bare.requests.to_string(), none(), none(), none()]);
    for (name, costs) in [("transship apply", ours), ("kubectl apply --server-side", theirs)] {
        let (first, no_op) = (median(&costs.first), median(&costs.no_op));
        let memory = format!("{:.0} MB", peak_memory(costs));
        let requests = [first.requests.to_string(), no_op.requests.to_string()];
        let [first_requests, no_op_requests] = requests;
        row([name.to_owned(), millis(first), first_requests, millis(no_op), no_op_requests, memory]);
    }
    println!();
    let first = median(&ours.first);
    ratio("first apply, times the parallel applies", times(first, bare), MAX_TIMES_BARE_LOOP);
    println!("{:<54}{:>8.2}", "first apply, times faster than kubectl", times(median(&theirs.first), first));
    let faster = times(median(&theirs.no_op), median(&ours.no_op));
    println!(
        "{:<54}{faster:>8.2}   at least {MIN_TIMES_FASTER_NO_OP}: {}",
        "no-op apply, times faster than kubectl",
        verdict(faster >= MIN_TIMES_FASTER_NO_OP)
    );
    let cpu = [&theirs.no_op, &ours.no_op].map(|costs| median_cpu(costs).as_secs_f64());
    println!("{:<54}{:>8.2}", "no-op apply, times less CPU time than kubectl", cpu[0] / cpu[1]);
    ratio("peak memory, MB", peak_memory(ours), MAX_MEMORY_MB);
}

/// Compares the CPU time of an apply without changes at a small and at a large number of objects.
fn compare_cpu(bed: &TestBed) {
    println!("\nno-op apply: CPU time of transship, median of {RUNS} runs\n");
    let mut cpu = Vec::new();
    for size in CPU_SIZES {
        let folder = tempfile::tempdir().unwrap();
        project::write(folder.path(), size);
        let cluster = fresh(bed);
        let command = || apply(folder.path(), &cluster.direct());
        measure(cluster, &command());
        let costs: Vec<Cost> = (0..RUNS).map(|_| measure(cluster, &command())).collect();
        let median = median_cpu(&costs);
        println!("{:<54}{:>8} ms", format!("{size} objects"), median.as_millis());
        cpu.push(median.as_secs_f64());
    }
    ratio("times the CPU", cpu[1] / cpu[0], MAX_TIMES_CPU);
}

/// Restores the initial state of the cluster that the tools apply to.
fn fresh(bed: &TestBed) -> &TestCluster {
    bed.reset();
    let cluster = bed.standalone();
    cluster.stand_in.pause(true);
    cluster
}

fn apply(folder: &Path, kubeconfig: &Path) -> Command {
    let mut command = program(folder);
    command.args(["apply", "--topology", "standalone", "--kubeconfig"]).arg(kubeconfig);
    command
}

fn render(folder: &Path, format: &str) -> String {
    let rendered =
        program(folder).args(["render", "--profile", "standalone", "-o", format]).output().unwrap();
    assert!(rendered.status.success(), "{}", String::from_utf8_lossy(&rendered.stderr));
    String::from_utf8(rendered.stdout).unwrap()
}

fn measure(cluster: &TestCluster, command: &Command) -> Cost {
    let mark = cluster.audit.mark();
    let usage = meter::run(command);
    let entries = cluster.audit.since(mark);
    let agents = ["transship", "kubectl"];
    let is_of_tool = |agent: &str| agents.iter().any(|tool| agent.starts_with(tool));
    Cost { usage, requests: entries.iter().filter(|entry| is_of_tool(&entry.user_agent)).count() }
}

fn measure_bare_loop(cluster: &TestCluster, bare_loop: &BareLoop) -> Cost {
    let began = Instant::now();
    let requests = bare_loop.run(&cluster.direct());
    Cost { usage: Usage { time: began.elapsed(), ..Usage::default() }, requests }
}

fn median(costs: &[Cost]) -> Cost {
    let mut costs = costs.to_vec();
    costs.sort_by_key(|cost| cost.usage.time);
    costs[costs.len() / 2]
}

fn median_cpu(costs: &[Cost]) -> Duration {
    let mut times: Vec<Duration> = costs.iter().map(|cost| cost.usage.cpu).collect();
    times.sort();
    times[times.len() / 2]
}

/// Returns the largest memory of all runs, in MB.
fn peak_memory(costs: &Costs) -> f64 {
    let kilobytes = costs.first.iter().chain(&costs.no_op).map(|cost| cost.usage.memory_kb).max();
    kilobytes.unwrap_or_default() as f64 / 1024.0
}

fn times(a: Cost, b: Cost) -> f64 {
    a.usage.time.as_secs_f64() / b.usage.time.as_secs_f64()
}

fn millis(cost: Cost) -> String {
    format!("{} ms", cost.usage.time.as_millis())
}

fn row(cells: [String; 6]) {
    let [name, first, first_requests, no_op, no_op_requests, memory] = cells;
    println!("{name:<28}{first:>14}{first_requests:>10}{no_op:>14}{no_op_requests:>10}{memory:>14}");
}

/// Prints a number that must not be larger than a limit.
fn ratio(name: &str, value: f64, limit: f64) {
    println!("{name:<54}{value:>8.2}   at most {limit}: {}", verdict(value <= limit));
}

fn verdict(holds: bool) -> &'static str {
    if holds { "yes" } else { "NO" }
}
