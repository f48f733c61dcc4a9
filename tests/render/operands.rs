//! The parameter `operands` of the bundled payload: each object has one owner in each of its values.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::storage::{GUEST, MANAGEMENT, Named, named, placement};
use crate::support::{TestProject, find, names, repository, run_in};

/// The values of the parameter `operands`.
const OPERANDS: [&str; 3] = ["operator", "driver-operators", "ours"];

/// The arguments for a release whose snapshot operator runs a webhook.
const WEBHOOK: [&str; 2] = ["--params", "profiles/sets/design-2022.yaml"];

/// Renders the bundled payload.
pub(crate) fn render_once(profile: &str, arguments: &[&str]) -> Vec<Value> {
    let run =
        run_in(&repository(), &[&["render", "--profile", profile, "-o", "json"][..], arguments].concat(), "");
    run.json()
}

/// Renders the bundled payload with each value of `operands`, and returns each object once, so that operators and operands
/// are there. The snapshot webhook is there as well.
pub(crate) fn render_all(profile: &str, arguments: &[&str]) -> Vec<Value> {
    let mut objects: BTreeMap<(Named, String), Value> = BTreeMap::new();
    let mut order = Vec::new();
    for operands in OPERANDS {
        let set = format!("operands={operands}");
        for object in render_once(profile, &[&["--set", &set], &WEBHOOK[..], arguments].concat()) {
            let id = (named(&object), object["metadata"]["namespace"].to_string());
            if let Entry::Vacant(entry) = objects.entry(id.clone()) {
                entry.insert(object);
                order.push(id);
            }
        }
    }
    order.iter().map(|id| objects[id].clone()).collect()
}

fn with(operands: &str) -> Vec<String> {
    vec!["--set".to_owned(), format!("operands={operands}")]
}

fn render_with(profile: &str, operands: &str, more: &[&str]) -> Vec<Value> {
    let set = with(operands);
    render_once(profile, &[&[set[0].as_str(), set[1].as_str()][..], more].concat())
}

/// Returns the names of the objects of a kind.
fn of_kind(objects: &[Value], kind: &str) -> Vec<String> {
    let mut found: Vec<String> =
        objects.iter().map(named).filter(|(own, _)| own == kind).map(|(_, name)| name).collect();
    found.sort();
    found
}

#[test]
fn the_default_is_operator() {
    for profile in ["standalone", MANAGEMENT, GUEST] {
        assert_eq!(render_once(profile, &[]), render_with(profile, "operator", &[]));
    }
}

#[test]
fn operators_run_without_their_operands() {
    let (management, guest) = (render_once(MANAGEMENT, &[]), render_once(GUEST, &[]));
    let operators = ["cluster-storage-operator", "csi-snapshot-controller-operator"];
    assert_eq!(of_kind(&management, "Deployment"), operators);
    assert_eq!(of_kind(&management, "ServiceAccount"), operators);
    assert_eq!(of_kind(&guest, "DaemonSet"), [""; 0]);
    assert_eq!(of_kind(&guest, "ClusterOperator"), ["csi-snapshot-controller", "storage"]);
    assert_eq!(
        of_kind(&guest, "CustomResourceDefinition"),
        [
            "clustercsidrivers.operator.openshift.io",
            "csisnapshotcontrollers.operator.openshift.io",
            "storages.operator.openshift.io",
        ]
    );
    let standalone = render_once("standalone", &[]);
    assert_eq!(of_kind(&standalone, "Deployment"), operators);
    assert_eq!(of_kind(&standalone, "StorageClass"), [""; 0]);
}

