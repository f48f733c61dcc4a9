//! The bundled payload beside a release and the real operators: `tests/data/real-operators.yaml` lists every point of the
//! review with the test that holds it.

mod metrics;
mod sets;
mod settings;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::faults::missing_test;
use crate::required::{DRIVERS, HOSTED, STORAGE, account, allows, guest, has, management, standalone};
use crate::storage::{GUEST, MANAGEMENT, find, named, render};
use crate::support::{TestProject, data, repository, run_in};

/// The points of the review, and the subjects of its last paragraph.
const POINTS: [&str; 30] = [
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
    "13",
    "14",
    "15",
    "16",
    "17",
    "18",
    "19",
    "20",
    "21",
    "missing objects",
    "missing CRDs",
    "trimmed CRDs",
    "alerts",
    "cloud permissions",
    "fragments without roles",
    "unused fragments",
    "no nodes",
    "upstream faults",
];

/// Returns why an entry does not say who holds its point.
fn problem(entry: &Value) -> Option<String> {
    let is_text = |field: &str| entry[field].as_str().is_some_and(|text| !text.is_empty());
    match &entry["tests"] {
        _ if !is_text("found") => Some("`found` is missing".to_owned()),
        Value::Array(tests) if !tests.is_empty() && entry.get("open").is_none() => {
            tests.iter().find_map(|test| missing_test(test.as_str().unwrap_or_default()))
        }
        Value::Null if is_text("open") && is_text("owner") => None,
        _ => Some("it needs either `tests`, or `open` and `owner`".to_owned()),
    }
}

#[test]
fn each_point_of_the_review_names_its_test_or_its_owner() {
    let list = data("real-operators.yaml");
    let entries = list.as_array().unwrap();
    let points: Vec<&str> = entries.iter().map(|entry| entry["point"].as_str().unwrap()).collect();
    assert_eq!(points, POINTS);
    let problems: Vec<String> = entries
        .iter()
        .filter_map(|entry| problem(entry).map(|problem| format!("{}: {problem}", entry["point"])))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let without = json!({"found": "a", "tests": ["tests/render/release_payload.rs::nobody"]});
    assert_eq!(problem(&without).unwrap(), "tests/render/release_payload.rs has no test `nobody`");
    assert!(problem(&json!({"found": "a", "open": "b"})).is_some());
}

