//! A Prometheus of the management cluster scrapes the bundled payload.

use serde_json::{Value, json};

use crate::required::{arguments, guest, management, pod, standalone, variable, volume_at};
use crate::storage::{MANAGEMENT, containers, find, named, render};

const CLUSTER_ID: &str = "0a1b2c3d-0000-4111-8222-333344445555";

/// The `ServiceMonitors` of operands. The others are those of operators.
const OPERANDS: [&str; 2] = ["csi-snapshot-controller-monitor", "aws-ebs-csi-driver-controller-monitor"];

fn monitors(objects: &[Value]) -> Vec<&Value> {
    objects.iter().filter(|object| object["kind"] == "ServiceMonitor").collect()
}

fn endpoints(monitor: &Value) -> &Vec<Value> {
    monitor["spec"]["endpoints"].as_array().unwrap()
}

/// The hosted control plane signed the serving certificates, and rejects tokens of the management cluster.
#[test]
fn the_management_cluster_scrapes_with_client_certificates() {
    let names: Vec<String> = monitors(management()).into_iter().map(|monitor| named(monitor).1).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for monitor in monitors(management()) {
        for endpoint in endpoints(monitor) {
            let tls = &endpoint["tlsConfig"];
            assert_eq!(endpoint.get("bearerTokenFile"), None, "{endpoint}");
            assert_eq!(tls.get("caFile"), None, "{endpoint}");
            assert_eq!(
                tls["ca"],
                json!({"configMap": {"name": "serving-ca-bundle", "key": "ca-bundle.crt"}})
            );
            if OPERANDS.contains(&named(monitor).1.as_str()) {
                assert_eq!(tls["cert"], json!({"secret": {"name": "metrics-client", "key": "tls.crt"}}));
                assert_eq!(tls["keySecret"], json!({"name": "metrics-client", "key": "tls.key"}));
            } else {
                // Operators know the authorities of the cluster that they run in.
                let folder = "/etc/prometheus/secrets/metrics-client-certs";
                assert_eq!(tls["certFile"], format!("{folder}/tls.crt"));
                assert_eq!(tls["keyFile"], format!("{folder}/tls.key"));
            }
        }
    }
    for monitor in monitors(standalone()) {
        for endpoint in endpoints(monitor) {
            assert!(endpoint["bearerTokenFile"].is_string(), "{endpoint}");
        }
    }
}

#[test]
fn the_proxies_of_operands_verify_client_certificates() {
    let mut proxies = Vec::new();
    for workload in ["csi-snapshot-controller", "aws-ebs-csi-driver-controller"] {
        let deployment = find(management(), "Deployment", workload);
        for proxy in containers(deployment, "containers") {
            let name = proxy["name"].as_str().unwrap();
            if !name.ends_with("kube-rbac-proxy") {
                continue;
            }
            let arguments = arguments(&proxy);
            assert!(arguments.contains(&"--client-ca-file=/etc/tls/client/ca.crt".to_owned()), "{name}");
            let volume = volume_at(deployment, name, "/etc/tls/client");
            assert_eq!(volume["configMap"]["name"], "client-ca");
            assert_eq!(volume["configMap"]["items"], json!([{"key": "ca.crt", "path": "ca.crt"}]));
            // The guest says what the certificate's user may read.
            let file = "/etc/guest-kubeconfig/kubeconfig";
            let variable = variable(&proxy, "KUBECONFIG");
            let expected = if variable == Some(json!(file)) { "$(KUBECONFIG)" } else { file };
            assert!(arguments.contains(&format!("--kubeconfig={expected}")), "{name}");
            proxies.push(name.to_owned());
        }
        assert!(!pod(find(standalone(), "Deployment", workload)).to_string().contains("client-ca"));
    }
    let of_driver = ["driver", "provisioner", "attacher", "resizer", "snapshotter"];
    let mut expected = vec!["kube-rbac-proxy".to_owned()];
    expected.extend(of_driver.map(|part| format!("{part}-kube-rbac-proxy")));
    assert_eq!(proxies, expected);
}

/// A Prometheus operator is not needed, and the proxies serve the metrics all the same.
#[test]
fn without_a_prometheus_there_are_no_monitors() {
    let silent = render(MANAGEMENT, &["--set", "management.monitoring=false"]);
    assert_eq!(monitors(&silent), [&Value::Null; 0]);
    for name in ["csi-snapshot-controller", "aws-ebs-csi-driver-controller"] {
        assert_eq!(find(&silent, "Deployment", name), find(management(), "Deployment", name));
        let service = format!("{name}-metrics");
        assert_eq!(find(&silent, "Service", &service), find(management(), "Service", &service));
    }
}

#[test]
fn metrics_have_the_id_of_the_cluster() {
    let objects = render(MANAGEMENT, &["--set", &format!("hcp.clusterID={CLUSTER_ID}")]);
    let label = json!([{"action": "replace", "targetLabel": "_id", "replacement": CLUSTER_ID}]);
    assert_eq!(monitors(&objects).len(), 4);
    for endpoint in monitors(&objects).into_iter().flat_map(endpoints) {
        assert_eq!((&endpoint["relabelings"], &endpoint["metricRelabelings"]), (&label, &label));
    }
    for endpoint in monitors(management()).into_iter().flat_map(endpoints) {
        assert_eq!(endpoint.get("relabelings"), None, "the ID is not known");
    }
}

/// Nobody else has a certificate that they accept.
#[test]
fn only_the_monitoring_of_openshift_scrapes_operators() {
    let elsewhere =
        render(MANAGEMENT, &["--set", "management.isOpenShift=false", "--set", "management.caBundle=PEM"]);
    let names: Vec<String> = monitors(&elsewhere).into_iter().map(|monitor| named(monitor).1).collect();
    assert_eq!(names, OPERANDS);
    assert_eq!(monitors(guest()), [&Value::Null; 0]);
}
