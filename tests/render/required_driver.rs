//! The required changes of the design document for the AWS EBS driver and its two operators.

use serde_json::{Value, json};

use crate::required::{
    DRIVERS, HOSTED, STORAGE, account, allows, arguments, assert_beside_operator, assert_certificate,
    assert_kubeconfigs, container, guest, has, management, pod, standalone, variable, volume_at,
};
use crate::storage::{GUEST, MANAGEMENT, containers, find, named, render};
use crate::support::TestProject;

const OPERATOR: &str = "aws-ebs-csi-driver-operator";
const CONTROLLER: &str = "aws-ebs-csi-driver-controller";
const ACCOUNT: &str = "aws-ebs-csi-driver-controller-sa";
const TOKEN: &str = "/var/run/secrets/openshift/serviceaccount";
const SIDECARS: [&str; 4] = ["csi-provisioner", "csi-attacher", "csi-resizer", "csi-snapshotter"];

fn controller(objects: &[Value]) -> &Value {
    find(objects, "Deployment", CONTROLLER)
}

fn node(objects: &[Value]) -> &Value {
    find(objects, "DaemonSet", "aws-ebs-csi-driver-node")
}

fn names_of(containers: &[Value]) -> Vec<&str> {
    containers.iter().map(|container| container["name"].as_str().unwrap()).collect()
}

#[test]
fn the_storage_operator_has_rights_only_in_its_namespace() {
    let name = "cluster-storage-operator";
    let role = find(management(), "Role", name);
    assert_eq!(role["metadata"]["namespace"], HOSTED);
    for (group, resource) in [
        ("apps", "deployments"),
        ("policy", "poddisruptionbudgets"),
        ("", "serviceaccounts"),
        ("", "secrets"),
        ("", "configmaps"),
    ] {
        for verb in ["get", "list", "watch", "create", "update", "delete"] {
            assert!(allows(role, group, resource, verb), "{verb} {resource}");
        }
    }
    let binding = find(management(), "RoleBinding", name);
    assert_eq!(binding["roleRef"]["name"], name);
    assert_eq!(binding["subjects"], json!([account(name, HOSTED)]));
    assert!(management().iter().all(|object| !named(object).0.starts_with("ClusterRole")));
}

#[test]
fn each_part_of_the_driver_has_its_own_kubeconfig() {
    assert_kubeconfigs(STORAGE, &[("cluster-storage-operator-kubeconfig", "cluster-storage-operator")]);
    assert_kubeconfigs(
        DRIVERS,
        &[
            ("aws-ebs-csi-driver-operator-kubeconfig", OPERATOR),
            ("aws-ebs-csi-driver-controller-kubeconfig", ACCOUNT),
        ],
    );
}

/// It installs the operators of all drivers. No other identity is an admin.
#[test]
fn one_operator_is_an_admin_of_the_guest() {
    let admins: Vec<&Value> = guest()
        .iter()
        .filter(|object| object["roleRef"]["name"] == "cluster-admin")
        .map(|binding| &binding["subjects"])
        .collect();
    assert_eq!(admins, [&json!([account("cluster-storage-operator", STORAGE)])]);
}

#[test]
fn rights_in_the_guest_are_those_of_a_standalone_cluster() {
    for (kind, name) in [
        ("ClusterRoleBinding", "cluster-storage-operator-role"),
        ("ClusterRole", "aws-ebs-csi-driver-operator-clusterrole"),
        ("ClusterRoleBinding", "aws-ebs-csi-driver-operator-clusterrolebinding"),
        ("Role", "aws-ebs-csi-driver-operator-aws-config-role"),
        ("RoleBinding", "aws-ebs-csi-driver-operator-aws-config-clusterrolebinding"),
        ("RoleBinding", "aws-ebs-csi-driver-operator-rolebinding"),
        ("ClusterRole", "openshift-csi-main-provisioner-role"),
        ("ClusterRoleBinding", "ebs-csi-main-provisioner-binding"),
    ] {
        let rights = |objects| {
            let object: &Value = find(objects, kind, name);
            ["rules", "roleRef", "subjects"].map(|field| object[field].clone())
        };
        assert_eq!(rights(guest()), rights(standalone()), "{kind}/{name}");
        assert_ne!(rights(guest()), [Value::Null, Value::Null, Value::Null], "{kind}/{name}");
    }
    let binding = find(guest(), "ClusterRoleBinding", "aws-ebs-csi-driver-operator-clusterrolebinding");
    assert_eq!(binding["subjects"], json!([account(OPERATOR, DRIVERS)]));
}

