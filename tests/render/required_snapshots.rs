//! The required changes of the design document for snapshots.

use serde_json::{Value, json};

use crate::operands::render_once;
use crate::required::{
    HOSTED, STORAGE, account, allows, arguments, assert_beside_operator, assert_certificate,
    assert_kubeconfigs, container, guest, has, management, pod, standalone, volume_at,
};
use crate::storage::{find, named};

/// The operands, with their containers.
const OPERANDS: [(&str, &str); 2] =
    [("csi-snapshot-controller", "snapshot-controller"), ("csi-snapshot-webhook", "webhook")];

const CRDS: [&str; 3] = [
    "volumesnapshotclasses.snapshot.storage.k8s.io",
    "volumesnapshotcontents.snapshot.storage.k8s.io",
    "volumesnapshots.snapshot.storage.k8s.io",
];

/// The service-ca operator of the guest cannot issue it.
#[test]
fn the_webhook_gets_its_certificate_from_a_secret() {
    let path = "/etc/snapshot-validation-webhook/certs";
    let name = "csi-snapshot-webhook";
    assert_certificate(name, "csi-snapshot-webhook-secret", name, "webhook", path);
    let arguments = arguments(&container(find(management(), "Deployment", name), "webhook"));
    assert_eq!(arguments[0], format!("--tls-cert-file={path}/tls.crt"));
    assert_eq!(arguments[1], format!("--tls-private-key-file={path}/tls.key"));
}

#[test]
fn each_part_of_the_snapshots_has_its_own_kubeconfig() {
    assert_kubeconfigs(
        STORAGE,
        &[
            ("csi-snapshot-controller-operator-kubeconfig", "csi-snapshot-controller-operator"),
            ("csi-snapshot-controller-kubeconfig", "csi-snapshot-controller"),
            ("csi-snapshot-webhook-kubeconfig", "csi-snapshot-webhook"),
        ],
    );
}

/// The controller serves them on the loopback address of its pod, and a proxy before it has the certificate.
#[test]
fn snapshot_operator_and_controller_serve_metrics_with_certificates() {
    let operator = "csi-snapshot-controller-operator";
    let service = "csi-snapshot-controller-operator-metrics";
    let secret = "csi-snapshot-controller-operator-serving-cert";
    assert_certificate(service, secret, operator, operator, "/var/run/secrets/serving-cert");

    let (controller, proxy) = ("csi-snapshot-controller", "kube-rbac-proxy");
    let service = "csi-snapshot-controller-metrics";
    let secret = "csi-snapshot-controller-metrics-serving-cert";
    assert_certificate(service, secret, controller, proxy, "/etc/tls/private");
    for objects in [standalone(), management()] {
        let deployment = find(objects, "Deployment", controller);
        let flag = "--http-endpoint=localhost:8080".to_owned();
        assert!(arguments(&container(deployment, "snapshot-controller")).contains(&flag));
        let arguments = arguments(&container(deployment, proxy));
        for flag in [
            "--secure-listen-address=0.0.0.0:8443",
            "--upstream=http://127.0.0.1:8080/",
            "--tls-cert-file=/etc/tls/private/tls.crt",
            "--tls-private-key-file=/etc/tls/private/tls.key",
        ] {
            assert!(arguments.contains(&flag.to_owned()), "{flag}");
        }
        let spec = &find(objects, "Service", service)["spec"];
        assert_eq!(spec["selector"], json!({"app": controller}));
        assert_eq!(deployment["spec"]["template"]["metadata"]["labels"]["app"], controller);
        let port = json!({"name": "metrics", "port": 8443, "protocol": "TCP", "targetPort": "metrics"});
        assert_eq!(spec["ports"], json!([port]));
        let port = json!({"name": "metrics", "containerPort": 8443, "protocol": "TCP"});
        assert_eq!(container(deployment, proxy)["ports"], json!([port]));
    }
    assert!(!has(guest(), "Service", service));
}

