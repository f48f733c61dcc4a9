//! Compares the Deployment of csi-snapshot-controller-operator with the one that HyperShift's control-plane-operator creates
//! today.

use serde_json::{Value, json};

use crate::support::{repository, run_in};

fn ours() -> Value {
    let arguments = ["render", "--profile", "hypershift-mc", "-o", "json"];
    let run = run_in(&repository(), &arguments, "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let objects = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    objects.into_iter().find(|object| object["kind"] == "Deployment").unwrap()
}

const NAMESPACE: &str = "clusters-example";

#[test]
fn these_fields_are_the_same_as_in_hypershift_today() {
    let deployment = ours();
    for (path, expected) in [
        ("/metadata/name", json!("csi-snapshot-controller-operator")),
        ("/metadata/namespace", json!(NAMESPACE)),
        ("/metadata/labels/hypershift.openshift.io~1managed-by", json!("control-plane-operator")),
        ("/spec/replicas", json!(1)),
        ("/spec/revisionHistoryLimit", json!(2)),
        ("/spec/selector", json!({"matchLabels": {"app": "csi-snapshot-controller-operator"}})),
        ("/spec/template/metadata/labels/app", json!("csi-snapshot-controller-operator")),
        (
            "/spec/template/metadata/labels/hypershift.openshift.io~1control-plane-component",
            json!("csi-snapshot-controller-operator"),
        ),
        ("/spec/template/metadata/labels/hypershift.openshift.io~1hosted-control-plane", json!(NAMESPACE)),
        ("/spec/template/metadata/labels/hypershift.openshift.io~1need-management-kas-access", json!("true")),
        ("/spec/template/spec/containers/0/name", json!("csi-snapshot-controller-operator")),
        ("/spec/template/spec/containers/0/imagePullPolicy", json!("IfNotPresent")),
        ("/spec/template/spec/containers/0/terminationMessagePolicy", json!("FallbackToLogsOnError")),
        ("/spec/template/spec/containers/0/securityContext/readOnlyRootFilesystem", json!(true)),
        ("/spec/template/spec/priorityClassName", json!("hypershift-control-plane")),
        ("/spec/template/spec/serviceAccountName", json!("csi-snapshot-controller-operator")),
        ("/spec/template/spec/volumes/0/configMap/defaultMode", json!(420)),
        ("/spec/template/spec/volumes/1/secret/defaultMode", json!(416)),
        ("/spec/template/spec/volumes/3/secret/defaultMode", json!(416)),
        (
            "/spec/template/spec/tolerations",
            json!([
                {"key": "hypershift.openshift.io/control-plane", "operator": "Equal", "value": "true", "effect": "NoSchedule"},
                {"key": "hypershift.openshift.io/cluster", "operator": "Equal", "value": NAMESPACE, "effect": "NoSchedule"},
            ]),
        ),
        (
            "/spec/template/spec/affinity",
            json!({
                "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 50, "preference": {"matchExpressions": [{"key": "hypershift.openshift.io/control-plane", "operator": "In", "values": ["true"]}]}},
                    {"weight": 100, "preference": {"matchExpressions": [{"key": "hypershift.openshift.io/cluster", "operator": "In", "values": [NAMESPACE]}]}},
                ]},
                "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"hypershift.openshift.io/hosted-control-plane": NAMESPACE}}}},
                ]},
            }),
        ),
    ] {
        assert_eq!(deployment.pointer(path), Some(&expected), "{path}");
    }
    for path in [
        "/spec/template/spec/nodeSelector",
        "/spec/template/spec/hostNetwork",
        "/spec/template/spec/automountServiceAccountToken",
    ] {
        assert_eq!(deployment.pointer(path), None, "{path}");
    }
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let args: Vec<&str> = container["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        args.contains(&"start") && args.contains(&"--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig"),
        "{args:?}"
    );
    let env: Vec<&str> = container["env"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|variable| variable["name"].as_str())
        .collect();
    assert_eq!(env, ["OPERAND_IMAGE", "OPERATOR_IMAGE_VERSION", "OPERAND_IMAGE_VERSION", "POD_NAME"]);
    let mounts: Vec<&str> = container["volumeMounts"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|mount| mount["mountPath"].as_str())
        .collect();
    assert!(mounts.contains(&"/etc/guest-kubeconfig") && mounts.contains(&"/tmp"), "{mounts:?}");
}

#[test]
fn these_fields_differ_from_hypershift_on_purpose() {
    let deployment = ours();
    let differences: [(&str, Value, &str); 7] = [
        (
            "/metadata/annotations/release.openshift.io~1desired-version",
            json!("4.22.0"),
            "operands have it today, operators do not",
        ),
        (
            "/spec/template/metadata/labels/openshift.storage.network-policy.all-egress",
            json!("allow"),
            "the copy in HyperShift lost upstream's four labels (weak point 1)",
        ),
        (
            "/spec/template/metadata/annotations/openshift.io~1required-scc",
            json!("restricted-v2"),
            "lost in the copy as well",
        ),
        (
            "/spec/template/metadata/annotations/cluster-autoscaler.kubernetes.io~1safe-to-evict-local-volumes",
            json!("tmp,tmp-dir"),
            "the manifest's own volume for /tmp is kept beside the one for the init container",
        ),
        ("/spec/template/spec/containers/0/ports/0/containerPort", json!(8443), "lost in the copy"),
        (
            "/spec/template/spec/volumes/3/secret/secretName",
            json!("csi-snapshot-controller-operator-kubeconfig"),
            "a kubeconfig of its own instead of the guest's admin",
        ),
        (
            "/spec/template/spec/volumes/1/secret/secretName",
            json!("csi-snapshot-controller-operator-serving-cert"),
            "the name that the manifest asks for",
        ),
    ];
    for (path, expected, reason) in differences {
        assert_eq!(deployment.pointer(path), Some(&expected), "{path}: {reason}");
    }
    let hash = deployment
        .pointer("/spec/template/metadata/annotations/component.hypershift.openshift.io~1config-hash")
        .unwrap();
    assert_eq!(
        hash.as_str().unwrap().len(),
        16,
        "64 bits over names, keys and values; today 32 over values alone (weak point 8)"
    );
    let waiting = &deployment["spec"]["template"]["spec"]["initContainers"][0];
    assert_eq!(
        (waiting["name"].as_str(), waiting["args"].to_string().as_str()),
        (
            Some("wait-for-guest"),
            r#"["CSISnapshotController.operator.openshift.io/cluster","ClusterOperator.config.openshift.io/csi-snapshot-controller","--kubeconfig=/etc/guest-kubeconfig/kubeconfig"]"#
        ),
        "the prober waits for the API alone, does not verify its certificate, and uses the admin's kubeconfig"
    );
    assert_eq!(
        deployment.pointer("/metadata/ownerReferences"),
        None,
        "the inventory of `apply` records ownership"
    );
    assert_eq!(
        deployment.pointer("/metadata/annotations/hypershift.openshift.io~1desired-state-hash"),
        None,
        "the API server records field ownership"
    );
}