/// The Secret has the name that a standalone cluster uses. There is no `CredentialsRequest` for it, and it is not in the
/// guest.
#[test]
fn operator_and_driver_share_the_cloud_credentials() {
    let name = "ebs-cloud-credentials";
    let secret = find(management(), "Secret", name);
    assert_eq!(secret["data"], json!({"credentials": ""}));
    let issued = &secret["metadata"]["annotations"]["transship.openshift.io/issued"];
    let expected = r#"{"credentials":{"aws":{"region":"us-east-1","tokenFile":"/var/run/secrets/openshift/serviceaccount/token"}}}"#;
    assert_eq!(issued, expected, "the role has no default");
    for (workload, part, path) in
        [(OPERATOR, OPERATOR, "/etc/cloud-credentials"), (CONTROLLER, "csi-driver", "/var/run/secrets/aws")]
    {
        let workload = find(management(), "Deployment", workload);
        assert_eq!(volume_at(workload, part, path)["secret"]["secretName"], name);
        let file = variable(&container(workload, part), "AWS_SHARED_CREDENTIALS_FILE");
        assert_eq!(file, Some(json!(format!("{path}/credentials"))));
    }
    let request = find(standalone(), "CredentialsRequest", OPERATOR);
    assert_eq!(request["spec"]["secretRef"], json!({"name": name, "namespace": DRIVERS}));
    assert!(request["spec"]["serviceAccountNames"].as_array().unwrap().contains(&json!(ACCOUNT)));
    let requests = |objects: &[Value]| objects.iter().any(|object| object["kind"] == "CredentialsRequest");
    assert!(!requests(management()) && !requests(guest()));
    assert!(!json!(guest()).to_string().contains(name));
}

/// Prometheus scrapes them in the management cluster too.
#[test]
fn metrics_of_the_driver_are_served_with_certificates() {
    for name in ["cluster-storage-operator", OPERATOR] {
        let (service, secret) = (format!("{name}-metrics"), format!("{name}-serving-cert"));
        assert_certificate(&service, &secret, name, name, "/var/run/secrets/serving-cert");
        assert_eq!(find(management(), "Service", &service)["spec"]["ports"][0]["targetPort"], 8443);
    }
    let service = "aws-ebs-csi-driver-controller-metrics";
    let ports = ["driver-m", "provisioner-m", "attacher-m", "resizer-m", "snapshotter-m"];
    for port in ports {
        let proxy = port.replace("-m", "-kube-rbac-proxy");
        let secret = "aws-ebs-csi-driver-controller-metrics-serving-cert";
        assert_certificate(service, secret, CONTROLLER, &proxy, "/etc/tls/private");
        assert_eq!(container(controller(management()), &proxy)["ports"][0]["name"], port);
    }
    let ports_in = |list: &Value, field: &str| -> Vec<Value> {
        list.as_array().unwrap().iter().map(|port| port[field].clone()).collect()
    };
    assert_eq!(ports_in(&find(management(), "Service", service)["spec"]["ports"], "targetPort"), ports);
    let monitor = find(management(), "ServiceMonitor", "aws-ebs-csi-driver-controller-monitor");
    assert_eq!(ports_in(&monitor["spec"]["endpoints"], "port"), ports);
}

/// The operator of the driver writes it into the `ClusterCSIDriver`.
#[test]
fn the_observed_config_of_the_driver_is_not_rendered() {
    let proxied = render(GUEST, &["--set", "guest.proxy.httpsProxy=http://proxy.example:3128"]);
    for objects in [guest(), &proxied] {
        let spec = find(objects, "ClusterCSIDriver", "ebs.csi.aws.com")["spec"].as_object().unwrap();
        assert_eq!(spec.keys().collect::<Vec<_>>(), ["logLevel", "managementState", "operatorLogLevel"]);
    }
    let crd = find(guest(), "CustomResourceDefinition", "clustercsidrivers.operator.openshift.io");
    let fields = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
    assert!(fields["observedConfig"].is_object(), "{fields}");
}

