//! Discovery of API servers of different versions.

use serde_json::json;

use crate::fake_server::FakeServer;
use crate::support::{TestProject, config_map};

/// Kubernetes 1.27 to 1.29 offer only `v2beta1` of aggregated discovery.
#[test]
fn aggregated_discovery_is_asked_for_in_both_versions() {
    let server = FakeServer::start(|path, body| {
        let resource = json!({
            "resource": "configmaps", "responseKind": {"group": "", "version": "", "kind": "ConfigMap"},
            "scope": "Namespaced", "singularResource": "configmap", "verbs": ["list"],
        });
        let version = json!({"version": "v1", "resources": [resource], "freshness": "Current"});
        let group = json!({"metadata": {"creationTimestamp": null}, "versions": [version]});
        let list = |items| {
            json!({
                "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2beta1", "metadata": {},
                "items": items,
            })
        };
        let response = match path {
            "/api" => list(vec![group]),
            "/apis" => list(Vec::new()),
            _ => json!({"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {}, "items": []}),
        };
        body.write_all(response.to_string().as_bytes())
    });
    let kubeconfig = format!(
        "current-context: it\ncontexts: [{{name: it, context: {{cluster: it}}}}]\n\
         clusters: [{{name: it, cluster: {{server: \"{}\"}}}}]\n",
        server.url()
    );
    let project = TestProject::standalone()
        .manifest("op/0000_50_op_1.yaml", &config_map("c", "{}"))
        .page("op", "")
        .file("kubeconfig", &kubeconfig);
    project.run(&["apply", "--dry-run", "--topology", "test", "--kubeconfig", "kubeconfig"]);
    let heads = server.heads();
    let accept = "\r\naccept: application/json;g=apidiscovery.k8s.io;v=v2;as=apigroupdiscoverylist,\
                  application/json;g=apidiscovery.k8s.io;v=v2beta1;as=apigroupdiscoverylist\r\n";
    for path in ["/api", "/apis"] {
        let head = heads.iter().find(|head| head.starts_with(&format!("get {path} "))).unwrap();
        assert!(head.contains(accept), "{head}");
    }
    // The kind was found: its objects are listed.
    assert!(heads.iter().any(|head| head.starts_with("get /api/v1/configmaps?")), "{heads:#?}");
}
