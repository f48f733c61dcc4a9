//! Lists objects of a cluster, page by page.

use std::collections::BTreeMap;

use kube::api::ListParams;

use crate::apply::cluster::labelled_object::{LabelledObject, ListPage};
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
    pub(crate) objects: BTreeMap<ObjectId, LabelledObject>,
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
    let read_page = |page: Response<ListPage>| {
        objects.extend(page.value.into_objects());
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
    let read_page = |page: Response<ListPage>| {
        for (found, _) in page.value.into_objects() {
            existing.extend(by_name.get(found.name.as_str()).map(|id| (*id).clone()));
        }
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
    mut read_page: impl FnMut(Response<ListPage>),
) -> Result<Listed, RequestError> {
    let mut params = params.limit(PAGE_SIZE);
    for _ in 0..MAX_PAGES {
        // The response is 404 if the kind is no longer served.
        let page = server.get_as::<ListPage>(request(&params)?).await?;
        let Some(page) = page else { return Ok(Listed::Completely) };
        let token = page.value.continue_token().to_owned();
        read_page(page);
        if token.is_empty() {
            return Ok(Listed::Completely);
        }
        params = params.continue_token(&token);
    }
    Ok(Listed::Partly)
}
