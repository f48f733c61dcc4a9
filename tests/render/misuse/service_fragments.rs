//! The bundled fragments for Services and the webhooks behind them: the errors for each misuse.

use serde_json::json;

use super::{
    GUEST, MC, SERVICE, STANDALONE, WEBHOOKS, assert_contradiction, assert_misuse, project_in_management,
    project_with_use, use_of,
};
use crate::support::{find, names};

const CONVERSION: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: xs.x.y}
spec:
  group: x.y
  scope: Cluster
  names: {kind: X, plural: xs}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {name: hook, namespace: old, path: /convert}}
---
";

#[test]
fn a_conversion_webhook_is_called_by_url_in_the_guest() {
    let project = project_in_management(&format!("{CONVERSION}{SERVICE}"), "");
    let guest = project.render(GUEST);
    let crd = find(&guest, "CustomResourceDefinition", "xs.x.y");
    assert_eq!(crd["metadata"]["annotations"], json!({"transship.openshift.io/ca-bundle": "root-ca"}));
    assert_eq!(
        crd["spec"]["conversion"],
        json!({
            "strategy": "Webhook",
            "webhook": {
                "clientConfig": {"url": "https://hook.clusters-example.svc:443/convert"},
                "conversionReviewVersions": ["v1"],
            },
        })
    );
    assert_eq!(
        *find(&project.render(MC), "Service", "hook"),
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "labels": {"hypershift.openshift.io/allow-guest-webhooks": "true"},
                "name": "hook",
                "namespace": "clusters-example",
            },
            "spec": {"ports": [{"name": "https", "port": 443}], "selector": {"app": "d"}},
        })
    );
}

#[test]
fn misuse_of_webhook_url() {
    let usage = use_of("webhook-url");
    let manifests = format!("{WEBHOOKS}{SERVICE}");
    assert_misuse(
        &manifests,
        GUEST,
        r"
        webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c}
        error: payload/op/component.yaml:7:3: the fragment `webhook-url` needs the input `port`
        error: payload/op/component.yaml:7:3: the fragment `webhook-url` needs the input `service`
        2 errors

        webhook-url: {config: ValidatingWebhookConfiguration/v, hook: a.b.c, service: Service/hook, port: 443}
        error: payload/op/component.yaml:7:59: the fragment `webhook-url` has no input `hook`
          help: its inputs are config, path, port, service, webhook

        webhook-url: {config: ValidatingWebhookConfiguration/w, webhook: a.b.c, service: Service/hook, port: 443}
        error: payload/op/component.yaml:7:25: the component has no `ValidatingWebhookConfiguration/w`
          help: did you mean `ValidatingWebhookConfiguration/v`?

        webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hok, port: 443}
        error: payload/op/component.yaml:7:84: the component has no `Service/hok`
          help: did you mean `Service/hook`?

        webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 70000}
        error: payload/op/component.yaml:7:104: the input `port` must be a port number from 1 to 65535, not the number 70000

        webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: a.b.c, service: Service/hook, port: 443, path: check}
        error: payload/op/component.yaml:7:115: the input `path` must be an absolute path, not `check`

        webhook-url: {config: ValidatingWebhookConfiguration/v, webhook: d.e.f, service: Service/hook, port: 443}
        error: profiles/fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path}): `/webhooks/[name=d.e.f]/clientConfig/url` cannot be set to `https://hook.clusters-example.svc:443/`, because it is `https://elsewhere`
          object: ValidatingWebhookConfiguration.admissionregistration.k8s.io/v
          note: the other value is at payload/op/0000_50_op_1.yaml:6:37
          note: used at payload/op/component.yaml:7:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
    assert_contradiction(
        &manifests,
        GUEST,
        [usage, &usage.replace("443", "444")],
        r"
        error: profiles/fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path}): `/webhooks/[name=a.b.c]/clientConfig/url` cannot be set to `https://hook.clusters-example.svc:444/`, because it is `https://hook.clusters-example.svc:443/`
          object: ValidatingWebhookConfiguration.admissionregistration.k8s.io/v
          note: the other value is at profiles/fragments/webhook-url.yaml(https://${service.name}.${hcp.namespace}.svc:${port}${path})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn misuse_of_service_twin() {
    let usage = "service-twin: {service: Service/hook, port: 443, ip: 10.0.0.7}";
    assert_misuse(
        SERVICE,
        GUEST,
        r"
        service-twin: {service: Service/hook}
        error: payload/op/component.yaml:7:3: the fragment `service-twin` needs the input `ip`
        error: payload/op/component.yaml:7:3: the fragment `service-twin` needs the input `port`
        2 errors

        service-twin: {service: Service/hook, port: 443, ips: 10.0.0.7}
        error: payload/op/component.yaml:7:52: the fragment `service-twin` has no input `ips`
          help: did you mean `ip`?

        service-twin: {service: Service/hok, port: 443, ip: 10.0.0.7}
        error: payload/op/component.yaml:7:27: the component has no `Service/hok`
          help: did you mean `Service/hook`?

        service-twin: {service: Service/hook, port: '443', ip: 10.0.0.7}
        error: payload/op/component.yaml:7:47: the input `port` must be a port number from 1 to 65535, not the text `443`

        service-twin: {service: Service/hook, port: 0, ip: 10.0.0.7}
        error: payload/op/component.yaml:7:47: the input `port` must be a port number from 1 to 65535, not the number 0

        service-twin: {service: Service/hook, port: 443, ip: 10}
        error: payload/op/component.yaml:7:56: the input `ip` must be text, not the number 10
        ",
    );
    assert_contradiction(
        SERVICE,
        GUEST,
        [usage, &usage.replace("443", "444")],
        r"
        error: profiles/fragments/service-twin.yaml(${port}): `/spec/ports/[name=twin]/port` cannot be set to `444`, because it is `443`
          object: Service/hook in old
          note: the other value is at profiles/fragments/service-twin.yaml(${port})
          note: used at payload/op/component.yaml:8:3
          help: give both the same value, or remove this one and change the field with `patches` in the page
        ",
    );
}

