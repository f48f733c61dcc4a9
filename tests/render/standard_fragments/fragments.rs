//! The bundled fragments, one after the other.

use serde_json::{Value, json};

use super::{DEPLOYMENT, GUEST, MC, PLACE, STANDALONE, deployment_with_token, project_with_uses};
use crate::misuse::assert_error;
use crate::support::{TestProject, find, item, names, pod_spec};

#[test]
fn guest_api_passes_the_kubeconfig_as_a_flag_or_as_a_variable() {
    let variable = json!([{"name": "KUBECONFIG", "value": "/etc/guest-kubeconfig/kubeconfig"}]);
    for (inputs, arg, env) in [
        ("arg: --guest-kubeconfig", "--guest-kubeconfig=/etc/guest-kubeconfig/kubeconfig", Value::Null),
        ("arg: --kubeconfig", "--kubeconfig=/etc/guest-kubeconfig/kubeconfig", Value::Null),
        ("arg: --kubeconfig, env: KUBECONFIG", "--kubeconfig=$(KUBECONFIG)", variable),
    ] {
        let project = project_with_uses(&format!(
            "- guest-api: {{workload: Deployment/d, container: driver, {inputs}}}"
        ));
        let mc = project.render(MC);
        let driver = item(&pod_spec(&mc, "d")["containers"], "driver");
        assert_eq!(driver["args"], json!([arg]));
        assert_eq!(driver["env"], env);
        assert_eq!(
            driver["volumeMounts"][1],
            json!({"mountPath": "/etc/guest-kubeconfig", "name": "guest-kubeconfig", "readOnly": true})
        );
        let other = item(&pod_spec(&mc, "d")["containers"], "other");
        assert_eq!(other.get("args"), None, "other containers stay unchanged");
        assert_eq!(other["volumeMounts"], json!([{"mountPath": "/tmp", "name": "tmp-dir"}]));
        let issued = r#"{"kubeconfig":{"authority":"root-ca","server":"https://kube-apiserver:6443","signer":"cluster-signer-ca","user":"system:serviceaccount:old:sa"}}"#;
        assert_eq!(
            find(&mc, "Secret", "d-kubeconfig")["metadata"],
            json!({
                "name": "d-kubeconfig",
                "namespace": "clusters-example",
                "annotations": {"transship.openshift.io/issued": issued},
                "labels": {"transship.openshift.io/issued": "kubeconfig"},
            })
        );
        let standalone = project.render(STANDALONE);
        assert_eq!(
            *item(&pod_spec(&standalone, "d")["containers"], "driver"),
            json!({
                "name": "driver",
                "image": "i",
                "volumeMounts": [{"mountPath": "/token", "name": "token", "readOnly": true}],
            })
        );
    }
}

#[test]
fn a_token_minter_is_a_native_sidecar_if_the_management_cluster_supports_it() {
    let project = TestProject::with_bundled_profiles(&deployment_with_token(), PLACE);
    let args = json!([
        "--service-account-namespace=old",
        "--service-account-name=sa",
        "--token-audience=openshift",
        "--token-file=/token/jwt",
        "--kubeconfig=/etc/guest-kubeconfig/kubeconfig",
    ]);
    let mc = project.render(MC);
    let minter = item(&pod_spec(&mc, "d")["initContainers"], "token-minter-token");
    assert_eq!(minter["args"], args);
    assert_eq!(minter["restartPolicy"], "Always");
    assert_eq!(minter["startupProbe"]["exec"]["command"], json!(["test", "-f", "/token/jwt"]));
    let old = project.render_with(MC, &["--set", "management.nativeSidecars=false"]);
    let minter = item(&pod_spec(&old, "d")["containers"], "token-minter-token");
    assert_eq!(minter["args"], args);
    assert_eq!(minter.get("restartPolicy"), None);
    assert_eq!(pod_spec(&old, "d").get("initContainers"), None);
    for objects in [&mc, &old] {
        let pod = pod_spec(objects, "d");
        assert_eq!(pod["volumes"][0], json!({"emptyDir": {"medium": "Memory"}, "name": "token"}));
        assert_eq!(
            item(&pod["containers"], "driver")["volumeMounts"][0],
            json!({"mountPath": "/token", "name": "token", "readOnly": true}),
            "the container that mounts the token, not the first one"
        );
    }
}

