//! Intents in manifests: the errors if they cannot be handled, and what stays unchanged.

use serde_json::{Value, json};

use super::{
    DEPLOYMENT, GUEST, MC, SERVICE, STANDALONE, WEBHOOKS, assert_error, pod_item, project_in_management,
    project_with_use,
};
use crate::support::{TestProject, find, pod_spec, unindent};

const TOKEN: &str =
    "{name: token, projected: {sources: [{serviceAccountToken: {audience: sts, path: jwt}}]}}";

/// Returns the Deployment with a token that the driver mounts.
fn with_token() -> String {
    DEPLOYMENT
        .replace("args: [run]", "args: [run], volumeMounts: [{name: token, mountPath: /token}]")
        .replace("volumes: [", &format!("volumes: [{TOKEN}, "))
}

#[test]
fn a_projected_token_needs_a_container_that_mounts_it() {
    let manifest = with_token().replace(", volumeMounts: [{name: token, mountPath: /token}]", "");
    assert_error(
        &project_in_management(&manifest, ""),
        MC,
        r"
        error: profiles/hypershift-mc.yaml(projected-token: token-minter): the fragment `token-minter` needs the input `container`
          help: Deployment/d has more than one container: name one of them
        ",
    );
}

#[test]
fn a_projected_token_cannot_share_its_volume() {
    let manifest = with_token().replace("sources: [", "sources: [{configMap: {name: c}}, ");
    assert_error(
        &project_in_management(&manifest, ""),
        MC,
        r"
        error: payload/op/0000_50_op_1.yaml:13:17: the fragment `token-minter` cannot replace this `projected-token`: its volume has other sources, which would be removed with it
          object: Deployment.apps/d in old
          note: the rule is at profiles/hypershift-mc.yaml(projected-token: token-minter)
          help: give the token a volume of its own
        ",
    );
}

#[test]
fn a_manifest_and_its_page_cannot_both_ask_for_a_token() {
    let usage = "token-minter: {workload: Deployment/d, container: driver, volume: token, mountPath: /token, serviceAccount: robot}";
    assert_error(
        &project_with_use(&with_token(), usage),
        MC,
        r#"
        error: profiles/fragments/token-minter.yaml(name: ${volume}): `/spec/template/spec/volumes/[name=token]` cannot be set to `{"emptyDir":{"medium":"Memory"},"name":"token"}`, because it is `{"name":"token","projected":{"sources":[{"serviceAccountToken":{"audience":"sts","path":"jwt"}}]}}`
          object: Deployment.apps/d in old
          note: the other value is at payload/op/0000_50_op_1.yaml:13:17
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        "#,
    );
}

#[test]
fn a_projected_token_is_replaced_and_the_other_volumes_stay() {
    let mc = project_in_management(&with_token(), "").render(MC);
    assert_eq!(
        pod_item(&mc, "containers", "other")["volumeMounts"],
        json!([{"mountPath": "/data", "name": "data"}, {"mountPath": "/tmp", "name": "tmp-dir"}])
    );
    assert_eq!(
        pod_spec(&mc, "d")["volumes"],
        json!([
            {"emptyDir": {"medium": "Memory"}, "name": "token"},
            {"emptyDir": {}, "name": "data"},
            {"emptyDir": {}, "name": "socket-dir"},
            {"name": "metrics-serving-cert", "secret": {"defaultMode": 416, "secretName": "cert"}},
            {"name": "guest-kubeconfig", "secret": {"defaultMode": 416, "secretName": "d-kubeconfig"}},
            {"emptyDir": {}, "name": "tmp-dir"},
        ])
    );
}

