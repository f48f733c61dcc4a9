//! A real API server rejects what the checks report about a single object, and accepts what they do not.

use kube::api::{Api, DynamicObject, Patch, PatchParams, ValidationDirective};
use kube::{Client, discovery};
use serde_json::Value;
use transship::yaml::{self, Node, SourceId, json};

use crate::Case;
use crate::control_plane::{ADMIN, ControlPlane};

pub(crate) const CASES: &[Case] =
    &[("checks::the_api_server_agrees_with_the_checks", the_api_server_agrees_with_the_checks)];

/// The checks that need no other object.
const ALONE: [&str; 6] =
    ["unknown-field", "wrong-type", "missing-field", "label-not-text", "duplicate-item", "one-of"];

fn data(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/checks/");
    std::fs::read_to_string(format!("{folder}{name}")).unwrap()
}

fn documents(text: &str) -> Vec<Node> {
    yaml::read(text, SourceId(0)).unwrap().into_iter().map(|document| document.root).collect()
}

fn text<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    path.iter().try_fold(node, |node, key| node.get(key)).and_then(Node::as_str).unwrap_or_default()
}

/// Applies an object with server-side apply; as a dry run, unless other objects need it.
async fn apply(client: &Client, object: &Node, dry_run: bool) -> Result<(), kube::Error> {
    let (api_version, kind) = (text(object, &["apiVersion"]), text(object, &["kind"]));
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let found = discovery::group(client, group).await?;
    let (resource, _) = found.recommended_kind(kind).expect("the kind is served");
    let api: Api<DynamicObject> = match text(object, &["metadata", "namespace"]) {
        "" => Api::all_with(client.clone(), &resource),
        namespace => Api::namespaced_with(client.clone(), namespace, &resource),
    };
    let params = PatchParams { dry_run, ..PatchParams::apply("transship-tests") };
    let params = PatchParams { field_validation: Some(ValidationDirective::Strict), ..params };
    let body: Value = serde_json::from_str(&json::write(object)).unwrap();
    api.patch(text(object, &["metadata", "name"]), &params, &Patch::Apply(&body)).await.map(drop)
}

fn the_api_server_agrees_with_the_checks(cluster: &ControlPlane) {
    let kubeconfig = cluster.kubeconfig(ADMIN);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = transship::apply::connect(Some(&kubeconfig)).await.unwrap();
        let right = documents(&data("one.yaml"));
        let valid = documents(&data("valid.yaml"));
        // Namespaces and CRDs are created for the other objects. The API server does not know monitors.
        for object in right
            .iter()
            .chain(&valid)
            .filter(|object| matches!(text(object, &["kind"]), "Namespace" | "CustomResourceDefinition"))
        {
            apply(&client, object, false).await.unwrap();
        }
        wait_until_served(&client).await;
        // Monitors belong to another API server, and tombstones are not applied.
        let gone = |object: &Node| {
            object
                .get("metadata")
                .and_then(|it| it.get("annotations")?.get("release.openshift.io/delete"))
                .is_some()
        };
        let known = |object: &&Node| text(object, &["kind"]) != "ServiceMonitor" && !gone(object);
        for object in right.iter().chain(&valid).filter(known) {
            apply(&client, object, true)
                .await
                .unwrap_or_else(|error| panic!("{} is right: {error}", text(object, &["kind"])));
        }
        let cases = documents(&data("cases.yaml")).remove(0);
        let mut refused = 0;
        for case in cases.as_list().unwrap() {
            if !ALONE.contains(&text(case, &["check"])) {
                continue;
            }
            let wrong = data("one.yaml").replace(text(case, &["replace"]), text(case, &["with"]));
            for (object, before) in
                documents(&wrong).iter().zip(&right).filter(|(object, before)| object != before)
            {
                let kind = text(before, &["kind"]);
                let response = apply(&client, object, true).await;
                assert!(response.is_err(), "the API server takes this {kind}: {}", text(case, &["with"]));
                assert!(
                    text(case, &["expect"]).contains(&format!("object: {kind}")),
                    "the finding is about the same object"
                );
                refused += 1;
            }
        }
        assert!(refused >= 17, "{refused}");
    });
}

async fn wait_until_served(client: &Client) {
    for _ in 0..100 {
        let served = discovery::group(client, "example.test").await.is_ok();
        if served && discovery::group(client, "valid.test").await.is_ok() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the custom kind is not served");
}
