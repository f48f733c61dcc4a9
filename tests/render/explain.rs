//! `transship explain`: the line that set each field, why, and its earlier values.

use crate::support::{Run, repository, run_in, unindent};

const OBJECT: &str = "deployment/csi-snapshot-controller-operator";
const MANIFEST: &str =
    "payload/csi-snapshot-controller-operator/0000_50_csi-snapshot-controller_07_deployment.yaml";

fn explain(object: &str, path: &str) -> Run {
    run_in(&repository(), &["explain", object, "--profile", "hypershift-mc", "--path", path], "")
}

/// Explains one field, and returns the output without its heading.
fn explain_field(path: &str) -> String {
    let run = explain(OBJECT, path);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (heading, rest) = run.stdout.split_once('\n').unwrap();
    assert_eq!(
        heading,
        "Deployment.apps/csi-snapshot-controller-operator in clusters-example (profile hypershift-mc)"
    );
    rest.to_owned()
}

/// Returns the number of the first line of a file that contains a text.
fn line(file: &str, text: &str) -> usize {
    let content = std::fs::read_to_string(repository().join(file)).unwrap();
    content.lines().position(|line| line.contains(text)).unwrap() + 1
}

#[test]
fn a_field_that_policy_replaced_names_the_entry_and_the_value_before() {
    let profile = "profiles/hypershift-mc.yaml";
    let entry = line(profile, "- for: pod");
    let set = line(profile, "priorityClassName");
    let was = line(MANIFEST, "priorityClassName");
    let expected = format!(
        r#"
        /spec/template/spec/priorityClassName: "hypershift-control-plane"
          from {profile}:{set}:26, set by the policy entry for every pod at {profile}:{entry}:3
          was "system-cluster-critical" at {MANIFEST}:{was}:26
        "#
    );
    assert_eq!(explain_field("/spec/template/spec/priorityClassName"), unindent(&expected));
}

#[test]
fn a_field_that_a_fragment_added_names_the_fragment_and_its_use() {
    let fragment = "profiles/fragments/guest-api.yaml";
    let page = "payload/csi-snapshot-controller-operator/component.yaml";
    let path = "/spec/template/spec/containers/[name=csi-snapshot-controller-operator]/args/6";
    let set = line(fragment, "- ${arg}=");
    let used = line(page, "- guest-api:");
    let expected = format!(
        r#"
        {path}: "--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig"
          from {fragment}:{set}:11, set by the fragment guest-api: a container uses the guest's API as the ServiceAccount of its workload in the guest, used at {page}:{used}:3
        "#
    );
    assert_eq!(explain_field(path), unindent(&expected));
}

#[test]
fn a_removed_field_names_the_policy_entry_and_the_value_before() {
    let profile = "profiles/hypershift-mc.yaml";
    let entry = line(profile, "/spec/nodeSelector:") - 2;
    let was = line(MANIFEST, "nodeSelector") + 1;
    let expected = format!(
        r#"
        /spec/template/spec/nodeSelector is not set
          removed by the policy entry for every pod at {profile}:{entry}:3
          was {{"node-role.kubernetes.io/master":""}} at {MANIFEST}:{was}:9
        "#
    );
    assert_eq!(explain_field("/spec/template/spec/nodeSelector"), unindent(&expected));
}

#[test]
fn an_unchanged_field_names_its_manifest() {
    let replicas = line(MANIFEST, "replicas: 1");
    let expected = format!(
        r"
        /spec/replicas: 1
          from {MANIFEST}:{replicas}:13
        "
    );
    assert_eq!(explain_field("/spec/replicas"), unindent(&expected));
}

#[test]
fn the_namespace_of_a_moved_object_names_the_profile_and_the_namespace_before() {
    let profile = "profiles/hypershift-mc.yaml";
    let set = line(profile, "namespace: ${");
    let was = line(MANIFEST, "namespace: openshift-cluster-storage-operator");
    let expected = format!(
        r#"
        /metadata/namespace: "clusters-example"
          from {profile}:{set}:12, set by the namespace of the profile
          was "openshift-cluster-storage-operator" at {MANIFEST}:{was}:14
        "#
    );
    assert_eq!(explain_field("/metadata/namespace"), unindent(&expected));
}

#[test]
fn every_field_of_an_object_has_an_origin() {
    let all = explain_field("");
    assert!(all.lines().filter(|line| line.starts_with('/')).count() > 60, "{all}");
    assert!(!all.contains("\n  from ?"), "{all}");
}

#[test]
fn the_values_of_a_secret_are_hidden() {
    let run = explain("secret/csi-snapshot-controller-operator-kubeconfig", "/data");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("/data/kubeconfig: <hidden>\n"), "{}", run.stdout);
}

#[test]
fn an_unknown_object_is_an_error_with_a_suggestion() {
    assert_eq!(
        explain("deployment/csi-snapshot-controller-operatr", "").refusal(),
        unindent(
            r"
            error: the profile `hypershift-mc` has no object `deployment/csi-snapshot-controller-operatr`
              help: did you mean `Deployment/csi-snapshot-controller-operator`?
            "
        )
    );
}

#[test]
fn an_unknown_path_is_an_error_with_a_suggestion() {
    assert_eq!(
        explain(OBJECT, "/spec/template/spec/containes").refusal(),
        unindent(
            r"
            error: payload/csi-snapshot-controller-operator/0000_50_csi-snapshot-controller_07_deployment.yaml:1:1: the object has no field `/spec/template/spec/containes`
              object: Deployment.apps/csi-snapshot-controller-operator in clusters-example
              help: did you mean `containers`?
            "
        )
    );
}

#[test]
fn explain_needs_a_profile_if_there_are_several() {
    assert_eq!(
        run_in(&repository(), &["explain", OBJECT], "").refusal(),
        unindent(
            r"
            error: `explain` needs one profile
              help: choose one with --profile: hypershift-guest, hypershift-mc, standalone
            "
        )
    );
}
