//! The workloads of the bundled payload beside a release: labels, arguments, ports and volumes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::required::{arguments, container, guest, management, pod, standalone};
use crate::storage::{MANAGEMENT, containers, find, named, render};
use crate::support::TestProject;

/// The files of volumes have the group of the pod, which may read them. On OpenShift, security context constraints choose the
/// user and the group. Operators pass the user on to their operands.
#[test]
fn pods_without_security_context_constraints_read_their_volumes() {
    let elsewhere = render(MANAGEMENT, &["--params", "profiles/sets/not-openshift.yaml"]);
    for (objects, id) in [(&elsewhere[..], json!(1001)), (management(), Value::Null)] {
        for object in objects.iter().filter(|object| object["kind"] == "Deployment") {
            let context = &pod(object)["securityContext"];
            assert_eq!((&context["runAsUser"], &context["fsGroup"]), (&id, &id), "{object}");
        }
    }
    for name in
        ["cluster-storage-operator", "csi-snapshot-controller-operator", "aws-ebs-csi-driver-operator"]
    {
        let user = |objects: &[Value]| {
            let environment = container(find(objects, "Deployment", name), name)["env"].clone();
            environment.as_array().unwrap().iter().find(|one| one["name"] == "RUN_AS_USER").cloned()
        };
        assert_eq!(user(&elsewhere), Some(json!({"name": "RUN_AS_USER", "value": "1001"})), "{name}");
        assert_eq!((user(management()), user(standalone())), (None, None), "{name}");
    }
}

/// As in HyperShift, whatever the manifest or a fragment asks for. Other clusters have the modes of the manifests, which have
/// none.
#[test]
fn volumes_in_the_management_cluster_have_one_mode() {
    let mut volumes = BTreeMap::new();
    for object in management().iter().filter(|object| object["kind"] == "Deployment") {
        for volume in pod(object)["volumes"].as_array().unwrap() {
            for (source, mode) in [("secret", 0o640), ("configMap", 0o644)] {
                if let Some(source_of_volume) = volume.get(source) {
                    assert_eq!(source_of_volume["defaultMode"], mode, "{volume}");
                    *volumes.entry(source).or_insert(0) += 1;
                }
            }
        }
    }
    assert!(volumes["secret"] > 10 && volumes["configMap"] > 2, "{volumes:?}");
    for objects in [standalone(), guest()] {
        let workloads = objects.iter().filter(|object| object["spec"]["template"].is_object());
        assert!(workloads.clone().count() > 0);
        assert!(workloads.clone().all(|workload| !workload.to_string().contains("defaultMode")));
    }
}

/// The manifests select the control plane nodes of a standalone cluster. A management cluster may have none.
#[test]
fn the_node_selector_of_the_hosted_control_plane_replaces_that_of_the_manifests() {
    let selectors = |objects: &[Value]| -> Vec<Value> {
        let deployments = objects.iter().filter(|object| object["kind"] == "Deployment");
        deployments.map(|deployment| pod(deployment)["nodeSelector"].clone()).collect()
    };
    let project = TestProject::new().file(
        "hosted.yaml",
        "apiVersion: hypershift.openshift.io/v1beta1\nkind: HostedControlPlane\n\
         metadata: {name: example, namespace: clusters-example}\nspec: {nodeSelector: {role: hosted}}\n",
    );
    let file = project.path().join("hosted.yaml").display().to_string();
    let hosted = render(MANAGEMENT, &["--hosted-control-plane", &file]);
    assert_eq!(selectors(&hosted), vec![json!({"role": "hosted"}); 6]);
    assert_eq!(selectors(management()), vec![Value::Null; 6]);
    assert_eq!(selectors(standalone()), vec![json!({"node-role.kubernetes.io/master": ""}); 6]);
}

/// They read these files only when they start.
#[test]
fn operators_end_when_their_configuration_or_certificates_change() {
    for name in
        ["cluster-storage-operator", "csi-snapshot-controller-operator", "aws-ebs-csi-driver-operator"]
    {
        for (objects, kubeconfig) in [(standalone(), None), (management(), Some("--guest-kubeconfig="))] {
            let arguments = arguments(&container(find(objects, "Deployment", name), name));
            let value = |flag: &str| arguments.iter().find_map(|argument| argument.strip_prefix(flag));
            let certificate = "/var/run/secrets/serving-cert/tls";
            let mut files = vec![
                value("--config=").unwrap().to_owned(),
                format!("{certificate}.crt"),
                format!("{certificate}.key"),
            ];
            files.extend(kubeconfig.map(|flag| value(flag).unwrap().to_owned()));
            let ends: Vec<&str> = arguments
                .iter()
                .filter_map(|argument| argument.strip_prefix("--terminate-on-files="))
                .collect();
            assert_eq!(ends, files, "{name}");
        }
    }
}

