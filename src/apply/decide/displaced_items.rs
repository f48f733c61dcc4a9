//! List items that have the name of a rendered item and another key. Server-side apply merges lists such as the ports of a
//! Service by the port number. If someone changes the number of a port, the list then contains two ports with one name, and
//! the API server rejects every apply.

use serde_json::{Map, Value, json};

use crate::apply::decide::managed_fields::{
    MANAGER, SEED_MANAGER, child, child_mut, entries, field_owner, merge_field_sets, replace_entries,
};

/// An item of a live list that has the name of a rendered item, and another key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DisplacedItem {
    /// The steps of a field set that lead to the item.
    steps: Vec<String>,
}

/// Returns the displaced items of a live object.
pub(crate) fn displaced_items(live: &Value, fields: &Value) -> Vec<DisplacedItem> {
    let mut owned = json!({});
    for entry in entries(live) {
        merge_field_sets(&mut owned, &entry["fieldsV1"]);
    }
    let mut found = Vec::new();
    find(&owned, (live, fields), &mut Vec::new(), &mut found);
    found
}

fn find(
    owned: &Value,
    (live, rendered): (&Value, &Value),
    steps: &mut Vec<String>,
    found: &mut Vec<DisplacedItem>,
) {
    for (step, below) in owned.as_object().into_iter().flatten() {
        let Some(value) = child(live, step) else { continue };
        steps.push(step.clone());
        match step.split_once(':') {
            Some(("f", name)) if rendered.get(name).is_some() => {
                find(below, (value, &rendered[name]), steps, found);
            }
            Some(("k", keys)) => match same_item(rendered, keys) {
                Some(item) => find(below, (value, item), steps, found),
                None if has_name_of(rendered, value, keys) => {
                    found.push(DisplacedItem { steps: steps.clone() });
                }
                None => {}
            },
            _ => {}
        }
        steps.pop();
    }
}

/// Returns the rendered item with the same keys. A rendered item may leave out a key that has a default.
fn same_item<'v>(rendered: &'v Value, keys: &str) -> Option<&'v Value> {
    let keys: Map<String, Value> = serde_json::from_str(keys).ok()?;
    let is_same = |item: &&Value| {
        let mut given = keys.iter().filter(|(key, _)| item.get(key).is_some()).peekable();
        given.peek().is_some() && given.all(|(key, value)| item[key] == *value)
    };
    rendered.as_array()?.iter().find(is_same)
}

/// Returns whether a rendered item has the name of a live item, in a list whose key is not the name.
fn has_name_of(rendered: &Value, live: &Value, keys: &str) -> bool {
    let is_key = serde_json::from_str::<Value>(keys).is_ok_and(|keys| keys.get("name").is_some());
    let has_name = |item: &Value| item["name"].is_string() && item["name"] == live["name"];
    !is_key && rendered.as_array().is_some_and(|items| items.iter().any(has_name))
}

impl DisplacedItem {
    /// Returns the field sets of all managers that own a part of the item, with their entries.
    fn owners<'o>(&self, live: &'o Value) -> Vec<&'o Value> {
        entries(live).filter(|entry| lookup(&entry["fieldsV1"], &self.steps).is_some()).collect()
    }

    /// Describes the item and its owners.
    pub(crate) fn describe(&self, live: &Value) -> String {
        let mut field = String::new();
        for step in &self.steps {
            match step.split_once(':') {
                Some(("f", name)) if field.is_empty() => field.push_str(name),
                Some(("f", name)) => {
                    field.push('.');
                    field.push_str(name);
                }
                Some((_, keys)) => {
                    field.push('[');
                    field.push_str(keys.trim_matches(['{', '}']));
                    field.push(']');
                }
                None => {}
            }
        }
        let owners: Vec<String> = self.owners(live).into_iter().map(field_owner).collect();
        format!("{field} has the name of a rendered item, and is owned by {}", owners.join(", "))
    }
}

/// Returns the merge patch that transfers displaced items to transship, so that the next apply removes them; `None` if
/// another manager applied one of them, or owns it in another API version.
pub(crate) fn takeover_patch(live: &Value, items: &[DisplacedItem]) -> Option<Value> {
    let mut changed: Vec<Value> = entries(live).cloned().collect();
    let is_ours = |entry: &Value| entry["manager"] == MANAGER && entry["operation"] == "Apply";
    let ours = changed.iter().position(is_ours)?;
    let mut taken = changed[ours]["fieldsV1"].clone();
    let others = changed.iter_mut().enumerate().filter(|(index, _)| *index != ours);
    for (_, entry) in others {
        for item in items {
            let Some(fields) = lookup(&entry["fieldsV1"], &item.steps) else { continue };
            let is_updated = entry["operation"] == "Update" && entry.get("subresource").is_none();
            if !is_updated && entry["manager"] != SEED_MANAGER {
                return None;
            }
            merge_field_sets(&mut taken, &nested(&item.steps, fields.clone()));
            remove(&mut entry["fieldsV1"], &item.steps);
        }
    }
    let version = changed[ours]["apiVersion"].clone();
    let is_other_version =
        |item: &DisplacedItem| item.owners(live).into_iter().any(|entry| entry["apiVersion"] != version);
    if items.is_empty() || items.iter().any(is_other_version) {
        return None;
    }
    changed[ours]["fieldsV1"] = taken;
    changed.retain(|entry| entry["fieldsV1"].as_object().is_some_and(|fields| !fields.is_empty()));
    Some(replace_entries(live, &changed.iter().collect::<Vec<_>>()))
}