#[test]
fn a_certificate_is_issued_where_no_service_ca_runs() {
    let usage = "serving-cert: {service: Service/hook, secret: c}";
    let project = project_with_use(SERVICE, usage);
    let mc = project.render(MC);
    assert_eq!(names(&mc), ["ConfigMap/serving-ca-bundle", "Service/hook", "Secret/c"]);
    assert_eq!(
        *find(&mc, "Secret", "c"),
        json!({
            "apiVersion": "v1",
            "data": {"ca.crt": "", "tls.crt": "", "tls.key": ""},
            "kind": "Secret",
            "metadata": {
                "annotations": {
                    "transship.openshift.io/issued": r#"{"certificate":{"dnsNames":["hook","hook.clusters-example.svc","hook.clusters-example.svc.cluster.local","localhost"],"signer":"root-ca"}}"#,
                },
                "labels": {"transship.openshift.io/issued": "certificate"},
                "name": "c",
                "namespace": "clusters-example",
            },
            "type": "kubernetes.io/tls",
        })
    );
    assert_eq!(project.render(STANDALONE).len(), 1, "service-ca issues it");
}

#[test]
fn misuse_of_serving_cert() {
    assert_misuse(
        SERVICE,
        MC,
        r"
        serving-cert: {service: Service/hook}
        error: payload/op/component.yaml:7:3: the fragment `serving-cert` needs the input `secret`

        serving-cert: {service: Service/hook, secretName: c}
        error: payload/op/component.yaml:7:41: the fragment `serving-cert` has no input `secretName`
          help: did you mean `secret`?

        serving-cert: {service: Service/hok, secret: c}
        error: payload/op/component.yaml:7:27: the component has no `Service/hok`
          help: did you mean `Service/hook`?

        serving-cert: {service: Service/hook, secret: a b}
        error: payload/op/component.yaml:7:49: the input `secret` must be a name of lower-case letters, digits, `-` and `.`, not `a b`

        serving-cert: {service: 443, secret: c}
        error: payload/op/component.yaml:7:27: the input `service` must be an object as `Kind/name`, not the number 443
        ",
    );
}
