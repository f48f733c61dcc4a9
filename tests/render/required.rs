//! The required changes of the design document: a table of all of them, and those that concern all three operators.
//! `required_snapshots` and `required_driver` have the others.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::storage::{GUEST, MANAGEMENT, containers, find, named, render};
use crate::support::{TestProject, repository, run_in};

/// The numbers of the required changes of each actor, as the design document lists them.
const OUTLINE: [(&str, &str, &[&str]); 9] = [
    ("snapshots", "control-plane-operator", &["1", "2", "3", "4", "4.1", "4.2", "5"]),
    ("snapshots", "hosted-cluster-config-operator", &["1"]),
    (
        "snapshots",
        "cluster-csi-snapshot-controller-operator",
        &[
            "1", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6", "1.6.1", "1.7", "1.8", "2", "2.1", "2.1.1",
            "2.1.2", "3", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6",
        ],
    ),
    ("snapshots", "csi-snapshot-controller-and-webhook", &["1"]),
    (
        "aws-ebs",
        "control-plane-operator",
        &["1", "1.1", "2", "2.1", "2.2", "2.2.1", "3", "4", "5", "5.1", "5.2"],
    ),
    ("aws-ebs", "hosted-cluster-config-operator", &["1", "1.1"]),
    (
        "aws-ebs",
        "cluster-storage-operator",
        &[
            "1", "1.1", "1.1.1", "1.1.2", "2", "2.1", "2.2", "2.3", "2.3.1", "2.3.2", "2.3.3", "2.3.4",
            "2.4", "2.5",
        ],
    ),
    (
        "aws-ebs",
        "aws-ebs-csi-driver-operator",
        &[
            "1", "1.1", "1.1.1", "1.1.2", "1.2", "1.2.1", "1.2.2", "1.2.3", "1.2.4", "1.3", "1.3.1", "1.3.2",
            "2", "2.1", "2.2", "2.3", "2.3.1", "2.3.2", "2.3.3", "2.3.4", "2.4",
        ],
    ),
    ("aws-ebs", "aws-ebs-csi-driver", &["1", "1.1", "1.2", "2", "2.1", "2.2", "2.3", "3", "3.1", "3.2"]),
];

