//! Definitions of kinds, and when what they define is served.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::apply::Options;
use crate::apply::cluster::live_cluster::Side;
use crate::apply::wire::discovery::Resource;
use crate::apply::wire::error::Problem;

pub(in crate::apply) const DEFINITION: &str = "CustomResourceDefinition";

const PAUSE: Duration = Duration::from_millis(300);

/// Waits until what a definition defines is served.
pub(in crate::apply) async fn served(
    side: &Side<'_>,
    definition: &Value,
    options: &Options,
) -> Result<(), Problem> {
    for (kind, resource) in defines(definition) {
        let known = side.kinds.borrow().find(&resource.group, &resource.version, &kind).is_some();
        while !known && !is_served(side, &resource, options).await? {
            if Instant::now() >= options.deadline() {
                let what = format!("{} of {}/{}", resource.plural, resource.group, resource.version);
                return Err(Problem::new(format!("it is established, and {what} are not served")));
            }
            sleep(PAUSE).await;
        }
        side.kinds.borrow_mut().add(kind, resource);
    }
    Ok(())
}

/// Asks for objects of the kind that a definition defines. A server that is asked for the first time, by itself, when the
/// definition is to go, is not ready to answer, and may forget to ask again: the definition would stay for minutes.
pub(in crate::apply) async fn wake(side: &Side<'_>, definition: &Value) {
    if let Some((_, resource)) = defines(definition).pop() {
        // Whatever it says, the definition goes.
        let _ = side.server.get(&format!("{}?limit=1", resource.collection(""))).await;
    }
}

/// What a `CustomResourceDefinition` will serve: each version, with the kind.
fn defines(definition: &Value) -> Vec<(String, Resource)> {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let versions = spec["versions"].as_array().into_iter().flatten();
    let served = versions.filter(|version| version["served"] == true);
    served
        .map(|version| {
            let resource = Resource {
                group: text(&spec["group"]),
                version: text(&version["name"]),
                plural: text(&spec["names"]["plural"]),
                namespaced: spec["scope"] == "Namespaced",
            };
            (text(&spec["names"]["kind"]), resource)
        })
        .collect()
}

/// Whether a cluster says that it serves a resource.
async fn is_served(side: &Side<'_>, resource: &Resource, options: &Options) -> Result<bool, Problem> {
    let path = format!("/apis/{}/{}", resource.group, resource.version);
    let list = match side.get(&path).await {
        Ok(list) => list.unwrap_or_default(),
        Err(failure) if options.wait && failure.is_passing() => return Ok(false),
        // Whether the cluster is there at all is seen by all the others who ask it.
        Err(failure) => return Err(Problem::new(failure.words(false))),
    };
    Ok(list["resources"].as_array().into_iter().flatten().any(|one| one["name"] == resource.plural))
}
