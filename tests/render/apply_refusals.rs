//! Input that `apply` and `diff --live` refuse before they send a request. Nothing listens at the address of the cluster, so
//! a request would fail with exit code 3.

use crate::support::{TestProject, unindent};

const KUBECONFIG: &str = r#"
    current-context: it
    contexts: [{name: it, context: {cluster: it, user: it}}]
    clusters: [{name: it, cluster: {server: "http://127.0.0.1:1"}}]
    users: [{name: it, user: {token: t}}]
    "#;

/// Runs a command on a cluster that does not respond.
fn refusal(project: &TestProject, command: &[&str]) -> String {
    let clusters = ["--topology", "test", "--kubeconfig", "kubeconfig"];
    project.run(&[command, &clusters].concat()).refusal()
}

/// The check `reserved-name` is allowed, and nevertheless the inventory is not overwritten.
#[test]
fn an_object_with_the_name_of_the_inventory_is_refused() {
    let manifest = r"
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: transship-test
          namespace: openshift-config-managed
          annotations:
            transship.openshift.io/allow-reserved-name: a test
        ";
    let project = TestProject::standalone()
        .manifest("op/0000_50_op_1.yaml", manifest)
        .page("op", "")
        .file("kubeconfig", KUBECONFIG);
    let expected = unindent(
        "
        error: op/0000_50_op_1.yaml: a rendered object has the name of the inventory
          object: ConfigMap/transship-test in openshift-config-managed
          note: transship lists the objects that it applied in this ConfigMap, so it must belong to transship alone
          help: rename the ConfigMap
        ",
    );
    for command in [&["apply"][..], &["apply", "--dry-run"], &["diff", "--live"]] {
        assert_eq!(refusal(&project, command), expected, "{command:?}");
    }
}

#[test]
fn an_approval_names_clusters_of_the_topology() {
    let project = TestProject::standalone()
        .manifest("op/0000_50_op_1.yaml", &crate::support::config_map("c", "{}"))
        .page("op", "")
        .file("kubeconfig", KUBECONFIG);
    let approve = |approval| refusal(&project, &["apply", "--prune", "--approve-prune", approval]);
    assert_eq!(
        approve("guest=3"),
        "error: --approve-prune names no cluster of this topology: guest\n  help: write only the number\n"
    );
    for (approval, expected) in [
        ("three", "write a number, management=NUMBER,guest=NUMBER or all"),
        ("guest=", "write a number, management=NUMBER,guest=NUMBER or all"),
        ("guest=1,both=2", "write a number, management=NUMBER,guest=NUMBER or all"),
        ("guest=1,guest=2", "a cluster has two numbers"),
    ] {
        let message = approve(approval);
        assert!(message.contains(expected), "{message}");
    }
}
