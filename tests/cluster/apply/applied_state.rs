//! The state that transship left in a cluster, read from the cluster itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::test_cluster::TestCluster;

/// The part of an inventory beside its objects that must be the same whatever interrupted a run.
const HEADER: [&str; 7] = [
    "installed",
    "revision",
    "previousApplySets",
    "clusterUID",
    "hostedControlPlane",
    "hostedControlPlaneUID",
    "guestUID",
];

/// Returns the fields that transship owns in every labelled object, and the inventories, which must list exactly those
/// objects.
pub(crate) fn ours(cluster: &TestCluster, kinds: &[String]) -> Value {
    let inventories = cluster.list("/api/v1/configmaps?labelSelector=applyset.kubernetes.io%2Fid");
    let lines: Vec<String> = inventories.iter().flat_map(|inventory| all_lines(cluster, inventory)).collect();
    let mut all = BTreeMap::new();
    let kinds: BTreeSet<&String> = kinds.iter().collect();
    let labelled = kinds.into_iter().flat_map(|kind| labelled(cluster, kind));
    for (path, mut live) in labelled {
        mask_issued(&mut live);
        let fields: Vec<Value> = own_entries(&live)
            .map(|entry| json!([entry["manager"], entry["operation"], view(Some(&live), &entry["fieldsV1"])]))
            .collect();
        let deleted = live["metadata"].get("deletionTimestamp").is_some();
        let (kind, name) = (live["kind"].as_str().unwrap_or_default().to_owned(), &live["metadata"]["name"]);
        let tracked = lines.iter().any(|line| line.split(' ').nth(3) == name.as_str());
        assert!(tracked, "{path} is not in the inventory");
        all.insert(path, json!({"fields": fields, "deleted": deleted, "kind": kind}));
    }
    // A uid differs between runs, so only its presence counts.
    let entries: Vec<String> = lines
        .iter()
        .map(|line| {
            let parts: Vec<&str> = line.split(' ').collect();
            format!(
                "{} {} {} {} {} {} {}",
                parts[0],
                parts[1],
                parts[2],
                parts[3],
                parts[4] != "-",
                parts[5],
                parts[6]
            )
        })
        .collect();
    let headers: Vec<Value> = inventories.iter().map(header).collect();
    // The next write of an inventory with shards replaces those that an interrupted command left.
    let may_have_shards = inventories.iter().any(|inventory| inventory["data"]["shards"].is_string());
    let left = if may_have_shards { Vec::new() } else { shards(cluster) };
    json!({"objects": all, "inventory": entries, "inventories": headers, "shards left": left})
}

/// Replaces issued values, which are new in each cluster, and the hashes over them. Empty values stay.
fn mask_issued(live: &mut Value) {
    let is_issued = live["metadata"]["labels"].get("transship.openshift.io/issued").is_some();
    if is_issued && let Some(data) = live["data"].as_object_mut() {
        data.values_mut().filter(|value| *value != "").for_each(|value| *value = json!("issued"));
    }
    let hash = "/spec/template/metadata/annotations/component.hypershift.openshift.io~1config-hash";
    if let Some(hash) = live.pointer_mut(hash) {
        *hash = json!("hash");
    }
}

fn header(inventory: &Value) -> Value {
    let data = HEADER.map(|key| inventory["data"][key].clone());
    json!([inventory["metadata"]["namespace"], inventory["metadata"]["name"], data])
}

/// Returns the names of all shards. They have no labels, so nothing but their name tells what they are.
fn shards(cluster: &TestCluster) -> Vec<String> {
    let maps = cluster.list("/api/v1/configmaps").into_iter();
    let names = maps.filter_map(|map| Some(map["metadata"]["name"].as_str()?.to_owned()));
    let is_shard = |name: &String| {
        let number = name.rsplit_once('-').map(|(_, number)| number.parse::<usize>());
        name.starts_with("transship-") && number.is_some_and(|number| number.is_ok())
    };
    names.filter(is_shard).collect()
}

/// Returns the lines of an inventory with its shards.
fn all_lines(cluster: &TestCluster, inventory: &Value) -> Vec<String> {
    let namespace = inventory["metadata"]["namespace"].as_str().unwrap();
    let mut lines = inventory["data"]["objects"].as_str().unwrap_or_default().to_owned();
    for shard in
        inventory["data"]["shards"].as_str().unwrap_or_default().split(' ').filter(|name| !name.is_empty())
    {
        let shard = cluster.get(&format!("/api/v1/namespaces/{namespace}/configmaps/{shard}")).unwrap();
        lines.push_str(shard["data"]["objects"].as_str().unwrap());
    }
    lines.lines().map(str::to_owned).collect()
}

/// Returns the managed-fields entries of transship.
fn own_entries(live: &Value) -> impl Iterator<Item = &Value> {
    let entries = live["metadata"]["managedFields"].as_array().unwrap().iter();
    entries.filter(|entry| entry["manager"].as_str().unwrap().starts_with("transship"))
}

/// Returns the labelled objects of a kind. Objects of controllers, which copy the labels of a Service, are left out.
pub(crate) fn labelled(cluster: &TestCluster, kind: &str) -> Vec<(String, Value)> {
    let found = cluster.list(&format!("{kind}?labelSelector=applyset.kubernetes.io%2Fpart-of")).into_iter();
    let found = found.filter(|live| own_entries(live).next().is_some());
    let named =
        |live: &Value| format!("{kind} {} {}", live["metadata"]["namespace"], live["metadata"]["name"]);
    found.map(|live| (named(&live), live)).collect()
}

/// Returns the paths of all kinds that have labelled objects.
pub(crate) fn kinds_of(cluster: &TestCluster) -> Vec<String> {
    let groups = cluster.get("/apis").unwrap();
    let versions = groups["groups"].as_array().unwrap().iter();
    let versions = versions
        .map(|group| format!("/apis/{}", group["preferredVersion"]["groupVersion"].as_str().unwrap()));
    let mut found = Vec::new();
    for root in std::iter::once("/api/v1".to_owned()).chain(versions) {
        let resources = cluster.get(&root).unwrap_or_default();
        for resource in resources["resources"].as_array().into_iter().flatten() {
            let listed = resource["verbs"].as_array().is_some_and(|verbs| verbs.contains(&json!("list")));
            let path = format!("{root}/{}", resource["name"].as_str().unwrap());
            if listed && !labelled(cluster, &path).is_empty() {
                found.push(path);
            }
        }
    }
    found
}

/// Returns the values that an object has in a field set.
fn view(value: Option<&Value>, fields: &Value) -> Value {
    let fields = fields.as_object().unwrap();
    if fields.is_empty() {
        return value.cloned().unwrap_or_default();
    }
    let mut seen = Map::new();
    for (step, below) in fields.iter().filter(|(step, _)| *step != ".") {
        let (kind, name) = step.split_once(':').unwrap();
        let child = match kind {
            "f" => value.and_then(|value| value.get(name)),
            "k" => {
                let keys: Map<String, Value> = serde_json::from_str(name).unwrap();
                let fits = |item: &&Value| keys.iter().all(|(key, wanted)| item.get(key) == Some(wanted));
                value.and_then(|value| value.as_array()?.iter().find(fits))
            }
            _ => None,
        };
        seen.insert(step.clone(), view(child, below));
    }
    Value::Object(seen)
}