#[test]
fn driver_objects_are_in_the_namespace_of_their_operator() {
    assert_beside_operator(
        STORAGE,
        &[
            ("ConfigMap", "cluster-storage-operator-config"),
            ("Service", "cluster-storage-operator-metrics"),
            ("ServiceMonitor", "cluster-storage-operator"),
        ],
    );
    assert_beside_operator(
        DRIVERS,
        &[
            ("Deployment", OPERATOR),
            ("ConfigMap", "aws-ebs-csi-driver-operator-config"),
            ("Service", "aws-ebs-csi-driver-operator-metrics"),
            ("ServiceAccount", OPERATOR),
            ("Deployment", CONTROLLER),
            ("ConfigMap", "aws-ebs-csi-driver-trusted-ca-bundle"),
            ("PodDisruptionBudget", "aws-ebs-csi-driver-controller-pdb"),
            ("Service", "aws-ebs-csi-driver-controller-metrics"),
            ("ServiceAccount", ACCOUNT),
            ("ServiceMonitor", "aws-ebs-csi-driver-controller-monitor"),
        ],
    );
}

/// Asserts that a token minter shares a volume with a container, and keeps a token of the driver's ServiceAccount in
/// it.
fn assert_minter(workload: &str, part: &str, volume: &str) {
    let workload = find(management(), "Deployment", workload);
    let minter = container(workload, &format!("token-minter-{volume}"));
    assert_eq!(minter["command"], json!(["/usr/bin/control-plane-operator", "token-minter"]));
    assert_eq!(minter["restartPolicy"], "Always");
    let expected = [
        format!("--service-account-namespace={DRIVERS}"),
        format!("--service-account-name={ACCOUNT}"),
        "--token-audience=openshift".to_owned(),
        format!("--token-file={TOKEN}/token"),
        "--kubeconfig=/etc/guest-kubeconfig/kubeconfig".to_owned(),
    ];
    assert_eq!(arguments(&minter), expected);
    let shared = json!({"name": volume, "emptyDir": {"medium": "Memory"}});
    assert_eq!(volume_at(workload, part, TOKEN), &shared);
    assert_eq!(volume_at(workload, minter["name"].as_str().unwrap(), TOKEN), &shared);
    assert_eq!(find(guest(), "ServiceAccount", ACCOUNT)["metadata"]["namespace"], DRIVERS);
    let name = format!("{}-token-minter", workload["metadata"]["name"].as_str().unwrap());
    let rule = |resource: &str, verb: &str| json!({"apiGroups": [""], "resources": [resource], "resourceNames": [ACCOUNT], "verbs": [verb]});
    let right = find(guest(), "Role", &name);
    assert_eq!(
        (&right["metadata"]["namespace"], &right["rules"]),
        (&json!(DRIVERS), &json!([rule("serviceaccounts", "get"), rule("serviceaccounts/token", "create")]))
    );
    let account = pod(workload)["serviceAccountName"].clone();
    let binding = find(guest(), "RoleBinding", &name);
    assert_eq!(
        (&binding["roleRef"]["name"], &binding["subjects"]),
        (&json!(name), &json!([{"kind": "ServiceAccount", "name": account, "namespace": DRIVERS}]))
    );
}

/// The cloud accepts tokens that the guest issues.
#[test]
fn the_driver_operator_has_a_token_minter() {
    assert_minter(OPERATOR, OPERATOR, "web-identity-token");
}

/// In a standalone cluster, the kubelet mounts the token.
#[test]
fn the_driver_controller_has_a_token_minter() {
    assert_minter(CONTROLLER, "csi-driver", "bound-sa-token");
    let projected = volume_at(controller(standalone()), "csi-driver", TOKEN);
    let source = json!({"serviceAccountToken": {"audience": "openshift", "path": "token"}});
    assert_eq!(projected["projected"]["sources"], json!([source]));
}

#[test]
fn the_controller_has_no_node_containers_or_host_access() {
    for objects in [standalone(), management()] {
        let controller = controller(objects);
        assert!(pod(controller).get("hostNetwork").is_none());
        let volumes = pod(controller)["volumes"].as_array().unwrap();
        assert!(volumes.iter().all(|volume| volume.get("hostPath").is_none()));
        let parts = containers(controller, "containers");
        let expected = [
            "csi-driver",
            "driver-kube-rbac-proxy",
            "csi-provisioner",
            "provisioner-kube-rbac-proxy",
            "csi-attacher",
            "attacher-kube-rbac-proxy",
            "csi-resizer",
            "resizer-kube-rbac-proxy",
            "csi-snapshotter",
            "snapshotter-kube-rbac-proxy",
            "csi-liveness-probe",
        ];
        assert_eq!(names_of(&parts), expected);
        assert!(parts.iter().all(|part| part["securityContext"].get("privileged").is_none()));
    }
    assert_eq!(pod(node(guest()))["hostNetwork"], true);
}