/// Returns the position and the entry of each required change. The line of an actor comes before its changes.
fn table() -> Vec<(String, Value)> {
    let run = run_in(&repository(), &["fmt", "tests/data/required-changes.yaml", "-o", "json"], "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let groups: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    let mut table = Vec::new();
    for group in groups {
        let actor = format!("{}/{}", group["section"].as_str().unwrap(), group["actor"].as_str().unwrap());
        let bullets = group["changes"].as_array().unwrap().clone();
        table.push((actor.clone(), group));
        for bullet in bullets {
            table.push((format!("{actor}/{}", bullet["at"].as_str().unwrap()), bullet));
        }
    }
    table
}

/// Checks that an entry has a summary and one outcome.
fn check_entry(position: &str, entry: &Value) {
    const OUTCOMES: [&str; 3] = ["test", "operator code", "apply"];
    let fields: Vec<&str> = entry.as_object().unwrap().keys().map(String::as_str).collect();
    for field in &fields {
        assert!(OUTCOMES.contains(field) || ["section", "actor", "changes", "at", "asks"].contains(field));
    }
    assert!(entry["asks"].as_str().unwrap().len() > 4, "{position}");
    let outcomes: Vec<&str> = OUTCOMES.into_iter().filter(|outcome| fields.contains(outcome)).collect();
    assert_eq!(outcomes.len(), 1, "{position}: {outcomes:?}");
    if let Some(code) = entry.get("operator code") {
        assert_eq!(code, "nothing in a manifest", "{position}");
    }
}

/// Returns the names of the tests in a source file.
fn tests_in(text: &'static str) -> BTreeSet<&'static str> {
    text.split("#[test]\nfn ").skip(1).map(|rest| rest.split('(').next().unwrap()).collect()
}

/// The table has all required changes in the order of the document. Each test that it names exists, and it names each test
/// of these modules.
#[test]
fn each_required_change_has_a_test_or_a_reason() {
    let table = table();
    let positions: Vec<&str> = table.iter().map(|(position, _)| position.as_str()).collect();
    let mut expected = Vec::new();
    for (section, actor, numbers) in OUTLINE {
        expected.push(format!("{section}/{actor}"));
        expected.extend(numbers.iter().map(|number| format!("{section}/{actor}/{number}")));
    }
    assert_eq!(positions, expected);
    assert_eq!(positions.len(), 34 + 63);
    for (position, entry) in &table {
        check_entry(position, entry);
    }

    let used: BTreeSet<&str> = table.iter().filter_map(|(_, entry)| entry.get("test")?.as_str()).collect();
    let mut required = tests_in(include_str!("required.rs"));
    required.extend(tests_in(include_str!("required_driver.rs")));
    required.extend(tests_in(include_str!("required_snapshots.rs")));
    assert!(required.remove("each_required_change_has_a_test_or_a_reason"));
    let storage = tests_in(include_str!("storage.rs"));
    let missing: Vec<_> =
        used.iter().filter(|test| !required.contains(*test) && !storage.contains(*test)).collect();
    assert!(missing.is_empty(), "the table names tests that do not exist: {missing:?}");
    let unused: Vec<_> = required.difference(&used).collect();
    assert!(unused.is_empty(), "the table does not name these tests: {unused:?}");
}

/// The namespace of the hosted control plane.
pub(crate) const HOSTED: &str = "clusters-example";
pub(crate) const STORAGE: &str = "openshift-cluster-storage-operator";
pub(crate) const DRIVERS: &str = "openshift-cluster-csi-drivers";

/// The operators, with their namespaces in a standalone cluster. Their roles and bindings in the management cluster have
/// the same names.
const OPERATORS: [(&str, &str); 3] = [
    ("csi-snapshot-controller-operator", STORAGE),
    ("cluster-storage-operator", STORAGE),
    ("aws-ebs-csi-driver-operator", DRIVERS),
];

pub(crate) fn standalone() -> &'static [Value] {
    static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(|| render("standalone", &[]));
    &OBJECTS
}

pub(crate) fn management() -> &'static [Value] {
    static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(|| render(MANAGEMENT, &[]));
    &OBJECTS
}

pub(crate) fn guest() -> &'static [Value] {
    static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(|| render(GUEST, &[]));
    &OBJECTS
}

pub(crate) fn has(objects: &[Value], kind: &str, name: &str) -> bool {
    objects.iter().any(|object| named(object) == (kind.to_owned(), name.to_owned()))
}

pub(crate) fn pod(workload: &Value) -> &Value {
    &workload["spec"]["template"]["spec"]
}

/// Returns a container or init container.
pub(crate) fn container(workload: &Value, name: &str) -> Value {
    [containers(workload, "initContainers"), containers(workload, "containers")]
        .concat()
        .into_iter()
        .find(|container| container["name"] == name)
        .unwrap_or_else(|| panic!("no container {name}"))
}

pub(crate) fn arguments(container: &Value) -> Vec<String> {
    serde_json::from_value(container["args"].clone()).unwrap()
}

/// Returns the value of an environment variable.
pub(crate) fn variable(container: &Value, name: &str) -> Option<Value> {
    let variables = container["env"].as_array()?;
    variables.iter().find(|variable| variable["name"] == name).map(|variable| variable["value"].clone())
}

/// Returns the volume that a container mounts at a path.
pub(crate) fn volume_at<'w>(workload: &'w Value, name: &str, path: &str) -> &'w Value {
    let container = container(workload, name);
    let mounts = container["volumeMounts"].as_array().unwrap();
    let mount = mounts.iter().find(|mount| mount["mountPath"] == path);
    let mount = mount.unwrap_or_else(|| panic!("{name} has nothing at {path}"));
    let volumes = pod(workload)["volumes"].as_array().unwrap();
    volumes.iter().find(|volume| volume["name"] == mount["name"]).unwrap()
}

