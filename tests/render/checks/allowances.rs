//! Findings that a Checks file or an annotation of a manifest allows, with a reason.

use super::{assert_no_findings, changed, two_clusters, valid};
use crate::support::TestProject;

/// Creates a project whose Deployment has a privileged container.
fn privileged() -> TestProject {
    two_clusters(&changed("two.yaml", "privileged: false", "privileged: true"))
}

#[test]
fn a_checks_file_can_allow_a_finding_with_a_reason() {
    let project = privileged()
        .checks("allow: [{check: privileged, for: [Deployment/op], in: [mc], reason: it mounts disks}]\n");
    assert_no_findings(&project);
}

/// Otherwise it is not unused either, and the finding is reported.
#[test]
fn an_allowance_applies_only_if_its_conditions_hold() {
    let declared = "parameters:\n  disks: {type: bool, description: d, default: true}\n";
    let allow = "allow: [{check: privileged, for: [Deployment/op], in: [mc], when: {disks: DISKS}, reason: it mounts disks}]\n";
    assert_no_findings(&privileged().parameters(declared).checks(&allow.replace("DISKS", "true")));
    let findings =
        privileged().parameters(declared).checks(&allow.replace("DISKS", "false")).lint(&[]).stdout;
    assert!(
        findings.starts_with("error[privileged]: ") && !findings.contains("unused-allowance"),
        "{findings}"
    );
    privileged().checks(&allow.replace("disks: DISKS", "disk: true")).assert_render_error(
        "mc",
        "
        error: profiles/checks.yaml:4:68: `disk` is not defined
          help: declare it as a parameter
        ",
    );
}

#[test]
fn an_allowance_for_another_object_is_reported_with_the_finding() {
    let project = privileged()
        .checks("allow: [{check: privileged, for: [Deployment/other], in: [mc], reason: it mounts disks}]\n");
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[privileged]: payload/op/0000_50_op_01.yaml:68:23: the container `op` is privileged
  object: Deployment.apps/op in clusters-a, at /spec/template/spec/containers/[name=op]/securityContext/privileged
  note: other hosted control planes run on the same node, and an attacker who controls this pod controls the node
  note: found in mc
  help: remove it, or allow it for this object with a reason
warning[unused-allowance]: profiles/checks.yaml:4:9: the allowance for `privileged` matches no finding
  note: it would hide future findings
  note: found in mc
  help: remove it, or limit it to some profiles with `in`
"
    );
}

#[test]
fn an_allowance_for_another_profile_is_reported_with_the_finding() {
    let project = privileged()
        .checks("allow: [{check: privileged, for: [Deployment/op], in: [guest], reason: it mounts disks}]\n");
    assert_eq!(
        project.lint(&[]).stdout,
        "\
error[privileged]: payload/op/0000_50_op_01.yaml:68:23: the container `op` is privileged
  object: Deployment.apps/op in clusters-a, at /spec/template/spec/containers/[name=op]/securityContext/privileged
  note: other hosted control planes run on the same node, and an attacker who controls this pod controls the node
  note: found in mc
  help: remove it, or allow it for this object with a reason
warning[unused-allowance]: profiles/checks.yaml:4:9: the allowance for `privileged` matches no finding
  note: it would hide future findings
  note: found in guest
  help: remove it, or limit it to some profiles with `in`
"
    );
}

#[test]
fn an_allowance_needs_a_reason() {
    let project =
        privileged().checks("allow: [{check: privileged, for: [Deployment/op], in: [mc], reason: ''}]\n");
    assert_eq!(
        project.lint(&[]).refusal(),
        "\
error: profiles/checks.yaml:4:9: the reason is empty
  help: say why, so that others can tell whether the entry is still needed
"
    );
}

#[test]
fn an_allowance_for_an_unknown_profile_is_an_error() {
    let project = privileged()
        .checks("allow: [{check: privileged, for: [Deployment/op], in: [mx], reason: it mounts disks}]\n");
    assert_eq!(
        project.lint(&[]).refusal(),
        "\
error: profiles/checks.yaml:4:56: there is no profile `mx`
  help: did you mean `mc`?
"
    );
}

