//! The bundled fragments for CSI drivers and their metrics: the errors for each misuse.

use super::{
    DEPLOYMENT, GUEST, MC, MONITORED, USES, assert_contradiction, assert_misuse, conflict_with_manifest,
    find, named, project, render,
};

#[test]
fn a_metrics_port_is_served_with_tls() {
    let project = project(&format!("{DEPLOYMENT}{MONITORED}"), &format!("uses:\n- {}\n", USES[11]));
    let standalone = render(&project, "standalone", &["--set", "metrics.cipherSuites=A,B"]);
    assert_eq!(
        named(&standalone, "containers", "p").to_string(),
        r#"{"args":["--secure-listen-address=0.0.0.0:9203","--upstream=http://127.0.0.1:8080/","--tls-cert-file=/etc/tls/private/tls.crt","--tls-private-key-file=/etc/tls/private/tls.key","--tls-cipher-suites=A,B","--tls-min-version=VersionTLS12","--logtostderr=true"],"image":"q/kube-rbac-proxy","imagePullPolicy":"IfNotPresent","name":"p","ports":[{"containerPort":9203,"name":"m","protocol":"TCP"}],"resources":{"requests":{"cpu":"10m","memory":"20Mi"}},"securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/etc/tls/private","name":"metrics-serving-cert"}]}"#
    );
    assert_eq!(
        find(&standalone, "Service", "d-metrics")["spec"].to_string(),
        r#"{"ports":[{"name":"own","port":443},{"name":"m","port":9203,"protocol":"TCP","targetPort":"m"}],"selector":{"app":"d"}}"#
    );
    assert_eq!(
        find(&standalone, "ServiceMonitor", "d-monitor")["spec"].to_string(),
        r#"{"endpoints":[{"port":"own"},{"bearerTokenFile":"/var/run/secrets/kubernetes.io/serviceaccount/token","interval":"30s","path":"/metrics","port":"m","scheme":"https","tlsConfig":{"caFile":"/etc/prometheus/configmaps/serving-certs-ca-bundle/service-ca.crt","serverName":"d-metrics.old.svc"}}],"selector":{"matchLabels":{"app":"d"}}}"#
    );
}

#[test]
fn misuse_of_metrics_proxy() {
    let usage = USES[11];
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
error: fragments/metrics-proxy.yaml(${images.kube-rbac-proxy}): this field already has a different value
  object: Deployment.apps/d in old
  note: the other value is at payload/op/0000_50_op_1.yaml:12:31
  note: used at payload/op/component.yaml:7:3
  help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch

metrics-proxy: {workload: Deployment/d, proxy: p, port: own, local: 8080, exposed: 9203}
error: fragments/metrics-proxy.yaml(${exposed}): this field already has a different value
  object: Service/d-metrics in old
  note: the other value is at payload/op/0000_50_op_1.yaml:18:54
  note: used at payload/op/component.yaml:7:3
  help: remove one of them, make the value an input, or override it with `set` in a policy rule or with a patch
",
    );
    let nowhere = |object: &str| {
        format!(
            "error: fragments/metrics-proxy.yaml(pod:): it is not clear in which cluster this new object lives\n  object: {object} in old\n  \
             note: used at payload/op/component.yaml:7:3\n  help: limit the addition to profiles with `in`, or add the object under `place` in the page\n"
        )
    };
    let service = nowhere("Service/d-metrics");
    let monitor = nowhere("ServiceMonitor.monitoring.coreos.com/d-monitor");
    assert_misuse(DEPLOYMENT, MC, &format!("{usage}\n{service}{monitor}2 errors\n"));
    assert_contradiction(
        &manifests,
        MC,
        [usage, &usage.replace("port: m, local: 8080, exposed: 9203", "port: q, local: 8081, exposed: 9204")],
        "fragments/metrics-proxy.yaml(--secure-listen-address=0.0.0.0:${exposed})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_sidecar_in_one_cluster_has_no_kubeconfig() {
    let project = project(&format!("{DEPLOYMENT}{MONITORED}"), &format!("uses:\n- {}\n", USES[12]));
    let standalone =
        render(&project, "standalone", &["--set", "leader.retryPeriod=9s", "--set", "log.level=4"]);
    assert_eq!(
        named(&standalone, "containers", "csi-attacher").to_string(),
        r#"{"args":["--csi-address=/var/lib/csi/sockets/pluginproxy/csi.sock","--http-endpoint=localhost:8203","--leader-election","--leader-election-lease-duration=137s","--leader-election-renew-deadline=107s","--leader-election-retry-period=9s","--leader-election-namespace=old","--v=4"],"image":"q/csi-external-attacher","imagePullPolicy":"IfNotPresent","name":"csi-attacher","resources":{"requests":{"cpu":"10m","memory":"50Mi"}},"securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/var/lib/csi/sockets/pluginproxy/","name":"socket-dir"}]}"#
    );
    assert_eq!(
        find(&standalone, "ClusterRoleBinding", "ebs-csi-main-attacher-binding")["roleRef"]["name"],
        "openshift-csi-main-attacher-role"
    );
}