/// Returns whether a role allows a verb on a resource.
pub(crate) fn allows(role: &Value, group: &str, resource: &str, verb: &str) -> bool {
    let lists =
        |rule: &Value, field: &str, word: &str| rule[field].as_array().unwrap().contains(&json!(word));
    role["rules"].as_array().unwrap().iter().any(|rule| {
        lists(rule, "apiGroups", group) && lists(rule, "resources", resource) && lists(rule, "verbs", verb)
    })
}

pub(crate) fn account(name: &str, namespace: &str) -> Value {
    json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
}

/// Asserts that objects are in one namespace of a standalone cluster, and in that of the hosted control plane in the
/// management cluster.
pub(crate) fn assert_beside_operator(home: &str, objects: &[(&str, &str)]) {
    for (kind, name) in objects {
        assert_eq!(find(standalone(), kind, name)["metadata"]["namespace"], home, "{kind}/{name}");
        assert_eq!(find(management(), kind, name)["metadata"]["namespace"], HOSTED, "{kind}/{name}");
    }
}

/// Asserts that each Secret is an issued kubeconfig for a ServiceAccount of the guest.
pub(crate) fn assert_kubeconfigs(home: &str, secrets: &[(&str, &str)]) {
    for (secret, account) in secrets {
        let found = find(management(), "Secret", secret);
        let issued = json!({"kubeconfig": {
            "authority": "root-ca",
            "server": "https://kube-apiserver:6443",
            "signer": "cluster-signer-ca",
            "user": format!("system:serviceaccount:{home}:{account}"),
        }})
        .to_string();
        assert_eq!(found["metadata"]["annotations"]["transship.openshift.io/issued"], issued);
        assert_eq!(found["data"], json!({"kubeconfig": ""}));
        assert_eq!(find(guest(), "ServiceAccount", account)["metadata"]["namespace"], home);
    }
}

/// Asserts that a container has a serving certificate: from an annotation of its Service in a standalone cluster, and from
/// an issued Secret in the management cluster.
pub(crate) fn assert_certificate(service: &str, secret: &str, workload: &str, container: &str, path: &str) {
    let asks = |objects| {
        let annotations = find(objects, "Service", service)["metadata"]["annotations"].clone();
        let by =
            |version| annotations[format!("service.{version}.openshift.io/serving-cert-secret-name")].clone();
        [by("alpha"), by("beta")]
    };
    assert!(asks(standalone()).contains(&json!(secret)), "{service}");
    assert!(!has(standalone(), "Secret", secret), "{secret}");
    assert_eq!(asks(management()), [Value::Null, Value::Null], "{service}");
    let found = find(management(), "Secret", secret);
    assert_eq!(found["type"], "kubernetes.io/tls");
    assert_eq!(found["data"], json!({"ca.crt": "", "tls.crt": "", "tls.key": ""}));
    let (short, long) = (format!("{service}.{HOSTED}.svc"), format!("{service}.{HOSTED}.svc.cluster.local"));
    let names = [service, &short, &long, "localhost"];
    let issued = json!({"certificate": {"dnsNames": names, "signer": "root-ca"}}).to_string();
    assert_eq!(found["metadata"]["annotations"]["transship.openshift.io/issued"], issued);
    for objects in [standalone(), management()] {
        let volume = volume_at(find(objects, "Deployment", workload), container, path);
        assert_eq!(volume["secret"]["secretName"], secret, "{workload}");
    }
}

