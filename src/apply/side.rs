//! One cluster while objects are applied to it: what it serves, what is in it of ours, and what we want there.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use http::Method;
use serde_json::Value;

use super::body::{Body, Policy};
use super::failure::Failure;
use super::inventory::{Entry, Home, Inventory, PART_OF};
use super::kinds::{Kinds, Resource};
use super::server::{Content, Server};
use crate::object::{Cluster, Object, ObjectId};

/// More objects than this come in several answers.
const PAGE: usize = 500;
/// No payload has more of one kind. What the guest's users label beside ours is not looked at for ever.
const MOST: usize = 20 * PAGE;

pub(super) struct Side<'a> {
    pub(super) cluster: Cluster,
    pub(super) server: Server,
    pub(super) home: Home,
    pub(super) policy: Policy<'a>,
    pub(super) kinds: RefCell<Kinds>,
    /// What the cluster says is in it because of us, and the version of that.
    pub(super) known: Inventory,
    pub(super) version: RefCell<Option<String>>,
    /// Every object that carries the label of a set, as it was at the beginning.
    pub(super) live: HashMap<ObjectId, Value>,
}

impl<'a> Side<'a> {
    /// Looks at a cluster: two requests for what it serves, one for the inventory, and one for every kind.
    pub(super) async fn look(
        cluster: Cluster,
        server: Server,
        home: Home,
        policy: Policy<'a>,
        objects: &[Object],
    ) -> Result<Self, Failure> {
        let kinds = Kinds::ask(&server).await?;
        let (known, version) = read_inventory(&server, &home).await?;
        let mut side = Self {
            cluster,
            server,
            home,
            policy,
            kinds: RefCell::new(kinds),
            known,
            version: RefCell::new(version),
            live: HashMap::new(),
        };
        let wanted = side.wanted(objects);
        for list in futures_util::future::join_all(wanted.iter().map(|kind| side.list(kind))).await {
            match list {
                Ok(list) => side.live.extend(list),
                Err(failure) if failure.is_silence() => return Err(failure),
                // Who may not list a kind, or cannot since nobody converts its objects, may still ask for one after the
                // other: whatever is wrong with a kind concerns its objects alone.
                Err(_) => {}
            }
        }
        Ok(side)
    }

    /// The kinds to look at, each in one version: that of the payload where it has one, since the fields of our objects
    /// are recorded in that.
    fn wanted(&self, objects: &[Object]) -> Vec<Resource> {
        let kinds = self.kinds.borrow();
        let known = self.known.entries.iter().filter_map(|entry| kinds.any(&entry.id.group, &entry.id.kind));
        let rendered = objects.iter();
        let rendered =
            rendered.filter_map(|object| kinds.find(&object.id.group, version_of(object), &object.id.kind));
        let all: BTreeMap<(&str, &str), &Resource> = known
            .chain(rendered)
            .map(|resource| ((resource.group.as_str(), resource.plural.as_str()), resource))
            .collect();
        all.into_values().cloned().collect()
    }

    /// All objects of a kind that belong to a set.
    pub(super) async fn list(&self, resource: &Resource) -> Result<Vec<(ObjectId, Value)>, Failure> {
        // A hosted cluster's objects never leave its namespace, and neither do our questions.
        let namespace = if self.cluster == Cluster::Management { self.home.namespace.as_str() } else { "" };
        let path = resource.collection(namespace);
        let (mut all, mut next) = (Vec::new(), String::new());
        loop {
            let query =
                format!("?labelSelector={}&limit={PAGE}&continue={next}", PART_OF.replace('/', "%2F"));
            let mut list = match self.server.get(&format!("{path}{query}")).await {
                Ok(list) => list,
                // The kind went away since we asked what is served.
                Err(failure) if failure.code() == Some(404) => return Ok(all),
                Err(failure) => return Err(failure),
            };
            let (kind, api) = (
                list["kind"].as_str().unwrap_or_default().trim_end_matches("List").to_owned(),
                list["apiVersion"].clone(),
            );
            for mut item in list["items"].as_array_mut().map(std::mem::take).unwrap_or_default() {
                // A list says the kind of its items once.
                if item.get("kind").is_none() {
                    item["kind"] = Value::from(kind.clone());
                    item["apiVersion"] = api.clone();
                }
                all.push((id_of(&item), item));
            }
            match list["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
                // The rest of ours is asked for one after the other.
                Some(_) if all.len() >= MOST => return Ok(all),
                Some(token) => token.clone_into(&mut next),
                None => return Ok(all),
            }
        }
    }

    pub(super) fn is_ours(&self, live: &Value) -> bool {
        set_of(live) == Some(self.home.set().as_str())
    }

    /// What an object's kind is served as; none if it is not.
    pub(super) fn resource(&self, object: &Object) -> Option<Resource> {
        self.kinds.borrow().find(&object.id.group, version_of(object), &object.id.kind).cloned()
    }

