//! The bundled fragments for CSI drivers and their metrics: the errors for each misuse.

use serde_json::json;

use super::{
    DEPLOYMENT, GUEST, MC, MONITORED, STANDALONE, assert_contradiction, assert_error, assert_misuse,
    pod_item, project_with_use, use_of,
};
use crate::support::find;

#[test]
fn a_metrics_port_is_served_with_tls() {
    let project = project_with_use(&format!("{DEPLOYMENT}{MONITORED}"), use_of("metrics-proxy"));
    let standalone = project.render_with(STANDALONE, &["--set", "metrics.cipherSuites=A,B"]);
    assert_eq!(
        *pod_item(&standalone, "containers", "p"),
        json!({
            "args": [
                "--secure-listen-address=0.0.0.0:9203",
                "--upstream=http://127.0.0.1:8080/",
                "--tls-cert-file=/etc/tls/private/tls.crt",
                "--tls-private-key-file=/etc/tls/private/tls.key",
                "--tls-cipher-suites=A,B",
                "--tls-min-version=VersionTLS12",
                "--logtostderr=true",
            ],
            "image": "q/kube-rbac-proxy",
            "imagePullPolicy": "IfNotPresent",
            "name": "p",
            "ports": [{"containerPort": 9203, "name": "m", "protocol": "TCP"}],
            "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
            "securityContext": {"readOnlyRootFilesystem": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"mountPath": "/etc/tls/private", "name": "metrics-serving-cert"}],
        })
    );
    assert_eq!(
        find(&standalone, "Service", "d-metrics")["spec"],
        json!({
            "ports": [
                {"name": "own", "port": 443},
                {"name": "m", "port": 9203, "protocol": "TCP", "targetPort": "m"},
            ],
            "selector": {"app": "d"},
        })
    );
    assert_eq!(
        find(&standalone, "ServiceMonitor", "d-monitor")["spec"],
        json!({
            "endpoints": [
                {"port": "own"},
                {
                    "bearerTokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token",
                    "interval": "30s",
                    "path": "/metrics",
                    "port": "m",
                    "scheme": "https",
                    "tlsConfig": {
                        "caFile": "/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt",
                        "serverName": "d-metrics.old.svc",
                    },
                },
            ],
            "selector": {"matchLabels": {"app": "d"}},
        })
    );
}