#[test]
fn the_guest_of_a_token_minter_gets_the_service_account_and_the_right_to_mint_its_tokens() {
    let project = TestProject::with_bundled_profiles(&deployment_with_token(), PLACE);
    let guest = project.render(GUEST);
    assert_eq!(names(&guest), ["ServiceAccount/sa", "Role/d-token-minter", "RoleBinding/d-token-minter"]);
    assert_eq!(
        guest[0],
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa", "namespace": "old"}})
    );
    assert_eq!(
        pod_spec(&project.render(STANDALONE), "d")["volumes"][0],
        json!({
            "name": "token",
            "projected": {"sources": [{"serviceAccountToken": {"audience": "openshift", "path": "jwt"}}]},
        })
    );
}

#[test]
fn a_oneshot_token_minter_is_a_plain_init_container() {
    let project = project_with_uses(
        r"
        - token-minter: {workload: Deployment/d, container: driver, volume: once, mountPath: /once, serviceAccount: robot, oneshot: true}
        ",
    );
    let mc = project.render(MC);
    let minter = item(&pod_spec(&mc, "d")["initContainers"], "token-minter-once");
    assert_eq!(minter["args"][4], "--oneshot");
    assert_eq!(minter.get("restartPolicy"), None);
    assert_eq!(minter.get("startupProbe"), None);
    assert_eq!(project.render(GUEST)[0]["metadata"]["name"], "robot");
}

#[test]
fn cloud_credentials_are_mounted_only_in_the_container_that_needs_them() {
    let project = project_with_uses(
        "- cloud-credentials: {workload: Deployment/d, container: driver, secret: ebs-cloud-credentials}",
    );
    let mc = project.render(MC);
    let driver = item(&pod_spec(&mc, "d")["containers"], "driver");
    assert_eq!(
        driver["env"],
        json!([{"name": "AWS_SHARED_CREDENTIALS_FILE", "value": "/etc/cloud-credentials/credentials"}])
    );
    assert_eq!(
        *item(&driver["volumeMounts"], "cloud-credentials"),
        json!({"mountPath": "/etc/cloud-credentials", "name": "cloud-credentials", "readOnly": true})
    );
    let other = item(&pod_spec(&mc, "d")["containers"], "other");
    assert_eq!(other.get("env"), None);
    assert_eq!(other["volumeMounts"], json!([{"mountPath": "/tmp", "name": "tmp-dir"}]));
}

#[test]
fn webhook_url_replaces_the_service_of_a_webhook_in_the_guest() {
    let manifests = r"
        apiVersion: v1
        kind: Service
        metadata: {name: hook, namespace: old}
        ---
        apiVersion: admissionregistration.k8s.io/v1
        kind: ValidatingWebhookConfiguration
        metadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}
        webhooks: [{name: a.b.c, clientConfig: {service: {name: hook, namespace: old, path: /check}}}]
        ";
    let project = TestProject::with_bundled_profiles(manifests, "place: {management: [Service]}");
    assert_eq!(
        find(&project.render(MC), "Service", "hook")["metadata"]["labels"],
        json!({"hypershift.openshift.io/allow-guest-webhooks": "true"})
    );
    let guest = project.render(GUEST);
    let configuration = find(&guest, "ValidatingWebhookConfiguration", "v");
    assert_eq!(
        configuration["webhooks"][0]["clientConfig"],
        json!({"url": "https://hook.clusters-example.svc:443/check"})
    );
    assert_eq!(
        configuration["metadata"]["annotations"],
        json!({"transship.openshift.io/ca-bundle": "root-ca"})
    );
    let standalone = project.render(STANDALONE);
    let configuration = find(&standalone, "ValidatingWebhookConfiguration", "v");
    assert_eq!(configuration["webhooks"][0]["clientConfig"]["service"]["name"], "hook");
}

const METRICS: &str = r"
    apiVersion: v1
    kind: Service
    metadata: {name: d-metrics, namespace: old}
    spec: {selector: {app: d}, ports: [{name: own, port: 443}]}
    ---
    apiVersion: monitoring.coreos.com/v1
    kind: ServiceMonitor
    metadata: {name: d-monitor, namespace: old}
    spec: {selector: {matchLabels: {app: d}}, endpoints: [{port: own}]}
    ---
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: servicemonitors.monitoring.coreos.com}
    spec: {group: monitoring.coreos.com, scope: Namespaced, names: {kind: ServiceMonitor, plural: servicemonitors}}
    ";

