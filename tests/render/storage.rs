//! The storage payload: each object is in the cluster that the design document names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(crate) use crate::operands::render_all as render;
use crate::support::{TestProject, repository, run_in};

/// Kind and name.
pub(crate) type Named = (String, String);

pub(crate) const MANAGEMENT: &str = "hypershift-mc";
pub(crate) const GUEST: &str = "hypershift-guest";

pub(crate) fn named(object: &Value) -> Named {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// Files of the design document whose objects the payload has under other names: today all drivers share the roles of their
/// sidecars.
const SUCCESSORS: [(&str, &str, &str); 8] = [
    ("awso/assets/rbac/attacher_binding.yaml", "ClusterRoleBinding", "ebs-csi-main-attacher-binding"),
    ("awso/assets/rbac/attacher_role.yaml", "ClusterRole", "openshift-csi-main-attacher-role"),
    ("awso/assets/rbac/provisioner_binding.yaml", "ClusterRoleBinding", "ebs-csi-main-provisioner-binding"),
    ("awso/assets/rbac/provisioner_role.yaml", "ClusterRole", "openshift-csi-main-provisioner-role"),
    ("awso/assets/rbac/resizer_binding.yaml", "ClusterRoleBinding", "ebs-csi-main-resizer-binding"),
    ("awso/assets/rbac/resizer_role.yaml", "ClusterRole", "openshift-csi-main-resizer-role"),
    ("awso/assets/rbac/snapshotter_binding.yaml", "ClusterRoleBinding", "ebs-csi-main-snapshotter-binding"),
    ("awso/assets/rbac/snapshotter_role.yaml", "ClusterRole", "openshift-csi-main-snapshotter-role"),
];

/// Returns the objects of a file of the payload, given its name in the design document. `*` matches several files.
fn objects_of(file: &str) -> Vec<Named> {
    if let Some((_, kind, name)) = SUCCESSORS.iter().find(|(old, ..)| *old == file) {
        return vec![((*kind).to_owned(), (*name).to_owned())];
    }
    let last = file.rsplit('/').next().unwrap();
    let (before, behind) = last.split_once('*').unwrap_or((last, ""));
    let fits = |name: &str| {
        let own = name.splitn(4, '_').nth(3).unwrap_or_default();
        name == last || own == last || last.contains('*') && own.starts_with(before) && own.ends_with(behind)
    };
    let operator = file.starts_with("assets/aws-ebs/");
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(repository().join("payload")) {
        let path = entry.unwrap().into_path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let aws = path.to_string_lossy().contains("/aws-ebs");
        let of_operator = ["/aws-ebs-csi-driver-operator/", "/aws-ebs/"]
            .iter()
            .any(|it| path.to_string_lossy().contains(it));
        let home = match file {
            _ if operator => of_operator,
            _ if file.starts_with("awso/") || file.starts_with("aws-ebs-csi-driver-operator/") => {
                aws && !of_operator
            }
            _ => !aws,
        };
        if home && fits(&name) && path.is_file() {
            let documents =
                transship::yaml::read(&std::fs::read_to_string(&path).unwrap(), transship::yaml::SourceId(0))
                    .unwrap();
            found.extend(documents.iter().map(|document| {
                let (id, _) = transship::ObjectId::of(&document.root).unwrap();
                (id.kind, id.name)
            }));
        }
    }
    found
}

/// Objects of files that the tables of the document do not list. The section "Phase 2: create `ServiceAccount` and RBACs in
/// the guest cluster for the operand" places them in the guest. The tables list objects of the same name in the management
/// cluster.
const NOT_IN_A_ROW: [(&str, &str, &str); 2] = [
    ("guest", "ServiceAccount", "csi-snapshot-controller"),
    ("guest", "ServiceAccount", "csi-snapshot-webhook"),
];

/// A row of the tables in the design document.
pub(crate) struct PlacementRow {
    /// A file of the payload, under its name at the time.
    pub(crate) file: String,
    /// Who creates the objects.
    pub(crate) who: String,
    pub(crate) objects: Vec<Named>,
    /// `management` and `guest`.
    pub(crate) clusters: Vec<String>,
}

/// Returns all rows of the tables in the design document.
pub(crate) fn placement() -> Vec<PlacementRow> {
    let text = std::fs::read_to_string(repository().join("tests/data/placement.json")).unwrap();
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.len(), 75);
    let mut placement = Vec::new();
    for row in &rows {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        let file = text("file");
        let objects: Vec<Named> = match row["objects"].as_array() {
            Some(objects) => objects.iter().map(object_of_row).collect(),
            None => objects_of(&file),
        };
        assert!(!objects.is_empty(), "no manifest for {file}");
        let clusters = row["clusters"].as_array().unwrap();
        let clusters = clusters.iter().map(|cluster| cluster.as_str().unwrap().to_owned()).collect();
        placement.push(PlacementRow { file, who: text("who"), objects, clusters });
    }
    placement
}

