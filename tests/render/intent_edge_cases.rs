//! Intents in objects that are easily confused, and intents that appear late.

use crate::support::{DEPLOYMENT_SPEC, TestProject, object};

#[test]
fn an_intent_applies_to_the_object_in_its_own_namespace() {
    let token = DEPLOYMENT_SPEC.replace("emptyDir: {}", "projected: {sources: [{serviceAccountToken: {path: kube}}, {serviceAccountToken: {audience: a, path: t}}]}");
    let project = TestProject::with_deployment("", "intents: {projected-token: w}\n").manifest(
        "op/2.yaml",
        &object(
            "apps/v1",
            "Deployment",
            "zz",
            "d",
            &token.replace("{serviceAccountToken: {path: kube}}, ", ""),
        ),
    );
    let body = r"
        inputs: {workload: workload, volume: name}
        adds:
        - {in: [guest], nothing: x}
        - {in: [mc], pod: {spec: {volumes: [{name: '${volume}', emptyDir: {medium: Memory}}]}}}
        ";
    let project = project.fragment("w", body);
    let volumes =
        |index: usize| project.render("mc")[index]["spec"]["template"]["spec"]["volumes"].to_string();
    assert_eq!(
        (volumes(0).as_str(), volumes(1).as_str()),
        (r#"[{"emptyDir":{},"name":"v"}]"#, r#"[{"emptyDir":{"medium":"Memory"},"name":"v"}]"#)
    );
    // A page must say which one it means.
    let project = project.page(
        "op",
        r"
            place: {management: [Deployment]}
            uses: [{w: {workload: Deployment/d, volume: v}}]
            ",
    );
    let shown = project.render_error("mc");
    assert!(shown.contains("component.yaml:5:23: several objects are `Deployment/d`"), "{shown}");
    assert!(shown.contains("help: write `Kind/namespace/name`"), "{shown}");
    let project = project.page(
        "op",
        r"
        place: {management: [Deployment]}
        uses: [{w: {workload: Deployment/ns/d, volume: v}}]
        ",
    );
    assert_eq!(
        project.render("mc")[0]["spec"]["template"]["spec"]["volumes"].to_string(),
        r#"[{"emptyDir":{"medium":"Memory"},"name":"v"}]"#
    );
    // A token behind one that is for the cluster itself is still found.
    let project = project
        .manifest("op/2.yaml", &object("apps/v1", "Deployment", "zz", "e", &token))
        .page("op", "place: {management: [Deployment]}\n");
    assert!(
        project
            .render_error("mc")
            .contains("cannot replace this `projected-token`: its volume has other sources")
    );
}

const HOOKS: &str = r"apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: v, annotations: {service.beta.openshift.io/inject-cabundle: 'true'}}
webhooks: [{name: a.x.y, clientConfig: {service: {name: far, namespace: ns}}}, {name: b.x.y, clientConfig: {service: {name: near, namespace: ns}}}]
";

#[test]
fn a_webhook_of_another_component_is_handled_for_one_of_two_services() {
    let project = TestProject::with_deployment("", "")
        .profile("guest", "topology: t\ncluster: guest\nintents: {webhook: w}\n")
        .manifest("hook/1.yaml", HOOKS)
        .manifest("op/2.yaml", &object("v1", "Service", "ns", "far", ""))
        .manifest("op/3.yaml", &object("v1", "Service", "ns", "near", ""))
        .page("op", "place: {management: [Deployment, Service/far], guest: [Service/near]}\n");
    let body = r"
        inputs: {service: object}
        adds:
        - {in: [guest], nothing: x}
        - {in: [mc], objects: [{apiVersion: v1, kind: Service, metadata: {name: '${service.name}', namespace: '${service.namespace}', labels: {hook: 'true'}}}]}
        ";
    let project = project.fragment("w", body);
    let mc = project.render("mc");
    assert_eq!((mc.len(), mc[1]["metadata"]["labels"]["hook"].as_str()), (2, Some("true")));
    let guest = project.render("guest");
    let config = guest.iter().find(|object| object["metadata"]["name"] == "v").unwrap();
    assert_eq!(config["webhooks"][1]["clientConfig"]["service"]["name"], "near");
    assert_eq!(
        config["metadata"]["annotations"]["service.beta.openshift.io/inject-cabundle"], "true",
        "the near one still needs it"
    );
    let project = project.manifest(
        "hook/1.yaml",
        r"
        apiVersion: apiregistration.k8s.io/v1
        kind: APIService
        metadata: {name: v1.x.y, annotations: {x: x}}
        spec: {service: {name: far, namespace: ns}}
        ",
    );
    assert!(project.render_error("guest").contains(
        "the fragment `w` cannot replace this `webhook`: an aggregated API needs a Service in its own cluster"
    ));
}

#[test]
fn an_intent_that_a_patch_adds_is_an_error() {
    let patch = "patches: [{reason: x, in: [mc], target: {kind: Deployment}, patch: {metadata: {annotations: {config.openshift.io/inject-proxy: c}}}}]\n";
    let project = TestProject::with_deployment(patch, "intents: {proxy: '${p}'}\n");
    let optional = |name: &str| format!("p.{name}: {{type: string, description: d, optional: true}}");
    let project = project.parameters(&format!(
        "parameters: {{{}, {}, {}}}\n",
        optional("httpProxy"),
        optional("httpsProxy"),
        optional("noProxy")
    ));
    assert!(project.render_error("mc").contains("the intent `proxy` is added too late to be handled"));
}

#[test]
fn every_document_of_a_tls_configuration_is_kept() {
    let project = TestProject::with_deployment("", "intents: {tls: '${t}'}\n");
    let config =
        "data:\n  c.yaml: |\n    kind: GenericOperatorConfig\n    servingInfo:\n    ---\n    kind: Other\n";
    let project = project.manifest("op/2.yaml", &("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: ns, annotations: {config.openshift.io/inject-tls: 'true'}}\n".to_owned() + config))
        .page("op", "place: {management: [Deployment, ConfigMap]}\n")
        .parameters("parameters: {t.minVersion: {type: string, description: d, default: V}, t.cipherSuites: {type: list, description: d, optional: true}}\n");
    assert_eq!(
        project.render("mc")[1]["data"]["c.yaml"],
        "kind: GenericOperatorConfig\nservingInfo:\n  minTLSVersion: V\n---\nkind: Other\n"
    );
}

#[test]
fn additions_for_an_intent_are_merged_together() {
    let project = TestProject::with_deployment("", "intents: {projected-token: w}\n");
    let token = DEPLOYMENT_SPEC
        .replace("emptyDir: {}", "projected: {sources: [{serviceAccountToken: {audience: a, path: t}}]}");
    let project = project.manifest("op/1.yaml", &object("apps/v1", "Deployment", "ns", "d", &token));
    let body = r"
        inputs: {workload: workload}
        adds:
        - {in: [guest], nothing: x}
        - {in: [mc], pod: {spec: {containers: [{name: minter, image: q}]}}}
        - {in: [mc], pod: {spec: {initContainers: [{name: minter}]}}}
        ";
    let project = project.fragment("w", body);
    let spec = project.render("mc")[0]["spec"]["template"]["spec"].clone();
    assert_eq!(spec["initContainers"].to_string(), r#"[{"image":"q","name":"minter"}]"#);
    assert_eq!(spec["containers"].as_array().unwrap().len(), 1);
}