/// Creates a project with the Deployment, and a Service and a `ServiceMonitor` for its metrics.
fn project_with_metrics(page: &str) -> TestProject {
    TestProject::with_bundled_profiles(METRICS, page).manifest("op/0000_50_op_2.yaml", DEPLOYMENT)
}

/// The page gives one port number; the container, the Service and the `ServiceMonitor` get it.
#[test]
fn a_csi_sidecar_adds_metrics_and_rbac() {
    let project = project_with_metrics(
        r"
        values: {short: ebs, workload: Deployment/d}
        place: {management: [Deployment, Service, ServiceMonitor]}
        uses:
        - csi-sidecar: {sidecar: attacher, local: 8203, exposed: 9203, reads: [volumeattachment, node], args: [--timeout=60s]}
        - csi-liveness: {health: 10301}
        ",
    );
    let mc = project.render(MC);
    let containers = &pod_spec(&mc, "d")["containers"];
    assert_eq!(
        item(containers, "csi-attacher")["args"],
        json!([
            "--csi-address=/var/lib/csi/sockets/pluginproxy/csi.sock",
            "--http-endpoint=localhost:8203",
            "--leader-election",
            "--leader-election-lease-duration=137s",
            "--leader-election-renew-deadline=107s",
            "--leader-election-retry-period=26s",
            "--leader-election-namespace=old",
            "--v=2",
            "--timeout=60s",
            "--kubeconfig=$(KUBECONFIG)",
        ])
    );
    assert_eq!(item(containers, "csi-liveness-probe")["args"][2], "--health-port=10301");
    let proxy = item(containers, "attacher-kube-rbac-proxy");
    assert_eq!(proxy["image"], "q/kube-rbac-proxy");
    assert_eq!(proxy["ports"][0], json!({"containerPort": 9203, "name": "attacher-m", "protocol": "TCP"}));
    assert_eq!(
        find(&mc, "Service", "d-metrics")["spec"]["ports"],
        json!([
            {"name": "own", "port": 443},
            {"name": "attacher-m", "port": 9203, "protocol": "TCP", "targetPort": "attacher-m"},
        ])
    );
    let endpoint = &find(&mc, "ServiceMonitor", "d-monitor")["spec"]["endpoints"][1];
    assert_eq!(endpoint["port"], "attacher-m");
    assert_eq!(endpoint["tlsConfig"]["serverName"], "d-metrics.clusters-example.svc");
    assert!(mc.iter().all(|object| object["kind"] != "ClusterRoleBinding"));
    let guest = project.render(GUEST);
    assert_eq!(guest.iter().filter(|object| object["kind"] == "ClusterRoleBinding").count(), 3);
    for (binding, role) in [
        ("ebs-csi-main-attacher-binding", "openshift-csi-main-attacher-role"),
        (
            "ebs-csi-volumeattachment-reader-attacher-binding",
            "openshift-csi-attacher-volumeattachment-reader-role",
        ),
        ("ebs-csi-node-reader-attacher-binding", "openshift-csi-attacher-node-reader-role"),
    ] {
        let binding = find(&guest, "ClusterRoleBinding", binding);
        assert_eq!(binding["roleRef"]["name"], role);
        assert_eq!(
            binding["subjects"],
            json!([{"kind": "ServiceAccount", "name": "sa", "namespace": "old"}]),
            "the namespace of the guest, not that of the hosted control plane"
        );
    }
}

