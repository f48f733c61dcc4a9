//! Compares rendering with kustomize and kubectl: each tool makes the same changes to the same objects, on one machine.
//!
//! `make bench` runs it. CPU time is user plus system. The time of transship is the median of five runs. The other tools
//! run once, because they take minutes.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    reason = "a benchmark prints its results"
)]

mod generate;
mod topologies;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use transship::yaml::{self, Node, SourceId};

const SIZES: [usize; 2] = [2000, 4000];
const RUNS: usize = 5;

/// The CPU time and the output of one or several commands.
#[derive(Default)]
struct Cost {
    cpu: Duration,
    outputs: Vec<String>,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.cpu += other.cpu;
        self.outputs.extend(other.outputs);
    }
}

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), String> {
    let tools = tools()?;
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let written = |error: std::io::Error| error.to_string();
    let folder = |name: &str, size: usize| work.path().join(format!("{name}-{size}"));
    for size in SIZES {
        generate::write(&folder("one", size), size).map_err(written)?;
        topologies::write(&folder("three", size), size).map_err(written)?;
    }
    one_change(&tools, &SIZES.map(|size| folder("one", size)))?;
    three_topologies(&tools, &SIZES.map(|size| folder("three", size)))
}

/// Compares the tools: each moves all objects to one namespace and changes one image.
fn one_change(tools: &Path, folders: &[PathBuf; 2]) -> Result<(), String> {
    println!("one namespace and one image for all objects: CPU time in ms (user + system)\n");
    let checked = ours(folders, |folder| transship(folder, &["bench"], &[]))?;
    let ours = ours(folders, |folder| transship(folder, &["bench"], &["--no-check"]))?;
    let memory = peak_memory_mb();
    row("", &SIZES.map(|size| format!("{size} objects")), "doubling");
    row("transship render", &[millis(&ours[0]), millis(&ours[1])], &ratio(&ours[1], &ours[0]));
    row("  with checks", &[millis(&checked[0]), millis(&checked[1])], &ratio(&checked[1], &checked[0]));
    row("  ratio", &[ratio(&checked[0], &ours[0]), ratio(&checked[1], &ours[1])], "");
    for (name, arguments) in
        [("kustomize build", ["kustomize", "build"]), ("kubectl kustomize", ["kubectl", "kustomize"])]
    {
        let run = |folder: &PathBuf| once(tools, arguments, &folder.join("kustomize"));
        let theirs: Vec<Cost> = folders.iter().map(run).collect::<Result<_, _>>()?;
        row(name, &[millis(&theirs[0]), millis(&theirs[1])], &ratio(&theirs[1], &theirs[0]));
        let times = [ratio(&theirs[0], &ours[0]), ratio(&theirs[1], &ours[1])];
        row("  ours is faster by", &times, "");
        same_objects(&ours[0].outputs[0], &theirs[0].outputs[0])?;
    }
    println!("\npeak memory of transship: {memory} MB; all tools render the same objects");
    Ok(())
}

/// Compares three profiles, with pages, a fragment, policy and patches, with three overlays of kustomize.
fn three_topologies(tools: &Path, folders: &[PathBuf; 2]) -> Result<(), String> {
    println!(
        "\nthree profiles, components of 20 objects with a page, a fragment, policy and patches: CPU time in ms\n"
    );
    let ours = ours(folders, |folder| transship(folder, &topologies::PROFILES, &["--no-check"]))?;
    row("", &SIZES.map(|size| format!("{size} objects")), "doubling");
    row("transship render", &[millis(&ours[0]), millis(&ours[1])], &ratio(&ours[1], &ours[0]));
    let mut theirs = Cost::default();
    for profile in topologies::PROFILES {
        theirs.add(once(tools, ["kustomize", "build"], &folders[0].join("kustomize").join(profile))?);
    }
    row("kustomize build", &[millis(&theirs), "-".to_owned()], "");
    row("  ours is faster by", &[ratio(&theirs, &ours[0]), "-".to_owned()], "");
    for (ours, theirs) in ours[0].outputs.iter().zip(&theirs.outputs) {
        same_objects(ours, theirs)?;
    }
    println!("\nboth tools render the same objects for all profiles");
    Ok(())
}

