//! The fuzz targets for what clusters and kubeconfigs contain.
#![allow(clippy::missing_panics_doc, reason = "a target fails by panicking")]

use http::{Request, Response};
use kube::client::{Body, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::GroupVersionKind;
use kube::discovery::Scope;
use kube::{Client, Config};
use serde_json::{Value, json};
use tower::{BoxError, ServiceBuilder, service_fn};

use crate::apply::Adoption;
use crate::apply::cluster::labelled_object::ListPage;
use crate::apply::decide::guest_inventory::check_entries;
use crate::apply::decide::inventory::{InventoryEntry, InventoryLocation, ParsedInventory};
use crate::apply::decide::predecessors::{Predecessors, adoption_patch, leaving_patch};
use crate::apply::decide::readiness::readiness;
use crate::apply::decide::{json_fields, managed_fields, orphaned_fields, ownership};
use crate::apply::wire::api_server::ResponseBody;
use crate::apply::wire::credential_plugin;
use crate::apply::wire::discovery::{ServedResource, ServedResources};
use crate::apply::wire::error::{ApiError, RequestError};
use crate::apply::wire::memory::estimate;
use crate::apply::wire::{kubeconfig, proxy};
use crate::object::ObjectId;

/// Reads a kubeconfig. A kubeconfig that passes the checks can be used for requests without a panic.
pub fn kubeconfig(text: &str) {
    let Ok(mut read) = Kubeconfig::from_yaml(text) else { return };
    // A target must not read files or run commands.
    for cluster in read.clusters.iter_mut().filter_map(|named| named.cluster.as_mut()) {
        cluster.certificate_authority = None;
    }
    for user in read.auth_infos.iter_mut().filter_map(|named| named.auth_info.as_mut()) {
        (user.exec, user.token_file, user.client_certificate, user.client_key) = (None, None, None, None);
    }
    let user = kubeconfig::user_name(&read, None).map(str::to_owned);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    runtime.block_on(async {
        let Ok(config) = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await else {
            return;
        };
        let checked = kubeconfig::check(&config).and_then(|()| proxy::find(&config));
        match checked {
            Ok(_) => send(&config).await,
            Err(invalid) => assert!(!invalid.diagnostic(user.as_deref()).to_string().is_empty()),
        }
        for warning in kubeconfig::warnings(&config) {
            assert!(!warning.to_string().contains('\n') || warning.help.is_some());
        }
    });
}

/// Sends a request through kube's layers to a server that returns nothing.
async fn send(config: &Config) {
    // The provider asks another server for a token.
    if config.auth_info.auth_provider.is_some() {
        return;
    }
    let (Ok(auth), Ok(headers)) = (config.auth_layer(), config.extra_headers_layer()) else { return };
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(auth)
        .layer(headers)
        .map_err(BoxError::from)
        .service(service_fn(|_: Request<Body>| async { Ok::<_, BoxError>(Response::new(Body::empty())) }));
    let client = Client::new(service, config.default_namespace.clone());
    if let Ok(request) = Request::get("/api/v1/namespaces/a/configmaps/b?x=1").body(Body::empty()) {
        let _ = client.send(request).await;
    }
}

/// Reads the lines of an inventory. What is written again is read as the same entries, and each entry leads to the one
/// object that it names, in the cluster that has the inventory.
pub fn inventory(text: &str) {
    let (revision, objects) = text.split_once('\n').unwrap_or(("", text));
    let data = json!({
        "installed": "true", "revision": revision, "shards": revision, "previousApplySets": revision,
        "hostedControlPlane": revision, "history": objects, "objects": objects,
    });
    let location = InventoryLocation { namespace: "ns".to_owned(), name: "inventory".to_owned() };
    let ParsedInventory { inventory, shards, .. } = ParsedInventory::read(&json!({"data": data}), &location);
    assert!(shards.iter().all(|name| name.starts_with("inventory-")));
    if let Ok(parts) = inventory.parts(&location, &shards, 200) {
        let mut again = ParsedInventory::read(&parts.main, &location);
        parts.shards.iter().for_each(|shard| again.add_shard(shard));
        assert_eq!((&again.inventory.entries, again.invalid), (&inventory.entries, None));
        assert_eq!(again.inventory.history, inventory.history);
    }
    inventory.entries.iter().for_each(leads_to_its_object);
    let is_rendered = |id: &ObjectId| id.name.len().is_multiple_of(3);
    let may_be_ours = |id: &ObjectId| id.name.len() % 3 == 1;
    let checked = check_entries(inventory.entries.to_vec(), is_rendered, may_be_ours);
    assert!(checked.kept.iter().all(|kept| inventory.find(&kept.id) == Some(kept)));
    assert!(checked.kept.iter().all(|kept| is_rendered(&kept.id) || may_be_ours(&kept.id)));
    assert_eq!(checked.kept.len() + checked.ghosts.len() + checked.surplus, inventory.entries.len());
}

/// Checks that the path of an entry has as many segments as that of any object, and that none leads elsewhere.
fn leads_to_its_object(entry: &InventoryEntry) {
    let id = &entry.id;
    for scope in [Scope::Namespaced, Scope::Cluster] {
        let gvk = GroupVersionKind::gvk(&id.group, &entry.version, &id.kind);
        let served = ServedResource::new(&gvk, "things", scope);
        let Ok(request) = served.object(&id.namespace, &id.name).get() else { continue };
        let segments: Vec<&str> = request.uri().path().split('/').skip(1).collect();
        let of_group = if id.group.is_empty() { 2 } else { 3 };
        let is_namespaced = served.scope == Scope::Namespaced && !id.namespace.is_empty();
        assert_eq!(segments.len(), of_group + if is_namespaced { 4 } else { 2 }, "{segments:?}");
        assert!(segments.iter().all(|segment| !["", ".", ".."].contains(segment)), "{segments:?}");
        assert_eq!((request.uri().query(), request.uri().authority()), (None, None));
    }
}

/// Reads a response of an API server: as an error, as the output of a plugin, as discovery, as a list and as an object.
pub fn response(body: &[u8]) {
    for code in [404, 409, 422, 500] {
        let error = ApiError::parse(code, None, body);
        assert!(error.message().chars().count() <= 10_000);
        _ = (error.immutable_fields(), error.is_role_missing(), error.version_not_served());
        let error = RequestError::Api(Box::new(error));
        _ = (error.to_string(), error.message_without_values(), error.is_transient());
    }
    _ = credential_plugin::read_credential(body);
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return };
    assert!(estimate(body) >= body.len());
    let mut served = ServedResources::default();
    if served.read("/apis", value.clone()).is_ok() {
        for resource in served.all() {
            assert!(served.find_any_version(&resource.resource.group, &resource.resource.kind).is_some());
            _ = resource.object("ns", "name").get();
        }
    }
    if let Ok(page) = serde_json::from_slice::<ListPage>(body) {
        assert!(ListPage::memory(body) >= body.len());
        for (id, object) in page.into_objects() {
            let Some(live) = object.parse() else { continue };
            let uid = live["metadata"]["uid"].as_str().unwrap_or_default();
            assert_eq!((id.kind.as_str(), &*object.uid), (live["kind"].as_str().unwrap_or_default(), uid));
            live_object(&live);
        }
    }
    live_object(&value);
}

/// Runs the decisions about a live object.
fn live_object(live: &Value) {
    _ = readiness(live, live);
    _ = (
        managed_fields::digest(live),
        managed_fields::managers(live),
        managed_fields::is_written_by_us(live),
    );
    let named = ["cluster-version-operator".to_owned()];
    let predecessors = Predecessors { named: &named, adoption: Adoption::On };
    _ = (ownership::apply_set_of(live), orphaned_fields::without_orphaned_fields(live, predecessors));
    assert!(leaving_patch(live, predecessors.of(live).as_ref()).is_object());
    _ = managed_fields::api_version_patch(live, "v1", "v2");
    if let Some(patch) = adoption_patch(live, predecessors) {
        assert!(patch["metadata"]["managedFields"].is_array());
    }
    if live.is_object() {
        assert_eq!(json_fields::merge_patch(live, live), json!({}), "the patch of an object to itself");
    }
    _ = json_fields::without_server_fields(live.clone());
}
