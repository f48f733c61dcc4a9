//! Lists objects of a cluster, page by page.

use std::collections::BTreeMap;

use kube::api::ListParams;
use serde_json::Value;

use crate::apply::decide::inventory::PART_OF;
use crate::apply::wire::api_server::{ApiServer, Response};
use crate::apply::wire::error::RequestError;
use crate::apply::wire::memory::HeldMemory;
use crate::apply::wire::request::{ApiRequest, CollectionPath};
use crate::object::ObjectId;

/// The number of objects in one response to a list request.
const PAGE_SIZE: u32 = 500;
/// The maximum number of pages that transship reads. No payload has more objects of one kind, but users of the guest
/// can create more objects with the same label.
const MAX_PAGES: usize = 20;

/// The labelled objects of a kind.
#[derive(Default)]
pub(crate) struct LabelledObjects {
    pub(crate) objects: BTreeMap<ObjectId, Value>,
    /// The memory that the objects need.
    pub(crate) memory: HeldMemory,
    /// Whether the list is complete. If it is not, transship reads the other objects one by one.
    pub(crate) complete: bool,
}

/// Whether all pages of a list were read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Listed {
    Completely,
    Partly,
}

/// Lists all objects of a collection that carry the label of an `ApplySet`.
pub(crate) async fn list_labelled(
    server: &ApiServer,
    path: &CollectionPath,
) -> Result<LabelledObjects, RequestError> {
    let params = ListParams::default().labels(PART_OF);
    let (mut objects, memory) = (BTreeMap::new(), HeldMemory::default());
    let read_page = |page: Response| {
        take_items(page.value, |item| _ = objects.insert(id_of(&item), item));
        memory.add(page.memory);
    };
    let listed = list_pages(server, |params| path.list(params), params, read_page).await?;
    Ok(LabelledObjects { objects, memory, complete: listed == Listed::Completely })
}

/// Returns the objects of a collection that exist, or all of them if the list is incomplete. Keeps no page in memory.
pub(crate) async fn filter_existing(
    server: &ApiServer,
    path: &CollectionPath,
    ids: &[&ObjectId],
) -> Vec<ObjectId> {
    let mut by_name: BTreeMap<&str, &ObjectId> = BTreeMap::new();
    by_name.extend(ids.iter().map(|id| (id.name.as_str(), *id)));
    let mut existing = Vec::new();
    let read_page = |page: Response| {
        take_items(page.value, |item| {
            let name = item["metadata"]["name"].as_str().unwrap_or_default();
            existing.extend(by_name.get(name).map(|id| (*id).clone()));
        });
    };
    match list_pages(server, |params| path.list_metadata(params), ListParams::default(), read_page).await {
        Ok(Listed::Completely) => existing,
        // The list failed or is incomplete, so each of the objects may exist.
        _ => ids.iter().map(|id| (*id).clone()).collect(),
    }
}

/// Reads at most [`MAX_PAGES`] pages of a list. `request` builds the request for a page.
async fn list_pages(
    server: &ApiServer,
    request: impl Fn(&ListParams) -> Result<ApiRequest, RequestError>,
    params: ListParams,
    mut read_page: impl FnMut(Response),
) -> Result<Listed, RequestError> {
    let mut params = params.limit(PAGE_SIZE);
    for _ in 0..MAX_PAGES {
        // The response is 404 if the kind is no longer served.
        let Some(page) = server.get(request(&params)?).await? else { return Ok(Listed::Completely) };
        if !page.value.is_object() {
            return Ok(Listed::Partly);
        }
        let token = page.value["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
        read_page(page);
        if token.is_empty() {
            return Ok(Listed::Completely);
        }
        params = params.continue_token(&token);
    }
    Ok(Listed::Partly)
}

/// Takes the items of a page. The items of a list have no `kind` and `apiVersion`, so they are added.
pub(crate) fn take_items(mut page: Value, mut take: impl FnMut(Value)) {
    let kind = page["kind"].as_str().unwrap_or_default().trim_end_matches("List").to_owned();
    // An index would panic if the response is a text or a list.
    let api_version = page.get_mut("apiVersion").map(Value::take).unwrap_or_default();
    let Some(Value::Array(items)) = page.get_mut("items").map(Value::take) else { return };
    for mut item in items {
        let Some(map) = item.as_object_mut() else { continue };
        map.entry("kind").or_insert_with(|| Value::from(kind.clone()));
        map.entry("apiVersion").or_insert_with(|| api_version.clone());
        take(item);
    }
}

/// Returns the identity of a live object.
pub(crate) fn id_of(live: &Value) -> ObjectId {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let api_version = live["apiVersion"].as_str().unwrap_or_default();
    let metadata = &live["metadata"];
    ObjectId {
        group: api_version.split_once('/').map_or("", |(group, _)| group).to_owned(),
        kind: text(&live["kind"]),
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"]),
    }
}
