//! CustomResourceDefinitions, and when their resources are served.

use std::time::Duration;

use kube::api::{ListParams, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::Scope;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tracing::info;

use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::cluster::options::Options;
use crate::apply::decide::managed_fields::MANAGER;
use crate::apply::decide::object_error::{ErrorClass, ObjectError};
use crate::apply::wire::discovery::{self, ServedResource};
use crate::apply::wire::request::ObjectPath;
use crate::object::ObjectId;

/// The kind of CustomResourceDefinitions.
pub(crate) const CRD: &str = "CustomResourceDefinition";

/// The annotation that transship adds to a CRD for a moment.
const UPDATED: &str = "transship.openshift.io/updated";

const POLL_INTERVAL: Duration = Duration::from_millis(300);

/// Waits until the API server serves all resources of a CRD.
pub(crate) async fn wait_until_served(
    cluster: &LiveCluster<'_>,
    crd: &Value,
    options: &Options,
) -> Result<(), ObjectError> {
    for (gvk, served) in defined_resources(crd) {
        if !cluster.is_known(&gvk) {
            while !is_served(cluster, &served, options).await? {
                if Instant::now() >= options.deadline() {
                    let resource = format!("{} of {}", served.resource.plural, served.resource.api_version);
                    return Err(ObjectError::ResourceNotServed { resource });
                }
                sleep(POLL_INTERVAL).await;
            }
        }
        cluster.add_resource(served);
    }
    Ok(())
}

/// Lists objects of a CRD before transship deletes the CRD. An API server that never listed the resource may fail to
/// delete its objects, and then tries again only after minutes.
pub(crate) async fn list_before_delete(cluster: &LiveCluster<'_>, crd: &Value) {
    let Some((_, served)) = defined_resources(crd).pop() else { return };
    if let Ok(request) = served.collection("").list(&ListParams::default().limit(1)) {
        // transship deletes the CRD even if the request fails.
        let _ = cluster.server.send(request).await;
    }
}

/// Updates a CRD that stays at `Installing`, so that the API server establishes it: adds an annotation and removes it again.
pub(crate) async fn update_installing(cluster: &LiveCluster<'_>, id: &ObjectId, path: &ObjectPath) {
    info!("updating a CRD that stays at Installing");
    for value in [json!("installing"), Value::Null] {
        let change = json!({"metadata": {"annotations": {UPDATED: value}}});
        let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        if let Ok(request) = path.patch(&params, &Patch::Merge(&change)) {
            // The next poll tells whether it helped.
            let _ = cluster.write(id, request).await;
        }
    }
}

/// Returns the resource of each version that a CRD serves.
fn defined_resources(crd: &Value) -> Vec<(GroupVersionKind, ServedResource)> {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let [group, kind, plural] = [&spec["group"], &spec["names"]["kind"], &spec["names"]["plural"]].map(text);
    let scope = if spec["scope"] == "Namespaced" { Scope::Namespaced } else { Scope::Cluster };
    let mut resources = Vec::new();
    for version in spec["versions"].as_array().into_iter().flatten() {
        if version["served"] == true {
            let gvk = GroupVersionKind::gvk(&group, &text(&version["name"]), &kind);
            resources.push((gvk.clone(), ServedResource::new(&gvk, &plural, scope.clone())));
        }
    }
    resources
}

async fn is_served(
    cluster: &LiveCluster<'_>,
    served: &ServedResource,
    options: &Options,
) -> Result<bool, ObjectError> {
    match discovery::is_served(&cluster.server, &served.resource).await {
        Ok(is_served) => Ok(is_served),
        Err(error) if options.wait && error.is_transient() => Ok(false),
        // Only this step fails, even if the cluster is unreachable. The next request of another step finds that out.
        Err(error) => Err(ObjectError::Request { message: error.to_string(), class: ErrorClass::Permanent }),
    }
}
