//! Which kinds a cluster serves, and under which paths.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::apply::wire::api_server::Server;
use crate::apply::wire::error::Failure;

/// Where the objects of a kind are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::apply) struct Resource {
    pub(in crate::apply) group: String,
    pub(in crate::apply) version: String,
    pub(in crate::apply) plural: String,
    pub(in crate::apply) namespaced: bool,
}

impl Resource {
    /// Where a version of a group is.
    fn root(group: &str, version: &str) -> String {
        if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") }
    }

    /// The path of all objects: of a namespace, or of the cluster.
    pub(in crate::apply) fn collection(&self, namespace: &str) -> String {
        let Self { group, version, plural, namespaced } = self;
        let root = Self::root(group, version);
        match namespace {
            "" => format!("{root}/{plural}"),
            namespace if *namespaced => format!("{root}/namespaces/{namespace}/{plural}"),
            _ => format!("{root}/{plural}"),
        }
    }

    /// The path of one object.
    pub(in crate::apply) fn object(&self, namespace: &str, name: &str) -> String {
        format!("{}/{}", self.collection(namespace), escaped(name))
    }

    /// Asks a server for one kind, which may have come since it was asked for all.
    pub(in crate::apply) async fn ask(
        server: &Server,
        group: &str,
        version: &str,
        kind: &str,
    ) -> Result<Option<Self>, Failure> {
        let list = match server.get(&Self::root(group, version)).await {
            Ok(list) => list,
            Err(failure) if failure.code() == Some(404) => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let resources = list["resources"].as_array().into_iter().flatten();
        let mut plurals = resources.filter(|one| one["kind"] == kind).filter_map(|one| {
            // Others are below an object.
            Some((one["name"].as_str().filter(|name| !name.contains('/'))?, one["namespaced"] == true))
        });
        Ok(plurals.next().map(|(plural, namespaced)| Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespaced,
        }))
    }
}

/// What a name has as it is in a path.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'.').remove(b'-').remove(b'_').remove(b':').remove(b'@');

/// A name as it stands in a path. Those of some kinds may have nearly anything in them.
pub(in crate::apply) fn escaped(name: &str) -> String {
    utf8_percent_encode(name, PLAIN).to_string()
}

/// What a cluster serves.
#[derive(Debug, Default)]
pub(in crate::apply) struct Kinds {
    by_kind: HashMap<(String, String, String), Resource>,
}

impl Kinds {
    /// Asks the cluster, with two requests.
    pub(in crate::apply) async fn ask(server: &Server) -> Result<Self, Failure> {
        let mut kinds = Self::default();
        for path in ["/api", "/apis"] {
            let groups = server.knock(path).await?;
            // What is not said to be served would count as gone.
            if groups["kind"] != "APIGroupDiscoveryList" {
                return Err(Failure::Unreadable(format!("{path} does not say which kinds are served")));
            }
            kinds.read(&groups);
        }
        Ok(kinds)
    }

    fn read(&mut self, groups: &Value) {
        let items = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for group in items(groups, "items") {
            for version in items(&group, "versions") {
                for resource in items(&version, "resources") {
                    let kind = text(&resource["responseKind"]["kind"]);
                    let resource = Resource {
                        group: text(&group["metadata"]["name"]),
                        version: text(&version["version"]),
                        plural: text(&resource["resource"]),
                        namespaced: resource["scope"] == "Namespaced",
                    };
                    self.add(kind, resource);
                }
            }
        }
    }

    pub(in crate::apply) fn add(&mut self, kind: String, resource: Resource) {
        self.by_kind.insert((resource.group.clone(), resource.version.clone(), kind), resource);
    }

    /// The resource of a kind in a version.
    pub(in crate::apply) fn find(&self, group: &str, version: &str, kind: &str) -> Option<&Resource> {
        self.by_kind.get(&(group.to_owned(), version.to_owned(), kind.to_owned()))
    }

    /// The resource of a kind in whatever version is served.
    pub(in crate::apply) fn any(&self, group: &str, kind: &str) -> Option<&Resource> {
        let mut found: Vec<&Resource> =
            self.by_kind.iter().filter(|((g, _, k), _)| g == group && k == kind).map(|(_, r)| r).collect();
        found.sort();
        found.pop()
    }
}
