//! Nodes without machines.

use kube::Client;
use serde_json::{Value, json};

use super::{condition, list, send};

/// Creates missing nodes, deletes surplus ones, and reports them as ready.
pub(super) async fn look(client: &Client, count: usize) {
    let nodes = list(client, "/api/v1/nodes").await;
    let there = |name: &str| nodes.iter().find(|node| node["metadata"]["name"] == name);
    for name in (1..=count).map(name) {
        match there(&name) {
            Some(node) if is_ready(node) => {}
            Some(_) => get_ready(client, &name).await,
            None => {
                send(client, "POST", "/api/v1/nodes", &node(&name)).await;
                get_ready(client, &name).await;
            }
        }
    }
    for node in nodes.iter().filter_map(|node| node["metadata"]["name"].as_str()) {
        if !(1..=count).any(|number| name(number) == node) {
            send(client, "DELETE", &format!("/api/v1/nodes/{node}"), &Value::Null).await;
        }
    }
}

pub(super) fn name(number: usize) -> String {
    format!("node-{number}")
}

/// The node accepts all pods, whatever role they select.
fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name,
            "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/master": "",
            "node-role.kubernetes.io/control-plane": "",
        }},
    })
}

fn is_ready(node: &Value) -> bool {
    let conditions = node["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|it| it["type"] == "Ready" && it["status"] == "True"))
}

async fn get_ready(client: &Client, name: &str) {
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1000"});
    let status = json!({"status": {
        "capacity": room, "allocatable": room,
        "conditions": [condition("Ready", true, "KubeletReady", "played by the stand-in")],
    }});
    send(client, "PATCH", &format!("/api/v1/nodes/{name}/status"), &status).await;
}
