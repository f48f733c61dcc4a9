//! Cut off before or after the answer to any request, the next run ends where an undisturbed one does.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use transship::object::Cluster;

use super::ours::{kinds_of, ours};
use super::project::{Project, Verb};
use super::{alone, program, repository};
use crate::BedCase;
use crate::base_state::BaseState;
use crate::bed::Bed;
use crate::call::block_on;
use crate::proxy::When;
use crate::side::Side;

pub(crate) const CASES: &[BedCase] =
    &[("apply::crash::at_every_request", at_every_request), ("apply::crash::by_a_signal", by_a_signal)];

/// Takes up to half an hour: `make test-crash`. The longest go first. An install keeps the machine busy and a delete waits
/// most of the time, so they go side by side.
pub(crate) const WHOLE: &[BedCase] = &[
    ("apply::crash::whole_install::guest::before", |bed| whole_install(bed, GUEST, BEFORE)),
    ("apply::crash::whole_delete::guest::before", |bed| whole_delete(bed, GUEST, BEFORE)),
    ("apply::crash::whole_install::guest::after", |bed| whole_install(bed, GUEST, AFTER)),
    ("apply::crash::whole_delete::guest::after", |bed| whole_delete(bed, GUEST, AFTER)),
    ("apply::crash::whole_install::management", |bed| whole_install(bed, MANAGEMENT, BOTH)),
    ("apply::crash::whole_delete::management", |bed| whole_delete(bed, MANAGEMENT, BOTH)),
    ("apply::crash::whole_upgrade", whole_upgrade),
];

/// At which cluster's requests it is cut off, and on which side of the answer.
const MANAGEMENT: &[Cluster] = &[Cluster::Management];
const GUEST: &[Cluster] = &[Cluster::Guest];
const ALL: &[Cluster] = &[Cluster::Both, Cluster::Management, Cluster::Guest];
const BEFORE: &[When] = &[When::Before];
const AFTER: &[When] = &[When::After];
const BOTH: &[When] = &[When::Before, When::After];

fn fixture(revision: &str) -> PathBuf {
    repository().join("tests/data/crash").join(revision)
}

/// One way to begin and one thing to do.
struct Scene<'b> {
    sides: Vec<(Cluster, &'b Side)>,
    project: Project,
    verb: Verb,
    at: &'static [Cluster],
    when: &'static [When],
}

impl<'b> Scene<'b> {
    fn alone(side: &'b Side, folder: &Path, verb: Verb) -> Self {
        let project = Project::load(folder, "standalone");
        Self { sides: vec![(Cluster::Both, side)], project, verb, at: ALL, when: BOTH }
    }

    fn run(&self) {
        let summary = block_on(self.project.run(self.verb, &self.sides));
        assert!(!summary.has_problems(), "{}", summary.lines());
    }

    /// Begins at a state, is cut off at every request of an undisturbed run in turn, runs again, and compares.
    fn cut_off_everywhere(&self) {
        let begin: Vec<BaseState> =
            self.sides.iter().map(|(_, side)| BaseState::remember(&side.control_plane)).collect();
        let back = || {
            std::thread::scope(|scope| {
                for ((_, side), state) in self.sides.iter().zip(&begin) {
                    scope.spawn(|| {
                        side.proxy.reset();
                        state.restore(&side.control_plane);
                    });
                }
            });
        };
        let kinds: Vec<Vec<String>> = self.sides.iter().map(|(_, side)| kinds_of(side)).collect();
        back();
        self.run();
        let requests: Vec<usize> = self.sides.iter().map(|(_, side)| side.proxy.seen().len()).collect();
        let kinds: Vec<Vec<String>> = kinds
            .into_iter()
            .zip(&self.sides)
            .map(|(kinds, (_, side))| [kinds, kinds_of(side)].concat())
            .collect();
        let all_ours = || -> Vec<Value> {
            self.sides.iter().zip(&kinds).map(|((_, side), kinds)| ours(side, kinds)).collect()
        };
        let expected = all_ours();
        eprintln!("an undisturbed run makes {requests:?} requests");
        let start = Instant::now();
        let mut cuts = 0;
        let cut = self.sides.iter().zip(&requests).filter(|((cluster, _), _)| self.at.contains(cluster));
        for ((_, side), requests) in cut {
            for number in 1..=*requests {
                for when in self.when.iter().copied() {
                    back();
                    let stop = side.proxy.stop_at(number, when);
                    block_on(async {
                        tokio::select! {
                            // Requests go out side by side, so there may be one fewer this time.
                            _ = self.project.run(self.verb, &self.sides) => {}
                            _ = stop.reached() => {}
                        }
                    });
                    self.sides.iter().for_each(|(_, side)| side.proxy.reset());
                    self.run();
                    assert_eq!(all_ours(), expected, "cut off {when:?} request {number}");
                    cuts += 1;
                }
            }
        }
        eprintln!("cut off {cuts} times in {:?}", start.elapsed());
    }
}

