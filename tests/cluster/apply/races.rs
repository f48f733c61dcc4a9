//! Races: two commands start at a random distance. They always end in one of the states that someone wanted, and never with an
//! object that no inventory lists. `make test-races` runs fifty of each kind.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::Run;
use super::applied_state::labelled;
use super::fixture::{INVENTORY, NAMESPACE, Project, map};
use super::scenarios::inventory;
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

/// A few races of each kind.
pub(crate) const CASES: &[TestBedCase] = &[("apply::races::a_few_of_each_kind", |bed| all_races(bed, 2))];

/// Takes minutes: `make test-races`.
pub(crate) const MANY: &[TestBedCase] = &[("apply::races::fifty_of_each_kind", |bed| all_races(bed, 50))];

/// The number of ConfigMaps of each version.
const MAPS: usize = 12;
/// Commands start at most this far from each other. An apply takes about half of that.
const MAX_DISTANCE: u64 = 400;

#[derive(Clone, Copy, Debug)]
enum Command {
    Apply(&'static str),
    ApplyAndWait(&'static str),
    Delete,
}

struct Race<'b> {
    cluster: &'b TestCluster,
    projects: BTreeMap<&'static str, Project>,
}

fn all_races(bed: &TestBed, rounds: u64) {
    let cluster = bed.standalone();
    cluster.apply_yaml(&format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {NAMESPACE}}}\n"));
    let projects = ["zero", "one", "two"].map(|version| (version, project(version)));
    let race = Race { cluster, projects: projects.into_iter().collect() };
    let kinds = [
        [Command::Apply("one"), Command::Apply("two")],
        [Command::ApplyAndWait("one"), Command::ApplyAndWait("two")],
        [Command::Apply("one"), Command::Delete],
        [Command::Delete, Command::Apply("two")],
        [Command::Delete, Command::Delete],
    ];
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for commands in kinds {
        for round in 0..rounds {
            // Distances that differ from race to race, and are the same in every run.
            let distance = Duration::from_millis(round * 7919 % MAX_DISTANCE);
            let state = race.run(commands, distance);
            *outcomes.entry(format!("{commands:?}: {state}")).or_default() += 1;
        }
    }
    eprintln!("{outcomes:#?}");
}

/// Objects that appear and disappear at once, in a namespace of others.
fn project(version: &str) -> Project {
    let project = Project::new();
    project.place_everything_here();
    for name in [
        "10_namespace",
        "10_crd",
        "50_widget",
        "20_service",
        "30_deployment",
        "30_job",
        "30_old",
        "40_webhook",
    ] {
        project.remove(name);
    }
    project.write(
        "profiles/checks.yaml",
        "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata: {name: checks}\n\
         externals: [{objects: [Namespace/openshift-op], reason: someone else creates it}]\n",
    );
    project.add_many(MAPS);
    for number in 0..MAPS {
        project.change(&format!("20_many_{number}"), "mode: one", &format!("mode: {version}"));
    }
    project
}

impl Race<'_> {
    /// Starts from another installed version. Returns the state at the end.
    fn run(&self, commands: [Command; 2], distance: Duration) -> String {
        self.projects["zero"].apply_ok(self.cluster, &[]);
        let runs = std::thread::scope(|scope| {
            let first = scope.spawn(|| self.start(commands[0]));
            std::thread::sleep(distance);
            let second = self.start(commands[1]);
            [first.join().unwrap(), second]
        });
        let state = self.state();
        let codes = [runs[0].code, runs[1].code];
        for (command, run) in commands.iter().zip(&runs) {
            // Nothing to delete any more is exit code 1.
            let is_right = match command {
                Command::Delete => [0, 1].contains(&run.code),
                // A newer version may stop one that only waits.
                Command::ApplyAndWait(_) => [0, 3].contains(&run.code),
                Command::Apply(_) => run.code == 0,
            };
            assert!(is_right, "{commands:?} {distance:?} {codes:?}: {}{}", run.stdout, run.stderr);
        }
        let wanted = commands.map(|command| match command {
            Command::Apply(version) | Command::ApplyAndWait(version) => version,
            Command::Delete => "deleted",
        });
        assert!(wanted.contains(&state.as_str()), "{commands:?} {distance:?} {codes:?}: {state}");
        state
    }

    fn start(&self, command: Command) -> Run {
        match command {
            Command::Apply(version) => self.projects[version].apply(self.cluster, &["--timeout", "60s"]),
            Command::ApplyAndWait(version) => {
                self.projects[version].apply(self.cluster, &["--wait", "--timeout", "60s"])
            }
            Command::Delete => self.projects["one"].run(self.cluster, "delete", &["--timeout", "60s"]),
        }
    }

    /// Returns which version the cluster has as a whole, or that everything is deleted.
    fn state(&self) -> String {
        let listed = inventory(self.cluster).len();
        let live = labelled(self.cluster, "/api/v1/configmaps");
        if self.cluster.get(INVENTORY).is_none() {
            assert!(live.is_empty(), "objects without an inventory: {live:#?}");
            return "deleted".to_owned();
        }
        let mode = |number: usize| {
            let live: Value = self.cluster.get(&map(&format!("many-{number}"))).unwrap_or_default();
            live["data"]["mode"].as_str().unwrap_or("missing").to_owned()
        };
        let modes: Vec<String> = (0..MAPS).map(mode).collect();
        assert!(modes.iter().all(|mode| *mode == modes[0]), "a mixture: {modes:?}");
        assert!(listed > MAPS, "{listed}");
        modes[0].clone()
    }
}
