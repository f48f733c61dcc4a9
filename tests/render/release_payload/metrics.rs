//! A Prometheus of the management cluster scrapes the bundled payload.

use serde_json::{Value, json};

use crate::required::{arguments, container, guest, management, pod, standalone, volume_at};
use crate::storage::{MANAGEMENT, find, named, render};

const CLUSTER_ID: &str = "0a1b2c3d-0000-4111-8222-333344445555";

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
    assert_eq!(names.len(), 3, "{names:?}");
    for monitor in monitors(management()) {
        for endpoint in endpoints(monitor) {
            let tls = &endpoint["tlsConfig"];
            assert_eq!(endpoint.get("bearerTokenFile"), None, "{endpoint}");
            assert_eq!(tls.get("caFile"), None, "{endpoint}");
            assert_eq!(tls["ca"], json!({"configMap": {"name": "root-ca", "key": "ca.crt"}}));
            if named(monitor).1 == "aws-ebs-csi-driver-controller-monitor" {
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
fn the_proxies_of_the_driver_verify_client_certificates() {
    let workload = "aws-ebs-csi-driver-controller";
    let deployment = find(management(), "Deployment", workload);
    let mut proxies = 0;
    for name in ["driver", "provisioner", "attacher", "resizer", "snapshotter"] {
        let name = format!("{name}-kube-rbac-proxy");
        let flag = "--client-ca-file=/etc/tls/client/ca.crt".to_owned();
        assert!(arguments(&container(deployment, &name)).contains(&flag), "{name}");
        let volume = volume_at(deployment, &name, "/etc/tls/client");
        assert_eq!(volume["configMap"]["name"], "client-ca");
        assert_eq!(volume["configMap"]["items"], json!([{"key": "ca.crt", "path": "ca.crt"}]));
        // The guest says what the certificate's user may read.
        assert!(arguments(&container(deployment, &name)).contains(&"--kubeconfig=$(KUBECONFIG)".to_owned()));
        proxies += 1;
    }
    assert_eq!(proxies, 5);
    assert!(!pod(find(standalone(), "Deployment", workload)).to_string().contains("client-ca"));
}

#[test]
fn metrics_have_the_id_of_the_cluster() {
    let objects = render(MANAGEMENT, &["--set", &format!("hcp.clusterID={CLUSTER_ID}")]);
    let label = json!([{"action": "replace", "targetLabel": "_id", "replacement": CLUSTER_ID}]);
    assert_eq!(monitors(&objects).len(), 3);
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
    assert_eq!(names, ["aws-ebs-csi-driver-controller-monitor"]);
    assert_eq!(monitors(guest()), [&Value::Null; 0]);
}