/// Returns an object without displaced items.
pub(crate) fn without_items(live: &Value, items: &[DisplacedItem]) -> Value {
    let mut rest = live.clone();
    for item in items {
        let Some((key, parents)) = item.steps.split_last() else { continue };
        let mut list = Some(&mut rest);
        for step in parents {
            list = list.and_then(|value| child_mut(value, step));
        }
        let Some(list) = list else { continue };
        let removed = child(list, key).cloned();
        if let (Some(removed), Some(items)) = (removed, list.as_array_mut()) {
            items.retain(|item| *item != removed);
        }
    }
    rest
}

fn lookup<'f>(fields: &'f Value, steps: &[String]) -> Option<&'f Value> {
    steps.iter().try_fold(fields, |fields, step| fields.get(step))
}

/// Puts a field set below some steps.
fn nested(steps: &[String], fields: Value) -> Value {
    steps.iter().rev().fold(fields, |below, step| json!({step: below}))
}

/// Removes a step of a field set, and the steps above it that become empty.
fn remove(fields: &mut Value, steps: &[String]) {
    let (Some(map), Some((first, rest))) = (fields.as_object_mut(), steps.split_first()) else { return };
    if rest.is_empty() {
        map.remove(first);
    } else if let Some(below) = map.get_mut(first) {
        remove(below, rest);
        if below.as_object().is_some_and(Map::is_empty) {
            map.remove(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{displaced_items, takeover_patch, without_items};

    const KEY: &str = "k:{\"port\":8443,\"protocol\":\"TCP\"}";

    fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1", "fieldsV1": fields})
    }

    /// A Service whose port someone renumbered.
    fn service(manager: &str, operation: &str) -> Value {
        let theirs = json!({"f:spec": {"f:ports": {KEY: {".": {}, "f:name": {}, "f:port": {}}}}});
        let ours = json!({"f:spec": {"f:selector": {}}});
        json!({
            "metadata": {"resourceVersion": "7", "managedFields": [
                entry("transship", "Apply", &ours), entry(manager, operation, &theirs),
            ]},
            "spec": {"selector": {}, "ports": [
                {"name": "https", "port": 8443, "protocol": "TCP"}, {"name": "other", "port": 80, "protocol": "TCP"},
            ]},
        })
    }

    fn rendered() -> Value {
        json!({"spec": {"selector": {}, "ports": [{"name": "https", "port": 443}]}})
    }

    #[test]
    fn an_item_with_the_name_of_a_rendered_one_is_displaced() {
        let live = service("kubectl-edit", "Update");
        let items = displaced_items(&live, &rendered());
        assert_eq!(items.len(), 1);
        assert_eq!(
            items[0].describe(&live),
            "spec.ports[\"port\":8443,\"protocol\":\"TCP\"] has the name of a rendered item, and is owned by \
             kubectl-edit (Update)"
        );
        assert_eq!(
            without_items(&live, &items)["spec"]["ports"],
            json!([{"name": "other", "port": 80, "protocol": "TCP"}])
        );
        let same = json!({"spec": {"ports": [{"name": "https", "port": 8443}]}});
        assert_eq!(displaced_items(&live, &same), [], "the key has a default");
        let other = json!({"spec": {"ports": [{"name": "web", "port": 443}]}});
        assert_eq!(displaced_items(&live, &other), [], "the names differ");
    }

    #[test]
    fn items_in_items_are_found() {
        let port = json!({"k:{\"containerPort\":1,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}});
        let theirs = json!({"f:containers": {"k:{\"name\":\"c\"}": {"f:ports": port}}});
        let live = json!({
            "metadata": {"managedFields": [entry("kubectl-edit", "Update", &theirs)]},
            "containers": [{"name": "c", "ports": [{"name": "p", "containerPort": 1, "protocol": "TCP"}]}],
        });
        let ports = json!([{"name": "p", "containerPort": 2}]);
        let items = displaced_items(&live, &json!({"containers": [{"name": "c", "ports": ports}]}));
        assert_eq!(items.len(), 1);
        assert_eq!(without_items(&live, &items)["containers"][0]["ports"], json!([]));
    }

    #[test]
    fn only_items_that_nobody_else_applied_are_taken_over() {
        let live = service("kubectl-edit", "Update");
        let patch = takeover_patch(&live, &displaced_items(&live, &rendered())).unwrap();
        assert_eq!(patch["metadata"]["resourceVersion"], "7");
        let entries = patch["metadata"]["managedFields"].as_array().unwrap();
        assert_eq!(entries.len(), 1, "the other entry is empty");
        assert_eq!(
            entries[0]["fieldsV1"]["f:spec"]["f:ports"][KEY],
            json!({".": {}, "f:name": {}, "f:port": {}})
        );
        assert_eq!(entries[0]["fieldsV1"]["f:spec"]["f:selector"], json!({}));
        let applied = service("argocd", "Apply");
        assert_eq!(takeover_patch(&applied, &displaced_items(&applied, &rendered())), None);
        let mut older = service("kubectl-edit", "Update");
        older["metadata"]["managedFields"][1]["apiVersion"] = json!("v1beta1");
        assert_eq!(takeover_patch(&older, &displaced_items(&older, &rendered())), None);
        assert_eq!(takeover_patch(&live, &[]), None);
    }
}