#[test]
fn misuse_of_metrics_proxy() {
    let usage = use_of("metrics-proxy");
    let manifests = format!("{DEPLOYMENT}{MONITORED}");
    assert_misuse(
        &manifests,
        MC,
        r"
        metrics-proxy: {workload: Deployment/d, proxy: p, port: m}
        error: payload/op/component.yaml:7:3: the fragment `metrics-proxy` needs the input `exposed`
        error: payload/op/component.yaml:7:3: the fragment `metrics-proxy` needs the input `local`
        2 errors

        metrics-proxy: {workload: Deployment/d, proxy: p, port: m, lokal: 8080, exposed: 9203}
        error: payload/op/component.yaml:7:62: the fragment `metrics-proxy` has no input `lokal`
          help: did you mean `local`?

        metrics-proxy: {workload: Deployment/d, proxy: p, port: m, local: '8080', exposed: 9203}
        error: payload/op/component.yaml:7:69: the input `local` must be a port number from 1 to 65535, not the text `8080`

        metrics-proxy: {workload: Deployment/d, proxy: p, port: m, local: 8080, exposed: 92030}
        error: payload/op/component.yaml:7:84: the input `exposed` must be a port number from 1 to 65535, not the number 92030

        metrics-proxy: {workload: Deployment/d, proxy: p, port: 9203, local: 8080, exposed: 9203}
        error: payload/op/component.yaml:7:59: the input `port` must be a name of lower-case letters, digits, `-` and `.`, not the number 9203

        metrics-proxy: {workload: Deployment/d, proxy: driver, port: m, local: 8080, exposed: 9203}
        error: profiles/fragments/metrics-proxy.yaml(${images.kube-rbac-proxy}): `/spec/template/spec/containers/[name=driver]/image` cannot be set to `q/kube-rbac-proxy`, because it is `i`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:12:31
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page

        metrics-proxy: {workload: Deployment/d, proxy: p, port: own, local: 8080, exposed: 9203}
        error: profiles/fragments/metrics-proxy.yaml(${exposed}): `/spec/ports/[name=own]/port` cannot be set to `9203`, because it is `443`
          object: Service/d-metrics in old
          note: the other value is at payload/op/0000_50_op_1.yaml:18:54
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_error(
        &project_with_use(DEPLOYMENT, usage),
        MC,
        r"
        error: profiles/fragments/metrics-proxy.yaml(pod:): it is not clear in which cluster this new object lives
          object: Service/d-metrics in old
          note: used at payload/op/component.yaml:7:3
          help: limit the addition to profiles with `in`, or add the object under `place` in the page
        ",
    );
    assert_contradiction(
        &manifests,
        MC,
        [usage, &usage.replace("port: m, local: 8080, exposed: 9203", "port: q, local: 8081, exposed: 9204")],
        r"
        error: profiles/fragments/metrics-proxy.yaml(--secure-listen-address=0.0.0.0:${exposed}): `/spec/template/spec/containers/[name=p]/args/[--secure-listen-address]` cannot be set to `--secure-listen-address=0.0.0.0:9204`, because it is `--secure-listen-address=0.0.0.0:9203`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/metrics-proxy.yaml(--secure-listen-address=0.0.0.0:${exposed})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn a_csi_sidecar_in_one_cluster_has_no_kubeconfig() {
    let project = project_with_use(&format!("{DEPLOYMENT}{MONITORED}"), use_of("csi-sidecar"));
    let standalone =
        project.render_with(STANDALONE, &["--set", "leader.retryPeriod=9s", "--set", "log.level=4"]);
    assert_eq!(
        *pod_item(&standalone, "containers", "csi-attacher"),
        json!({
            "args": [
                "--csi-address=/var/lib/csi/sockets/pluginproxy/csi.sock",
                "--http-endpoint=localhost:8203",
                "--leader-election",
                "--leader-election-lease-duration=137s",
                "--leader-election-renew-deadline=107s",
                "--leader-election-retry-period=9s",
                "--leader-election-namespace=old",
                "--v=4",
            ],
            "image": "q/csi-external-attacher",
            "imagePullPolicy": "IfNotPresent",
            "name": "csi-attacher",
            "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
            "securityContext": {"readOnlyRootFilesystem": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"mountPath": "/var/lib/csi/sockets/pluginproxy/", "name": "socket-dir"}],
        })
    );
    assert_eq!(
        find(&standalone, "ClusterRoleBinding", "ebs-csi-main-attacher-binding")["roleRef"]["name"],
        "openshift-csi-main-attacher-role"
    );
}

#[test]
fn misuse_of_csi_sidecar() {
    let usage = use_of("csi-sidecar");
    let manifests = format!("{DEPLOYMENT}{MONITORED}");
    assert_misuse(
        &manifests,
        MC,
        r"
        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher}
        error: payload/op/component.yaml:7:3: the fragment `csi-sidecar` needs the input `exposed`
        error: payload/op/component.yaml:7:3: the fragment `csi-sidecar` needs the input `local`
        2 errors

        csi-sidecar: {workload: Deployment/d, sidecar: attacher, local: 8203, exposed: 9203}
        error: payload/op/component.yaml:7:3: the fragment `csi-sidecar` needs the input `short`

        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, lokal: 8203, exposed: 9203}
        error: payload/op/component.yaml:7:72: the fragment `csi-sidecar` has no input `lokal`
          help: did you mean `local`?

        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: atacher, local: 8203, exposed: 9203}
        error: profiles/fragments/csi-sidecar.yaml(csi-external-${sidecar}): `csi-external-atacher` is not an image
          help: the release has no image `csi-external-atacher`

        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203, image: csi-attacher}
        error: payload/op/component.yaml:7:107: `csi-attacher` is not an image
          help: the release has no image `csi-attacher`

        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203, args: --timeout=60s}
        error: payload/op/component.yaml:7:106: the input `args` must be a list, not the text `--timeout=60s`

        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 8203, exposed: 9203, reads: node}
        error: payload/op/component.yaml:7:107: the input `reads` must be a list, not the text `node`

        csi-sidecar: {workload: Deployment/d, short: ebs, sidecar: attacher, local: 0, exposed: 9203}
        error: payload/op/component.yaml:7:79: the input `local` must be a port number from 1 to 65535, not the number 0
        ",
    );
    assert_contradiction(
        &manifests,
        MC,
        [usage, &usage.replace("8203", "8204")],
        r"
        error: profiles/fragments/csi-sidecar.yaml(${listen}=localhost:${local}): `/spec/template/spec/containers/[name=csi-attacher]/args/[--http-endpoint]` cannot be set to `--http-endpoint=localhost:8204`, because it is `--http-endpoint=localhost:8203`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/csi-sidecar.yaml(${listen}=localhost:${local})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn rights_of_a_driver_are_in_the_cluster_that_its_token_is_for() {
    for (usage, binding, role) in [
        (use_of("csi-right"), "ebs-csi-main-attacher-binding", "openshift-csi-main-attacher-role"),
        (
            use_of("csi-reader"),
            "ebs-csi-node-reader-attacher-binding",
            "openshift-csi-attacher-node-reader-role",
        ),
    ] {
        let project = project_with_use(DEPLOYMENT, usage);
        for profile in [STANDALONE, GUEST] {
            assert_eq!(
                *find(&project.render(profile), "ClusterRoleBinding", binding),
                json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1",
                    "kind": "ClusterRoleBinding",
                    "metadata": {"name": binding},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                    "subjects": [{"kind": "ServiceAccount", "name": "sa", "namespace": "old"}],
                })
            );
        }
        assert!(project.render(MC).iter().all(|object| object["kind"] != "ClusterRoleBinding"));
    }
}