#[test]
fn a_certificate_is_issued_for_the_service_that_asks_for_it() {
    let request = SERVICE.replace(
        "namespace: old}",
        "namespace: old, annotations: {service.beta.openshift.io/serving-cert-secret-name: c, own: stays}}",
    );
    let silent = SERVICE.replace("hook", "silent");
    let project = project_in_management(&format!("{request}{silent}"), "");
    let mc = project.render(MC);
    let issued = r#"{"certificate":{"dnsNames":["hook","hook.clusters-example.svc","hook.clusters-example.svc.cluster.local","localhost"],"signer":"root-ca"}}"#;
    assert_eq!(
        *find(&mc, "Secret", "c"),
        json!({
            "apiVersion": "v1",
            "data": {"ca.crt": "", "tls.crt": "", "tls.key": ""},
            "kind": "Secret",
            "metadata": {
                "annotations": {"transship.openshift.io/issued": issued},
                "labels": {"transship.openshift.io/issued": "certificate"},
                "name": "c",
                "namespace": "clusters-example",
            },
            "type": "kubernetes.io/tls",
        })
    );
    assert_eq!(
        *find(&mc, "Service", "hook"),
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"annotations": {"own": "stays"}, "name": "hook", "namespace": "clusters-example"},
            "spec": {"ports": [{"name": "https", "port": 443}], "selector": {"app": "d"}},
        })
    );
    assert_eq!(
        *find(&mc, "Service", "silent"),
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "silent", "namespace": "clusters-example"},
            "spec": {"ports": [{"name": "https", "port": 443}], "selector": {"app": "d"}},
        })
    );
    let standalone = project.render(STANDALONE);
    assert_eq!(standalone.len(), 2);
    assert_eq!(
        find(&standalone, "Service", "hook")["metadata"]["annotations"],
        json!({"own": "stays", "service.beta.openshift.io/serving-cert-secret-name": "c"})
    );
}

#[test]
fn the_annotation_for_a_certificate_must_be_a_name() {
    for secret in ["''", "a/b"] {
        let annotation = format!("service.beta.openshift.io/serving-cert-secret-name: {secret}");
        let metadata = format!("namespace: old, annotations: {{{annotation}}}}}");
        assert_error(
            &project_in_management(&SERVICE.replace("namespace: old}", &metadata), ""),
            MC,
            r"
            error: payload/op/0000_50_op_1.yaml:3:106: the input `secret` must be a name of lower-case letters, digits, `-` and `.`
            ",
        );
    }
}

#[test]
fn a_webhook_needs_a_valid_path_and_port() {
    for (wrong, message) in [
        ("path: check", "the input `path` must be an absolute path"),
        ("port: '443'", "the input `port` must be a port number from 1 to 65535, not text"),
        ("port: 99999", "the input `port` must be a port number from 1 to 65535, not a number"),
    ] {
        let webhooks = WEBHOOKS.replace("port: 443", wrong);
        assert_error(
            &project_in_management(&format!("{webhooks}{SERVICE}"), ""),
            GUEST,
            &format!("error: payload/op/0000_50_op_1.yaml:5:41: {message}\n"),
        );
    }
}

const API_SERVICE: &str = r"apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.x.y}
spec: {service: {name: hook, namespace: old}}
---
";

#[test]
fn an_aggregated_api_needs_a_service_in_its_own_cluster() {
    assert_error(
        &project_in_management(&format!("{API_SERVICE}{SERVICE}"), ""),
        GUEST,
        r"
        error: payload/op/0000_50_op_1.yaml:4:17: the fragment `webhook-url` cannot replace this `webhook`: an aggregated API needs a Service in its own cluster
          object: APIService.apiregistration.k8s.io/v1.x.y
          note: the rule is at profiles/hypershift-guest.yaml(webhook: webhook-url)
          help: write `intents: {webhook: keep}` in an `adds` entry of its page, and add a Service there
        ",
    );
}

