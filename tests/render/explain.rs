//! `transship explain`: the line that set each field, why, and its earlier values.

use crate::support::{Run, repository, run_in};

const OBJECT: &str = "deployment/csi-snapshot-controller-operator";
const MANIFEST: &str = "payload/csi-snapshot-controller/0000_50_csi-snapshot-controller_07_deployment.yaml";

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
    let (entry, set) = (line(profile, "- for: pod"), line(profile, "priorityClassName"));
    let was = line(MANIFEST, "priorityClassName");
    assert_eq!(
        explain_field("/spec/template/spec/priorityClassName"),
        format!(
            "/spec/template/spec/priorityClassName: \"hypershift-control-plane\"\n  \
             from {profile}:{set}:26, set by the policy entry for every pod at {profile}:{entry}:3\n  \
             was \"system-cluster-critical\" at {MANIFEST}:{was}:26\n"
        )
    );
}

#[test]
fn a_field_that_a_fragment_added_names_the_fragment_and_its_use() {
    let fragment = "profiles/fragments/guest-api.yaml";
    let page = "payload/csi-snapshot-controller/component.yaml";
    let path = "/spec/template/spec/containers/[name=csi-snapshot-controller-operator]/args/3";
    assert_eq!(
        explain_field(path),
        format!(
            "{path}: \"--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig\"\n  \
             from {fragment}:{}:11, set by the fragment guest-api: a container uses the guest's API as the ServiceAccount of its \
             workload in the guest, used at {page}:{}:3\n",
            line(fragment, "- ${arg}="),
            line(page, "- guest-api:"),
        )
    );
}

#[test]
fn a_removed_field_names_the_policy_entry_and_the_value_before() {
    assert_eq!(
        explain_field("/spec/template/spec/nodeSelector"),
        format!(
            "/spec/template/spec/nodeSelector is not set\n  \
             removed by the policy entry for every pod at profiles/hypershift-mc.yaml:{}:3\n  \
             was {{\"node-role.kubernetes.io/master\":\"\"}} at {MANIFEST}:{}:9\n",
            line("profiles/hypershift-mc.yaml", "priorityClassName") - 12,
            line(MANIFEST, "nodeSelector") + 1
        )
    );
}

#[test]
fn unchanged_fields_moved_objects_and_whole_objects_are_explained() {
    let replicas = line(MANIFEST, "replicas: 1");
    assert_eq!(
        explain_field("/spec/replicas"),
        format!("/spec/replicas: 1\n  from {MANIFEST}:{replicas}:13\n")
    );
    let namespace = explain_field("/metadata/namespace");
    let profile = format!(
        "from profiles/hypershift-mc.yaml:{}:12, set by the namespace of the profile",
        line("profiles/hypershift-mc.yaml", "namespace: ${")
    );
    assert!(
        namespace.contains(&profile) && namespace.contains("was \"openshift-cluster-storage-operator\""),
        "{namespace}"
    );
    let all = explain_field("");
    assert!(all.lines().filter(|line| line.starts_with('/')).count() > 60, "{all}");
    assert!(
        all.lines().filter(|line| line.starts_with("  from ?")).count() == 0,
        "every field has an origin"
    );
}

#[test]
fn the_values_of_a_secret_are_hidden() {
    let run = explain("secret/csi-snapshot-controller-operator-kubeconfig", "/data");
    assert!(run.stdout.contains("/data/kubeconfig: <hidden>\n"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn an_unknown_object_path_or_profile_is_an_error_with_a_suggestion() {
    let run = explain("deployment/csi-snapshot-controller-operatr", "");
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("help: did you mean `Deployment/csi-snapshot-controller-operator`?"),
        "{}",
        run.stderr
    );
    let run = explain(OBJECT, "/spec/template/spec/containes");
    assert!(run.code == 2 && run.stderr.contains("did you mean `containers`?"), "{}", run.stderr);
    let run = run_in(&repository(), &["explain", OBJECT], "");
    assert!(
        run.code == 2
            && run.stderr.contains("choose one with --profile: hypershift-guest, hypershift-mc, standalone"),
        "{}",
        run.stderr
    );
}