/// Only transship can issue them, so they are there although operators and operands of operators use them.
#[test]
fn secrets_that_operators_and_operands_use_are_issued() {
    assert_eq!(
        of_kind(&render_once(MANAGEMENT, &[]), "Secret"),
        [
            "aws-ebs-csi-driver-controller-metrics-serving-cert",
            "aws-ebs-csi-driver-operator-serving-cert",
            "cluster-storage-operator-kubeconfig",
            "cluster-storage-operator-serving-cert",
            "csi-snapshot-controller-operator-kubeconfig",
            "csi-snapshot-controller-operator-serving-cert",
            "ebs-cloud-credentials",
        ]
    );
    assert_eq!(
        of_kind(&render_with(MANAGEMENT, "driver-operators", &[]), "Secret"),
        [
            "aws-ebs-csi-driver-controller-metrics-serving-cert",
            "aws-ebs-csi-driver-operator-kubeconfig",
            "aws-ebs-csi-driver-operator-serving-cert",
            "csi-snapshot-controller-kubeconfig",
            "csi-snapshot-controller-metrics-serving-cert",
            "ebs-cloud-credentials",
        ]
    );
}

#[test]
fn ours_has_operands_and_no_operators() {
    let (management, guest) = (render_with(MANAGEMENT, "ours", &[]), render_with(GUEST, "ours", &[]));
    assert_eq!(
        of_kind(&management, "Deployment"),
        ["aws-ebs-csi-driver-controller", "csi-snapshot-controller"]
    );
    assert_eq!(of_kind(&guest, "DaemonSet"), ["aws-ebs-csi-driver-node"]);
    for profile in [MANAGEMENT, GUEST, "standalone"] {
        for object in render_with(profile, "ours", &[]) {
            let (kind, name) = named(&object);
            let is_left = kind == "ClusterOperator"
                || name.contains("-operator") && !["Namespace", "NetworkPolicy"].contains(&kind.as_str());
            // The cloud-credential-operator creates the Secret.
            let is_request = kind == "CredentialsRequest";
            assert!(!is_left || is_request, "{kind}/{name} in {profile}");
        }
    }
}

#[test]
fn driver_operators_run_although_no_operator_installs_them() {
    let management = render_with(MANAGEMENT, "driver-operators", &[]);
    assert_eq!(
        of_kind(&management, "Deployment"),
        ["aws-ebs-csi-driver-operator", "csi-snapshot-controller"]
    );
    let guest = render_with(GUEST, "driver-operators", &[]);
    assert_eq!(of_kind(&guest, "ClusterOperator"), [""; 0]);
    assert_eq!(of_kind(&guest, "DaemonSet"), [""; 0]);
}

/// An object that several values render is the same in all of them, so a change of the parameter moves objects from one owner
/// to another and changes nothing else.
#[test]
fn objects_do_not_depend_on_who_looks_after_the_others() {
    for profile in [MANAGEMENT, GUEST, "standalone"] {
        let mut seen: BTreeMap<(Named, String), Value> = BTreeMap::new();
        for operands in OPERANDS {
            for object in render_with(profile, operands, &WEBHOOK) {
                let id = (named(&object), object["metadata"]["namespace"].to_string());
                assert_eq!(*seen.entry(id.clone()).or_insert_with(|| object.clone()), object, "{id:?}");
            }
        }
    }
}

/// Operators read these objects by name, so nothing in the manifests refers to them.
#[test]
fn objects_that_operators_read_are_declared() {
    let project = TestProject::standalone()
        .manifest("op/1.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: ns, annotations: {x: x}}\n")
        .page(
            "op",
            "needs:\n- identity: ServiceAccount/op\n  cluster: guest\n  objects:\n  - FeatureGate.config.openshift.io/cluster\n  - Secret/s\n",
        );
    let found = project.lint(&[]).stdout;
    for expected in [
        "error[missing-object]: payload/op/component.yaml:8:5: `op` needs FeatureGate/cluster in the namespace `ns`, which does not exist\n",
        "error[missing-object]: payload/op/component.yaml:9:5: `op` needs Secret/s in the namespace `ns`, which does not exist\n",
    ] {
        assert!(found.contains(expected), "{found}");
    }
}

