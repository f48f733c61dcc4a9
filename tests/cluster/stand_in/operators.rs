//! The status of operators: in their `ClusterOperator`, and in the resource that configures them.

use kube::Client;
use serde_json::{Value, json};

use super::{condition, list, send};

const CLUSTER_OPERATORS: &str = "/apis/config.openshift.io/v1/clusteroperators";
/// Kinds of the storage payload, which are not served at first and not in every cluster.
const CONFIGURATIONS: [&str; 3] = [
    "/apis/operator.openshift.io/v1/storages",
    "/apis/operator.openshift.io/v1/csisnapshotcontrollers",
    "/apis/operator.openshift.io/v1/clustercsidrivers",
];

pub(super) async fn look(client: &Client, version: &str, fail: bool) {
    for object in list(client, CLUSTER_OPERATORS).await {
        let versions = ["operator", object["metadata"]["name"].as_str().unwrap_or_default()]
            .map(|name| json!({"name": name, "version": version}));
        report(client, CLUSTER_OPERATORS, &object, fail, &json!({"versions": versions})).await;
    }
    for path in CONFIGURATIONS {
        for object in list(client, path).await {
            let generation = json!({"observedGeneration": object["metadata"]["generation"]});
            report(client, path, &object, fail, &generation).await;
        }
    }
}

/// Writes conditions and other status fields, unless they are there.
async fn report(client: &Client, path: &str, object: &Value, fail: bool, rest: &Value) {
    let (reason, message) =
        if fail { ("StandInFails", "the stand-in was told to fail") } else { ("AsExpected", "") };
    let conditions =
        [("Available", !fail), ("Progressing", false), ("Degraded", fail), ("Upgradeable", !fail)]
            .map(|(kind, holds)| condition(kind, holds, reason, message));
    let old = &object["status"];
    let rest_is_so = rest.as_object().is_some_and(|rest| rest.iter().all(|(key, value)| &old[key] == value));
    if rest_is_so && conditions.iter().all(|condition| has(old, condition)) {
        return;
    }
    let mut status = rest.clone();
    status["conditions"] = json!(conditions);
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    send(client, "PATCH", &format!("{path}/{name}/status"), &json!({"status": status})).await;
}

fn has(status: &Value, wanted: &Value) -> bool {
    let same = |it: &Value| it["type"] == wanted["type"] && it["status"] == wanted["status"];
    status["conditions"].as_array().is_some_and(|all| all.iter().any(same))
}
