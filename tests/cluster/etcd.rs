//! A client for etcd's JSON gateway.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use kube::Client;
use serde_json::{Value, json};

use crate::requests;

/// The value of a key, in the form in which it is written back.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) revision: String,
    pub(crate) value: String,
}

/// A change of one key.
pub(crate) enum Change {
    Delete(String),
    Put(String, String),
}

impl Change {
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Delete(key) | Self::Put(key, _) => key,
        }
    }

    fn request(&self) -> Value {
        match self {
            Self::Delete(key) => json!({"requestDeleteRange": {"key": BASE64.encode(key)}}),
            Self::Put(key, value) => json!({"requestPut": {"key": BASE64.encode(key), "value": value}}),
        }
    }
}

/// Returns all keys of an API server, with or without their values.
pub(crate) async fn read(client: &Client, with_values: bool) -> BTreeMap<String, Stored> {
    let body = json!({
        "key": BASE64.encode("/registry/"),
        "range_end": BASE64.encode("/registry0"),
        "keys_only": !with_values,
    });
    let response = requests::send(client, "POST", "/v3/kv/range", &body).await.unwrap().ok().unwrap();
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let stored = |entry: &Value| {
        let key = String::from_utf8(BASE64.decode(text(entry, "key")).unwrap()).unwrap();
        (key, Stored { revision: text(entry, "mod_revision"), value: text(entry, "value") })
    };
    response["kvs"].as_array().map(|entries| entries.iter().map(stored).collect()).unwrap_or_default()
}

/// Applies changes in one revision, and returns it.
pub(crate) async fn change(client: &Client, changes: &[Change]) -> String {
    let body = json!({"success": changes.iter().map(Change::request).collect::<Vec<_>>()});
    let response = requests::send(client, "POST", "/v3/kv/txn", &body).await.unwrap().ok().unwrap();
    response["header"]["revision"].as_str().unwrap().to_owned()
}