/// All Secrets are in the management cluster.
#[test]
fn a_standalone_cluster_has_no_objects_for_hosted_clusters() {
    let text = |objects: &[Value]| json!(objects).to_string();
    for word in [
        HOSTED,
        "guest-kubeconfig",
        "wait-for-guest",
        "token-minter",
        "hypershift-control-plane",
        "hypershift.openshift.io/need-management-kas-access",
    ] {
        assert!(text(management()).contains(word), "{word}");
        assert!(!text(standalone()).contains(word), "{word}");
    }
    let secrets = |objects: &[Value]| -> BTreeSet<String> {
        objects.iter().map(named).filter(|(kind, _)| kind == "Secret").map(|(_, name)| name).collect()
    };
    let expected = [
        "aws-ebs-csi-driver-controller-kubeconfig",
        "aws-ebs-csi-driver-controller-metrics-serving-cert",
        "aws-ebs-csi-driver-operator-kubeconfig",
        "aws-ebs-csi-driver-operator-serving-cert",
        "cluster-storage-operator-kubeconfig",
        "cluster-storage-operator-serving-cert",
        "csi-snapshot-controller-kubeconfig",
        "csi-snapshot-controller-metrics-serving-cert",
        "csi-snapshot-controller-operator-kubeconfig",
        "csi-snapshot-controller-operator-serving-cert",
        "csi-snapshot-webhook-kubeconfig",
        "csi-snapshot-webhook-secret",
        "ebs-cloud-credentials",
    ];
    assert_eq!(secrets(management()), expected.map(str::to_owned).into());
    assert!(secrets(standalone()).is_empty() && secrets(guest()).is_empty());
}

#[test]
fn operators_have_a_service_account_in_both_clusters() {
    for (name, home) in OPERATORS {
        assert_eq!(find(management(), "ServiceAccount", name)["metadata"]["namespace"], HOSTED);
        assert_eq!(find(guest(), "ServiceAccount", name)["metadata"]["namespace"], home);
        assert_eq!(pod(find(management(), "Deployment", name))["serviceAccountName"], name);
    }
}

#[test]
fn operators_run_in_the_management_cluster() {
    for (name, home) in OPERATORS {
        assert_beside_operator(home, &[("Deployment", name)]);
        assert_eq!(find(management(), "Deployment", name)["spec"]["replicas"], 1, "{name}");
        assert!(!has(guest(), "Deployment", name), "{name}");
    }
}

/// The mount is read-only, and a standalone cluster has none.
#[test]
fn operators_mount_the_kubeconfig_of_the_guest() {
    for (name, _) in OPERATORS {
        let operator = find(management(), "Deployment", name);
        let volume = volume_at(operator, name, "/etc/guest-kubeconfig");
        assert_eq!(volume["secret"]["secretName"], format!("{name}-kubeconfig"));
        let mount = json!({"name": volume["name"], "mountPath": "/etc/guest-kubeconfig", "readOnly": true});
        assert!(container(operator, name)["volumeMounts"].as_array().unwrap().contains(&mount), "{name}");
        assert!(!find(standalone(), "Deployment", name).to_string().contains("kubeconfig"), "{name}");
    }
}

/// They end when its content changes. All other arguments are those of a standalone cluster.
#[test]
fn operators_get_the_kubeconfig_of_the_guest_as_a_flag() {
    for (name, _) in OPERATORS {
        let mut expected = arguments(&container(find(standalone(), "Deployment", name), name));
        for flag in ["--guest-kubeconfig", "--terminate-on-files"] {
            expected.push(format!("{flag}=/etc/guest-kubeconfig/kubeconfig"));
        }
        assert_eq!(arguments(&container(find(management(), "Deployment", name), name)), expected);
    }
}