#[test]
fn two_sidecars_with_the_same_port_name_conflict() {
    let project = project_with_metrics(
        r"
        values: {short: ebs, workload: Deployment/d}
        place: {management: [Deployment, Service, ServiceMonitor]}
        uses:
        - metrics-proxy: {proxy: a, port: m, local: 1, exposed: 9203}
        - metrics-proxy: {proxy: b, port: m, local: 2, exposed: 9204}
        ",
    );
    assert_error(
        &project,
        MC,
        r"
        error: profiles/fragments/metrics-proxy.yaml(${exposed}): `/spec/ports/[name=m]/port` cannot be set to `9204`, because it is `9203`
          object: Service/d-metrics in old
          note: the other value is at profiles/fragments/metrics-proxy.yaml(${exposed})
          note: used at payload/op/component.yaml:9:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn service_twin_adds_a_service_without_a_selector_to_the_guest() {
    let service = r"
        apiVersion: v1
        kind: Service
        metadata: {name: hook, namespace: old}
        spec: {selector: {app: d}, ports: [{port: 443}]}
        ";
    let project = TestProject::with_bundled_profiles(
        service,
        r"
        place: {management: [Service]}
        uses: [{service-twin: {service: Service/hook, port: 443, ip: 10.0.0.7}}]
        ",
    );
    assert_eq!(project.render(MC)[0]["spec"]["selector"], json!({"app": "d"}));
    let guest = project.render(GUEST);
    assert_eq!(
        find(&guest, "Service", "hook")["spec"],
        json!({"ports": [{"name": "twin", "port": 443, "protocol": "TCP", "targetPort": 443}]})
    );
    assert_eq!(
        find(&guest, "Endpoints", "hook")["subsets"],
        json!([{"addresses": [{"ip": "10.0.0.7"}], "ports": [{"name": "twin", "port": 443, "protocol": "TCP"}]}])
    );
    assert_eq!(project.render(STANDALONE).len(), 1);
}

#[test]
fn wait_for_adds_an_init_container_that_waits_for_objects_of_the_guest() {
    let project = project_with_uses(
        r"
        - wait-for: {workload: Deployment/d, objects: [Storage.operator.openshift.io/cluster, Secret/ns/a]}
        ",
    );
    let mc = project.render(MC);
    let waiting = item(&pod_spec(&mc, "d")["initContainers"], "wait-for-guest");
    assert_eq!(waiting["image"], "q/transship");
    assert_eq!(waiting["command"], json!(["transship", "wait-for"]));
    assert_eq!(
        waiting["args"],
        json!([
            "Storage.operator.openshift.io/cluster",
            "Secret/ns/a",
            "--kubeconfig=/etc/guest-kubeconfig/kubeconfig",
        ])
    );
    for container in pod_spec(&mc, "d")["containers"].as_array().unwrap() {
        let text = container.to_string();
        assert!(!text.contains("kubeconfig"), "{text}");
        assert!(!text.contains("wait-for"), "{text}");
    }
    assert_eq!(pod_spec(&project.render(STANDALONE), "d").get("initContainers"), None);
}

#[test]
fn proxy_cabundle_mounts_the_trusted_ca_bundle() {
    let manifest = DEPLOYMENT.replace(
        "namespace: old,",
        "namespace: old, annotations: {config.openshift.io/inject-proxy-cabundle: driver},",
    );
    let project = TestProject::with_bundled_profiles(&manifest, PLACE);
    for profile in [STANDALONE, MC] {
        let objects = project.render(profile);
        let pod = pod_spec(&objects, "d");
        assert_eq!(
            *item(&item(&pod["containers"], "driver")["volumeMounts"], "trusted-ca-bundle"),
            json!({"mountPath": "/etc/pki/ca-trust/extracted/pem", "name": "trusted-ca-bundle", "readOnly": true})
        );
        assert!(!item(&pod["containers"], "other").to_string().contains("trusted"));
        let source = &item(&pod["volumes"], "trusted-ca-bundle")["configMap"];
        assert_eq!(source["name"], "op-trusted-ca-bundle");
        assert_eq!(source["items"], json!([{"key": "ca-bundle.crt", "path": "tls-ca-bundle.pem"}]));
    }
    let manifest = manifest.replace("cabundle: driver", "cabundle: drivr");
    assert_error(
        &TestProject::with_bundled_profiles(&manifest, PLACE),
        STANDALONE,
        r"
        error: profiles/fragments/proxy-cabundle.yaml(${container}): there is no container `drivr` to add to
          object: Deployment.apps/d in old
          note: used at profiles/standalone.yaml(proxy-cabundle: proxy-cabundle)
          help: did you mean `driver`?
        ",
    );
}

#[test]
fn env_and_control_plane_image_set_environment_variables() {
    let project = project_with_uses(
        r"
        - env: {workload: Deployment/d, container: other, name: A, value: b}
        - control-plane-image: {workload: Deployment/d, container: driver, env: LIVENESS, image: csi-livenessprobe}
        ",
    );
    let mc = project.render(MC);
    let containers = &pod_spec(&mc, "d")["containers"];
    assert_eq!(item(containers, "other")["env"], json!([{"name": "A", "value": "b"}]));
    assert_eq!(
        item(containers, "driver")["env"],
        json!([{"name": "LIVENESS", "value": "q/csi-livenessprobe"}])
    );
    let standalone = project.render(STANDALONE);
    let containers = &pod_spec(&standalone, "d")["containers"];
    assert_eq!(item(containers, "other")["env"], json!([{"name": "A", "value": "b"}]));
    assert_eq!(item(containers, "driver").get("env"), None);
}