fn object_of_row(object: &Value) -> Named {
    (object["kind"].as_str().unwrap().to_owned(), object["name"].as_str().unwrap().to_owned())
}

/// Each row holds in a rendering with one of the values of `operands`.
#[test]
fn each_object_is_in_the_cluster_that_the_design_document_names() {
    let mut expected: BTreeMap<Named, BTreeSet<String>> = BTreeMap::new();
    for row in placement() {
        for object in row.objects {
            expected.entry(object).or_default().extend(row.clusters.iter().cloned());
        }
    }
    for (cluster, kind, name) in NOT_IN_A_ROW {
        let clusters = expected.get_mut(&(kind.to_owned(), name.to_owned())).unwrap();
        assert!(clusters.insert(cluster.to_owned()), "a row has {name}");
    }
    let standalone: BTreeSet<Named> = render("standalone", &[]).iter().map(named).collect();
    let both = [("management", render(MANAGEMENT, &[])), ("guest", render(GUEST, &[]))];
    for (object, clusters) in &expected {
        let found: BTreeSet<String> = both
            .iter()
            .filter(|(_, objects)| objects.iter().any(|other| named(other) == *object))
            .map(|(cluster, _)| (*cluster).to_owned())
            .collect();
        assert_eq!(found, *clusters, "{object:?}");
        let new = object.0 == "Secret";
        assert_eq!(standalone.contains(object), !new, "{object:?} in standalone");
    }
}

#[test]
fn issued_secrets_have_no_data() {
    let secrets: Vec<Value> = [MANAGEMENT, GUEST]
        .iter()
        .flat_map(|profile| render(profile, &[]))
        .filter(|object| object["kind"] == "Secret")
        .collect();
    assert!(secrets.len() >= 9, "{}", secrets.len());
    for secret in secrets {
        assert!(secret["metadata"]["annotations"]["transship.openshift.io/issued"].is_string(), "{secret}");
        assert!(secret["data"].as_object().unwrap().values().all(|value| value == ""), "{secret}");
    }
}