#[test]
fn the_first_argument_of_the_driver_is_controller_or_node() {
    for (workload, part) in [
        (controller(standalone()), "controller"),
        (controller(management()), "controller"),
        (node(standalone()), "node"),
        (node(guest()), "node"),
    ] {
        assert_eq!(arguments(&container(workload, "csi-driver"))[0], part);
    }
}

/// It asks neither the metadata service nor a node for it.
#[test]
fn the_controller_gets_the_region_of_the_guest_as_a_variable() {
    let elsewhere = render(MANAGEMENT, &["--set", "aws.region=eu-west-3"]);
    for (objects, region) in
        [(management(), "us-east-1"), (&elsewhere, "eu-west-3"), (standalone(), "us-east-1")]
    {
        let driver = container(controller(objects), "csi-driver");
        assert_eq!(variable(&driver, "AWS_REGION"), Some(json!(region)));
        assert_eq!(variable(&driver, "CSI_NODE_NAME"), None);
    }
    assert!(variable(&container(node(guest()), "csi-driver"), "CSI_NODE_NAME").is_some());
}

/// They have the driver, its registrar and its liveness probe.
#[test]
fn node_pods_have_no_controller_containers_or_cloud_credentials() {
    for objects in [standalone(), guest()] {
        let expected = ["csi-driver", "csi-node-driver-registrar", "csi-liveness-probe"];
        assert_eq!(names_of(&containers(node(objects), "containers")), expected);
        assert!(containers(node(objects), "initContainers").is_empty());
        let volumes = pod(node(objects))["volumes"].as_array().unwrap();
        for volume in volumes {
            assert!(volume.get("secret").is_none() && volume.get("projected").is_none(), "{volume}");
        }
        let driver = container(node(objects), "csi-driver");
        assert_eq!(variable(&driver, "AWS_SHARED_CREDENTIALS_FILE"), None);
        assert_eq!(variable(&driver, "AWS_CONFIG_FILE"), None);
    }
}

/// The node pods run in the guest.
#[test]
fn the_controller_runs_in_the_management_cluster() {
    assert_beside_operator(DRIVERS, &[("Deployment", CONTROLLER)]);
    assert!(!has(guest(), "Deployment", CONTROLLER));
    assert_eq!(node(guest())["metadata"]["namespace"], DRIVERS);
    assert!(!has(management(), "DaemonSet", "aws-ebs-csi-driver-node"));
}

/// The driver itself only uses the API of the cloud.
#[test]
fn sidecars_use_the_api_of_the_guest() {
    let controller = controller(management());
    assert_eq!(pod(controller)["automountServiceAccountToken"], false);
    for part in containers(controller, "containers") {
        let name = part["name"].as_str().unwrap();
        if ["csi-driver", "csi-liveness-probe"].contains(&name) {
            assert!(!part.to_string().contains("kubeconfig"), "{name}");
            continue;
        }
        assert!(arguments(&part).contains(&"--kubeconfig=$(KUBECONFIG)".to_owned()), "{name}");
        assert_eq!(variable(&part, "KUBECONFIG"), Some(json!("/etc/guest-kubeconfig/kubeconfig")));
        let volume = volume_at(controller, name, "/etc/guest-kubeconfig");
        assert_eq!(volume["secret"]["secretName"], "aws-ebs-csi-driver-controller-kubeconfig");
    }
    assert!(!self::controller(standalone()).to_string().contains("kubeconfig"));
}

/// All containers of the driver have the same image.
#[test]
fn the_driver_is_the_same_in_every_cluster() {
    let image = |workload| container(workload, "csi-driver")["image"].clone();
    let expected = image(controller(standalone()));
    assert!(expected.as_str().unwrap().contains("@sha256:"), "{expected}");
    for workload in [controller(management()), node(standalone()), node(guest())] {
        assert_eq!(image(workload), expected);
    }
}

/// Outside their namespace they may only use the privileged security context constraint.
#[test]
fn node_pods_have_only_their_own_token_and_few_rights() {
    let name = "aws-ebs-csi-driver-node-sa";
    assert_eq!(pod(node(guest()))["serviceAccountName"], name);
    assert!(pod(node(guest())).get("automountServiceAccountToken").is_none());
    assert!(!node(guest()).to_string().contains("kubeconfig"));
    let bound = |object: &&Value| object["subjects"].to_string().contains(name);
    let bindings: Vec<_> = guest().iter().filter(bound).map(named).collect();
    assert_eq!(bindings, [("ClusterRoleBinding".to_owned(), "ebs-node-privileged-binding".to_owned())]);
    assert_eq!(
        find(guest(), "ClusterRole", "ebs-privileged-role")["rules"],
        json!([{
            "apiGroups": ["security.openshift.io"],
            "resources": ["securitycontextconstraints"],
            "resourceNames": ["privileged"],
            "verbs": ["use"],
        }])
    );
}