/// Asserts that in each cluster a `ServiceMonitor` selects a Service, and trusts the signer of its certificate. In the
/// management cluster, Prometheus has this certificate of its own.
fn assert_collected(monitor: &str, service: &str, certificate: &Value) {
    let service_ca = json!({"caFile": "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt"});
    let mut root_ca = json!({"ca": {"configMap": {"name": "serving-ca-bundle", "key": "ca-bundle.crt"}}});
    root_ca.as_object_mut().unwrap().extend(certificate.as_object().unwrap().clone());
    for (objects, namespace, trust) in [(standalone(), STORAGE, service_ca), (management(), HOSTED, root_ca)]
    {
        let monitor = find(objects, "ServiceMonitor", monitor);
        assert_eq!(monitor["metadata"]["namespace"], namespace);
        let found = find(objects, "Service", service);
        assert_eq!(monitor["spec"]["selector"]["matchLabels"], found["metadata"]["labels"]);
        let endpoints = monitor["spec"]["endpoints"].as_array().unwrap();
        assert_eq!(endpoints.len(), 1);
        assert_eq!(endpoints[0]["port"], found["spec"]["ports"][0]["name"]);
        assert_eq!((&endpoints[0]["scheme"], &endpoints[0]["path"]), (&json!("https"), &json!("/metrics")));
        assert_eq!(endpoints[0].get("bearerTokenFile").is_some(), namespace == STORAGE);
        let mut expected = trust;
        expected["serverName"] = json!(format!("{service}.{namespace}.svc"));
        assert_eq!(endpoints[0]["tlsConfig"], expected);
    }
    assert!(!has(guest(), "ServiceMonitor", monitor), "{monitor}");
}

/// Prometheus may find the Service of the controller whoever installs it, and the proxy may ask who a client is.
#[test]
fn metrics_of_snapshot_operator_and_controller_are_collected() {
    let folder = "/etc/prometheus/secrets/metrics-client-certs";
    assert_collected(
        "csi-snapshot-controller-operator",
        "csi-snapshot-controller-operator-metrics",
        &json!({"certFile": format!("{folder}/tls.crt"), "keyFile": format!("{folder}/tls.key")}),
    );
    assert_collected(
        "csi-snapshot-controller-monitor",
        "csi-snapshot-controller-metrics",
        &json!({
            "cert": {"secret": {"name": "metrics-client", "key": "tls.crt"}},
            "keySecret": {"name": "metrics-client", "key": "tls.key"},
        }),
    );
    let reader = json!([account("prometheus-k8s", "openshift-monitoring")]);
    for operands in ["operator", "driver-operators", "ours"] {
        let set = format!("operands={operands}");
        let objects = render_once("standalone", &["--set", &set]);
        let runs = has(&objects, "Deployment", "csi-snapshot-controller");
        for (kind, name) in [
            ("Service", "csi-snapshot-controller-metrics"),
            ("ServiceMonitor", "csi-snapshot-controller-monitor"),
            ("Role", "csi-snapshot-controller-prometheus"),
        ] {
            assert_eq!(has(&objects, kind, name), runs, "{kind}/{name} with {operands}");
        }
        let name = if runs { "csi-snapshot-controller-prometheus" } else { "prometheus" };
        let (role, binding) = (find(&objects, "Role", name), find(&objects, "RoleBinding", name));
        assert_eq!((&binding["subjects"], &binding["roleRef"]["name"]), (&reader, &json!(name)));
        assert_eq!(role["metadata"]["namespace"], STORAGE);
        assert_eq!(binding["metadata"]["namespace"], STORAGE);
        for resource in ["services", "endpoints", "pods"] {
            assert!(allows(role, "", resource, "watch"), "{resource} with {operands}");
        }
    }
    for objects in [standalone(), guest()] {
        let binding = find(objects, "ClusterRoleBinding", "csi-snapshot-controller-kube-rbac-proxy-binding");
        assert_eq!(binding["subjects"], json!([account("csi-snapshot-controller", STORAGE)]));
        let role = find(objects, "ClusterRole", binding["roleRef"]["name"].as_str().unwrap());
        assert!(allows(role, "authentication.k8s.io", "tokenreviews", "create"));
        assert!(allows(role, "authorization.k8s.io", "subjectaccessreviews", "create"));
    }
}