/// Returns the names of the objects of a kind in a namespace; empty for cluster-scoped objects.
fn in_namespace(objects: &[Value], kind: &str, namespace: &str) -> BTreeSet<String> {
    let is_one = |object: &&Value| {
        object["kind"] == kind && object["metadata"]["namespace"].as_str().unwrap_or_default() == namespace
    };
    objects.iter().filter(is_one).map(|object| named(object).1).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// They are in the guest of a hosted control plane, and nowhere in its management cluster.
#[test]
fn the_payload_has_the_objects_of_a_release() {
    for objects in [standalone(), guest()] {
        let drivers = [
            "allow-all-egress",
            "allow-egress-to-api-server",
            "allow-ingress-to-metrics-range",
            "allow-ingress-to-operator-metrics-range",
            "allow-to-dns",
        ];
        assert_eq!(in_namespace(objects, "NetworkPolicy", DRIVERS), set(&drivers));
        let operators = [
            "allow-all-egress",
            "allow-egress-to-api-server",
            "allow-ingress-to-operator-metrics",
            "allow-to-dns",
            "default-deny",
        ];
        assert_eq!(in_namespace(objects, "NetworkPolicy", STORAGE), set(&operators));
        let shared: BTreeSet<String> = in_namespace(objects, "ClusterRole", "")
            .into_iter()
            .filter(|name| {
                ["main", "provisioner", "resizer"]
                    .iter()
                    .any(|part| name.starts_with(&format!("openshift-csi-{part}-")))
            })
            .collect();
        assert_eq!(shared.len(), 10, "{shared:?}");
        assert_eq!(
            bindings(objects),
            BTreeMap::from(SHARED.map(|(binding, role)| (binding.to_owned(), role.to_owned())))
        );
        for (kind, namespace, name) in [
            ("Role", DRIVERS, "aws-ebs-csi-driver-lease-leader-election"),
            ("RoleBinding", DRIVERS, "aws-ebs-csi-driver-lease-leader-election"),
            ("Role", "openshift-config", "cluster-storage-operator-selinux-conflicts-reader"),
            ("RoleBinding", "openshift-config", "cluster-storage-operator-selinux-conflicts-reader"),
            ("RoleBinding", "kube-system", "csi-snapshot-controller-operator-authentication-reader"),
            ("ClusterRoleBinding", "", "csi-snapshot-controller-runner-operator"),
            ("ValidatingAdmissionPolicy", "", "openshift-storage-policy-validation"),
            ("ValidatingAdmissionPolicyBinding", "", "openshift-storage-policy-validation-binding"),
        ] {
            assert!(in_namespace(objects, kind, namespace).contains(name), "{kind}/{name}");
        }
        assert!(
            in_namespace(objects, "ClusterRole", "").iter().all(|name| !name.starts_with("ebs-external-"))
        );
    }
    for kind in ["NetworkPolicy", "ClusterRole", "ValidatingAdmissionPolicy"] {
        assert!(management().iter().all(|object| object["kind"] != kind), "{kind}");
    }
}

/// The driver's bindings to roles that all drivers share.
const SHARED: [(&str, &str); 8] = [
    ("ebs-csi-main-attacher-binding", "openshift-csi-main-attacher-role"),
    ("ebs-csi-main-provisioner-binding", "openshift-csi-main-provisioner-role"),
    ("ebs-csi-main-resizer-binding", "openshift-csi-main-resizer-role"),
    ("ebs-csi-main-snapshotter-binding", "openshift-csi-main-snapshotter-role"),
    ("ebs-csi-storageclass-reader-resizer-binding", "openshift-csi-resizer-storageclass-reader-role"),
    (
        "ebs-csi-volumeattributesclass-reader-provisioner-binding",
        "openshift-csi-provisioner-volumeattributesclass-reader-role",
    ),
    (
        "ebs-csi-volumeattributesclass-reader-resizer-binding",
        "openshift-csi-resizer-volumeattributesclass-reader-role",
    ),
    (
        "ebs-csi-volumesnapshot-reader-provisioner-binding",
        "openshift-csi-provisioner-volumesnapshot-reader-role",
    ),
];

/// Returns the bindings of the driver's controller to shared roles, and these roles.
fn bindings(objects: &[Value]) -> BTreeMap<String, String> {
    let subject = json!([account("aws-ebs-csi-driver-controller-sa", DRIVERS)]);
    objects
        .iter()
        .filter(|object| object["kind"] == "ClusterRoleBinding" && object["subjects"] == subject)
        .filter_map(|object| Some((named(object).1, object["roleRef"]["name"].as_str()?.to_owned())))
        .filter(|(_, role)| role.starts_with("openshift-csi-"))
        .collect()
}

/// The rights check covers them without an allowance, in every set.
#[test]
fn operators_hold_the_rights_that_they_use_and_grant() {
    let run = run_in(&repository(), &["fmt", "profiles/checks.yaml", "-o", "json"], "");
    let checks: Value = serde_json::from_str::<Value>(&run.stdout).unwrap()[0].clone();
    let checks =
        if checks.get("allow").is_some() { checks } else { serde_json::from_str(&run.stdout).unwrap() };
    let allowed: Vec<&str> =
        checks["allow"].as_array().unwrap().iter().filter_map(|entry| entry["check"].as_str()).collect();
    assert!(allowed.contains(&"broad-rights"), "{allowed:?}");
    for check in ["missing-right", "undeclared-grants"] {
        assert!(!allowed.contains(&check), "{check}");
    }
    let lint = run_in(&repository(), &["lint"], "");
    assert_eq!((lint.code, lint.stdout.as_str()), (0, ""), "{}", lint.stderr);
    // As observed with the real operator, and what upstream's driver operators get from it.
    let role = find(management(), "Role", "cluster-storage-operator");
    for (group, resource) in [
        ("", "pods"),
        ("", "endpoints"),
        ("", "events"),
        ("", "secrets"),
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("rbac.authorization.k8s.io", "roles"),
        ("coordination.k8s.io", "leases"),
    ] {
        for verb in ["get", "list", "watch", "create", "update", "patch", "delete"] {
            assert!(allows(role, group, resource, verb), "{verb} {resource}");
        }
    }
    let snapshots = find(management(), "Role", "csi-snapshot-controller-operator");
    assert!(!snapshots.to_string().contains("secrets"), "it uses none");
}

/// It does not hold the rights of sidecars, so it cannot read all Secrets.
#[test]
fn the_driver_operator_may_bind_the_roles_that_drivers_share() {
    for objects in [standalone(), guest()] {
        let role = find(objects, "ClusterRole", "aws-ebs-csi-driver-operator-clusterrole");
        let binds = role["rules"].as_array().unwrap().iter().find(|rule| rule["verbs"] == json!(["bind"]));
        let names: BTreeSet<&str> = binds.unwrap()["resourceNames"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        assert_eq!(names, SHARED.map(|(_, role)| role).into());
        assert!(allows(role, "rbac.authorization.k8s.io", "clusterrolebindings", "create"));
        assert!(!allows(role, "", "secrets", "get") && !allows(role, "", "secrets", "list"));
    }
}

/// cluster-storage-operator only creates it. A hosted cluster pins its spec.
#[test]
fn a_cluster_csi_driver_is_only_created() {
    for objects in [standalone(), guest()] {
        let driver = find(objects, "ClusterCSIDriver", "ebs.csi.aws.com");
        assert_eq!(driver["metadata"]["annotations"]["release.openshift.io/create-only"], "true");
    }
}

#[test]
fn the_classes_of_the_driver_follow_the_cluster() {
    let annotation = |objects: &[Value], class: &str, name: &str| {
        find(objects, "StorageClass", class)["metadata"]["annotations"][name].clone()
    };
    let (default, created) =
        ("storageclass.kubernetes.io/is-default-class", "release.openshift.io/create-only");
    for profile in ["standalone", GUEST] {
        let objects = render(profile, &[]);
        assert_eq!(annotation(&objects, "gp3-csi", default), "true");
        assert_eq!(annotation(&objects, "gp2-csi", default), Value::Null);
        let second = render(profile, &["--set", "storage.isDefault=false"]);
        assert_eq!(annotation(&second, "gp3-csi", default), "false");
        let project = TestProject::new().file(
            "driver.yaml",
            "apiVersion: operator.openshift.io/v1\nkind: ClusterCSIDriver\nmetadata: {name: ebs.csi.aws.com}\n\
             spec: {storageClassState: Unmanaged}\n",
        );
        let file = project.path().join("driver.yaml").display().to_string();
        let unmanaged = render(profile, &["--cluster-csi-driver", &file]);
        for class in ["gp2-csi", "gp3-csi"] {
            assert_eq!(annotation(&objects, class, created), Value::Null, "{class}");
            assert_eq!(annotation(&unmanaged, class, created), "true", "{class}");
        }
        let removed =
            render(profile, &["--set", "storage.classes=Removed", "--set", "storage.isDefault=false"]);
        assert!(removed.iter().all(|object| object["kind"] != "StorageClass"));
    }
}

#[test]
fn editors_manage_snapshots_and_storage_admins_only_read_them() {
    for objects in [standalone(), guest()] {
        let editors = find(objects, "ClusterRole", "system:openshift:aggregate-snapshots-to-admin");
        for role in ["admin", "edit"] {
            let label = format!("rbac.authorization.k8s.io/aggregate-to-{role}");
            assert_eq!(editors["metadata"]["labels"][label.as_str()], "true");
        }
        assert!(allows(editors, "snapshot.storage.k8s.io", "volumesnapshots", "create"));
        let admins = find(objects, "ClusterRole", "system:openshift:aggregate-snapshots-to-storage-admin");
        assert!(allows(admins, "snapshot.storage.k8s.io", "volumesnapshotclasses", "create"));
        assert!(allows(admins, "snapshot.storage.k8s.io", "volumesnapshots", "list"));
        assert!(!allows(admins, "snapshot.storage.k8s.io", "volumesnapshots", "create"));
    }
}

#[test]
fn operators_watch_cluster_versions() {
    for objects in [standalone(), guest()] {
        for name in
            ["csi-snapshot-controller-operator-clusterrole", "aws-ebs-csi-driver-operator-clusterrole"]
        {
            let role = find(objects, "ClusterRole", name);
            for verb in ["get", "list", "watch"] {
                assert!(allows(role, "config.openshift.io", "clusterversions", verb), "{verb} {name}");
            }
        }
    }
}

/// cluster-storage-operator serves the metric `default_storage_class_count` itself.
#[test]
fn alerts_and_recording_rules_are_those_of_a_release() {
    let groups = &find(standalone(), "PrometheusRule", "prometheus")["spec"]["groups"];
    let rules: Vec<&Value> =
        groups.as_array().unwrap().iter().flat_map(|group| group["rules"].as_array().unwrap()).collect();
    let names = |field: &str| -> Vec<&str> { rules.iter().filter_map(|rule| rule[field].as_str()).collect() };
    assert_eq!(
        names("alert"),
        [
            "MultipleDefaultStorageClasses",
            "VolumeAttributesClassParameterMismatch",
            "PodStartupStorageOperationsFailing",
            "SELinuxMountGAReadinessWorkloadsDetected",
            "KubePersistentVolumeFillingUp",
            "KubePersistentVolumeFillingUp",
            "KubePersistentVolumeInodesFillingUp",
            "KubePersistentVolumeInodesFillingUp",
            "KubePersistentVolumeErrors",
        ]
    );
    assert_eq!(
        names("record"),
        [
            "cluster:volume_manager_selinux_pod_context_mismatch_total",
            "cluster:volume_manager_selinux_volume_context_mismatch_warnings_total",
            "cluster:volume_manager_selinux_volume_context_mismatch_errors_total",
            "cluster:volume_manager_selinux_volumes_admitted_total",
            "cluster:selinux_warning_controller_selinux_volume_conflict:count",
        ]
    );
    assert_eq!(rules[0]["expr"], "min_over_time(default_storage_class_count[5m]) > 1");
    for objects in [management(), guest()] {
        assert!(!has(objects, "PrometheusRule", "prometheus"));
    }
}

#[test]
fn credentials_requests_have_the_permissions_of_a_release() {
    let spec = |name: &str| find(standalone(), "CredentialsRequest", name)["spec"]["providerSpec"].clone();
    let aws = spec("aws-ebs-csi-driver-operator")["statementEntries"][0]["action"].clone();
    for action in [
        "CopyVolumes",
        "DescribeInstanceTypes",
        "DescribeVolumeStatus",
        "EnableFastSnapshotRestores",
        "LockSnapshot",
    ] {
        assert!(aws.as_array().unwrap().contains(&json!(format!("ec2:{action}"))), "{action}");
    }
    let gcp = spec("openshift-gcp-pd-csi-driver-operator");
    assert_eq!(
        gcp["predefinedRoles"],
        json!([
            "roles/compute.storageAdmin",
            "roles/iam.serviceAccountUser",
            "roles/resourcemanager.tagUser"
        ])
    );
    let files = spec("azure-file-csi-driver-operator")["permissions"].clone();
    let files: Vec<&str> = files.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(files.contains(&"Microsoft.Network/natGateways/join/action"));
    assert!(files.contains(&"Microsoft.Storage/storageAccounts/PrivateEndpointConnectionsApproval/action"));
    assert!(files.iter().all(|permission| !permission.contains('*')), "{files:?}");
    let power = spec("ibm-powervs-block-csi-driver-operator")["policies"][0]["roles"].clone();
    let role = |name: &str| json!(format!("crn:v1:bluemix:public:iam::::{name}"));
    let expected =
        ["role:Operator", "role:Editor", "role:Viewer", "serviceRole:Reader", "serviceRole:Manager"]
            .map(role);
    assert_eq!(power, json!(expected));
}

/// There, the cluster-version-operator of the hosted cluster runs them in the guest.
#[test]
fn ibm_clouds_have_no_storage_operators_in_the_management_cluster() {
    for platform in ["platform.type=IBMCloud", "platform.type=PowerVS"] {
        for operands in ["operands=ours", "operands=operator"] {
            let set = ["--set", platform, "--set", operands];
            assert_eq!(render(MANAGEMENT, &set), [Value::Null; 0], "{platform} {operands}");
            let guest = render(GUEST, &set);
            assert!(has(&guest, "Storage", "cluster"));
            assert_eq!(has(&guest, "ClusterOperator", "storage"), operands == "operands=operator");
            assert!(!json!(guest).to_string().contains(HOSTED), "{platform} {operands}");
        }
    }
    assert!(has(
        &render(MANAGEMENT, &["--set", "platform.type=Azure"]),
        "Deployment",
        "cluster-storage-operator"
    ));
}

/// No public authority signs the name of a Service.
#[test]
fn a_webhook_url_of_a_service_needs_a_ca() {
    let webhook = |config: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: op, annotations: {{x: x}}}}\n\
             webhooks:\n- name: op.example.test\n  admissionReviewVersions: [v1]\n  sideEffects: None\n  \
             failurePolicy: Ignore\n  clientConfig: {{{config}}}\n"
        )
    };
    let finding = "error[insecure-setting]: payload/op/1.yaml:9:23: the API server cannot verify the certificate of the webhook\n";
    for (config, is_found) in [
        ("url: 'https://op.clusters-a.svc:443/'", true),
        ("url: 'https://op.clusters-a.svc/'", true),
        ("url: 'https://op.clusters-a.svc:443/', caBundle: Q0E=", false),
        ("url: 'https://op.example.com/'", false),
    ] {
        let project = TestProject::standalone().manifest("op/1.yaml", &webhook(config));
        assert_eq!(project.lint(&[]).stdout.contains(finding), is_found, "{config}");
    }
}

/// Each row of the tables in `docs/upstream.md` has a reason.
#[test]
fn what_stays_different_is_documented() {
    let page = std::fs::read_to_string(repository().join("docs/upstream.md")).unwrap();
    assert!(page.lines().count() <= 400);
    let rows: Vec<&str> =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what")).collect();
    assert!(rows.len() > 20, "{}", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert!(cells.len() == 3 && cells.iter().all(|cell| !cell.is_empty()), "{row}");
    }
    for fault in [
        "`spec.serviceName` on a Deployment",
        "a namespace on a ClusterCSIDriver",
        "`aws-ebs-csi-driver-node-metrics-serving-cert`",
    ] {
        assert!(page.contains(fault), "{fault}");
    }
}
