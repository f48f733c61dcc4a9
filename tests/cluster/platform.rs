//! What a cluster has before the payload is applied: the files in `platform/`, one folder per kind of cluster.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::{self, Scope};
use serde_json::Value;
use transship::yaml::{self, SourceId, json};

/// A kind is served, and a namespace has its `ServiceAccount`, shortly after its creation.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the manifests of a folder of `platform/`, sorted by name.
pub(crate) fn manifests(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/platform").join(folder);
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// Applies every object of a text with force, CRDs first, and waits for their kinds.
pub(crate) async fn apply(client: &Client, text: &str) {
    apply_as(client, text, &PatchParams::apply("test").force()).await;
}

/// Applies every object of a text, CRDs first, and waits for their kinds.
pub(crate) async fn apply_as(client: &Client, text: &str, params: &PatchParams) {
    let documents = yaml::read(text, SourceId(0)).unwrap().into_iter();
    let mut objects: Vec<Value> =
        documents.map(|it| serde_json::from_str(&json::write(&it.root)).unwrap()).collect();
    objects.sort_by_key(|object| object["kind"] != "CustomResourceDefinition");
    for object in objects {
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = apply_one(client, &object, params).await {
            assert!(Instant::now() < deadline, "{} {}: {error}", object["kind"], object["metadata"]["name"]);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

async fn apply_one(client: &Client, object: &Value, params: &PatchParams) -> Result<(), kube::Error> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let version = text(&object["apiVersion"]);
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let kind = GroupVersionKind::gvk(group, version, &text(&object["kind"]));
    let (resource, capabilities) = discovery::pinned_kind(client, &kind).await?;
    let api: Api<DynamicObject> = match (capabilities.scope, object["metadata"]["namespace"].as_str()) {
        (Scope::Cluster, _) => Api::all_with(client.clone(), &resource),
        (Scope::Namespaced, namespace) => {
            Api::namespaced_with(client.clone(), namespace.unwrap_or("default"), &resource)
        }
    };
    api.patch(&text(&object["metadata"]["name"]), params, &Patch::Apply(object)).await.map(drop)
}