/// Returns the median of several runs for each folder. A first run, which does not count, warms the file cache. The folders
/// take turns, so that other load on the machine affects all of them.
fn ours(folders: &[PathBuf; 2], run: impl Fn(&Path) -> Result<Cost, String>) -> Result<Vec<Cost>, String> {
    // The kernel must not write the generated files to the disk during the measurement.
    let _ = Command::new("sync").status();
    for folder in folders {
        run(folder)?;
    }
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        for (folder, costs) in folders.iter().zip(&mut costs) {
            costs.push(run(folder)?);
        }
    }
    Ok(costs.into_iter().map(median).collect())
}

fn row(name: &str, cells: &[String], last: &str) {
    print!("{name:<22}");
    for cell in cells {
        print!("{cell:>16}");
    }
    println!("{last:>12}");
}

fn millis(cost: &Cost) -> String {
    format!("{:.0}", cost.cpu.as_secs_f64() * 1000.0)
}

fn ratio(a: &Cost, b: &Cost) -> String {
    format!("{:.1}x", a.cpu.as_secs_f64() / b.cpu.as_secs_f64())
}

/// Builds kubectl and kustomize if necessary, and returns their folder.
fn tools() -> Result<PathBuf, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/build");
    let built = Command::new(script)
        .args(["kubectl", "kustomize"])
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !built.status.success() {
        return Err("kubectl and kustomize could not be built".into());
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&built.stdout).trim()))
}

/// Runs `transship render` for each profile.
fn transship(folder: &Path, profiles: &[&str], more: &[&str]) -> Result<Cost, String> {
    let mut cost = Cost::default();
    for profile in profiles {
        let mut command = Command::new(env!("CARGO_BIN_EXE_transship"));
        command.args(["render", "--profile", profile]).args(more).current_dir(folder);
        cost.add(measure(command)?);
    }
    Ok(cost)
}

fn once(tools: &Path, arguments: [&str; 2], folder: &Path) -> Result<Cost, String> {
    let mut command = Command::new(tools.join(arguments[0]));
    command.arg(arguments[1]).arg(folder);
    measure(command)
}

/// Runs a command and measures its CPU time.
fn measure(mut command: Command) -> Result<Cost, String> {
    let before = children_cpu();
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let cpu = children_cpu().saturating_sub(before);
    if !output.status.success() {
        return Err(format!("{command:?} failed"));
    }
    Ok(Cost { cpu, outputs: vec![String::from_utf8_lossy(&output.stdout).into_owned()] })
}

fn median(mut costs: Vec<Cost>) -> Cost {
    costs.sort_by_key(|cost| cost.cpu);
    costs.swap_remove(RUNS / 2)
}

fn children_cpu() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel knows its children");
    let time = |value: nix::sys::time::TimeVal| {
        let micros = value.tv_sec() * 1_000_000 + value.tv_usec();
        Duration::from_micros(u64::try_from(micros).unwrap_or_default())
    };
    time(usage.user_time()) + time(usage.system_time())
}

/// Returns the peak memory of all child processes so far. Before kustomize runs, that is the peak memory of transship.
fn peak_memory_mb() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel knows its children").max_rss() / 1024
}

/// Fails unless both tools rendered the same objects, in any order. A comparison of different results would mean nothing.
fn same_objects(ours: &str, theirs: &str) -> Result<(), String> {
    let (ours, theirs) = (objects(ours)?, objects(theirs)?);
    if ours.len() != theirs.len() {
        return Err(format!("transship rendered {} objects, the other tool {}", ours.len(), theirs.len()));
    }
    match ours.iter().find(|(id, node)| theirs.get(*id) != Some(node)) {
        Some((id, _)) => Err(format!("{id} differs")),
        None => Ok(()),
    }
}

fn objects(stream: &str) -> Result<BTreeMap<String, Node>, String> {
    let documents = yaml::read(stream, SourceId::default()).map_err(|error| error.to_string())?;
    let id = |root: &Node| transship::ObjectId::of(root).map(|(id, _)| id.to_string());
    documents
        .into_iter()
        .map(|document| Ok((id(&document.root).map_err(|error| error.message)?, document.root)))
        .collect()
}