/// Rows whose objects an operator creates in every release, although the document gives them to the control-plane-operator,
/// and objects that only transship has: the kubeconfig of an operand.
const CREATED_BY_OPERATORS: [(&str, &str, &str); 4] = [
    ("management", "ServiceAccount", "csi-snapshot-controller"),
    ("management", "ServiceAccount", "csi-snapshot-webhook"),
    ("management", "ServiceAccount", "aws-ebs-csi-driver-operator"),
    ("management", "Secret", "csi-snapshot-controller-kubeconfig"),
];

/// The release of the design document. What the cluster-version-operator and the control-plane-operator create is there when
/// the operators run; what operators create is there when they do not.
#[test]
fn the_release_of_the_design_document_has_the_objects_of_its_tables() {
    let mut rendered = BTreeMap::new();
    for operands in OPERANDS {
        for (cluster, profile) in [("management", MANAGEMENT), ("guest", GUEST)] {
            let objects: BTreeSet<Named> =
                render_with(profile, operands, &WEBHOOK).iter().map(named).collect();
            rendered.insert((operands, cluster), objects);
        }
    }
    let exceptions: BTreeSet<(String, Named)> = CREATED_BY_OPERATORS
        .iter()
        .map(|(cluster, kind, name)| ((*cluster).to_owned(), ((*kind).to_owned(), (*name).to_owned())))
        .collect();
    let mut used = BTreeSet::new();
    for row in placement() {
        let operands = match row.who.as_str() {
            "CVO" | "CPO" | "?" => "operator",
            "CSO" if row.file.starts_with("assets/aws-ebs/") => "driver-operators",
            "CSCO" | "AWSO" => "ours",
            "N/A" => continue,
            who => panic!("{who} creates {}", row.file),
        };
        for object in &row.objects {
            for cluster in &row.clusters {
                let expectation = (cluster.clone(), object.clone());
                let is_there = rendered[&(operands, cluster.as_str())].contains(object);
                if exceptions.contains(&expectation) {
                    assert!(!is_there, "{cluster} {object:?} has two owners");
                    let elsewhere = ["driver-operators", "ours"];
                    assert!(
                        elsewhere.iter().any(|it| rendered[&(*it, cluster.as_str())].contains(object)),
                        "{object:?}"
                    );
                    used.insert(expectation);
                } else {
                    // ClusterCSIDriver is in a table of cluster-storage-operator, and HyperShift creates it as well.
                    assert!(is_there, "{object:?} of {} with {operands} in {cluster}", row.file);
                }
            }
        }
    }
    assert_eq!(used, exceptions);
}

/// The operators of releases up to 4.17 start the webhook, and need its image and its certificate.
#[test]
fn the_webhook_is_off_unless_the_release_runs_it() {
    let names_of = |operands: &str, more: &[&str]| -> Vec<String> {
        let mut found = names(&render_with(MANAGEMENT, operands, more));
        found.retain(|name| name.contains("webhook"));
        found
    };
    assert_eq!(names_of("operator", &[]), [""; 0]);
    assert_eq!(names_of("ours", &[]), [""; 0]);
    assert_eq!(names_of("operator", &WEBHOOK), ["Secret/csi-snapshot-webhook-secret"]);
    assert_eq!(
        names_of("ours", &WEBHOOK),
        [
            "Service/csi-snapshot-webhook",
            "ServiceAccount/csi-snapshot-webhook",
            "Secret/csi-snapshot-webhook-kubeconfig",
            "Secret/csi-snapshot-webhook-secret",
            "Deployment/csi-snapshot-webhook",
            "PodDisruptionBudget/csi-snapshot-webhook-pdb",
        ]
    );
    let image = |more: &[&str]| {
        let objects = render_with(MANAGEMENT, "operator", more);
        let operator = find(&objects, "Deployment", "csi-snapshot-controller-operator");
        let env = &operator["spec"]["template"]["spec"]["containers"][0]["env"];
        let variables = env.as_array().unwrap();
        variables.iter().find(|variable| variable["name"] == "WEBHOOK_IMAGE").cloned()
    };
    assert_eq!(image(&[]), None);
    let value = image(&WEBHOOK).unwrap()["value"].as_str().unwrap().to_owned();
    assert!(value.contains("@sha256:"), "{value}");
}
