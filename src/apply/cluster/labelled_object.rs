//! A live object that carries the label of an `ApplySet`, as the API server sent it.
//!
//! A command keeps all of them from its start to its end. As JSON text, an object needs a fifth of the memory that it needs
//! as a [`Value`], so it is parsed only when it is looked at.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::apply::decide::inventory::PART_OF;
use crate::apply::wire::api_server::ResponseBody;
use crate::apply::wire::memory::count_items;
use crate::object::ObjectId;

/// The memory that an item of a list needs besides its text, with its identity.
const ITEM_COST: usize = 400;

/// One page of a list. The text of each item is kept as it is.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ListPage {
    kind: String,
    api_version: String,
    metadata: ListMetadata,
    items: Option<Vec<Box<RawValue>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ListMetadata {
    r#continue: Option<String>,
}

impl ResponseBody for ListPage {
    fn memory(text: &[u8]) -> usize {
        text.len() + count_items(text) * ITEM_COST
    }
}

impl ListPage {
    /// Returns the token for the next page; empty for the last page.
    pub(crate) fn continue_token(&self) -> &str {
        self.metadata.r#continue.as_deref().unwrap_or_default()
    }

    /// Returns the objects of the page with their identities. Leaves out items that are not objects.
    pub(crate) fn into_objects(self) -> impl Iterator<Item = (ObjectId, LabelledObject)> {
        let kind = self.kind.trim_end_matches("List").to_owned();
        let api_version: Arc<str> = self.api_version.into();
        let items = self.items.into_iter().flatten();
        items.filter_map(move |item| LabelledObject::of_item(item, &kind, &api_version))
    }
}

/// A live object as JSON text.
pub(crate) struct LabelledObject {
    api_version: Arc<str>,
    kind: Arc<str>,
    pub(crate) uid: Box<str>,
    /// The `ApplySet` that the label names.
    pub(crate) apply_set: Box<str>,
    json: Box<RawValue>,
}

/// The fields that identify an item of a list. The items have no `kind` and `apiVersion` if they are of one built-in kind.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ItemIdentity {
    kind: Option<String>,
    api_version: Option<String>,
    metadata: ItemMetadata,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ItemMetadata {
    name: String,
    namespace: String,
    uid: Box<str>,
    labels: Option<BTreeMap<String, String>>,
}

impl LabelledObject {
    fn of_item(json: Box<RawValue>, kind: &str, api_version: &Arc<str>) -> Option<(ObjectId, Self)> {
        let ItemIdentity { kind: own_kind, api_version: own_version, mut metadata } =
            serde_json::from_str(json.get()).ok()?;
        let api_version = own_version.map_or_else(|| Arc::clone(api_version), Arc::from);
        let id = ObjectId {
            group: api_version.split_once('/').map_or("", |(group, _)| group).to_owned(),
            kind: own_kind.unwrap_or_else(|| kind.to_owned()),
            namespace: metadata.namespace,
            name: metadata.name,
        };
        let label = metadata.labels.as_mut().and_then(|labels| labels.remove(PART_OF)).unwrap_or_default();
        let (kind, uid, apply_set) = (id.kind.as_str().into(), metadata.uid, label.into());
        Some((id, Self { api_version, kind, uid, apply_set, json }))
    }

    /// Parses the object. `None` if it is nested too deeply.
    pub(crate) fn parse(&self) -> Option<Value> {
        let mut value: Value = serde_json::from_str(self.json.get()).ok()?;
        let object = value.as_object_mut()?;
        object.entry("kind").or_insert_with(|| Value::from(&*self.kind));
        object.entry("apiVersion").or_insert_with(|| Value::from(&*self.api_version));
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ListPage, ResponseBody};
    use crate::object::ObjectId;

    fn read(page: &Value) -> Vec<(ObjectId, super::LabelledObject)> {
        let page: ListPage = serde_json::from_str(&page.to_string()).unwrap();
        page.into_objects().collect()
    }

    #[test]
    fn items_get_the_kind_and_the_api_version_of_their_list() {
        let metadata = json!({"name": "a", "namespace": "ns", "uid": "u",
            "labels": {"applyset.kubernetes.io/part-of": "set"}});
        let page = json!({"kind": "RoleList", "apiVersion": "rbac.authorization.k8s.io/v1",
        "metadata": {"continue": "next"}, "items": [
            {"metadata": metadata.clone(), "rules": []},
            {"kind": "Thing", "apiVersion": "v1", "metadata": {"name": "b"}},
            "no object",
        ]});
        let objects = read(&page);
        let ids: Vec<String> = objects.iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(ids, ["Role.rbac.authorization.k8s.io/a in ns", "Thing/b"]);
        let (_, role) = &objects[0];
        assert_eq!((&*role.uid, &*role.apply_set), ("u", "set"));
        let expected = json!({"kind": "Role", "apiVersion": "rbac.authorization.k8s.io/v1",
            "metadata": metadata, "rules": []});
        assert_eq!(role.parse(), Some(expected));
        assert_eq!((&*objects[1].1.uid, &*objects[1].1.apply_set), ("", ""));
    }

    #[test]
    fn a_page_may_have_no_items() {
        assert!(read(&json!({"items": null})).is_empty());
        assert!(read(&json!({"kind": "Status"})).is_empty());
        assert!(serde_json::from_str::<ListPage>("[1]").is_err());
    }

    #[test]
    fn the_memory_of_many_small_items_is_counted() {
        let text = format!("{{\"items\":[{}{{}}]}}", "{},".repeat(1000));
        assert_eq!(ListPage::memory(text.as_bytes()), text.len() + 1001 * 400);
    }
}
