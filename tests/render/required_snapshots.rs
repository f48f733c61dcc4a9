//! The design document's required changes for snapshots.

use serde_json::{Value, json};

use crate::required::{
    HOSTED, STORAGE, account, allows, arguments, assert_beside_operator, assert_certificate,
    assert_kubeconfigs, container, guest, has, management, pod, standalone, volume_at,
};
use crate::storage::{GUEST, find, named, render};

/// The operands, with the container of each.
const OPERANDS: [(&str, &str); 2] =
    [("csi-snapshot-controller", "snapshot-controller"), ("csi-snapshot-webhook", "webhook")];

const CRDS: [&str; 3] = [
    "volumesnapshotclasses.snapshot.storage.k8s.io",
    "volumesnapshotcontents.snapshot.storage.k8s.io",
    "volumesnapshots.snapshot.storage.k8s.io",
];

/// No service-ca of the guest reaches the webhook, so its key pair is a Secret of the management cluster.
#[test]
fn the_webhook_has_its_certificate_from_a_secret() {
    let path = "/etc/snapshot-validation-webhook/certs";
    let name = "csi-snapshot-webhook";
    assert_certificate(name, "csi-snapshot-webhook-secret", name, "webhook", path);
    let arguments = arguments(&container(find(management(), "Deployment", name), "webhook"));
    assert_eq!(arguments[0], format!("--tls-cert-file={path}/tls.crt"));
    assert_eq!(arguments[1], format!("--tls-private-key-file={path}/tls.key"));
}

/// Operator, controller and webhook get into the guest, each as itself.
#[test]
fn each_part_of_the_snapshots_has_a_kubeconfig_of_its_own() {
    assert_kubeconfigs(
        STORAGE,
        &[
            ("csi-snapshot-controller-operator-kubeconfig", "csi-snapshot-controller-operator"),
            ("csi-snapshot-controller-kubeconfig", "csi-snapshot-controller"),
            ("csi-snapshot-webhook-kubeconfig", "csi-snapshot-webhook"),
        ],
    );
}

/// The operator's metrics are served with TLS in the management cluster too.
#[test]
fn the_snapshot_operator_serves_metrics_with_a_certificate() {
    let operator = "csi-snapshot-controller-operator";
    let service = "csi-snapshot-controller-operator-metrics";
    let secret = "csi-snapshot-controller-operator-serving-cert";
    assert_certificate(service, secret, operator, operator, "/var/run/secrets/serving-cert");
}

