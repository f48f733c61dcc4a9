//! Issued kubeconfigs work with kubectl, and give exactly the rights of the component's ServiceAccount.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::secrets::{issued, text};
use crate::apply::scenarios::assert_code;
use crate::apply::{repository, run_hosted};
use crate::requests::{self, block_on};
use crate::test_bed::TestBed;
use crate::tools;

/// The rights of a component in the guest, as arguments of `kubectl auth can-i`.
struct Component {
    secret: &'static str,
    operands: &'static str,
    yes: &'static [&'static str],
    no: &'static [&'static str],
}

const COMPONENTS: [Component; 5] = [
    Component {
        secret: "csi-snapshot-controller-operator-kubeconfig",
        operands: "operator",
        yes: &[
            "watch csisnapshotcontrollers.operator.openshift.io",
            "update clusteroperators.config.openshift.io/csi-snapshot-controller --subresource=status",
            "create customresourcedefinitions.apiextensions.k8s.io",
            "create events -n openshift-cluster-storage-operator",
        ],
        no: &[
            "get secrets -n kube-system",
            "create pods -n default",
            "delete nodes",
            "create clusterrolebindings.rbac.authorization.k8s.io/cluster-admin --subresource=bind",
        ],
    },
    // It installs the operators of all drivers, and can only grant rights that it has.
    Component {
        secret: "cluster-storage-operator-kubeconfig",
        operands: "operator",
        yes: &["create clusterroles.rbac.authorization.k8s.io", "get storages.operator.openshift.io"],
        no: &[],
    },
    Component {
        secret: "csi-snapshot-controller-kubeconfig",
        operands: "ours",
        yes: &[
            "create volumesnapshotcontents.snapshot.storage.k8s.io",
            "list persistentvolumes",
            "update leases.coordination.k8s.io -n openshift-cluster-storage-operator",
        ],
        no: &[
            "delete persistentvolumes",
            "get secrets -n openshift-cluster-storage-operator",
            "create pods -n openshift-cluster-storage-operator",
            "update leases.coordination.k8s.io -n kube-system",
            "list nodes",
        ],
    },
    Component {
        secret: "aws-ebs-csi-driver-controller-kubeconfig",
        operands: "ours",
        yes: &[
            "create persistentvolumes",
            "patch volumeattachments.storage.k8s.io --subresource=status",
            "create tokenreviews.authentication.k8s.io",
        ],
        no: &[
            "delete namespaces",
            "create pods -n openshift-cluster-csi-drivers",
            "create serviceaccounts -n openshift-cluster-csi-drivers",
            "update clustercsidrivers.operator.openshift.io",
        ],
    },
    Component {
        secret: "aws-ebs-csi-driver-operator-kubeconfig",
        operands: "driver-operators",
        yes: &["update clustercsidrivers.operator.openshift.io --subresource=status"],
        no: &["delete namespaces", "get secrets -n kube-system", "create pods -n kube-system"],
    },
];

pub(super) fn rights_of_kubeconfigs(bed: &TestBed) {
    let kubectl = tools::find(&["kubectl"]).unwrap().join("kubectl");
    for operands in ["operator", "driver-operators", "ours"] {
        let set = format!("operands={operands}");
        let with = ["--wait", "--timeout", "60s", "--set", "hcp.namespace=clusters-example", "--set", &set];
        assert_code(&run_hosted(bed, repository(), "apply", &with), 0);
        let components: Vec<&Component> = COMPONENTS.iter().filter(|one| one.operands == operands).collect();
        let kubeconfigs: Vec<Value> =
            issued(bed).into_iter().filter(|one| one["data"].get("kubeconfig").is_some()).collect();
        for kubeconfig in &kubeconfigs {
            let name = kubeconfig["metadata"]["name"].as_str().unwrap();
            let known = COMPONENTS.iter().any(|component| component.secret == name);
            assert!(known, "{name} is not in the list");
        }
        for component in components {
            let secret = kubeconfigs.iter().find(|one| one["metadata"]["name"] == component.secret).unwrap();
            check(bed, &kubectl, component, &text(secret, "kubeconfig"));
        }
        bed.reset();
    }
}

fn check(bed: &TestBed, kubectl: &Path, component: &Component, kubeconfig: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    std::fs::write(&file, kubeconfig).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(kubectl);
        command.env("HOME", folder.path()).arg("--kubeconfig").arg(&file).args(arguments);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (ok, user) = run(&["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"]);
    assert!(ok && user.starts_with("system:serviceaccount:openshift-"), "{user}");
    for (expected, questions) in [("yes", component.yes), ("no", component.no)] {
        for question in questions {
            let words: Vec<&str> = question.split(' ').collect();
            let (_, answer) = run(&[&["auth", "can-i"], &words[..]].concat());
            assert_eq!(answer, expected, "{}: {question}", component.secret);
        }
    }
    // The management cluster knows neither the signer nor the user.
    let server = format!("https://127.0.0.1:{}", bed.management.control_plane.port());
    let (ok, _) = run(&["--server", &server, "--insecure-skip-tls-verify", "get", "namespaces"]);
    assert!(!ok);
    let (_, user) = run(&[
        "--server",
        &server,
        "--insecure-skip-tls-verify",
        "auth",
        "whoami",
        "-o",
        "jsonpath={.status.userInfo.username}",
    ]);
    assert!(!user.contains("serviceaccount"), "{user}");
}

/// Returns how the API server of a kubeconfig knows its holder.
pub(super) fn who_am_i(kubeconfig: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kubeconfig");
    std::fs::write(&file, kubeconfig).unwrap();
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let response = block_on(async {
        let client = requests::client(&file, "holder").await;
        requests::send(&client, "POST", path, &body).await.unwrap()
    });
    response.ok().unwrap()["status"]["userInfo"].clone()
}