#[test]
fn a_webhook_whose_service_is_in_the_same_cluster_stays() {
    let manifests = format!("{WEBHOOKS}{SERVICE}");
    let guest = TestProject::with_bundled_profiles(&manifests, "place: {both: [Service]}").render(GUEST);
    assert_eq!(
        find(&guest, "ValidatingWebhookConfiguration", "v")["webhooks"],
        json!([
            {"clientConfig": {"service": {"name": "hook", "namespace": "old", "port": 443}}, "name": "a.b.c"},
            {"clientConfig": {"url": "https://elsewhere"}, "name": "d.e.f"},
        ])
    );
}

/// Creates a ConfigMap in both clusters, with this label or annotation.
fn project_with_config_map(label: &str) -> TestProject {
    let config_map = format!(
        r"
        apiVersion: v1
        kind: ConfigMap
        metadata: {{name: c, namespace: old, {label}}}
        data:
          c.yaml: |
            kind: GenericOperatorConfig
          text: stays
        "
    );
    TestProject::with_bundled_profiles(&config_map, "place: {both: [ConfigMap]}")
}

#[test]
fn a_trusted_bundle_is_left_to_each_cluster() {
    let project = project_with_config_map("labels: {config.openshift.io/inject-trusted-cabundle: 'true'}");
    for profile in [STANDALONE, MC, GUEST] {
        let objects = project.render(profile);
        let config_map = find(&objects, "ConfigMap", "c");
        assert_eq!(
            config_map["metadata"]["labels"],
            json!({"config.openshift.io/inject-trusted-cabundle": "true"})
        );
        assert_eq!(config_map["data"], json!({"c.yaml": "kind: GenericOperatorConfig\n", "text": "stays"}));
    }
}

#[test]
fn tls_settings_are_those_of_the_cluster() {
    let project = project_with_config_map("annotations: {config.openshift.io/inject-tls: 'true'}");
    for (profile, settings) in [
        (STANDALONE, ["guest.tls.minVersion=VersionTLS13", "guest.tls.cipherSuites=[A]"]),
        (GUEST, ["guest.tls.minVersion=VersionTLS13", "guest.tls.cipherSuites=[A]"]),
        (MC, ["hcp.tls.minVersion=VersionTLS13", "hcp.tls.cipherSuites=[A]"]),
    ] {
        assert_eq!(
            find(&project.render(profile), "ConfigMap", "c")["data"],
            json!({"c.yaml": "kind: GenericOperatorConfig\n", "text": "stays"})
        );
        let objects = project.render_with(profile, &["--set", settings[0], "--set", settings[1]]);
        let config = unindent(
            r"
            kind: GenericOperatorConfig
            servingInfo:
              cipherSuites:
              - A
              minTLSVersion: VersionTLS13
            ",
        );
        assert_eq!(find(&objects, "ConfigMap", "c")["data"], json!({"c.yaml": config, "text": "stays"}));
    }
    assert_eq!(
        project.render_error_with(MC, &["--set", "hcp.tls.cipherSuites=A"]),
        "error: --set hcp.tls.cipherSuites:1:1: the parameter `hcp.tls.cipherSuites` must be a list, not the text `A`\n"
    );
}

/// Returns the Deployment with an annotation.
fn annotated(annotation: &str) -> String {
    DEPLOYMENT.replacen(
        "namespace: old}",
        &format!("namespace: old, annotations: {{config.openshift.io/{annotation}}}}}"),
        1,
    )
}