/// Somebody collects the operator's metrics wherever it runs, and trusts whoever signed its certificate there.
#[test]
fn metrics_of_the_snapshot_operator_are_collected() {
    let name = "csi-snapshot-controller-operator";
    let service_ca = json!({"caFile": "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt"});
    let root_ca = json!({"ca": {"configMap": {"name": "root-ca", "key": "ca.crt"}}});
    for (objects, namespace, trust) in
        [(standalone(), "openshift-cluster-storage-operator", service_ca), (management(), HOSTED, root_ca)]
    {
        let monitor = find(objects, "ServiceMonitor", name);
        let service = find(objects, "Service", "csi-snapshot-controller-operator-metrics");
        assert_eq!(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"]);
        let endpoint = &monitor["spec"]["endpoints"][0];
        assert_eq!(endpoint["port"], service["spec"]["ports"][0]["name"]);
        let mut expected = trust;
        expected["serverName"] = json!(format!("csi-snapshot-controller-operator-metrics.{namespace}.svc"));
        assert_eq!(endpoint["tlsConfig"], expected);
    }
}

/// The ConfigMap is of use: the operator starts with it. It is where the operator is.
#[test]
fn the_snapshot_operators_config_map_is_read() {
    let (name, config) = ("csi-snapshot-controller-operator", "csi-snapshot-controller-operator-config");
    for objects in [standalone(), management()] {
        let operator = find(objects, "Deployment", name);
        let flag = "--config=/var/run/configmaps/config/operator-config.yaml".to_owned();
        assert!(arguments(&container(operator, name)).contains(&flag));
        assert_eq!(volume_at(operator, name, "/var/run/configmaps/config")["configMap"]["name"], config);
        let text = find(objects, "ConfigMap", config)["data"]["operator-config.yaml"].as_str().unwrap();
        assert!(text.contains("kind: GenericOperatorConfig\n"), "{text}");
    }
    assert!(!has(guest(), "ConfigMap", config));
}

/// The Service is of use: it leads to the port on which the operator serves. It is where the operator is.
#[test]
fn the_snapshot_operators_service_reaches_it() {
    let (name, service) = ("csi-snapshot-controller-operator", "csi-snapshot-controller-operator-metrics");
    for objects in [standalone(), management()] {
        let operator = find(objects, "Deployment", name);
        let spec = &find(objects, "Service", service)["spec"];
        assert_eq!(spec["selector"], json!({"app": name}));
        assert_eq!(operator["spec"]["template"]["metadata"]["labels"]["app"], name);
        assert_eq!(spec["ports"][0]["targetPort"], 8443);
        assert_eq!(container(operator, name)["ports"][0]["containerPort"], 8443);
    }
    assert!(!has(guest(), "Service", service));
}

/// The CRDs are manifests, installed before the operator that used to create them, where users have snapshots.
#[test]
fn snapshot_crds_come_with_the_release() {
    let place = |kind: &str, name: &str| {
        standalone().iter().position(|object| named(object) == (kind.to_owned(), name.to_owned())).unwrap()
    };
    for crd in CRDS {
        let operator = place("Deployment", "csi-snapshot-controller-operator");
        assert!(place("CustomResourceDefinition", crd) < operator, "{crd}");
        assert!(has(guest(), "CustomResourceDefinition", crd), "{crd}");
        assert!(!has(management(), "CustomResourceDefinition", crd), "{crd}");
    }
}

/// Nothing of a CRD depends on the cluster, and `v1` is the only version.
#[test]
fn snapshot_crds_are_the_same_everywhere() {
    for crd in CRDS {
        let spec = |objects| find(objects, "CustomResourceDefinition", crd)["spec"].clone();
        assert_eq!(spec(guest()), spec(standalone()), "{crd}");
        let versions = spec(guest())["versions"].as_array().unwrap().clone();
        assert_eq!(versions.len(), 1, "{crd}");
        assert_eq!(
            (&versions[0]["name"], &versions[0]["served"], &versions[0]["storage"]),
            (&json!("v1"), &json!(true), &json!(true)),
            "{crd}"
        );
    }
}

/// The Service leads to the webhook's pods, so it is where they are, open to the guest's API server.
#[test]
fn the_webhooks_service_is_where_the_webhook_is() {
    let name = "csi-snapshot-webhook";
    assert_beside_operator(STORAGE, &[("Service", name), ("Deployment", name)]);
    assert!(!has(guest(), "Service", name) && !has(guest(), "Deployment", name));
    let service = find(management(), "Service", name);
    assert_eq!(service["metadata"]["labels"]["hypershift.openshift.io/allow-guest-webhooks"], "true");
    assert_eq!(service["spec"]["selector"], json!({"app": name}));
    let port = json!({"name": "webhook", "port": 443, "protocol": "TCP", "targetPort": "webhook"});
    assert_eq!(service["spec"]["ports"], json!([port]));
}

/// All that the operator manages in the management cluster is in its own namespace there.
#[test]
fn snapshot_objects_are_beside_their_operator() {
    assert_beside_operator(
        STORAGE,
        &[
            ("Deployment", "csi-snapshot-controller-operator"),
            ("Deployment", "csi-snapshot-controller"),
            ("Deployment", "csi-snapshot-webhook"),
            ("PodDisruptionBudget", "csi-snapshot-controller-pdb"),
            ("PodDisruptionBudget", "csi-snapshot-webhook-pdb"),
            ("Service", "csi-snapshot-webhook"),
            ("ServiceAccount", "csi-snapshot-controller"),
            ("ServiceAccount", "csi-snapshot-webhook"),
        ],
    );
}

/// A standalone cluster's API server calls the Service; a guest's calls its address, and trusts who signed its certificate.
#[test]
fn the_guest_calls_the_webhook_by_its_url() {
    let config = |objects: &[Value]| {
        let config = find(objects, "ValidatingWebhookConfiguration", "snapshot.storage.k8s.io");
        assert_eq!(config["webhooks"].as_array().unwrap().len(), 1);
        let injects = config["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"].clone();
        (config["webhooks"][0]["clientConfig"].clone(), injects)
    };
    let service = json!({"service": {
        "name": "csi-snapshot-webhook", "namespace": STORAGE, "path": "/volumesnapshot", "port": 443,
    }});
    assert_eq!(config(standalone()), (service, json!("true")));
    let url = format!("https://csi-snapshot-webhook.{HOSTED}.svc:443/volumesnapshot");
    assert_eq!(config(guest()), (json!({"url": url}), Value::Null));
    let trusting = render(GUEST, &["--set", "hcp.caBundle=Q0E="]);
    assert_eq!(config(&trusting), (json!({"url": url, "caBundle": "Q0E="}), Value::Null));
}

/// Controller and webhook have the guest's kubeconfig, and nothing that gets them into the management cluster.
#[test]
fn snapshot_operands_get_into_the_guest_alone() {
    for (name, part) in OPERANDS {
        let operand = find(management(), "Deployment", name);
        let volume = volume_at(operand, part, "/etc/guest-kubeconfig");
        assert_eq!(volume["secret"]["secretName"], format!("{name}-kubeconfig"));
        assert_eq!(pod(operand)["automountServiceAccountToken"], false, "{name}");
        let labels = operand["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
        assert!(!labels.contains_key("hypershift.openshift.io/need-management-kas-access"), "{name}");
        let bound = |object: &Value| object["subjects"].to_string().contains(&format!("\"{name}\""));
        assert!(!management().iter().any(bound), "{name} has rights in the management cluster");
    }
}

/// In the guest each operand has an account of its own, bound to a role of its own.
#[test]
fn snapshot_operands_have_their_rights_in_the_guest() {
    for (name, binding, role, resource, verb) in [
        (
            "csi-snapshot-controller",
            "openshift-csi-snapshot-controller-role",
            "openshift-csi-snapshot-controller-runner",
            "volumesnapshotcontents",
            "create",
        ),
        (
            "csi-snapshot-webhook",
            "openshift-csi-snapshot-webhook-role",
            "openshift-csi-snapshot-webhook-runner",
            "volumesnapshotclasses",
            "list",
        ),
    ] {
        assert_eq!(find(guest(), "ServiceAccount", name)["metadata"]["namespace"], STORAGE);
        let bound = find(guest(), "ClusterRoleBinding", binding);
        assert_eq!(bound["subjects"], json!([account(name, STORAGE)]));
        assert_eq!(bound["roleRef"]["name"], role);
        let role = find(guest(), "ClusterRole", role);
        assert!(allows(role, "snapshot.storage.k8s.io", resource, verb), "{name}");
    }
    let leader = find(guest(), "RoleBinding", "csi-snapshot-controller-leaderelection");
    assert_eq!(leader["subjects"], json!([account("csi-snapshot-controller", STORAGE)]));
    let leases = find(guest(), "Role", "csi-snapshot-controller-leaderelection");
    assert!(allows(leases, "coordination.k8s.io", "leases", "create"));
}

/// The operands are the same programs with the same arguments, and one more: the guest's kubeconfig.
#[test]
fn snapshot_operands_change_by_their_kubeconfig_alone() {
    for (name, part) in OPERANDS {
        let before = container(find(standalone(), "Deployment", name), part);
        let after = container(find(management(), "Deployment", name), part);
        assert_eq!(after["image"], before["image"], "{name}");
        let mut expected = arguments(&before);
        expected.push("--kubeconfig=/etc/guest-kubeconfig/kubeconfig".to_owned());
        assert_eq!(arguments(&after), expected);
        assert!(!has(guest(), "Deployment", name), "{name}");
    }
}
