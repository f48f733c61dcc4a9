//! Beside the tools people use: the same namespace and image change on the same objects, in one run on one machine.
//!
//! `make bench` runs it. CPU time is user plus system; ours is the median of five runs, kustomize's of one, since it
//! takes minutes.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::expect_used,
    reason = "a bench talks to a terminal"
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

/// What one or several commands cost, and what they wrote.
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

/// One namespace and one image for everything.
fn one_change(tools: &Path, folders: &[PathBuf; 2]) -> Result<(), String> {
    println!("reading, moving to one namespace, changing images, writing: CPU time in ms (user + system)\n");
    let checked = ours(folders, |folder| transship(folder, &["bench"], &[]))?;
    let ours = ours(folders, |folder| transship(folder, &["bench"], &["--no-check"]))?;
    let memory = peak_memory_mb();
    row("", &SIZES.map(|size| format!("{size} objects")), "doubling");
    row("transship render", &[millis(&ours[0]), millis(&ours[1])], &ratio(&ours[1], &ours[0]));
    row("  and checked", &[millis(&checked[0]), millis(&checked[1])], &ratio(&checked[1], &checked[0]));
    row("  which is", &[ratio(&checked[0], &ours[0]), ratio(&checked[1], &ours[1])], "");
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
    println!("\ntransship's peak memory: {memory} MB; all three gave the same objects");
    Ok(())
}

/// Three profiles with pages, a word, policy and patches, beside three overlays.
fn three_topologies(tools: &Path, folders: &[PathBuf; 2]) -> Result<(), String> {
    println!(
        "\nthree profiles, components of 20 objects with a page, a word, policy and patches: CPU time in ms\n"
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
    println!("\nboth gave the same objects in all three");
    Ok(())
}

/// The median of some runs for each folder, behind one that warms the file cache. The sizes take turns, so that a
/// moment in which the machine is busy does not hit one of them alone.
fn ours(folders: &[PathBuf; 2], run: impl Fn(&Path) -> Result<Cost, String>) -> Result<Vec<Cost>, String> {
    // What the generator wrote must not be written while we measure.
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

/// Builds kubectl and kustomize where they are not built yet, and gives their folder.
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

/// Our own command. The other tools do not check what they make, so beside them neither do we.
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

/// Runs a command to its end and reads off what the operating system charged for it.
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

/// The most memory that any child had so far; asked before kustomize runs, that is ours.
fn peak_memory_mb() -> i64 {
    getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel knows its children").max_rss() / 1024
}

/// A fast answer that is wrong is worth nothing: both tools must give the same objects, in whatever order.
fn same_objects(ours: &str, theirs: &str) -> Result<(), String> {
    let (ours, theirs) = (objects(ours)?, objects(theirs)?);
    if ours.len() != theirs.len() {
        return Err(format!("{} objects here, {} there", ours.len(), theirs.len()));
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
