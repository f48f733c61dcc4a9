//! Crash tests: a run is interrupted before or after the response to any request. The next run must end in the same
//! state as an undisturbed one.

mod moving;
mod rebinding;
pub(super) mod scene;

use std::path::{Path, PathBuf};

use serde_json::json;
use transship::Cluster;

use self::scene::{AFTER, BEFORE, BOTH, Command, GUEST, MANAGEMENT, Scene, kill_at};
use super::applied_state::{kinds_of, ours};
use super::in_process::{Project, Verb};
use super::rights::copied_payload;
use super::{repository, run_standalone};
use crate::TestBedCase;
use crate::base_state::BaseState;
use crate::fault_proxy::When;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    ("apply::crash::at_every_request", crash_at_every_request),
    ("apply::crash::crash_by_a_signal", crash_by_a_signal),
    ("apply::crash::with_shards", |bed| crash_with_shards(bed.standalone())),
    ("apply::crash::rebind_to_another_guest", rebinding::to_another_guest),
    ("apply::crash::rebind_to_another_management_cluster", rebinding::to_another_management_cluster),
    ("apply::crash::move_of_both_inventories", moving::both_inventories),
    ("apply::crash::move_with_shards", moving::with_shards),
];

/// Takes up to half an hour: `make test-crash`. The longest cases come first. An install uses the CPU and a delete
/// mostly waits, so they run at the same time.
pub(crate) const WHOLE: &[TestBedCase] = &[
    ("apply::crash::whole_install::guest::before", |bed| whole_install(bed, GUEST, BEFORE)),
    ("apply::crash::whole_delete::guest::before", |bed| whole_delete(bed, GUEST, BEFORE)),
    ("apply::crash::whole_install::guest::after", |bed| whole_install(bed, GUEST, AFTER)),
    ("apply::crash::whole_delete::guest::after", |bed| whole_delete(bed, GUEST, AFTER)),
    ("apply::crash::whole_install::management", |bed| whole_install(bed, MANAGEMENT, BOTH)),
    ("apply::crash::whole_delete::management", |bed| whole_delete(bed, MANAGEMENT, BOTH)),
    ("apply::crash::whole_upgrade", whole_upgrade),
];

fn fixture(name: &str) -> PathBuf {
    repository().join("tests/data/crash").join(name)
}

/// The two clusters of the test bed serve as independent clusters here.
fn crash_at_every_request(bed: &TestBed) {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            crash_during_an_install(&bed.management);
            bed.management.reset();
            crash_during_a_delete(&bed.management);
        });
        crash_during_an_upgrade(&bed.guest);
        other.join().unwrap();
    });
}

/// The part of the platform that a standalone cluster has and a management cluster may not have.
const HOME: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: openshift-config-managed}\n";

/// One of the objects belongs to someone else and stays so.
fn crash_during_an_install(cluster: &TestCluster) {
    cluster.apply_yaml(HOME);
    cluster.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: crash}\n");
    Scene::standalone(cluster, &fixture("one"), Verb::Apply).cut_off_everywhere();
    let labels = cluster.get("/api/v1/namespaces/crash").unwrap()["metadata"]["labels"].clone();
    assert_eq!(labels, json!({"kubernetes.io/metadata.name": "crash"}));
}

/// Everything at once: changed objects, a recreated one, a rollout strategy, a pruned CRD, and a tombstone.
fn crash_during_an_upgrade(cluster: &TestCluster) {
    Scene::standalone(cluster, &fixture("one"), Verb::Apply).run();
    Scene::standalone(cluster, &fixture("two"), Verb::Apply).cut_off_everywhere();
    assert!(cluster.get("/api/v1/namespaces/crash/configmaps/legacy").is_none());
    assert!(cluster.get("/api/v1/namespaces/crash/configmaps/leaves").is_none());
    assert!(cluster.get("/apis/example.test/v1/namespaces/crash/widgets/widget").is_none());
    let deployment = cluster.get("/apis/apps/v1/namespaces/crash/deployments/op").unwrap();
    assert_eq!(deployment["spec"]["strategy"], json!({"type": "Recreate"}));
    let once = cluster.get("/api/v1/namespaces/crash/configmaps/once").unwrap();
    assert_eq!(once["data"], json!({"begun": "with"}));
    let job = cluster.get("/apis/batch/v1/namespaces/crash/jobs/migrate").unwrap();
    assert_eq!(job["spec"]["template"]["spec"]["containers"][0]["image"], "example.test/migrate:2");
}

/// The inventory is in several ConfigMaps, which one write replaces.
fn crash_with_shards(cluster: &TestCluster) {
    cluster.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: crash}\n");
    let folder = in_a_namespace_of_others();
    with_shards(cluster, folder.path(), Verb::Apply).cut_off_everywhere();
    let path = "/api/v1/namespaces/openshift-config-managed/configmaps/transship-standalone";
    let shards = cluster.get(path).unwrap()["data"]["shards"].as_str().unwrap().split(' ').count();
    assert!(shards > 1, "{shards}");
    // The last requests of `delete` are those that delete the inventory and the Lease.
    Scene { when: AFTER, last: 20, ..with_shards(cluster, folder.path(), Verb::Delete) }.cut_off_everywhere();
}