#[test]
fn the_proxy_is_that_of_the_cluster() {
    let manifest = annotated("inject-proxy: driver");
    let project = TestProject::with_bundled_profiles(&manifest, "place: {both: [Deployment]}").file(
        "proxy.yaml",
        r"
        guest: {proxy: {httpProxy: http://guest, httpsProxy: http://b, noProxy: c}}
        management: {proxy: {httpProxy: http://management, httpsProxy: http://b, noProxy: c}}
        ",
    );
    for (profile, proxy) in [(STANDALONE, "http://guest"), (GUEST, "http://guest"), (MC, "http://management")]
    {
        let objects = project.render(profile);
        assert_eq!(pod_item(&objects, "containers", "driver")["env"], Value::Null);
        let objects = project.render_with(profile, &["--params", "proxy.yaml"]);
        assert_eq!(
            pod_item(&objects, "containers", "driver")["env"],
            json!([
                {"name": "HTTP_PROXY", "value": proxy},
                {"name": "HTTPS_PROXY", "value": "http://b"},
                {"name": "NO_PROXY", "value": "c"},
            ])
        );
        assert_eq!(
            pod_item(&objects, "containers", "other")["env"],
            Value::Null,
            "only the container that the annotation names"
        );
    }
}

#[test]
fn an_annotation_that_names_no_container_is_an_error() {
    for (annotation, expected) in [
        (
            "inject-proxy: 'driver, drivr'",
            r"
            error: payload/op/0000_50_op_1.yaml:3:85: there is no container `drivr` for the proxy variables
              object: Deployment.apps/d in old
              help: list the names of containers in the annotation, separated by commas
            ",
        ),
        (
            "inject-proxy-cabundle: 'driver, drivr'",
            r"
            error: profiles/fragments/proxy-cabundle.yaml(${container}): there is no container `drivr` to add to
              object: Deployment.apps/d in old
              note: used at profiles/hypershift-mc.yaml(proxy-cabundle: proxy-cabundle)
              help: did you mean `driver`?
            ",
        ),
        (
            "inject-proxy-cabundle: driver;other",
            r"
            error: profiles/fragments/proxy-cabundle.yaml(${container}): there is no container `driver;other` to add to
              object: Deployment.apps/d in old
              note: used at profiles/hypershift-mc.yaml(proxy-cabundle: proxy-cabundle)
              help: the containers are other, driver; a new container needs an `image`
            ",
        ),
        (
            "inject-proxy: true",
            r"
            warning: payload/op/0000_50_op_1.yaml:3:85: the annotation `config.openshift.io/inject-proxy` is a boolean, not text
              object: Deployment.apps/d in old
              note: the cluster-version-operator ignores all annotations of the object and excludes it
              help: put the value in quotes
            error: the profile `hypershift-mc` selects none of the payload's 4 manifests
              note: 3 of them for this reason: cluster-profile: include.release.openshift.io/hypershift unset
              help: check the names in `select`
            ",
        ),
        (
            "inject-proxy-cabundle: 5",
            r"
            warning: payload/op/0000_50_op_1.yaml:3:94: the annotation `config.openshift.io/inject-proxy-cabundle` is a number, not text
              object: Deployment.apps/d in old
              note: the cluster-version-operator ignores all annotations of the object and excludes it
              help: put the value in quotes
            error: the profile `hypershift-mc` selects none of the payload's 4 manifests
              note: 3 of them for this reason: cluster-profile: include.release.openshift.io/hypershift unset
              help: check the names in `select`
            ",
        ),
    ] {
        assert_error(&project_in_management(&annotated(annotation), ""), MC, expected);
    }
}

#[test]
fn two_containers_of_the_guest_trust_one_bundle() {
    let manifest = annotated("inject-proxy-cabundle: 'driver, other'");
    let guest = TestProject::with_bundled_profiles(&manifest, "place: {guest: [Deployment]}").render(GUEST);
    let bundle = json!({"mountPath": "/etc/pki/ca-trust/extracted/pem", "name": "trusted-ca-bundle", "readOnly": true});
    assert_eq!(pod_item(&guest, "containers", "driver")["volumeMounts"], json!([bundle]));
    assert_eq!(
        pod_item(&guest, "containers", "other")["volumeMounts"],
        json!([{"mountPath": "/data", "name": "data"}, bundle])
    );
    assert_eq!(pod_spec(&guest, "d")["volumes"].as_array().unwrap().len(), 4, "one volume more");
    assert_eq!(find(&guest, "Deployment", "d")["metadata"].get("annotations"), None);
}