/// The ConfigMap is in the cluster of the operator.
#[test]
fn the_snapshot_operator_reads_its_config_map() {
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

/// The Service is in the cluster of the operator, and has the port on which the operator listens.
#[test]
fn the_service_of_the_snapshot_operator_selects_it() {
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

/// The CRDs are in the cluster of the users.
#[test]
fn snapshot_crds_are_applied_before_their_controller() {
    let objects = render_once("standalone", &["--set", "operands=ours"]);
    let place = |kind: &str, name: &str| {
        objects.iter().position(|object| named(object) == (kind.to_owned(), name.to_owned())).unwrap()
    };
    for crd in CRDS {
        let controller = place("Deployment", "csi-snapshot-controller");
        assert!(place("CustomResourceDefinition", crd) < controller, "{crd}");
        assert!(has(guest(), "CustomResourceDefinition", crd), "{crd}");
        assert!(!has(management(), "CustomResourceDefinition", crd), "{crd}");
    }
}

/// `v1` is the only version that is served.
#[test]
fn snapshot_crds_are_the_same_everywhere() {
    for crd in CRDS {
        let spec = |objects| find(objects, "CustomResourceDefinition", crd)["spec"].clone();
        assert_eq!(spec(guest()), spec(standalone()), "{crd}");
        let versions = spec(guest())["versions"].as_array().unwrap().clone();
        let described: Vec<_> = versions
            .iter()
            .map(|version| (&version["name"], version["served"] == true, version["storage"] == true))
            .collect();
        assert_eq!(described, [(&json!("v1"), true, true), (&json!("v1beta1"), false, false)], "{crd}");
    }
}

/// The API server of the guest can reach it.
#[test]
fn the_service_of_the_webhook_is_in_its_cluster() {
    let name = "csi-snapshot-webhook";
    assert_beside_operator(STORAGE, &[("Service", name), ("Deployment", name)]);
    assert!(!has(guest(), "Service", name) && !has(guest(), "Deployment", name));
    let service = find(management(), "Service", name);
    assert_eq!(service["metadata"]["labels"]["hypershift.openshift.io/allow-guest-webhooks"], "true");
    assert_eq!(service["spec"]["selector"], json!({"app": name}));
    let port = json!({"name": "webhook", "port": 443, "protocol": "TCP", "targetPort": "webhook"});
    assert_eq!(service["spec"]["ports"], json!([port]));
}

#[test]
fn snapshot_objects_are_in_the_namespace_of_their_operator() {
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

/// In a standalone cluster, the API server calls the Service.
#[test]
fn the_guest_calls_the_webhook_by_its_url() {
    let config = |objects: &[Value]| {
        let config = find(objects, "ValidatingWebhookConfiguration", "snapshot.storage.k8s.io");
        assert_eq!(config["webhooks"].as_array().unwrap().len(), 1);
        let annotations = &config["metadata"]["annotations"];
        let injects = annotations["service.beta.openshift.io/inject-cabundle"].clone();
        let signer = annotations["transship.openshift.io/ca-bundle"].clone();
        (config["webhooks"][0]["clientConfig"].clone(), injects, signer)
    };
    let service = json!({"service": {
        "name": "csi-snapshot-webhook", "namespace": STORAGE, "path": "/volumesnapshot", "port": 443,
    }});
    assert_eq!(config(standalone()), (service, json!("true"), Value::Null));
    let url = format!("https://csi-snapshot-webhook.{HOSTED}.svc:443/volumesnapshot");
    assert_eq!(config(guest()), (json!({"url": url}), Value::Null, json!("root-ca")));
}

#[test]
fn snapshot_operands_have_access_to_the_guest_only() {
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

#[test]
fn snapshot_operands_have_their_own_rights_in_the_guest() {
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

#[test]
fn snapshot_operands_differ_only_in_their_kubeconfig() {
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
