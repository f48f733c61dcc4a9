//! The guest's administrator writes whatever they like into the guest's inventory. The management cluster does not notice.

use serde_json::json;

use super::super::Run;
use super::super::fixture::{HOSTED, Project};
use super::{assert_code, objects_with, patch_as, written_paths};
use crate::TestBedCase;
use crate::test_bed::TestBed;
use crate::test_cluster::TestCluster;

pub(crate) const CASES: &[TestBedCase] = &[
    (
        "apply::hostile_guest::invented_lines_do_not_affect_the_management_cluster",
        invented_lines_do_not_affect_the_management_cluster,
    ),
    (
        "apply::hostile_guest::a_full_inventory_does_not_affect_the_management_cluster",
        a_full_inventory_does_not_affect_the_management_cluster,
    ),
    (
        "apply::hostile_guest::an_invalid_line_in_the_management_cluster_is_an_error",
        an_invalid_line_in_the_management_cluster_is_an_error,
    ),
];

const INVENTORY: &str =
    "/api/v1/namespaces/openshift-config-managed/configmaps/transship-hypershift-clusters-example";
const INVENTORY_NAME: &str = "ConfigMap/transship-hypershift-clusters-example in openshift-config-managed";
const GHOST: &str = "v1 ConfigMap kube-system ghost 1-2 aa bb -\n";

/// Applies everything and then removes three ConfigMaps of the management cluster from the payload.
fn with_objects_to_prune(bed: &TestBed) -> Project {
    let project = Project::new();
    project.add_many(3);
    assert_code(&project.run_hosted(bed, "apply", &[]), 0);
    project.remove_many(3);
    project
}

fn lines(cluster: &TestCluster) -> String {
    cluster.get(INVENTORY).unwrap()["data"]["objects"].as_str().unwrap().to_owned()
}

fn write_lines(cluster: &TestCluster, lines: &str) {
    patch_as(cluster, "administrator", INVENTORY, &json!({"data": {"objects": lines}}));
}

/// Checks that exactly the three ConfigMaps were pruned.
fn assert_pruned(run: &Run) {
    assert_code(run, 0);
    let expected = [0, 1, 2].map(|number| format!("ConfigMap/many-{number} in {HOSTED}"));
    assert_eq!(objects_with(run, "pruned"), expected);
    assert_eq!(objects_with(run, "held"), Vec::<String>::new());
}

fn ignored(run: &Run) -> Vec<&str> {
    let lines = run.stderr.lines().filter_map(|line| line.strip_prefix("guest           released    "));
    lines.collect()
}

/// A line that names nothing and a line of an object that never existed: both are reported once and ignored. The approved
/// number is that of the management cluster alone.
fn invented_lines_do_not_affect_the_management_cluster(bed: &TestBed) {
    let project = with_objects_to_prune(bed);
    let before = lines(&bed.guest);
    write_lines(&bed.guest, &format!("{before}garbage ../../secrets\n{GHOST}"));
    let number = before.lines().count() + 1;
    let notices = [
        format!(
            "transship ignores 1 line of the inventory, {INVENTORY_NAME}, that it cannot read; the first is line {number}"
        ),
        format!(
            "transship ignores 1 entry of the inventory, {INVENTORY_NAME}, whose object is not rendered \
             and does not exist with transship's label; the first is ConfigMap/ghost in kube-system"
        ),
    ];
    let run = project.run_hosted(bed, "diff", &["--live"]);
    let not_rendered = [0, 1, 2].map(|number| {
        format!(
            "management ConfigMap/many-{number} in {HOSTED} is no longer rendered: apply --prune keeps it: 3 of 11 \
             objects would be pruned at once\n"
        )
    });
    assert_eq!((run.code, run.stdout.as_str()), (1, not_rendered.concat().as_str()), "{}", run.stderr);
    assert_eq!(ignored(&run), notices);
    let run = project.run_hosted(bed, "apply", &["--prune", "--approve-prune", "management=4"]);
    assert_eq!(objects_with(&run, "pruned"), Vec::<String>::new());
    let held = "--approve-prune allows 4, but 3 objects of the cluster would be pruned";
    assert_eq!(run.stderr.lines().filter(|line| line.ends_with(held)).count(), 3, "{}", run.stderr);
    assert_eq!(ignored(&run), notices);
    assert_eq!(lines(&bed.guest), before, "transship writes the inventory without these lines");
    write_lines(&bed.guest, &format!("{before}garbage\n{GHOST}{}", GHOST.replace("ghost", "other")));
    assert_pruned(&project.run_hosted(bed, "apply", &["--prune", "--approve-prune", "management=3"]));
    let mark = bed.guest.audit.mark();
    let run = project.run_hosted(bed, "apply", &[]);
    assert_code(&run, 0);
    assert_eq!((ignored(&run), written_paths(&bed.guest, mark)), (Vec::new(), Vec::new()));
}

/// An inventory without any space left for the objects of the rollout.
fn a_full_inventory_does_not_affect_the_management_cluster(bed: &TestBed) {
    let project = with_objects_to_prune(bed);
    let before = lines(&bed.guest);
    let ghosts = (0..8800).map(|number| format!("v1 ConfigMap kube-system {number:080} - - - -\n"));
    write_lines(&bed.guest, &ghosts.collect::<String>());
    let run = project.run_hosted(bed, "apply", &["--prune", "--approve-prune", "3"]);
    assert_pruned(&run);
    // Some lines are beyond the largest size, and the others are ghosts.
    assert_eq!(ignored(&run).len(), 2, "{}", run.stderr);
    assert_eq!(lines(&bed.guest).lines().count(), before.lines().count());
}

/// Nobody but transship writes this inventory, so a line that names nothing is a fault that someone must look at.
fn an_invalid_line_in_the_management_cluster_is_an_error(bed: &TestBed) {
    let project = with_objects_to_prune(bed);
    let path = format!("/api/v1/namespaces/{HOSTED}/configmaps/transship-hypershift");
    patch_as(&bed.management, "somebody", &path, &json!({"data": {"objects": "garbage\n"}}));
    let run = project.run_hosted(bed, "apply", &["--prune"]);
    assert_code(&run, 3);
    let expected = format!(
        "management      failed      line 1 of the inventory, ConfigMap/transship-hypershift in {HOSTED}, does not \
         name an object\n"
    );
    assert!(run.stderr.contains(&expected), "{}", run.stderr);
    assert_eq!(objects_with(&run, "pruned"), Vec::<String>::new());
}