#[test]
fn the_hosted_control_plane_counts_all_workloads() {
    let deployments: Vec<&Value> =
        management().iter().filter(|object| object["kind"] == "Deployment").collect();
    assert_eq!(deployments.len(), 6);
    for deployment in deployments {
        let labels = &deployment["metadata"]["labels"];
        assert_eq!(labels["hypershift.openshift.io/managed-by"], "control-plane-operator", "{deployment}");
    }
}

#[test]
fn the_driver_has_the_arguments_of_a_release() {
    for objects in [standalone(), management()] {
        let controller =
            container(find(objects, "Deployment", "aws-ebs-csi-driver-controller"), "csi-driver");
        assert!(arguments(&controller).contains(&"--batching=true".to_owned()));
    }
    for objects in [standalone(), guest()] {
        let node = find(objects, "DaemonSet", "aws-ebs-csi-driver-node");
        let part = |name| container(node, name);
        assert!(arguments(&part("csi-driver")).contains(&"--reserved-volume-attachments=1".to_owned()));
        // The pod is on the network of its node, so its ports are ports of the node.
        for (name, address) in [
            ("csi-liveness-probe", "--http-endpoint=127.0.0.1:10300"),
            ("csi-node-driver-registrar", "--http-endpoint=127.0.0.1:10309"),
        ] {
            assert!(arguments(&part(name)).contains(&address.to_owned()), "{name}");
        }
        for name in ["csi-driver", "csi-node-driver-registrar"] {
            assert_eq!(part(name)["livenessProbe"]["httpGet"]["host"], "127.0.0.1", "{name}");
        }
        let stop = &part("csi-node-driver-registrar")["lifecycle"]["preStop"]["exec"]["command"];
        assert_eq!(
            stop,
            &json!(["/bin/sh", "-c", "rm -rf /registration/ebs.csi.aws.com-reg.sock /csi/csi.sock"])
        );
    }
}

const LABEL: &str = "openshift.storage.network-policy.";

/// Returns the labels of a pod that ask for a NetworkPolicy.
fn asked(workload: &Value) -> Vec<String> {
    let labels = workload["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
    labels.keys().filter(|label| label.starts_with(LABEL)).cloned().collect()
}

/// Every label has a policy in the namespace of the pod, and the policies that select a pod open the ports of its Services.
#[test]
fn network_policies_open_the_ports_that_services_use() {
    let of_kind = |kind: &'static str| standalone().iter().filter(move |object| object["kind"] == kind);
    let mut ports = 0;
    for workload in of_kind("Deployment") {
        let (labels, name) = (asked(workload), named(workload).1);
        let namespace = &workload["metadata"]["namespace"];
        let policies: Vec<&Value> =
            of_kind("NetworkPolicy").filter(|policy| policy["metadata"]["namespace"] == *namespace).collect();
        let selects =
            |policy: &&&Value, label: &str| policy["spec"]["podSelector"]["matchLabels"][label] == "allow";
        for label in &labels {
            assert!(policies.iter().any(|policy| selects(&policy, label)), "{name}: {label}");
        }
        for part in ["api-server", "dns"] {
            assert!(labels.contains(&format!("{LABEL}{part}")), "{name}: {part}");
        }
        let mine = policies.iter().filter(|policy| labels.iter().any(|label| selects(policy, label)));
        let open: Vec<&Value> =
            mine.filter_map(|policy| policy["spec"]["ingress"].as_array()).flatten().collect();
        let template = &workload["spec"]["template"]["metadata"]["labels"];
        for service in of_kind("Service").filter(|service| {
            let selector = service["spec"]["selector"].as_object().unwrap();
            service["metadata"]["namespace"] == *namespace
                && selector.iter().all(|(key, value)| template[key] == *value)
        }) {
            for port in service["spec"]["ports"].as_array().unwrap() {
                let number = target_port(workload, &port["targetPort"]);
                assert!(open.iter().any(|rule| opens(rule, number)), "{name}: {number}");
                ports += 1;
            }
        }
    }
    assert_eq!(
        ports, 10,
        "5 of the driver, 1 of each operator, of the snapshot controller and of the webhook"
    );
}

/// Returns the number of a port of a workload that a Service names.
fn target_port(workload: &Value, target: &Value) -> u64 {
    target.as_u64().unwrap_or_else(|| {
        let all = containers(workload, "containers");
        let mut ports = all.iter().filter_map(|part| part["ports"].as_array()).flatten();
        ports.find(|port| port["name"] == *target).unwrap()["containerPort"].as_u64().unwrap()
    })
}

/// Returns whether a rule of a NetworkPolicy opens a port to all peers.
fn opens(rule: &Value, number: u64) -> bool {
    rule.get("from").is_none()
        && rule["ports"].as_array().unwrap().iter().any(|port| {
            let first = port["port"].as_u64().unwrap();
            (first..=port["endPort"].as_u64().unwrap_or(first)).contains(&number)
        })
}
