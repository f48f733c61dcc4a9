//! Crash tests of `apply --rebind`, after one of the clusters of a hosted control plane was replaced. Until the run is
//! complete, a run without `--rebind` writes to no cluster that is not bound.

use std::cell::Cell;

use serde_json::{Value, json};
use transship::Cluster;

use super::super::fixture::HOSTED;
use super::super::in_process::{Project, Verb};
use super::super::scenarios::{patch_as, written_paths};
use super::fixture;
use super::scene::Scene;
use crate::fault_proxy::When;
use crate::requests::block_on;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

const MANAGEMENT_INVENTORY: &str = "/api/v1/namespaces/clusters-example/configmaps/transship-hypershift";
const GUEST_INVENTORY: &str =
    "/api/v1/namespaces/openshift-config-managed/configmaps/transship-hypershift-clusters-example";
const REPLACED: &str = "11111111-2222-3333-4444-555555555555";

/// The new guest is empty. In the management cluster nothing changes but the binding.
pub(super) fn to_another_guest(bed: &TestBed) {
    Scene::hosted(bed, &fixture("hosted"), Verb::Apply).run();
    bed.guest.reset();
    patch_as(&bed.management, "transship", MANAGEMENT_INVENTORY, &json!({"data": {"guestUID": REPLACED}}));
    rebind(bed);
}

/// The new management cluster is empty. In the guest nothing changes but the binding.
pub(super) fn to_another_management_cluster(bed: &TestBed) {
    Scene::hosted(bed, &fixture("hosted"), Verb::Apply).run();
    bed.management.reset();
    let replaced = json!({"data": {"clusterUID": REPLACED, "hostedControlPlaneUID": REPLACED}});
    patch_as(&bed.guest, "transship", GUEST_INVENTORY, &replaced);
    rebind(bed);
}

fn rebind(bed: &TestBed) {
    let folder = fixture("hosted");
    let project = Project::load(&folder, "hypershift");
    let (refused, continued) = (Cell::new(0), Cell::new(0));
    let scene = Scene {
        // The state after a response is that before the next request. So every second crash is enough for each question.
        after_crash: Box::new(|when| {
            if when == When::Before {
                let count = if run_without_rebind(bed, &project) { &continued } else { &refused };
                count.set(count.get() + 1);
            }
        }),
        ..Scene::hosted(bed, &folder, Verb::Rebind)
    };
    scene.cut_off_everywhere();
    assert!(
        refused.get() > 0 && continued.get() > 0,
        "{} refused, {} continued",
        refused.get(),
        continued.get()
    );
    // Both inventories record the new binding, so nothing is left to do and no flag is needed any more.
    let marks = [&bed.management, &bed.guest].map(|cluster| (cluster, cluster.audit.mark()));
    Scene::hosted(bed, &folder, Verb::Apply).run();
    for (cluster, mark) in marks {
        assert_eq!(written_paths(cluster, mark), Vec::<String>::new());
    }
}

/// Runs without `--rebind`, and checks the requests. Returns whether both clusters could be written.
fn run_without_rebind(bed: &TestBed, project: &Project) -> bool {
    let bound = bound_clusters(bed);
    let clusters = [(Cluster::Management, &bed.management), (Cluster::Guest, &bed.guest)];
    let result = block_on(project.run(Verb::Apply, &clusters));
    for ((_, cluster), is_bound) in clusters.into_iter().zip(bound) {
        let writes: Vec<String> = cluster
            .proxy
            .seen()
            .into_iter()
            .filter(|request| request.method != "GET" && !request.path.contains("/selfsubjectreviews"))
            .map(|request| format!("{} {}", request.method, request.path))
            .collect();
        assert!(is_bound || writes.is_empty(), "written, although it is not bound: {writes:#?}");
    }
    let is_done = result.is_ok_and(|summary| !summary.has_problems());
    assert_eq!(is_done, bound == [true, true]);
    is_done
}

/// Returns for both clusters whether they are bound to the other one: no inventory records another cluster. What the
/// inventory of the guest records does not matter for the management cluster if that one records the guest.
fn bound_clusters(bed: &TestBed) -> [bool; 2] {
    let found = [
        ("clusterUID", uid(&bed.management, "kube-system")),
        ("hostedControlPlaneUID", uid(&bed.management, HOSTED)),
        ("guestUID", uid(&bed.guest, "kube-system")),
    ];
    let records_these = |cluster: &TestCluster, path: &str| {
        let data = cluster.get(path)?["data"].clone();
        Some(found.iter().all(|(key, uid)| data[*key] == *uid))
    };
    let guest = records_these(&bed.guest, GUEST_INVENTORY);
    match records_these(&bed.management, MANAGEMENT_INVENTORY) {
        Some(management) => [management, management && guest != Some(false)],
        None => [guest != Some(false); 2],
    }
}

fn uid(cluster: &TestCluster, namespace: &str) -> Value {
    cluster.get(&format!("/api/v1/namespaces/{namespace}")).unwrap()["metadata"]["uid"].clone()
}