#[test]
fn misuse_of_csi_rights() {
    assert_misuse(
        DEPLOYMENT,
        GUEST,
        r"
        csi-right: {workload: Deployment/d, short: ebs, binding: b}
        error: payload/op/component.yaml:7:3: the fragment `csi-right` needs the input `role`

        csi-right: {workload: Deployment/d, binding: b, role: r}
        error: payload/op/component.yaml:7:3: the fragment `csi-right` needs the input `short`

        csi-right: {workload: Deployment/d, short: ebs, binding: b, rol: r}
        error: payload/op/component.yaml:7:63: the fragment `csi-right` has no input `rol`
          help: did you mean `role`?

        csi-right: {workload: Deployment/d, short: ebs, binding: b, role: a/b}
        error: payload/op/component.yaml:7:69: the input `role` must be a name of lower-case letters, digits, `-` and `.`, not `a/b`

        csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher}
        error: payload/op/component.yaml:7:3: the fragment `csi-reader` needs the input `reads`

        csi-reader: {workload: Deployment/d, sidecar: attacher, reads: node}
        error: payload/op/component.yaml:7:3: the fragment `csi-reader` needs the input `short`

        csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher, read: node}
        error: payload/op/component.yaml:7:71: the fragment `csi-reader` has no input `read`
          help: did you mean `reads`?

        csi-reader: {workload: Deployment/d, short: ebs, sidecar: attacher, reads: [node, 5]}
        error: payload/op/component.yaml:7:85: the input `reads` must be a name of lower-case letters, digits, `-` and `.`, not the number 5
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        GUEST,
        [use_of("csi-right"), &use_of("csi-right").replace("role: main-attacher", "role: other")],
        r"
        error: profiles/fragments/csi-right.yaml(openshift-csi-${role}-role): `/roleRef/name` cannot be set to `openshift-csi-other-role`, because it is `openshift-csi-main-attacher-role`
          object: ClusterRoleBinding.rbac.authorization.k8s.io/ebs-csi-main-attacher-binding
          note: the other value is at profiles/fragments/csi-right.yaml(openshift-csi-${role}-role)
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn csi_liveness_adds_a_container_that_probes_the_driver() {
    let project = project_with_use(DEPLOYMENT, use_of("csi-liveness"));
    assert_eq!(
        *pod_item(&project.render(STANDALONE), "containers", "csi-liveness-probe"),
        json!({
            "args": ["--csi-address=/csi/csi.sock", "--probe-timeout=3s", "--health-port=10301", "--v=2"],
            "image": "q/csi-livenessprobe",
            "imagePullPolicy": "IfNotPresent",
            "name": "csi-liveness-probe",
            "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
            "securityContext": {"readOnlyRootFilesystem": true},
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"mountPath": "/csi", "name": "socket-dir"}],
        })
    );
}

#[test]
fn misuse_of_csi_liveness() {
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
        csi-liveness: {workload: Deployment/d}
        error: payload/op/component.yaml:7:3: the fragment `csi-liveness` needs the input `health`

        csi-liveness: {workload: Deployment/d, heath: 10301}
        error: payload/op/component.yaml:7:42: the fragment `csi-liveness` has no input `heath`
          help: did you mean `health`?

        csi-liveness: {workload: Deployment/d, health: '10301'}
        error: payload/op/component.yaml:7:50: the input `health` must be a port number from 1 to 65535, not the text `10301`
        ",
    );
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [use_of("csi-liveness"), &use_of("csi-liveness").replace("10301", "10302")],
        r"
        error: profiles/fragments/csi-liveness.yaml(--health-port=${health}): `/spec/template/spec/containers/[name=csi-liveness-probe]/args/[--health-port]` cannot be set to `--health-port=10302`, because it is `--health-port=10301`
          object: Deployment.apps/d in old
          note: the other value is at profiles/fragments/csi-liveness.yaml(--health-port=${health})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}
