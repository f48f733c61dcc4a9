//! Pods: scheduled, started, completed, and removed when they are deleted.

use kube::Client;
use serde_json::{Value, json};

use super::{condition, list, nodes, now, send};

pub(super) async fn look(client: &Client, nodes: usize, fail: bool) {
    for pod in list(client, "/api/v1/pods").await {
        let metadata = &pod["metadata"];
        let name = |key: &str| metadata[key].as_str().unwrap_or_default();
        let path = format!("/api/v1/namespaces/{}/pods/{}", name("namespace"), name("name"));
        if metadata["deletionTimestamp"].is_string() {
            let now = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}});
            send(client, "DELETE", &path, &now).await;
        } else if nodes == 0 && pod["spec"]["nodeName"].is_null() {
            let status = json!({"phase": "Pending", "conditions": [
                condition("PodScheduled", false, "Unschedulable", "0/0 nodes are available"),
            ]});
            write(client, &path, &pod, &status).await;
        } else {
            bind(client, &path, &pod).await;
            write(client, &path, &pod, &status(&pod, fail)).await;
        }
    }
}

/// Schedules a pod to the node of its `DaemonSet`, or to the first node.
async fn bind(client: &Client, path: &str, pod: &Value) {
    if pod["spec"]["nodeName"].is_string() {
        return;
    }
    let chosen = pod.pointer(
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0",
    );
    let node = chosen.and_then(Value::as_str).map_or_else(|| nodes::name(1), str::to_owned);
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding",
        "metadata": {"name": pod["metadata"]["name"]},
        "target": {"apiVersion": "v1", "kind": "Node", "name": node},
    });
    send(client, "POST", &format!("{path}/binding"), &binding).await;
}

/// Writes a status, unless the pod has it already.
async fn write(client: &Client, path: &str, pod: &Value, status: &Value) {
    let old = &pod["status"];
    let has_run = old["phase"] == "Running" || old["phase"] == "Succeeded";
    let is_so = old["phase"] == status["phase"] && ready(old) == ready(status);
    if !is_so && (!has_run || status["phase"] != "Pending") {
        send(client, "PATCH", &format!("{path}/status"), &json!({"status": status})).await;
    }
}

/// Returns the reason of a pod's last condition, which tells the statuses of this file apart.
fn ready(status: &Value) -> Option<&str> {
    status["conditions"].as_array()?.last()?["reason"].as_str()
}

fn status(pod: &Value, fail: bool) -> Value {
    let owners = pod["metadata"]["ownerReferences"].as_array();
    let is_job = owners.is_some_and(|all| all.iter().any(|owner| owner["kind"] == "Job"));
    let done = json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}});
    let (phase, state, why) = match (fail, is_job) {
        (true, _) => {
            let waits = json!({"reason": "ImagePullBackOff", "message": "the stand-in pulls no image"});
            ("Pending", json!({"waiting": waits}), "ContainersNotReady")
        }
        (false, true) => ("Succeeded", done.clone(), "PodCompleted"),
        (false, false) => ("Running", json!({"running": {"startedAt": now()}}), "ContainersReady"),
    };
    let holds = phase == "Running";
    json!({
        "phase": phase, "startTime": now(),
        "hostIP": "192.0.2.1", "podIP": "192.0.2.2", "podIPs": [{"ip": "192.0.2.2"}],
        "containerStatuses": containers(&pod["spec"]["containers"], |_| (&state, holds)),
        // Sidecar containers keep running.
        "initContainerStatuses": containers(&pod["spec"]["initContainers"], |spec| {
            if spec["restartPolicy"] == "Always" { (&state, holds) } else { (&done, true) }
        }),
        "conditions": [
            condition("PodScheduled", true, "", ""),
            condition("Initialized", true, "", ""),
            condition("ContainersReady", holds, why, ""),
            condition("Ready", holds, why, ""),
        ],
    })
}

/// Returns container statuses with a state and readiness.
fn containers<'s>(specs: &Value, state: impl Fn(&Value) -> (&'s Value, bool)) -> Value {
    let status = |spec: &Value| {
        let (state, ready) = state(spec);
        json!({
            "name": spec["name"], "image": spec["image"], "imageID": "", "restartCount": 0,
            "ready": ready, "started": ready, "state": state,
        })
    };
    specs.as_array().map(|specs| specs.iter().map(status).collect()).unwrap_or_default()
}
