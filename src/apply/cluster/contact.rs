//! First contact with a cluster: which cluster it is, and its inventory. transship reads nothing else before it knows that the
//! clusters belong together.

use std::sync::Arc;

use futures_util::future::join;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::ListParams;
use kube::core::ApiResource;
use kube::discovery::Scope;
use serde_json::Value;

use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::inventory_store::InventoryStore;
use crate::apply::cluster::options::Options;
use crate::apply::cluster::target::TargetCluster;
use crate::apply::decide::binding::FoundIdentity;
use crate::apply::decide::inventory::{HOSTED_CONTROL_PLANE, InventoryLocation};
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::discovery::ServedResource;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::write_guard::WriteGuard;
use crate::object::Cluster;

/// The namespace whose uid identifies a cluster.
const KUBE_SYSTEM: &str = "kube-system";

/// A cluster that responds.
pub(crate) struct Contact {
    pub(crate) server: Arc<ApiServer>,
    pub(crate) identity: FoundIdentity,
    pub(crate) inventory: InventoryStore,
}

impl Contact {
    /// Finds out which cluster it is, and reads its inventory.
    pub(crate) async fn make(
        target: &TargetCluster<'_>,
        options: &Options,
        guard: WriteGuard,
    ) -> Result<Self, ClusterError> {
        let TargetCluster { client, profile, plan, .. } = target;
        let server = ApiServer::new(client.clone(), options.retry_timeout, options.deadline());
        let server = Arc::new(server.limited(options.limits).with_guard(guard));
        let location = InventoryLocation::of(profile, plan);
        let hosted = plan.hosted_control_plane.as_deref();
        // Nothing responds if the first request gets no response.
        let kube_system = namespace_uid(&server, Some(KUBE_SYSTEM)).await?;
        let others = async {
            match hosted.filter(|_| profile.cluster == Cluster::Guest) {
                Some(hosted) => find_other(&server, &location, hosted).await,
                None => Ok(None),
            }
        };
        let load =
            InventoryStore::load(Arc::clone(&server), location.clone(), profile.cluster, options.part_size);
        let (namespace, (other, inventory)) = join(namespace_uid(&server, hosted), join(others, load)).await;
        let mut inventory = inventory?;
        if profile.cluster == Cluster::Guest {
            inventory = find_earlier(&server, inventory, target, options).await?;
        }
        let identity = FoundIdentity {
            kube_system,
            hosted_namespace: namespace?,
            recorded: inventory.initial().binding.clone(),
            other_hosted_control_plane: other?,
        };
        Ok(Self { server, identity, inventory })
    }
}

/// Takes over the inventory of a guest from before its name contained that of the hosted control plane.
async fn find_earlier(
    server: &Arc<ApiServer>,
    inventory: InventoryStore,
    target: &TargetCluster<'_>,
    options: &Options,
) -> Result<InventoryStore, ClusterError> {
    let namespace = inventory.location().namespace.clone();
    let location = InventoryLocation { namespace, name: target.profile.inventory_name(None) };
    let was_replaced = inventory.initial().previous_sets.contains(&location.apply_set_id());
    if location == *inventory.location() || inventory.exists() && !was_replaced {
        return Ok(inventory);
    }
    let earlier =
        InventoryStore::load(Arc::clone(server), location, target.profile.cluster, options.part_size).await;
    match earlier {
        Ok(earlier) => Ok(inventory.replace(earlier)),
        // The right to read it is missing, or someone else has a ConfigMap with this name.
        Err(error) if !error.is_transient() => Ok(inventory),
        Err(error) => Err(error),
    }
}

/// Returns the uid of a namespace; `None` if it does not exist, or if the user may not read it.
async fn namespace_uid(server: &ApiServer, name: Option<&str>) -> Result<Option<String>, RequestError> {
    let Some(name) = name else { return Ok(None) };
    let namespaces = ServedResource { resource: ApiResource::erase::<Namespace>(&()), scope: Scope::Cluster };
    match server.probe(namespaces.object("", name).get_metadata()?).await {
        Ok(response) => Ok(response.value["metadata"]["uid"].as_str().map(str::to_owned)),
        Err(error) if matches!(error.code(), Some(403 | 404)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the namespace of another hosted control plane that has an inventory in the guest.
async fn find_other(
    server: &ApiServer,
    location: &InventoryLocation,
    hosted: &str,
) -> Result<Option<String>, RequestError> {
    let config_maps =
        ServedResource { resource: ApiResource::erase::<ConfigMap>(&()), scope: Scope::Namespaced };
    let others =
        ListParams::default().labels(&format!("{HOSTED_CONTROL_PLANE},{HOSTED_CONTROL_PLANE}!={hosted}"));
    let request = config_maps.collection(&location.namespace).list_metadata(&others.limit(1))?;
    let list = match server.get(request).await {
        Ok(list) => list.map(|response| response.value).unwrap_or_default(),
        Err(error) if error.code() == Some(403) => return Ok(None),
        Err(error) => return Err(error),
    };
    let first = list.pointer("/items/0/metadata/labels").and_then(|labels| labels.get(HOSTED_CONTROL_PLANE));
    Ok(first.and_then(Value::as_str).map(str::to_owned))
}
