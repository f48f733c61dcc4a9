//! Discovery: which resources an API server serves.
//!
//! kube's own `Discovery::run_aggregated` is not used, for three reasons. It reads responses of any size, and the guest's
//! administrator decides what is in them. It has no timeout or retry. And it reads a response that is not aggregated
//! discovery as an empty list, so that every object would count as gone. This module sends the same two requests through
//! [`ApiServer`], checks the responses and reads them into kube's types.

use std::cmp::Reverse;
use std::collections::HashMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroup, APIResourceList};
use kube::core::discovery::v2::{APIGroupDiscoveryList, APIResourceDiscovery};
use kube::core::gvk::GroupVersionKind;
use kube::core::{ApiResource, DynamicObject, Resource, Version};
use kube::discovery::Scope;
use serde_json::Value;
use tracing::debug;

use crate::apply::decide::url_segment::escape;
use crate::apply::wire::api_server::ApiServer;
use crate::apply::wire::error::RequestError;
use crate::apply::wire::request::{CollectionPath, ObjectPath, get_path};

/// Asks for all groups with their resources in one response. Kubernetes 1.27 to 1.29 have only `v2beta1`, with the same
/// fields.
const ACCEPT_AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                                 application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const ACCEPT_JSON: &str = "application/json";
const CORE_PATH: &str = "/api";
const GROUPS_PATH: &str = "/apis";
/// The number of versions of a group in which transship looks for a kind.
const MAX_VERSIONS: usize = 20;

/// A resource that an API server serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ServedResource {
    pub(crate) resource: ApiResource,
    pub(crate) scope: Scope,
}

impl ServedResource {
    /// Returns the path of the objects in a namespace; of all objects if the namespace is empty or the resource is
    /// cluster-scoped.
    pub(crate) fn collection(&self, namespace: &str) -> CollectionPath {
        let namespace = match self.scope {
            Scope::Namespaced if !namespace.is_empty() => Some(escape(namespace)),
            _ => None,
        };
        CollectionPath::new(DynamicObject::url_path(&self.resource, namespace.as_deref()))
    }

    /// Returns the path of one object.
    pub(crate) fn object(&self, namespace: &str, name: &str) -> ObjectPath {
        self.collection(namespace).object(name)
    }

    fn from_discovery(group: &str, version: &str, resource: APIResourceDiscovery) -> Self {
        let kind = resource.response_kind.and_then(|kind| kind.kind).unwrap_or_default();
        let plural = resource.resource.unwrap_or_default();
        let scope = scope(resource.scope.as_deref() == Some("Namespaced"));
        Self::new(&GroupVersionKind::gvk(group, version, &kind), &plural, scope)
    }

    pub(crate) fn new(gvk: &GroupVersionKind, plural: &str, scope: Scope) -> Self {
        Self { resource: ApiResource::from_gvk_with_plural(gvk, plural), scope }
    }
}

fn scope(is_namespaced: bool) -> Scope {
    if is_namespaced { Scope::Namespaced } else { Scope::Cluster }
}

/// The resources that an API server serves.
#[derive(Debug, Default)]
pub(crate) struct ServedResources {
    by_kind: HashMap<GroupVersionKind, ServedResource>,
    /// The most stable version of each kind, by its group and name. The guest's administrator decides how many kinds there
    /// are, so no list of them is searched.
    most_stable: HashMap<(String, String), ServedResource>,
}

impl ServedResources {
    /// Asks the API server, with two requests.
    pub(crate) async fn discover(server: &ApiServer) -> Result<Self, RequestError> {
        let mut resources = Self::default();
        for path in [CORE_PATH, GROUPS_PATH] {
            let response = server.probe(get_path(path, ACCEPT_AGGREGATED)?).await?;
            resources.read(path, response.value)?;
            response.memory.keep();
        }
        debug!(kinds = resources.by_kind.len(), "discovery");
        Ok(resources)
    }

