//! Crash tests of `inventory move`, for a topology that was renamed from `hosted` to `hypershift`.

use std::path::Path;

use super::super::in_process::{Project, Verb};
use super::super::run_hosted;
use super::super::scenarios::{assert_code, patch_as, written_paths};
use super::fixture;
use super::scene::{AFTER, Command, Scene};
use crate::test_bed::TestBed;
use serde_json::json;

const OLD: [&str; 2] = [
    "/api/v1/namespaces/clusters-example/configmaps/transship-hosted",
    "/api/v1/namespaces/openshift-config-managed/configmaps/transship-hosted-clusters-example",
];
const NEW: [&str; 2] = [
    "/api/v1/namespaces/clusters-example/configmaps/transship-hypershift",
    "/api/v1/namespaces/openshift-config-managed/configmaps/transship-hypershift-clusters-example",
];
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/clusters-example/leases/transship-hypershift";

pub(super) fn both_inventories(bed: &TestBed) {
    move_inventories(bed, |project| project);
}

/// The old inventories have shards, which must not stay behind.
pub(super) fn with_shards(bed: &TestBed) {
    move_inventories(bed, Project::with_shards);
}

fn move_inventories(bed: &TestBed, with: fn(Project) -> Project) {
    let (earlier, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    copy("hosted", earlier.path());
    copy("hypershift", folder.path());
    Scene::on_both(bed, Command::here(with(Project::load(earlier.path(), "hosted")), Verb::Apply)).run();
    let [management, guest] =
        [&bed.management, &bed.guest].map(|cluster| cluster.kubeconfig().display().to_string());
    let arguments = [
        ["inventory", "move"],
        ["--topology", "hypershift"],
        ["--from-topology", "hosted"],
        ["--management-kubeconfig", &management],
        ["--guest-kubeconfig", &guest],
    ];
    let arguments = arguments.concat().into_iter().map(str::to_owned).collect();
    let path = folder.path().to_owned();
    let scene = Scene {
        when: AFTER,
        after_crash: Box::new(|_| end_lease_soon(bed)),
        ..Scene::on_both(bed, Command::Process(folder, arguments))
    };
    scene.cut_off_everywhere();
    for (cluster, (old, new)) in [&bed.management, &bed.guest].into_iter().zip(OLD.into_iter().zip(NEW)) {
        assert!(cluster.get(old).is_none() && cluster.get(new).is_some());
    }
    // The objects get the label of the new set once.
    assert_code(&run_hosted(bed, &path, "apply", &[]), 0);
    let marks = [&bed.management, &bed.guest].map(|cluster| (cluster, cluster.audit.mark()));
    assert_code(&run_hosted(bed, &path, "apply", &[]), 0);
    for (cluster, mark) in marks {
        assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    }
}

/// Copies the fixture, with another name of its topology.
fn copy(topology: &str, to: &Path) {
    for below in ["payload/op", "profiles"] {
        std::fs::create_dir_all(to.join(below)).unwrap();
        for file in fixture("hosted").join(below).read_dir().unwrap() {
            let file = file.unwrap();
            let text = std::fs::read_to_string(file.path()).unwrap();
            let text = text.replace("topology: hypershift\n", &format!("topology: {topology}\n"));
            std::fs::write(to.join(below).join(file.file_name()), text).unwrap();
        }
    }
}

/// The next run waits as long as the Lease of the dead one says. The program has no flag for that.
fn end_lease_soon(bed: &TestBed) {
    if bed.management.get(LEASE).is_some_and(|lease| lease["spec"]["leaseDurationSeconds"].is_u64()) {
        patch_as(&bed.management, "test", LEASE, &json!({"spec": {"leaseDurationSeconds": 1}}));
    }
}
