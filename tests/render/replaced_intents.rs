//! Intents that a fragment replaces: the field or annotation that asks for them is removed.

use crate::support::{TestProject, object};

/// Renders an object with this annotation, whose intent the fragment `marker` replaces.
fn annotations_after(intent: &str, input: &str, annotation: &str, manifest: &str) -> serde_json::Value {
    let annotated = manifest.replace("{x: x}", &format!("{{x: x, {annotation}}}"));
    let project = TestProject::new()
        .manifest("op/1.yaml", &annotated)
        .profile("one", &format!("topology: t\ncluster: both\nintents: {{{intent}: marker}}\n"))
        .fragment(
            "marker",
            &format!(
                "inputs: {{{input}}}\nadds: [{{objects: [{{apiVersion: v1, kind: ConfigMap, metadata: {{name: added, namespace: ns}}}}]}}]\n"
            ),
        );
    let rendered = project.render("one");
    assert_eq!(rendered.len(), 2);
    rendered.iter().find(|object| object["metadata"]["name"] != "added").unwrap()["metadata"]["annotations"]
        .clone()
}

#[test]
fn a_replaced_proxy_intent_leaves_no_annotation() {
    let manifest =
        object("apps/v1", "Deployment", "ns", "d", "spec: {template: {spec: {containers: [{name: c}]}}}\n");
    let annotation = "config.openshift.io/inject-proxy: c";
    assert_eq!(
        annotations_after("proxy", "workload: workload", annotation, &manifest),
        serde_json::json!({"x": "x"})
    );
}

#[test]
fn a_replaced_tls_intent_leaves_no_annotation() {
    let manifest = object("v1", "ConfigMap", "ns", "c", "data: {}\n");
    let annotation = "config.openshift.io/inject-tls: 'true'";
    assert_eq!(
        annotations_after("tls", "config: object", annotation, &manifest),
        serde_json::json!({"x": "x"})
    );
}

/// A project whose profiles have no rules for intents: with any intent, rendering fails.
fn without_rules(manifest: &str, place: &str) -> TestProject {
    TestProject::new()
        .manifest("op/1.yaml", manifest)
        .page("op", &format!("place: {place}\n"))
        .profile("mc", "topology: t\ncluster: management\n")
        .profile("guest", "topology: t\ncluster: guest\n")
}

#[test]
fn a_config_map_that_declines_an_injection_has_no_intent() {
    for metadata in [
        "annotations: {config.openshift.io/inject-tls: 'VALUE'}",
        "annotations: {x: x}, labels: {config.openshift.io/inject-trusted-cabundle: 'VALUE'}",
    ] {
        let project = |value: &str| {
            let metadata = metadata.replace("VALUE", value);
            let manifest = format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: ns, {metadata}}}\n"
            );
            without_rules(&manifest, "{guest: [ConfigMap]}")
        };
        assert_eq!(project("false").render("guest").len(), 1, "{metadata}");
        let shown = project("true").render_error("guest");
        assert!(shown.contains("has no rule for the intent"), "{shown}");
    }
}

#[test]
fn a_service_of_another_group_does_not_ask_for_a_serving_certificate() {
    let manifest = |api_version: &str| {
        format!(
            "apiVersion: {api_version}\nkind: Service\nmetadata: {{name: s, namespace: ns, annotations: {{service.beta.openshift.io/serving-cert-secret-name: cert}}}}\n"
        )
    };
    assert_eq!(
        without_rules(&manifest("serving.knative.dev/v1"), "{guest: [Service]}").render("guest").len(),
        1
    );
    let shown = without_rules(&manifest("v1"), "{guest: [Service]}").render_error("guest");
    assert!(shown.contains("has no rule for the intent `serving-cert`"), "{shown}");
}

const SERVICE: &str =
    "apiVersion: v1\nkind: Service\nmetadata: {name: hook, namespace: ns, annotations: {x: x}}\n---\n";

#[test]
fn a_custom_resource_with_webhooks_has_no_intent() {
    let manifest = format!(
        "{SERVICE}{}",
        object(
            "x.y/v1",
            "X",
            "ns",
            "x",
            "webhooks: [{name: w, clientConfig: {service: {name: hook, namespace: ns}}}]\n"
        )
    );
    assert_eq!(without_rules(&manifest, "{management: [Service], guest: [X]}").render("guest").len(), 1);
}

#[test]
fn the_service_of_a_webhook_is_found_by_its_namespace() {
    let webhooks = object(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "",
        "v",
        "webhooks: [{name: w, clientConfig: {service: {name: hook, namespace: other}}}]\n",
    )
    .replace(", namespace: ,", ",");
    let manifest = format!("{SERVICE}{}{webhooks}", SERVICE.replace("namespace: ns", "namespace: other"));
    let project = without_rules(&manifest, "{management: [Service]}")
        .profile("guest", "topology: t\ncluster: guest\nintents: {webhook: call}\n")
        .fragment(
            "call",
            r"
            inputs: {config: object, webhook: string, service: object}
            adds:
            - {in: [guest], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: ns}, data: {namespace: '${service.namespace}'}}]}
            - {in: [mc], nothing: x}
            ",
        );
    let rendered = project.render("guest");
    let added = rendered.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    assert_eq!(added["data"]["namespace"], "other");
}