/// The ServiceAccount has rights in its own namespace.
#[test]
fn operators_keep_their_own_token() {
    for (name, _) in OPERATORS {
        let operator = find(management(), "Deployment", name);
        assert!(pod(operator).get("automountServiceAccountToken").is_none(), "{name}");
        let labels = &operator["spec"]["template"]["metadata"]["labels"];
        assert_eq!(labels["hypershift.openshift.io/need-management-kas-access"], "true", "{name}");
        let binding = find(management(), "RoleBinding", name);
        assert_eq!(binding["roleRef"]["name"], name);
        assert_eq!(binding["subjects"], json!([account(name, HOSTED)]));
        assert!(allows(find(management(), "Role", name), "apps", "deployments", "create"), "{name}");
        volume_at(operator, name, "/etc/guest-kubeconfig");
    }
}

/// An operator starts when the guest has its custom resource and its `ClusterOperator`.
#[test]
fn operators_wait_for_the_guest() {
    for (name, kind, crd, status) in [
        (
            "csi-snapshot-controller-operator",
            "CSISnapshotController",
            "csisnapshotcontrollers.operator.openshift.io",
            "csi-snapshot-controller",
        ),
        ("cluster-storage-operator", "Storage", "storages.operator.openshift.io", "storage"),
    ] {
        let operator = find(management(), "Deployment", name);
        let first = &containers(operator, "initContainers")[0];
        assert_eq!(first["command"], json!(["transship", "wait-for"]), "{name}");
        let expected = [
            format!("{kind}.operator.openshift.io/cluster"),
            format!("ClusterOperator.config.openshift.io/{status}"),
            "--kubeconfig=/etc/guest-kubeconfig/kubeconfig".to_owned(),
        ];
        assert_eq!(arguments(first), expected);
        for (kind, name) in
            [("CustomResourceDefinition", crd), (kind, "cluster"), ("ClusterOperator", status)]
        {
            assert!(has(guest(), kind, name), "{kind}/{name}");
        }
        assert!(containers(find(standalone(), "Deployment", name), "initContainers").is_empty(), "{name}");
    }
}

/// In a standalone cluster, the specs are those of the manifests.
#[test]
fn the_profile_pins_the_specs_of_operators() {
    let project = TestProject::new();
    let folders = ["payload", "patches"].map(|folder| walkdir::WalkDir::new(repository().join(folder)));
    for entry in folders.into_iter().flatten() {
        let path = entry.unwrap().into_path();
        if path.is_file() {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.replace("\n  logLevel: Normal", "\n  logLevel: Trace");
            project.write(path.strip_prefix(repository()).unwrap().to_str().unwrap(), text);
        }
    }
    let profiles = repository().join("profiles");
    let bundled = ["--profiles", profiles.to_str().unwrap()];
    let edited = project.render_with("standalone", &bundled);
    let pinned = project.render_with(GUEST, &bundled);
    for (kind, name) in [
        ("CSISnapshotController", "cluster"),
        ("Storage", "cluster"),
        ("ClusterCSIDriver", "ebs.csi.aws.com"),
    ] {
        assert_eq!(find(&edited, kind, name)["spec"]["logLevel"], "Trace", "{kind}");
        let expected =
            json!({"logLevel": "Normal", "managementState": "Managed", "operatorLogLevel": "Normal"});
        assert_eq!(find(&pinned, kind, name)["spec"], expected, "{kind}");
    }
}

/// Pods in the guest keep their priority.
#[test]
fn pods_have_the_priority_of_a_hosted_control_plane() {
    for name in [
        "csi-snapshot-controller-operator",
        "csi-snapshot-controller",
        "csi-snapshot-webhook",
        "cluster-storage-operator",
        "aws-ebs-csi-driver-operator",
        "aws-ebs-csi-driver-controller",
    ] {
        let priority = |objects| pod(find(objects, "Deployment", name))["priorityClassName"].clone();
        assert_eq!(priority(management()), "hypershift-control-plane", "{name}");
        assert_eq!(priority(standalone()), "system-cluster-critical", "{name}");
    }
    let node = find(guest(), "DaemonSet", "aws-ebs-csi-driver-node");
    assert_eq!(pod(node)["priorityClassName"], "system-node-critical");
}