#[test]
fn misuse_of_csi_sidecar() {
    let usage = USES[12];
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
error: fragments/csi-sidecar.yaml(csi-external-${sidecar}): `csi-external-atacher` is not an image
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
        "fragments/csi-sidecar.yaml(${listen}=localhost:${local})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn rights_of_a_driver_are_in_the_cluster_that_its_token_is_for() {
    let right = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"ebs-csi-main-attacher-binding"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"openshift-csi-main-attacher-role"},"subjects":[{"kind":"ServiceAccount","name":"sa","namespace":"old"}]}"#;
    let reader = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"ebs-csi-node-reader-attacher-binding"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"openshift-csi-attacher-node-reader-role"},"subjects":[{"kind":"ServiceAccount","name":"sa","namespace":"old"}]}"#;
    for (usage, expected) in [(USES[14], right), (USES[13], reader)] {
        let project = project(DEPLOYMENT, &format!("uses:\n- {usage}\n"));
        let binding = |profile: &str| {
            let objects = render(&project, profile, &[]);
            objects.iter().find(|object| object["kind"] == "ClusterRoleBinding").map(ToString::to_string)
        };
        assert_eq!(binding("standalone").as_deref(), Some(expected));
        assert_eq!(binding(GUEST).as_deref(), Some(expected));
        assert_eq!(binding(MC), None);
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
        [USES[14], &USES[14].replace("role: main-attacher", "role: other")],
        "fragments/csi-right.yaml(openshift-csi-${role}-role)",
        "ClusterRoleBinding.rbac.authorization.k8s.io/ebs-csi-main-attacher-binding",
    );
}

#[test]
fn a_liveness_probe_beside_a_driver() {
    let project = project(DEPLOYMENT, &format!("uses:\n- {}\n", USES[15]));
    assert_eq!(
        named(&render(&project, "standalone", &[]), "containers", "csi-liveness-probe").to_string(),
        r#"{"args":["--csi-address=/csi/csi.sock","--probe-timeout=3s","--health-port=10301","--v=2"],"image":"q/csi-livenessprobe","imagePullPolicy":"IfNotPresent","name":"csi-liveness-probe","resources":{"requests":{"cpu":"10m","memory":"50Mi"}},"securityContext":{"readOnlyRootFilesystem":true},"terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/csi","name":"socket-dir"}]}"#
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
        [USES[15], &USES[15].replace("10301", "10302")],
        "fragments/csi-liveness.yaml(--health-port=${health})",
        "Deployment.apps/d in old",
    );
}

#[test]
fn a_container_may_trust_another_bundle() {
    let usage = "proxy-cabundle: {workload: Deployment/d, container: driver, config: mine}";
    let project = project(DEPLOYMENT, &format!("uses:\n- {usage}\n"));
    let objects = render(&project, "standalone", &[]);
    assert_eq!(
        named(&objects, "containers", "driver").to_string(),
        r#"{"args":["run"],"image":"i","name":"driver","volumeMounts":[{"mountPath":"/etc/pki/ca-trust/extracted/pem","name":"trusted-ca-bundle","readOnly":true}]}"#
    );
    assert_eq!(
        named(&objects, "volumes", "trusted-ca-bundle").to_string(),
        r#"{"configMap":{"items":[{"key":"ca-bundle.crt","path":"tls-ca-bundle.pem"}],"name":"mine"},"name":"trusted-ca-bundle"}"#
    );
}

#[test]
fn misuse_of_proxy_cabundle() {
    let usage = USES[16];
    assert_misuse(
        DEPLOYMENT,
        MC,
        r"
proxy-cabundle: {workload: Deployment/d}
error: payload/op/component.yaml:7:3: the fragment `proxy-cabundle` needs the input `container`
  help: Deployment/d has more than one container: name one of them

proxy-cabundle: {workload: Deployment/d, container: driver, configMap: c}
error: payload/op/component.yaml:7:63: the fragment `proxy-cabundle` has no input `configMap`
  help: did you mean `config`?

proxy-cabundle: {workload: Deployment/d, container: driver, config: 5}
error: payload/op/component.yaml:7:71: the input `config` must be a name of lower-case letters, digits, `-` and `.`, not the number 5

proxy-cabundle: {workload: Deployment/d, container: drivr}
error: fragments/proxy-cabundle.yaml(${container}): there is no container `drivr` to add to
  object: Deployment.apps/d in old
  note: used at payload/op/component.yaml:7:3
  help: did you mean `driver`?
",
    );
    for (change, at, there) in [
        (
            ["volumes: [", "volumes: [{name: trusted-ca-bundle, emptyDir: {}}, "],
            "fragments/proxy-cabundle.yaml(name: trusted-ca-bundle)",
            "13:17",
        ),
        (
            ["args: [run]", "volumeMounts: [{name: data, mountPath: /etc/pki/ca-trust/extracted/pem}]"],
            "fragments/proxy-cabundle.yaml(trusted-ca-bundle)",
            "12:56",
        ),
    ] {
        let manifest = DEPLOYMENT.replace(change[0], change[1]);
        assert_misuse(
            &manifest,
            MC,
            &format!("{usage}\n{}", conflict_with_manifest(at, "Deployment.apps/d in old", there)),
        );
    }
    assert_contradiction(
        DEPLOYMENT,
        MC,
        [usage, &usage.replace("driver}", "other, config: mine}")],
        "fragments/proxy-cabundle.yaml(${config})",
        "Deployment.apps/d in old",
    );
}