#[test]
fn management_objects_are_in_one_namespace_and_the_guest_has_no_cloud_credentials() {
    for object in render(MANAGEMENT, &[]) {
        assert_eq!(object["metadata"]["namespace"], "clusters-example", "{object}");
    }
    for object in render(GUEST, &[]) {
        let text = object.to_string();
        for word in [
            "ebs-cloud-credentials",
            "AWS_SHARED_CREDENTIALS_FILE",
            "aws-credentials",
            "bound-sa-token",
            "clusters-example\"",
        ] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

pub(crate) fn find<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let sought = (kind.to_owned(), name.to_owned());
    objects.iter().find(|object| named(object) == sought).unwrap_or_else(|| panic!("no {kind}/{name}"))
}

pub(crate) fn containers(object: &Value, list: &str) -> Vec<Value> {
    object["spec"]["template"]["spec"][list].as_array().cloned().unwrap_or_default()
}

#[test]
fn the_driver_controller_uses_a_minted_token_and_its_sidecars_use_the_guest() {
    let objects = render(MANAGEMENT, &["--set", "aws.region=eu-west-3", "--set", "infrastructure.name=mine"]);
    let controller = find(&objects, "Deployment", "aws-ebs-csi-driver-controller");
    let spec = &controller["spec"]["template"]["spec"];
    assert_eq!(spec["priorityClassName"], "hypershift-control-plane");
    assert!(spec.get("hostNetwork").is_none() && spec["automountServiceAccountToken"] == false);
    assert_eq!(controller["spec"]["replicas"], 2);
    let driver = containers(controller, "containers")
        .into_iter()
        .find(|container| container["name"] == "csi-driver")
        .unwrap();
    assert_eq!(driver["args"][0], "controller");
    assert_eq!(driver["args"][6], "--k8s-tag-cluster-id=mine");
    let text = driver.to_string();
    assert!(
        text.contains(r#"{"name":"AWS_REGION","value":"eu-west-3"}"#) && !text.contains("kubeconfig"),
        "{text}"
    );
    for container in containers(controller, "containers") {
        let name = container["name"].as_str().unwrap();
        let guest = container.to_string().contains("--kubeconfig=$(KUBECONFIG)");
        assert_eq!(guest, !matches!(name, "csi-driver" | "csi-liveness-probe"), "{name}");
        let cloud = container.to_string().contains("/var/run/secrets/aws");
        assert_eq!(cloud, name == "csi-driver", "{name}");
    }
    let minter = &containers(controller, "initContainers")[0];
    assert_eq!(minter["name"], "token-minter-bound-sa-token");
    assert_eq!(minter["args"][0], "--service-account-namespace=openshift-cluster-csi-drivers");
    assert_eq!(minter["args"][1], "--service-account-name=aws-ebs-csi-driver-controller-sa");
    let token =
        spec["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == "bound-sa-token").unwrap();
    assert_eq!(token["emptyDir"]["medium"], "Memory");
}

#[test]
fn the_driver_runs_as_node_in_the_guest() {
    let objects = render(GUEST, &[]);
    let node = find(&objects, "DaemonSet", "aws-ebs-csi-driver-node");
    assert_eq!(containers(node, "containers")[0]["args"][0], "node");
    for kind in ["CSISnapshotController/cluster", "Storage/cluster", "ClusterCSIDriver/ebs.csi.aws.com"] {
        let (kind, name) = kind.split_once('/').unwrap();
        assert_eq!(
            find(&objects, kind, name)["spec"].to_string(),
            r#"{"logLevel":"Normal","managementState":"Managed","operatorLogLevel":"Normal"}"#,
            "and no observedConfig, which the operator owns"
        );
    }
}

/// They also keep the token of their own ServiceAccount.
#[test]
fn operators_wait_for_the_guest_and_have_its_kubeconfig() {
    let objects = render(MANAGEMENT, &[]);
    for (name, waits) in [
        ("cluster-storage-operator", Some("Storage.operator.openshift.io/cluster")),
        ("csi-snapshot-controller-operator", Some("CSISnapshotController.operator.openshift.io/cluster")),
        ("aws-ebs-csi-driver-operator", None),
    ] {
        let operator = find(&objects, "Deployment", name);
        let spec = &operator["spec"]["template"]["spec"];
        assert!(spec.get("automountServiceAccountToken").is_none(), "{name} keeps its token");
        let container = containers(operator, "containers")
            .into_iter()
            .find(|container| container["name"] == name)
            .unwrap();
        assert!(
            container["args"].to_string().contains("--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig"),
            "{name}"
        );
        let init = containers(operator, "initContainers");
        let waiting = init.iter().find(|container| container["name"] == "wait-for-guest");
        assert_eq!(waiting.map(|container| container["args"][0].as_str().unwrap()), waits, "{name}");
    }
}

#[test]
fn a_single_node_cluster_has_one_replica_and_no_disruption_budget() {
    let one = render("standalone", &["--set", "guest.topology=SingleReplica"]);
    assert!(one.iter().all(|object| object["kind"] != "PodDisruptionBudget"));
    assert_eq!(find(&one, "Deployment", "aws-ebs-csi-driver-controller")["spec"]["replicas"], 1);
    let three = render("standalone", &[]);
    assert_eq!(find(&three, "Deployment", "aws-ebs-csi-driver-controller")["spec"]["replicas"], 2);
}

#[test]
fn other_platforms_have_no_objects_of_the_aws_driver() {
    for profile in [MANAGEMENT, GUEST, "standalone"] {
        for object in render(profile, &["--set", "platform.type=Azure"]) {
            let (_, name) = named(&object);
            let request = object["kind"] == "CredentialsRequest";
            assert!(request || !name.contains("ebs"), "{name}");
        }
    }
}

/// On OpenShift, the cluster-network-operator injects the bundle. Elsewhere a parameter has to set it, and a check
/// finds it missing.
#[test]
fn the_trusted_ca_bundle_is_injected_or_given_as_a_parameter() {
    let bundle = |more: &[&str]| {
        let objects = render(MANAGEMENT, more);
        find(&objects, "ConfigMap", "aws-ebs-csi-driver-trusted-ca-bundle").clone()
    };
    let label = "config.openshift.io/inject-trusted-cabundle";
    let filled = bundle(&[]);
    assert_eq!(filled["metadata"]["labels"][label], "true");
    assert!(filled.get("data").is_none());
    let given = bundle(&["--params", "profiles/sets/not-openshift.yaml", "--set", "management.caBundle=PEM"]);
    assert_eq!(given["data"]["ca-bundle.crt"], "PEM");
    assert!(given["metadata"].get("labels").is_none());
    let refused = run_in(
        &repository(),
        &[
            "render",
            "--profile",
            MANAGEMENT,
            "--set",
            "operands=ours",
            "--set",
            "management.isOpenShift=false",
        ],
        "",
    );
    assert_eq!(refused.code, 2);
    assert!(
        refused
            .stderr
            .contains("the ConfigMap `aws-ebs-csi-driver-trusted-ca-bundle` has no key `ca-bundle.crt`"),
        "{}",
        refused.stderr
    );
}

/// The hosted control plane takes precedence.
#[test]
fn the_proxy_comes_from_the_hosted_control_plane_or_the_cluster_csi_driver() {
    let variables = |more: &[&str]| -> Vec<(String, String)> {
        let objects = render(
            "standalone",
            &[&["--cluster-csi-driver", "tests/data/cluster-csi-driver.yaml"][..], more].concat(),
        );
        let controller = find(&objects, "Deployment", "aws-ebs-csi-driver-controller");
        let driver =
            containers(controller, "containers").into_iter().find(|one| one["name"] == "csi-driver").unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all =
            driver["env"].as_array().unwrap().iter().map(|one| (text(&one["name"]), text(&one["value"])));
        all.filter(|(name, _)| name.ends_with("_PROXY")).collect()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let observed = [pair("HTTP_PROXY", "http://observed.example:3128"), pair("NO_PROXY", ".cluster.local")];
    assert_eq!(variables(&[]), observed);
    let project = TestProject::new().file(
        "hosted.yaml",
        r"
        kind: HostedControlPlane
        spec: {configuration: {proxy: {httpProxy: 'http://hosted.example'}}}
        ",
    );
    let file = project.path().join("hosted.yaml").display().to_string();
    assert_eq!(variables(&["--hosted-control-plane", &file])[0], pair("HTTP_PROXY", "http://hosted.example"));
}

/// Kubernetes deletes them with it. In the guest, no object can belong to an object of the management cluster.
#[test]
fn objects_of_the_management_cluster_belong_to_their_hosted_control_plane() {
    let uid = "6a1f0b7e-0d1c-4f3a-9c55-1f2e3d4c5b6a";
    let project = TestProject::new().file(
        "hcp.yaml",
        &format!(
            "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\nmetadata: {{name: example, namespace: clusters-a, uid: {uid}}}\n"
        ),
    );
    let file = project.path().join("hcp.yaml").display().to_string();
    let given = ["--hosted-control-plane", file.as_str()];
    let owner = serde_json::json!([{
        "apiVersion": "hypershift.openshift.io/v1beta1", "kind": "HostedControlPlane", "name": "example", "uid": uid,
        "controller": true,
    }]);
    for object in render(MANAGEMENT, &given) {
        assert_eq!(object["metadata"]["ownerReferences"], owner, "{:?}", named(&object));
    }
    let without = [render(MANAGEMENT, &[]), render(GUEST, &given)].concat();
    for object in without {
        assert_eq!(object["metadata"].get("ownerReferences"), None, "{:?}", named(&object));
    }
    // The check that reports uids in manifests accepts the uid of a parameter.
    let lint = run_in(&repository(), &[&["lint"][..], &given].concat(), "");
    assert_eq!((lint.code, lint.stdout.as_str()), (0, ""));
}