/// Both clusters are clusters of their own here: hardly anything waits for the machine, so there is time for two.
fn at_every_request(bed: &Bed) {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            of_an_install(&bed.management);
            bed.management.reset();
            of_a_delete(&bed.management);
        });
        of_an_upgrade(&bed.guest);
        other.join().unwrap();
    });
}

/// What a standalone cluster has and a management cluster need not have.
const HOME: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-config-managed}\n";

/// One of the objects is somebody else's, and stays so.
fn of_an_install(side: &Side) {
    side.apply_yaml(HOME);
    side.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: crash}\n");
    Scene::alone(side, &fixture("one"), Verb::Apply).cut_off_everywhere();
    let labels = side.get("/api/v1/namespaces/crash").unwrap()["metadata"]["labels"].clone();
    assert_eq!(labels, json!({"kubernetes.io/metadata.name": "crash"}));
}

/// Everything at once: changed, recreated, a strategy that cannot be cleared, pruned with its definition, a tombstone.
fn of_an_upgrade(side: &Side) {
    Scene::alone(side, &fixture("one"), Verb::Apply).run();
    side.apply_yaml("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: legacy, namespace: crash}\n");
    Scene::alone(side, &fixture("two"), Verb::Apply).cut_off_everywhere();
    assert!(side.get("/api/v1/namespaces/crash/configmaps/legacy").is_none());
    assert!(side.get("/api/v1/namespaces/crash/configmaps/leaves").is_none());
    assert!(side.get("/apis/example.test/v1/namespaces/crash/widgets/widget").is_none());
    let deployment = side.get("/apis/apps/v1/namespaces/crash/deployments/op").unwrap();
    assert_eq!(deployment["spec"]["strategy"], json!({"type": "Recreate"}));
    let once = side.get("/api/v1/namespaces/crash/configmaps/once").unwrap();
    assert_eq!(once["data"], json!({"begun": "with"}));
    let job = side.get("/apis/batch/v1/namespaces/crash/jobs/migrate").unwrap();
    assert_eq!(job["spec"]["template"]["spec"]["containers"][0]["image"], "example.test/migrate:2");
}

fn of_a_delete(side: &Side) {
    let folder = in_a_namespace_of_others();
    side.apply_yaml(HOME);
    side.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: crash}\n");
    Scene::alone(side, folder.path(), Verb::Apply).run();
    Scene::alone(side, folder.path(), Verb::Delete).cut_off_everywhere();
    assert!(side.get("/apis/apps/v1/namespaces/crash/deployments/op").is_none());
}

