//! One initial state and one command, which is interrupted at each of its requests.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use transship::Cluster;

use super::super::applied_state::{kinds_of, ours};
use super::super::in_process::{Project, Verb};
use super::super::{program, run_in};
use crate::base_state::BaseState;
use crate::fault_proxy::{Stop, When};
use crate::requests::block_on;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

/// The cluster at whose requests a run is interrupted, and whether before or after the response.
pub(super) const MANAGEMENT: &[Cluster] = &[Cluster::Management];
pub(super) const GUEST: &[Cluster] = &[Cluster::Guest];
pub(super) const ALL: &[Cluster] = &[Cluster::Both, Cluster::Management, Cluster::Guest];
pub(super) const BEFORE: &[When] = &[When::Before];
pub(super) const AFTER: &[When] = &[When::After];
pub(super) const BOTH: &[When] = &[When::Before, When::After];

/// The command of a scene, and how it is interrupted.
pub(super) enum Command {
    /// Runs in this process. Dropping its future counts as a crash, because nothing is on disk.
    Here(Box<Project>, Verb),
    /// Runs as a process in a folder, with these arguments. A signal ends it.
    Process(tempfile::TempDir, Vec<String>),
}

impl Command {
    pub(super) fn here(project: Project, verb: Verb) -> Self {
        Self::Here(Box::new(project), verb)
    }
}

/// An initial state and a command.
pub(crate) struct Scene<'b> {
    pub(super) clusters: Vec<(Cluster, &'b TestCluster)>,
    pub(super) command: Command,
    pub(super) at: &'static [Cluster],
    pub(super) when: &'static [When],
    /// Interrupts a run only at this many of its last requests to each cluster.
    pub(super) last: usize,
    /// The steps between a crash and the next run.
    pub(super) after_crash: Box<dyn Fn(When) + 'b>,
}

impl<'b> Scene<'b> {
    pub(crate) fn standalone(cluster: &'b TestCluster, folder: &Path, verb: Verb) -> Self {
        Self::on_one(cluster, Command::here(Project::load(folder, "standalone"), verb))
    }

    pub(super) fn on_one(cluster: &'b TestCluster, command: Command) -> Self {
        Self::new(vec![(Cluster::Both, cluster)], command)
    }

    /// A scene on both clusters of a hosted control plane.
    pub(super) fn hosted(bed: &'b TestBed, folder: &Path, verb: Verb) -> Self {
        Self::on_both(bed, Command::here(Project::load(folder, "hypershift"), verb))
    }

    pub(super) fn on_both(bed: &'b TestBed, command: Command) -> Self {
        let clusters = vec![(Cluster::Management, &bed.management), (Cluster::Guest, &bed.guest)];
        Self::new(clusters, command)
    }

    fn new(clusters: Vec<(Cluster, &'b TestCluster)>, command: Command) -> Self {
        let after_crash = Box::new(|_| {});
        Self { clusters, command, at: ALL, when: BOTH, last: usize::MAX, after_crash }
    }

    /// Runs the command and expects no problems.
    pub(super) fn run(&self) {
        match &self.command {
            Command::Here(project, verb) => {
                let summary = block_on(project.run(*verb, &self.clusters)).unwrap();
                assert!(!summary.has_problems(), "{}", summary.lines());
            }
            Command::Process(folder, arguments) => {
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let run = run_in(folder.path(), &arguments);
                assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
            }
        }
    }

    /// Runs the command until it is interrupted. Requests run concurrently, so there may be one fewer than last time, and
    /// the run may end before.
    fn crash(&self, stop: Stop) {
        match &self.command {
            Command::Here(project, verb) => block_on(async {
                tokio::select! {
                    _ = project.run(*verb, &self.clusters) => {}
                    _ = stop.reached() => {}
                }
            }),
            Command::Process(folder, arguments) => _ = kill_at(folder.path(), arguments, stop),
        }
    }

    /// Interrupts a run at each request of an undisturbed run, runs again, and compares the results.
    pub(crate) fn cut_off_everywhere(&self) {
        let begin: Vec<BaseState> =
            self.clusters.iter().map(|(_, cluster)| BaseState::remember(&cluster.control_plane)).collect();
        let back = || {
            std::thread::scope(|scope| {
                for ((_, cluster), state) in self.clusters.iter().zip(&begin) {
                    scope.spawn(|| {
                        cluster.proxy.reset();
                        state.restore(&cluster.control_plane);
                    });
                }
            });
        };
        let kinds: Vec<Vec<String>> = self.clusters.iter().map(|(_, cluster)| kinds_of(cluster)).collect();
        back();
        self.run();
        let requests: Vec<usize> =
            self.clusters.iter().map(|(_, cluster)| cluster.proxy.seen().len()).collect();
        let kinds: Vec<Vec<String>> = kinds
            .into_iter()
            .zip(&self.clusters)
            .map(|(kinds, (_, cluster))| [kinds, kinds_of(cluster)].concat())
            .collect();
        let all_ours = || -> Vec<Value> {
            self.clusters.iter().zip(&kinds).map(|((_, cluster), kinds)| ours(cluster, kinds)).collect()
        };
        let expected = all_ours();
        eprintln!("an undisturbed run makes {requests:?} requests");
        let start = Instant::now();
        let mut cuts = 0;
        let cut = self.clusters.iter().zip(&requests).filter(|((cluster, _), _)| self.at.contains(cluster));
        for ((_, cluster), requests) in cut {
            for number in 1 + requests.saturating_sub(self.last)..=*requests {
                for when in self.when.iter().copied() {
                    back();
                    self.crash(cluster.proxy.stop_at(number, when));
                    self.clusters.iter().for_each(|(_, cluster)| cluster.proxy.reset());
                    (self.after_crash)(when);
                    self.run();
                    assert_eq!(all_ours(), expected, "cut off {when:?} request {number}");
                    cuts += 1;
                }
            }
        }
        eprintln!("cut off {cuts} times in {:?}", start.elapsed());
    }
}

/// Starts the program and ends it with a signal at a request. Returns whether it came that far.
pub(super) fn kill_at(folder: &Path, arguments: &[String], stop: Stop) -> bool {
    let mut command = program(folder);
    command.args(arguments).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    let reached = stop.wait(Duration::from_secs(20)).is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    reached
}
