//! A loop that only sends the objects, with server-side apply: nothing that applies them can be faster.

use std::path::Path;
use std::sync::Mutex;

use futures_util::future::join_all;
use kube::Client;
use serde_json::Value;

use crate::requests::{self, block_on};

/// How many requests are in flight.
const IN_FLIGHT: usize = 16;
const QUERY: &str = "fieldManager=bench&force=true&fieldValidation=Strict";

/// The requests of the loop.
pub(crate) struct BareLoop {
    /// Namespaces come first.
    namespaces: Vec<ApplyRequest>,
    objects: Vec<ApplyRequest>,
}

struct ApplyRequest {
    path: String,
    body: Vec<u8>,
}

impl BareLoop {
    /// Prepares the requests for objects, one per line in JSON.
    pub(crate) fn new(lines: &str) -> Self {
        let (mut namespaces, mut objects) = (Vec::new(), Vec::new());
        for line in lines.lines() {
            let object: Value = serde_json::from_str(line).unwrap();
            let list = if object["kind"] == "Namespace" { &mut namespaces } else { &mut objects };
            list.push(ApplyRequest { path: path(&object), body: line.into() });
        }
        Self { namespaces, objects }
    }

    /// Applies all objects, and returns the number of requests.
    pub(crate) fn run(&self, kubeconfig: &Path) -> usize {
        block_on(async {
            let client = requests::client(kubeconfig, "bench").await;
            apply_all(&client, &self.namespaces).await;
            apply_all(&client, &self.objects).await;
        });
        self.namespaces.len() + self.objects.len()
    }
}

async fn apply_all(client: &Client, requests: &[ApplyRequest]) {
    let remaining = Mutex::new(requests.iter());
    let worker = async || {
        loop {
            let next = remaining.lock().unwrap().next();
            let Some(ApplyRequest { path, body }) = next else { return };
            let content_type = "application/apply-patch+yaml";
            let response = requests::call(client, "PATCH", path, content_type, body.clone()).await.unwrap();
            assert!(matches!(response.code, 200 | 201), "{response:?}");
        }
    };
    join_all((0..IN_FLIGHT).map(|_| worker())).await;
}

fn path(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let api_version = text(&object["apiVersion"]);
    let api = if api_version.contains('/') { "apis" } else { "api" };
    let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
    let namespace = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
    // All kinds of the benchmark have a regular plural.
    let plural = format!("{}s", text(&object["kind"]).to_lowercase());
    format!("/{api}/{api_version}/{namespace}{plural}/{name}?{QUERY}")
}