/// The fixture without its namespace: nothing is done about one that is deleted for five seconds, every time.
fn in_a_namespace_of_others() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for below in ["payload/op", "profiles"] {
        std::fs::create_dir_all(folder.path().join(below)).unwrap();
        for file in fixture("one").join(below).read_dir().unwrap() {
            let file = file.unwrap();
            let text = std::fs::read_to_string(file.path()).unwrap();
            let documents: Vec<&str> =
                text.split("---\n").filter(|document| !document.contains("kind: Namespace\n")).collect();
            std::fs::write(folder.path().join(below).join(file.file_name()), documents.join("---\n"))
                .unwrap();
        }
    }
    let checks = "apiVersion: transship.openshift.io/v1\nkind: Checks\nmetadata: {name: checks}\n\
                  externals: [{objects: [Namespace/crash], reason: somebody else makes it}]\n";
    std::fs::write(folder.path().join("profiles/checks.yaml"), checks).unwrap();
    folder
}

/// Dropping the program's future counts as killing it, since nothing is on disk; ten real signals confirm it.
fn by_a_signal(bed: &Bed) {
    let side = bed.standalone();
    let folder = fixture("one");
    let (before, mut killed) = (BaseState::remember(&side.control_plane), 0);
    assert_eq!(alone(side, &folder, "apply", &[]).code, 0);
    let requests = side.proxy.seen().len();
    let kinds = kinds_of(side);
    let expected = ours(side, &kinds);
    for round in 0..10 {
        side.proxy.reset();
        before.restore(&side.control_plane);
        let number = 1 + round * (requests - 1) / 9;
        let stop = side.proxy.stop_at(number, if round % 2 == 0 { When::Before } else { When::After });
        killed += usize::from(kill_at(side, &folder, stop));
        side.proxy.reset();
        let run = alone(side, &folder, "apply", &[]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert_eq!(ours(side, &kinds), expected, "killed at request {number}");
    }
    assert!(killed >= 8, "only {killed} of 10 signals came in time");
}

fn kill_at(side: &Side, folder: &Path, stop: crate::proxy::Stop) -> bool {
    let kubeconfig = side.kubeconfig().display().to_string();
    let mut command = program(folder);
    command.args(["apply", "--topology", "standalone", "--kubeconfig", &kubeconfig]);
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let reached = stop.wait(std::time::Duration::from_secs(20)).is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    reached
}

/// A payload in both clusters of a hosted control plane.
fn whole<'b>(bed: &'b Bed, folder: &Path, verb: Verb) -> Scene<'b> {
    let project = Project::load(folder, "hypershift");
    let sides = vec![(Cluster::Management, &bed.management), (Cluster::Guest, &bed.guest)];
    Scene { sides, project, verb, at: ALL, when: BOTH }
}

fn whole_install(bed: &Bed, at: &'static [Cluster], when: &'static [When]) {
    Scene { at, when, ..whole(bed, repository(), Verb::Apply) }.cut_off_everywhere();
}

fn whole_upgrade(bed: &Bed) {
    whole(bed, repository(), Verb::Apply).run();
    let next = next_release();
    whole(bed, next.path(), Verb::Apply).cut_off_everywhere();
    assert!(
        bed.management
            .get("/apis/policy/v1/namespaces/clusters-example/poddisruptionbudgets/csi-snapshot-webhook-pdb")
            .is_none()
    );
    assert!(bed.guest.get("/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses/csi-aws-vsc").is_none());
}

fn whole_delete(bed: &Bed, at: &'static [Cluster], when: &'static [When]) {
    whole(bed, repository(), Verb::Apply).run();
    Scene { at, when, ..whole(bed, repository(), Verb::Delete) }.cut_off_everywhere();
}

/// The bundled payload as a later release might have it: another version, other images, and two objects fewer.
fn next_release() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for below in ["payload", "profiles", "patches"] {
        for entry in walkdir::WalkDir::new(repository().join(below)) {
            let entry = entry.unwrap();
            let to = folder.path().join(entry.path().strip_prefix(repository()).unwrap());
            let name = entry.file_name().to_str().unwrap();
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else if !name.ends_with("_webhook_deployment_pdb.yaml")
                && !name.ends_with("_volumesnapshotclass.yaml")
            {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                std::fs::write(to, text.replace("4.22.0", "4.22.1").replace("@sha256:a", "@sha256:b"))
                    .unwrap();
            }
        }
    }
    folder
}
