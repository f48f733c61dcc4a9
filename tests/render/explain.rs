//! `explain`: for every field the line that wrote it, why, and what it replaced.

use crate::support::{Run, repository, run_in};

const OBJECT: &str = "deployment/csi-snapshot-controller-operator";
const MANIFEST: &str = "payload/csi-snapshot-controller/0000_50_csi-snapshot-controller_07_deployment.yaml";

fn explain(object: &str, path: &str) -> Run {
    run_in(&repository(), &["explain", object, "--profile", "hypershift-mc", "--path", path], "")
}

/// What is said about one field, without the heading.
fn said(path: &str) -> String {
    let run = explain(OBJECT, path);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (heading, rest) = run.stdout.split_once('\n').unwrap();
    assert_eq!(
        heading,
        "Deployment.apps/csi-snapshot-controller-operator in clusters-example in the profile hypershift-mc"
    );
    rest.to_owned()
}

/// The line of a file that has a text, so that tests do not count lines.
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
        said("/spec/template/spec/priorityClassName"),
        format!(
            "/spec/template/spec/priorityClassName: \"hypershift-control-plane\"\n  \
             from {profile}:{set}:26, what the profile says of every pod at {profile}:{entry}:3\n  \
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
        said(path),
        format!(
            "{path}: \"--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig\"\n  \
             from {fragment}:{}:11, the fragment guest-api: a container uses the guest's API as the ServiceAccount of its \
             workload in the guest, used at {page}:{}:3\n",
            line(fragment, "- ${arg}="),
            line(page, "- guest-api:"),
        )
    );
}

#[test]
fn a_field_that_is_gone_says_what_it_was() {
    assert_eq!(
        said("/spec/template/spec/nodeSelector"),
        format!(
            "/spec/template/spec/nodeSelector is not there\n  \
             removed, what the profile says of every pod at profiles/hypershift-mc.yaml:{}:3\n  \
             was {{\"node-role.kubernetes.io/master\":\"\"}} at {MANIFEST}:{}:9\n",
            line("profiles/hypershift-mc.yaml", "priorityClassName") - 12,
            line(MANIFEST, "nodeSelector") + 1
        )
    );
}

#[test]
fn untouched_moved_and_all_fields() {
    let replicas = line(MANIFEST, "replicas: 1");
    assert_eq!(said("/spec/replicas"), format!("/spec/replicas: 1\n  from {MANIFEST}:{replicas}:13\n"));
    let namespace = said("/metadata/namespace");
    let profile = format!(
        "from profiles/hypershift-mc.yaml:{}:12, where the profile puts every namespaced object",
        line("profiles/hypershift-mc.yaml", "namespace: ${")
    );
    assert!(
        namespace.contains(&profile) && namespace.contains("was \"openshift-cluster-storage-operator\""),
        "{namespace}"
    );
    let all = said("");
    assert!(all.lines().filter(|line| line.starts_with('/')).count() > 60, "{all}");
    assert!(
        all.lines().filter(|line| line.starts_with("  from ?")).count() == 0,
        "every field has an origin"
    );
}

#[test]
fn a_secret_is_explained_without_its_values() {
    let run = explain("secret/csi-snapshot-controller-operator-kubeconfig", "/data");
    assert!(run.stdout.contains("/data/kubeconfig: <hidden>\n"), "{}{}", run.stdout, run.stderr);
}

#[test]
fn what_is_not_there_is_an_error_with_a_hint() {
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
