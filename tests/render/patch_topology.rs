//! Patches in a topology with two clusters: one match in one of them is enough.

use serde_json::json;

use crate::support::{TestProject, object};

/// A `Deployment` in the management cluster and a `DaemonSet` in the guest.
fn project(patches: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", "spec: {replicas: 1}"))
        .manifest("op/2.yaml", &object("apps/v1", "DaemonSet", "ns", "node", "spec: {minReadySeconds: 1}"))
        .page("op", &format!("place: {{management: [Deployment], guest: [DaemonSet]}}\npatches: {patches}\n"))
        .mc_and_guest("namespace: hcp\n", "")
}

#[test]
fn a_patch_for_an_object_of_the_guest_is_no_error_in_the_management_cluster() {
    let project = project(
        "[{reason: x, patch: {kind: DaemonSet, metadata: {name: node}, spec: {minReadySeconds: 9}}}]",
    );
    assert_eq!(project.render("mc")[0]["spec"], json!({"replicas": 1}));
    assert_eq!(project.render("guest")[0]["spec"], json!({"minReadySeconds": 9}));
    // With the checks, all profiles of the topology are rendered.
    let lint = project.lint(&[]);
    assert!(!lint.stderr.contains("patch"), "{}", lint.stderr);
}

#[test]
fn a_patch_that_changes_an_object_in_one_cluster_may_change_nothing_in_the_other() {
    let project =
        project("[{reason: x, target: {kind: Deployment|DaemonSet}, patch: {spec: {minReadySeconds: 1}}}]");
    assert_eq!(project.render("mc")[0]["spec"], json!({"replicas": 1, "minReadySeconds": 1}));
    assert_eq!(project.render("guest")[0]["spec"], json!({"minReadySeconds": 1}));
}

#[test]
fn a_patch_that_matches_in_no_profile_of_the_topology_is_an_error_that_names_them() {
    let unmatched = r"
        error: payload/op/component.yaml:5:11: the patch matches no object of `op` in the profiles `guest` and `mc`
          help: did you mean `DaemonSet/node`?
        ";
    let project = project("[{reason: x, patch: {kind: DaemonSet, metadata: {name: nodes}, spec: {a: 9}}}]");
    let lint = project.lint(&[]).refusal();
    assert_eq!(lint, crate::support::unindent(unmatched));
    for profile in ["mc", "guest"] {
        let error = project.render_error(profile);
        assert!(error.contains("the patch matches no object of `op` in the profiles"), "{error}");
        assert!(error.contains("did you mean `DaemonSet/node`?"), "{error}");
    }
}

#[test]
fn a_patch_for_one_profile_must_match_there() {
    let project =
        project("[{reason: x, in: [mc], patch: {kind: DaemonSet, metadata: {name: node}, spec: {a: 9}}}]");
    project.assert_render_error(
        "mc",
        r"
        error: payload/op/component.yaml:5:11: the patch matches no object of `op` in the profile `mc`
          help: check its target, or write `optional: true` if it may match nothing
        ",
    );
    assert_eq!(project.render("guest").len(), 1);
}

/// An error in the other cluster hides whether the patch matches there, so the patch is not reported.
#[test]
fn an_error_in_one_cluster_does_not_blame_a_patch_in_the_other() {
    let project =
        project("[{reason: x, target: {kind: DaemonSet}, patch: [{op: remove, path: /spec/none}]}]");
    assert_eq!(project.render("mc").len(), 1);
    let lint = project.lint(&[]).refusal();
    assert!(lint.contains("the object does not have the key `none`"), "{lint}");
    assert!(!lint.contains("matches no object"), "{lint}");
}