    /// Where an object is; none if the cluster does not serve its kind.
    pub(super) fn path(&self, object: &Object) -> Option<String> {
        Some(self.resource(object)?.object(&object.id.namespace, &object.id.name))
    }

    /// Where an object of the inventory is: by the version that it was applied with, or whichever is served now.
    pub(super) fn path_of(&self, entry: &Entry) -> Option<String> {
        let kinds = self.kinds.borrow();
        let Entry { id, version, .. } = entry;
        let resource = kinds.find(&id.group, version, &id.kind).or_else(|| kinds.any(&id.group, &id.kind))?;
        Some(resource.object(&id.namespace, &id.name))
    }

    /// An object as it was at the beginning, or as it is now if it did not carry a label; none if it is not there.
    pub(super) async fn find(&self, object: &Object) -> Result<Option<Value>, Failure> {
        match (self.live.get(&object.id), self.path(object)) {
            (Some(live), _) => Ok(Some(live.clone())),
            (None, Some(path)) => self.get(&path).await,
            (None, None) => Ok(None),
        }
    }

    /// What is at a path; none if nothing is.
    pub(super) async fn get(&self, path: &str) -> Result<Option<Value>, Failure> {
        match self.server.get(path).await {
            Ok(live) => Ok(Some(live)),
            Err(failure) if failure.code() == Some(404) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Whether somebody else has written the inventory since we did: then another rollout has the last word.
    pub(super) async fn is_overtaken(&self) -> bool {
        let seen = self.version.borrow().clone();
        let now = self.get(&self.home.path()).await.ok().flatten();
        now.is_some_and(|now| now["metadata"]["resourceVersion"].as_str() != seen.as_deref())
    }

    pub(super) fn body(&self, object: &Object) -> Body {
        self.policy.body(object)
    }

    /// Writes the inventory. Nobody else may have written it since it was read: two rollouts at once would each take
    /// away what the other brings.
    pub(super) async fn write_inventory(&self, inventory: &Inventory) -> Result<(), String> {
        let version = self.version.borrow().clone();
        let object = inventory.object(&self.home, version.as_deref()).map_err(|size| {
            format!("the inventory would have {size} bytes, which is more than an object may have")
        })?;
        let (method, path) = match version {
            Some(_) => (Method::PUT, self.home.path()),
            None => (Method::POST, self.home.collection()),
        };
        let path = format!("{path}?fieldManager={}", super::MANAGER);
        let text = object.to_string();
        let written = match self.server.send(method, &path, Content::Json(&text)).await {
            Ok(answer) => answer.value,
            Err(failure) if failure.code() == Some(409) => self.already_written(&object, &failure).await?,
            Err(failure) => return Err(format!("the inventory cannot be written: {}", failure.words(false))),
        };
        *self.version.borrow_mut() = written["metadata"]["resourceVersion"].as_str().map(str::to_owned);
        Ok(())
    }

    /// A write whose answer was lost is found written when it is tried again.
    async fn already_written(&self, wanted: &Value, failure: &Failure) -> Result<Value, String> {
        let live = self.get(&self.home.path()).await.ok().flatten().unwrap_or_default();
        if live["data"] == wanted["data"] {
            return Ok(live);
        }
        let home = &self.home;
        Err(format!(
            "somebody else has written the inventory, ConfigMap/{} in {}, since we read it: another rollout is under way ({})",
            home.name,
            home.namespace,
            failure.words(false)
        ))
    }
}

async fn read_inventory(server: &Server, home: &Home) -> Result<(Inventory, Option<String>), Failure> {
    let live = match server.get(&home.path()).await {
        Ok(live) => live,
        Err(failure) if failure.code() == Some(404) => return Ok((Inventory::default(), None)),
        Err(failure) => return Err(failure),
    };
    let installed = live["data"]["installed"] == "true";
    let text = live["data"]["objects"].as_str().unwrap_or_default();
    let inventory = Inventory::read(text, installed).map_err(|line| {
        let (name, namespace) = (&home.name, &home.namespace);
        Failure::Unreadable(format!(
            "line {line} of the inventory, ConfigMap/{name} in {namespace}, names no object"
        ))
    })?;
    Ok((inventory, live["metadata"]["resourceVersion"].as_str().map(str::to_owned)))
}

/// The version of an object's `apiVersion`.
pub(super) fn version_of(object: &Object) -> &str {
    let api = object.root.get("apiVersion").and_then(crate::yaml::Node::as_str).unwrap_or_default();
    api.rsplit('/').next().unwrap_or_default()
}

/// The set whose label an object carries.
pub(super) fn set_of(live: &Value) -> Option<&str> {
    live["metadata"]["labels"][PART_OF].as_str()
}

/// What a live object is.
pub(super) fn id_of(live: &Value) -> ObjectId {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let api = text(&live["apiVersion"]);
    let group = api.split_once('/').map_or(String::new(), |(group, _)| group.to_owned());
    let metadata = &live["metadata"];
    ObjectId {
        group,
        kind: text(&live["kind"]),
        namespace: text(&metadata["namespace"]),
        name: text(&metadata["name"]),
    }
}