/// Returns a scene in which a command stores inventories in shards.
fn with_shards<'b>(cluster: &'b TestCluster, folder: &Path, verb: Verb) -> Scene<'b> {
    let project = Project::load(folder, "standalone").with_shards();
    Scene::on_one(cluster, Command::here(project, verb))
}

fn crash_during_a_delete(cluster: &TestCluster) {
    let folder = in_a_namespace_of_others();
    cluster.apply_yaml(HOME);
    cluster.apply_yaml("apiVersion: v1\nkind: Namespace\nmetadata: {name: crash}\n");
    Scene::standalone(cluster, folder.path(), Verb::Apply).run();
    Scene::standalone(cluster, folder.path(), Verb::Delete).cut_off_everywhere();
    assert!(cluster.get("/apis/apps/v1/namespaces/crash/deployments/op").is_none());
}

/// Returns the fixture without its namespace, whose deletion takes five seconds each time.
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
                  externals: [{objects: [Namespace/crash], reason: someone else creates it}]\n";
    std::fs::write(folder.path().join("profiles/checks.yaml"), checks).unwrap();
    folder
}

/// Dropping the future counts as a crash, because nothing is on disk. Ten real signals confirm that.
fn crash_by_a_signal(bed: &TestBed) {
    let cluster = bed.standalone();
    let folder = fixture("one");
    let (before, mut killed) = (BaseState::remember(&cluster.control_plane), 0);
    let kubeconfig = cluster.kubeconfig().display().to_string();
    let arguments = ["apply", "--topology", "standalone", "--kubeconfig", &kubeconfig].map(str::to_owned);
    assert_eq!(run_standalone(cluster, &folder, "apply", &[]).code, 0);
    let requests = cluster.proxy.seen().len();
    let kinds = kinds_of(cluster);
    let expected = ours(cluster, &kinds);
    for round in 0..10 {
        cluster.proxy.reset();
        before.restore(&cluster.control_plane);
        let number = 1 + round * (requests - 1) / 9;
        let stop = cluster.proxy.stop_at(number, if round % 2 == 0 { When::Before } else { When::After });
        killed += usize::from(kill_at(&folder, &arguments, stop));
        cluster.proxy.reset();
        let run = run_standalone(cluster, &folder, "apply", &[]);
        assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
        assert_eq!(ours(cluster, &kinds), expected, "killed at request {number}");
    }
    assert!(killed >= 8, "only {killed} of 10 signals came in time");
}

fn whole_install(bed: &TestBed, at: &'static [Cluster], when: &'static [When]) {
    let bundled = bundled();
    Scene { at, when, ..Scene::hosted(bed, bundled.path(), Verb::Apply) }.cut_off_everywhere();
}

fn whole_upgrade(bed: &TestBed) {
    Scene::hosted(bed, bundled().path(), Verb::Apply).run();
    let next = next_release();
    Scene::hosted(bed, next.path(), Verb::Apply).cut_off_everywhere();
    let monitors = "/apis/monitoring.coreos.com/v1/namespaces/clusters-example/servicemonitors";
    assert!(bed.management.get(&format!("{monitors}/csi-snapshot-controller-operator")).is_none());
    assert!(bed.management.get(&format!("{monitors}/cluster-storage-operator")).is_some());
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    assert!(
        bed.guest.get(&format!("{roles}/openshift-csi-provisioner-volumeattachment-reader-role")).is_none()
    );
}

fn whole_delete(bed: &TestBed, at: &'static [Cluster], when: &'static [When]) {
    let bundled = bundled();
    Scene::hosted(bed, bundled.path(), Verb::Apply).run();
    Scene { at, when, ..Scene::hosted(bed, bundled.path(), Verb::Delete) }.cut_off_everywhere();
}

/// Returns the bundled payload, with a cloud role as the default.
fn bundled() -> tempfile::TempDir {
    let folder = copied_payload();
    name_the_role(folder.path());
    folder
}

/// Names the cloud role, without which there are no cloud credentials.
fn name_the_role(folder: &Path) {
    let set = "apiVersion: transship.openshift.io/v1\nkind: Parameters\nmetadata: {name: default}\n\
               values: {aws: {storageRoleARN: 'arn:aws:iam::123456789012:role/ebs'}}\n";
    std::fs::write(folder.join("profiles/sets/default.yaml"), set).unwrap();
}

/// Returns the bundled payload as a later release might have it: another version, other images, and two objects fewer.
fn next_release() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for below in ["payload", "profiles", "patches"] {
        for entry in walkdir::WalkDir::new(repository().join(below)) {
            let entry = entry.unwrap();
            let to = folder.path().join(entry.path().strip_prefix(repository()).unwrap());
            let name = entry.file_name().to_str().unwrap();
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else if !name.ends_with("_csi-snapshot-controller_11_servicemonitor.yaml")
                && !name.ends_with("-volumeattachment-reader-role.yaml")
            {
                let text = std::fs::read_to_string(entry.path()).unwrap();
                std::fs::write(to, in_next_release(entry.path(), &text)).unwrap();
            }
        }
    }
    name_the_role(folder.path());
    folder
}

/// Returns a file of the payload as the next release has it.
fn in_next_release(path: &Path, text: &str) -> String {
    let text = text.replace("4.22.0", "4.22.1").replace("@sha256:a", "@sha256:b");
    // Its page must not place the object that is gone.
    if path.ends_with("csi-snapshot-controller-operator/component.yaml") {
        return text.replace("  - ServiceMonitor\n", "");
    }
    text
}