/// Creates a project whose Deployment has a privileged container and this annotation.
fn privileged_with_annotation(annotation: &str) -> TestProject {
    let head = "kind: Deployment\nmetadata:\n";
    let annotations =
        format!("  annotations:\n    include.release.openshift.io/any: 'true'\n    {annotation}\n");
    let manifests = changed("two.yaml", "privileged: false", "privileged: true");
    two_clusters(&manifests.replace(head, &format!("{head}{annotations}")))
}

#[test]
fn an_annotation_of_a_manifest_can_allow_a_finding_and_is_not_rendered() {
    let project = privileged_with_annotation("transship.openshift.io/allow-privileged: it mounts disks");
    assert_no_findings(&project);
    let rendered = project.run_checked(&["render", "--profile", "mc"]);
    assert_eq!(rendered.code, 0);
    assert!(!rendered.stdout.contains("allow-privileged"), "{}", rendered.stdout);
}

#[test]
fn an_annotation_without_a_reason_is_ignored() {
    let project = privileged_with_annotation("transship.openshift.io/allow-privileged: ''");
    assert_eq!(
        project.lint(&[]).stdout,
        "\
warning[unused-allowance]: payload/op/0000_50_op_01.yaml:53:5: the allowance for `privileged` has no reason and is ignored
  note: without a reason, a reader cannot tell whether it is still needed
  help: set the annotation to the reason
error[privileged]: payload/op/0000_50_op_01.yaml:71:23: the container `op` is privileged
  object: Deployment.apps/op in clusters-a, at /spec/template/spec/containers/[name=op]/securityContext/privileged
  note: other hosted control planes run on the same node, and an attacker who controls this pod controls the node
  note: found in mc
  help: remove it, or allow it for this object with a reason
"
    );
}

#[test]
fn an_annotation_for_an_unknown_check_is_reported() {
    let project = privileged_with_annotation("transship.openshift.io/allow-privilege: x");
    assert_eq!(
        project.lint(&[]).stdout,
        "\
warning[unused-allowance]: payload/op/0000_50_op_01.yaml:53:5: there is no check `privilege`
  note: the annotation allows nothing
  help: did you mean `privileged`?
error[privileged]: payload/op/0000_50_op_01.yaml:71:23: the container `op` is privileged
  object: Deployment.apps/op in clusters-a, at /spec/template/spec/containers/[name=op]/securityContext/privileged
  note: other hosted control planes run on the same node, and an attacker who controls this pod controls the node
  note: found in mc
  help: remove it, or allow it for this object with a reason
"
    );
}

#[test]
fn an_allowance_without_profiles_is_used_if_one_profile_uses_it() {
    let project =
        privileged().checks("allow: [{check: privileged, for: [Deployment/op], reason: it mounts disks}]\n");
    assert_no_findings(&project);
    // The other profile alone cannot tell.
    for profile in ["mc", "guest"] {
        assert_eq!(project.lint(&["--profile", profile]).code, 0, "{profile}");
    }
}

#[test]
fn an_allowance_without_profiles_that_no_profile_uses_is_reported_once() {
    let project = two_clusters(&valid("two.yaml"))
        .checks("allow: [{check: privileged, for: [Deployment/op], reason: it mounts disks}]\n");
    assert_eq!(
        project.lint(&[]).stdout,
        "\
warning[unused-allowance]: profiles/checks.yaml:4:9: the allowance for `privileged` matches no finding
  note: it would hide future findings
  help: remove it
"
    );
}

#[test]
fn the_library_reports_unused_declarations_only_if_it_checks_everything() {
    let project = two_clusters(&valid("two.yaml"))
        .checks("allow: [{check: privileged, for: [Deployment/op], reason: it mounts disks}]\n");
    let findings = |project: &TestProject, profile: Option<&str>| {
        let loaded = transship::Project::load(project.path()).unwrap();
        let profiles = loaded.profiles.named(profile).unwrap();
        let checked = transship::lint(&loaded.context(), &profiles).unwrap();
        checked.iter().map(|checked| checked.findings.len()).collect::<Vec<_>>()
    };
    // Both profiles report the entry, since the library does not merge their findings.
    assert_eq!(findings(&project, None), [1, 1]);
    assert_eq!(findings(&project, Some("mc")), [0]);
    let with_sets = project.parameter_set("other", "");
    assert_eq!(findings(&with_sets, None), [0, 0]);
}