/// The MiB of memory that each container of the controller requests: in a standalone cluster, as in a release, and in the
/// management cluster.
const MEMORY: [(&str, Option<u32>, u32); 12] = [
    ("csi-driver", Some(50), 50),
    ("driver-kube-rbac-proxy", Some(20), 15),
    ("csi-provisioner", Some(50), 30),
    ("provisioner-kube-rbac-proxy", Some(20), 15),
    ("csi-attacher", Some(50), 30),
    ("attacher-kube-rbac-proxy", Some(20), 15),
    ("csi-resizer", Some(50), 30),
    ("resizer-kube-rbac-proxy", Some(20), 15),
    ("csi-snapshotter", Some(50), 20),
    ("snapshotter-kube-rbac-proxy", Some(20), 15),
    ("csi-liveness-probe", Some(20), 20),
    ("token-minter-bound-sa-token", None, 30),
];

/// Returns the MiB of memory that each container and init container of the controller requests.
fn requested_memory(objects: &[Value]) -> Vec<(String, u32)> {
    let workload = controller(objects);
    let parts = [containers(workload, "containers"), containers(workload, "initContainers")].concat();
    let requested = |part: &Value| {
        let memory = part["resources"]["requests"]["memory"].as_str()?;
        Some((part["name"].as_str()?.to_owned(), memory.strip_suffix("Mi")?.parse().ok()?))
    };
    parts.iter().map(|part| requested(part).unwrap_or_else(|| panic!("{part}"))).collect()
}

#[test]
fn each_container_of_the_controller_requests_memory() {
    let in_standalone = MEMORY.iter().filter_map(|(name, memory, _)| Some(((*name).to_owned(), (*memory)?)));
    assert_eq!(requested_memory(standalone()), in_standalone.collect::<Vec<_>>());
    let in_management = MEMORY.map(|(name, _, memory)| (name.to_owned(), memory));
    assert_eq!(requested_memory(management()), in_management);
}

/// Although it also has the minter there. Annotations of the hosted control plane still override each request.
#[test]
fn the_controller_requests_less_memory_in_the_management_cluster() {
    let sum = |objects| requested_memory(objects).iter().map(|(_, memory)| memory).sum::<u32>();
    assert_eq!((sum(standalone()), sum(management())), (370, 285));
    let annotation = |name: &str| {
        format!("    resource-request-override.hypershift.openshift.io/{CONTROLLER}.{name}: memory=77Mi\n")
    };
    let project = TestProject::new().file(
        "hosted.yaml",
        &format!(
            "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\nmetadata:\n  name: example\n  \
             namespace: {HOSTED}\n  annotations:\n{}",
            MEMORY.map(|(name, ..)| annotation(name)).concat()
        ),
    );
    let file = project.path().join("hosted.yaml").display().to_string();
    for (name, memory) in requested_memory(&render(MANAGEMENT, &["--hosted-control-plane", &file])) {
        assert_eq!(memory, 77, "{name}");
    }
}

/// Sidecars of several guests share no Lease in the management cluster.
#[test]
fn sidecars_elect_their_leader_in_the_guest() {
    for name in SIDECARS {
        let arguments = arguments(&container(controller(management()), name));
        assert!(arguments.contains(&format!("--leader-election-namespace={DRIVERS}")), "{name}");
        assert!(arguments.contains(&"--kubeconfig=$(KUBECONFIG)".to_owned()), "{name}");
    }
    let name = "aws-ebs-csi-driver-lease-leader-election";
    let role = find(guest(), "Role", name);
    assert_eq!(role["metadata"]["namespace"], DRIVERS);
    for verb in ["get", "create", "update"] {
        assert!(allows(role, "coordination.k8s.io", "leases", verb), "{verb}");
    }
    assert_eq!(find(guest(), "RoleBinding", name)["subjects"], json!([account(ACCOUNT, DRIVERS)]));
    assert!(has(guest(), "Namespace", DRIVERS));
    assert!(!management().iter().any(|object| object["subjects"].to_string().contains(ACCOUNT)));
}