    /// Reads the response to a discovery request.
    pub(crate) fn read(&mut self, path: &str, response: Value) -> Result<(), RequestError> {
        let not_discovery = || RequestError::NotDiscovery { path: path.to_owned() };
        // Every field of the list is optional, so another kind of response would be read as an empty list.
        if response["kind"] != "APIGroupDiscoveryList" {
            return Err(not_discovery());
        }
        let list: APIGroupDiscoveryList = serde_json::from_value(response).map_err(|_| not_discovery())?;
        for group in list.items {
            let name = group.metadata.and_then(|metadata| metadata.name).unwrap_or_default();
            for version in group.versions {
                let version_name = version.version.unwrap_or_default();
                for resource in version.resources {
                    self.add(ServedResource::from_discovery(&name, &version_name, resource));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn add(&mut self, served: ServedResource) {
        let ApiResource { group, version, kind, .. } = &served.resource;
        let priority = |version: &str| Version::parse(version).priority();
        let key = (group.clone(), kind.clone());
        let is_less_stable = |known: &ServedResource| {
            *version != known.resource.version && priority(version) < priority(&known.resource.version)
        };
        if !self.most_stable.get(&key).is_some_and(is_less_stable) {
            self.most_stable.insert(key, served.clone());
        }
        self.by_kind.insert(GroupVersionKind::gvk(group, version, kind), served);
    }

    /// Returns all resources.
    #[cfg(any(fuzzing, test))]
    pub(crate) fn all(&self) -> impl Iterator<Item = &ServedResource> {
        self.by_kind.values()
    }

    /// Returns the resource of a kind.
    pub(crate) fn find(&self, gvk: &GroupVersionKind) -> Option<&ServedResource> {
        self.by_kind.get(gvk)
    }

    /// Returns the resource of each kind, in its most stable version.
    pub(crate) fn all_kinds(&self) -> impl Iterator<Item = &ServedResource> {
        self.most_stable.values()
    }

    /// Returns the resource of a kind in its most stable version.
    pub(crate) fn find_any_version(&self, group: &str, kind: &str) -> Option<&ServedResource> {
        self.most_stable.get(&(group.to_owned(), kind.to_owned()))
    }
}

/// Returns whether the API server responds at all.
pub(crate) async fn is_responding(server: &ApiServer) -> bool {
    match get_path(CORE_PATH, ACCEPT_AGGREGATED) {
        Ok(request) => !server.probe(request).await.is_err_and(|error| error.is_unreachable()),
        Err(_) => true,
    }
}

/// Asks for the resource of one kind, which may be served since discovery ran.
pub(crate) async fn discover_kind(
    server: &ApiServer,
    gvk: &GroupVersionKind,
) -> Result<Option<ServedResource>, RequestError> {
    let Some(list) = list_resources(server, &gvk.group, &gvk.version).await? else { return Ok(None) };
    // A name with a slash is a subresource.
    let resource =
        list.resources.iter().find(|resource| resource.kind == gvk.kind && !resource.name.contains('/'));
    Ok(resource.map(|resource| ServedResource::new(gvk, &resource.name, scope(resource.namespaced))))
}

/// Returns whether the API server serves a resource.
pub(crate) async fn is_served(server: &ApiServer, resource: &ApiResource) -> Result<bool, RequestError> {
    let list = list_resources(server, &resource.group, &resource.version).await?;
    Ok(list.is_some_and(|list| list.resources.iter().any(|served| served.name == resource.plural)))
}

/// Asks for the resource of a kind in the most stable version of its group that has the kind.
pub(crate) async fn discover_stable(
    server: &ApiServer,
    group: &str,
    kind: &str,
) -> Result<Option<ServedResource>, RequestError> {
    for version in list_versions(server, group).await? {
        let found = discover_kind(server, &GroupVersionKind::gvk(group, &version, kind)).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Lists the versions of a group, the most stable first.
async fn list_versions(server: &ApiServer, group: &str) -> Result<Vec<String>, RequestError> {
    if group.is_empty() {
        return Ok(vec!["v1".to_owned()]);
    }
    let path = format!("{GROUPS_PATH}/{group}");
    let Some(response) = server.get(get_path(&path, ACCEPT_JSON)?).await? else { return Ok(Vec::new()) };
    let Ok(group) = serde_json::from_value::<APIGroup>(response.value) else {
        return Err(RequestError::NotDiscovery { path });
    };
    let mut versions: Vec<String> = group.versions.into_iter().map(|version| version.version).collect();
    versions.sort_by_cached_key(|version| Reverse(Version::parse(version).priority()));
    versions.truncate(MAX_VERSIONS);
    Ok(versions)
}

/// Lists the resources of a version of a group. Returns `None` if the version is not served.
async fn list_resources(
    server: &ApiServer,
    group: &str,
    version: &str,
) -> Result<Option<APIResourceList>, RequestError> {
    let path = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let Some(response) = server.get(get_path(&path, ACCEPT_JSON)?).await? else { return Ok(None) };
    match serde_json::from_value(response.value) {
        Ok(list) => Ok(Some(list)),
        Err(_) => Err(RequestError::NotDiscovery { path }),
    }
}

#[cfg(test)]
mod tests {
    use kube::core::GroupVersionKind;
    use kube::discovery::Scope;
    use serde_json::{Value, json};

    use super::{RequestError, ServedResource, ServedResources};

    fn version(version: &str, scope: &str) -> Value {
        let resource = json!({"resource": "widgets", "responseKind": {"kind": "Widget"}, "scope": scope, "verbs": ["list"]});
        json!({"version": version, "resources": [resource]})
    }

    fn read(response: Value) -> Result<ServedResources, RequestError> {
        let mut resources = ServedResources::default();
        resources.read("/apis", response)?;
        Ok(resources)
    }

    #[test]
    fn resources_are_found_by_kind() {
        let versions = [version("v1beta1", "Namespaced"), version("v1", "Namespaced")];
        let group =
            json!({"metadata": {"name": "example.test", "creationTimestamp": null}, "versions": versions});
        let resources = read(json!({"kind": "APIGroupDiscoveryList", "items": [group]})).unwrap();
        let found = resources.find(&GroupVersionKind::gvk("example.test", "v1beta1", "Widget")).unwrap();
        assert_eq!((found.resource.plural.as_str(), &found.scope), ("widgets", &Scope::Namespaced));
        assert!(resources.find(&GroupVersionKind::gvk("example.test", "v2", "Widget")).is_none());
        let stable = resources.find_any_version("example.test", "Widget").unwrap();
        assert_eq!(stable.resource.version, "v1");
    }

    #[test]
    fn the_most_stable_version_is_found_without_a_search() {
        // A search in all kinds for each would take 10^10 steps.
        let kind = |number: usize| GroupVersionKind::gvk("example.test", "v1", &format!("Kind{number}"));
        let mut resources = ServedResources::default();
        for number in 0..100_000 {
            resources.add(ServedResource::new(&kind(number), "kinds", Scope::Cluster));
        }
        for number in 0..100_000 {
            assert!(resources.find_any_version("example.test", &kind(number).kind).is_some());
        }
        let widget = |version: &str| GroupVersionKind::gvk("example.test", version, "Widget");
        for version in ["v1beta1", "v2", "v1", "v2alpha1"] {
            resources.add(ServedResource::new(&widget(version), "widgets", Scope::Cluster));
        }
        assert_eq!(resources.find_any_version("example.test", "Widget").unwrap().resource.version, "v2");
    }

    #[test]
    fn other_responses_are_rejected() {
        for response in [
            json!({}),
            json!([]),
            json!({"kind": "APIGroupList", "groups": []}),
            json!({"kind": "APIGroupDiscoveryList", "items": 7}),
        ] {
            assert!(matches!(read(response), Err(RequestError::NotDiscovery { .. })));
        }
    }
}
