//! One cluster while objects are applied to it: what it serves, what is in it of ours, and what we want there.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use http::Method;
use serde_json::Value;

use crate::apply::cluster::inventory_store::Kept;
use crate::apply::decide::desired::{Body, Policy};
use crate::apply::decide::inventory::{Entry, Home, Inventory, PART_OF};
use crate::apply::wire::api_server::{Content, Server};
use crate::apply::wire::discovery::{Kinds, Resource};
use crate::apply::wire::error::{Failure, Problem};
use crate::object::{Cluster, Object, ObjectId, is_tombstone};

/// More objects than this come in several answers.
const PAGE: usize = 500;
/// No payload has more of one kind. What the guest's users label beside ours is not looked at for ever.
const PAGES: usize = 20;

pub(in crate::apply) struct Side<'a> {
    pub(in crate::apply) cluster: Cluster,
    pub(in crate::apply) server: Server,
    pub(in crate::apply) home: Home,
    pub(in crate::apply) policy: Policy<'a>,
    pub(in crate::apply) kinds: RefCell<Kinds>,
    /// What the cluster said in the beginning that is in it because of us, and what it says now.
    pub(in crate::apply) known: Inventory,
    pub(in crate::apply) kept: RefCell<Kept>,
    /// Every object that carries the label of a set, as it was at the beginning.
    pub(in crate::apply) live: HashMap<ObjectId, Value>,
    /// Objects that others have made, or may have made, where ours will be.
    strangers: HashSet<ObjectId>,
    /// Kinds whose objects cannot be listed.
    unlisted: HashSet<Resource>,
}

impl<'a> Side<'a> {
    /// Looks at a cluster: two requests for what it serves, one for the inventory, and one for every kind.
    pub(in crate::apply) async fn look(
        cluster: Cluster,
        server: Server,
        home: Home,
        policy: Policy<'a>,
        objects: &[Object],
    ) -> Result<Self, Failure> {
        let kinds = Kinds::ask(&server).await?;
        let kept = Kept::read(&server, &home).await?;
        let mut side = Self {
            cluster,
            server,
            home,
            policy,
            kinds: RefCell::new(kinds),
            known: kept.inventory().clone(),
            kept: RefCell::new(kept),
            live: HashMap::new(),
            strangers: HashSet::new(),
            unlisted: HashSet::new(),
        };
        let wanted = side.wanted(objects);
        let lists = futures_util::future::join_all(wanted.iter().map(|kind| side.list(kind))).await;
        for (kind, list) in wanted.into_iter().zip(lists) {
            match list {
                Ok(list) => side.live.extend(list),
                Err(failure) => {
                    if failure.is_silence() && side.is_silent().await {
                        return Err(failure);
                    }
                    // Who may not list a kind, or cannot since nobody converts its objects, may still ask for one after
                    // the other: whatever is wrong with a kind concerns its objects alone.
                    side.unlisted.insert(kind);
                }
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
    pub(in crate::apply) async fn list(
        &self,
        resource: &Resource,
    ) -> Result<Vec<(ObjectId, Value)>, Failure> {
        // A hosted cluster's objects never leave its namespace, and neither do our questions.
        let namespace = if self.cluster == Cluster::Management { self.home.namespace.as_str() } else { "" };
        let selector = format!("labelSelector={}&", PART_OF.replace('/', "%2F"));
        // What is behind the last page is asked for one after the other, if it is ours.
        let (all, _) = self.pages(&resource.collection(namespace), &selector, Content::Nothing).await?;
        Ok(all.into_iter().map(|item| (id_of(&item), item)).collect())
    }

    /// Everything in a list, or as much of it as anybody wants to see; and whether that is all.
    async fn pages(
        &self,
        path: &str,
        selector: &str,
        content: Content<'_>,
    ) -> Result<(Vec<Value>, bool), Failure> {
        let (mut all, mut next) = (Vec::new(), String::new());
        for _ in 0..PAGES {
            let query = format!("?{selector}limit={PAGE}&continue={next}");
            let mut list = match self.server.send(Method::GET, &format!("{path}{query}"), content).await {
                Ok(answer) => answer.value,
                // The kind went away since we asked what is served.
                Err(failure) if failure.code() == Some(404) => return Ok((all, true)),
                Err(failure) => return Err(failure),
            };
            let (kind, api) = (
                list["kind"].as_str().unwrap_or_default().trim_end_matches("List").to_owned(),
                list["apiVersion"].clone(),
            );
            let items = list.get_mut("items").and_then(Value::as_array_mut).map(std::mem::take);
            for mut item in items.unwrap_or_default() {
                let Some(map) = item.as_object_mut() else { continue };
                // A list says the kind of its items once.
                map.entry("kind").or_insert_with(|| Value::from(kind.clone()));
                map.entry("apiVersion").or_insert_with(|| api.clone());
                all.push(item);
            }
            match list["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) {
                Some(token) => token.clone_into(&mut next),
                None => return Ok((all, true)),
            }
        }
        Ok((all, false))
    }

    /// Looks for objects that others have made where ours will be: one list of names for every kind and namespace in which
    /// we have an object that was never there.
    pub(in crate::apply) async fn find_strangers(&mut self, objects: &[Object]) {
        let is_new = |object: &&Object| {
            let known = self.known.find(&object.id).is_some_and(|entry| !entry.uid.is_empty());
            !known && !is_tombstone(&object.root) && !self.live.contains_key(&object.id)
        };
        let mut places: BTreeMap<(Resource, &str), Vec<&ObjectId>> = BTreeMap::new();
        for object in objects.iter().filter(is_new) {
            if let Some(resource) = self.resource(object).filter(|kind| !self.unlisted.contains(kind)) {
                places.entry((resource, object.id.namespace.as_str())).or_default().push(&object.id);
            }
        }
        let side = &*self;
        let look = |(resource, namespace): &(Resource, &str)| {
            let path = resource.collection(namespace);
            async move { side.pages(&path, "", Content::Names).await }
        };
        let found = futures_util::future::join_all(places.keys().map(look)).await;
        let mut strangers = HashSet::new();
        for (wanted, found) in places.into_values().zip(found) {
            // What could not be seen may be there.
            let names: Option<HashSet<String>> =
                found.ok().filter(|(_, complete)| *complete).map(|(all, _)| {
                    all.iter().filter_map(|one| one["metadata"]["name"].as_str().map(str::to_owned)).collect()
                });
            let is_there = |id: &&&ObjectId| names.as_ref().is_none_or(|names| names.contains(&id.name));
            strangers.extend(wanted.iter().filter(is_there).map(|id| (*id).clone()));
        }
        self.strangers = strangers;
    }

    /// Whether an object that does not carry a label was not there when we looked.
    pub(in crate::apply) fn is_most_likely_new(&self, object: &Object) -> bool {
        let is_listed = self.resource(object).is_none_or(|resource| !self.unlisted.contains(&resource));
        is_listed && !self.strangers.contains(&object.id)
    }

    /// Whether the cluster has stopped to answer anything at all.
    pub(in crate::apply) async fn is_silent(&self) -> bool {
        self.server.knock("/api").await.is_err_and(|failure| failure.is_silence())
    }

    pub(in crate::apply) fn is_ours(&self, live: &Value) -> bool {
        set_of(live) == Some(self.home.set().as_str())
    }

    /// What an object's kind is served as; none if it is not.
    pub(in crate::apply) fn resource(&self, object: &Object) -> Option<Resource> {
        self.kinds.borrow().find(&object.id.group, version_of(object), &object.id.kind).cloned()
    }

    /// Where an object is, if that is known or its kind has come to be served since we asked.
    pub(in crate::apply) async fn path_or_ask(
        &self,
        known: Option<String>,
        id: &ObjectId,
        version: &str,
    ) -> Result<Option<String>, Problem> {
        if known.is_some() {
            return Ok(known);
        }
        let resource = Resource::ask(&self.server, &id.group, version, &id.kind).await;
        let Some(resource) = resource.map_err(|failure| Problem::of(&failure, id))? else { return Ok(None) };
        let path = resource.object(&id.namespace, &id.name);
        self.kinds.borrow_mut().add(id.kind.clone(), resource);
        Ok(Some(path))
    }

    /// Where an object is; none if the cluster does not serve its kind.
    pub(in crate::apply) fn path(&self, object: &Object) -> Option<String> {
        Some(self.resource(object)?.object(&object.id.namespace, &object.id.name))
    }

    /// Where an object of the inventory is: by the version that it was applied with, or whichever is served now.
    pub(in crate::apply) fn path_of(&self, entry: &Entry) -> Option<String> {
        let kinds = self.kinds.borrow();
        let Entry { id, version, .. } = entry;
        let resource = kinds.find(&id.group, version, &id.kind).or_else(|| kinds.any(&id.group, &id.kind))?;
        Some(resource.object(&id.namespace, &id.name))
    }

    /// An object as it was at the beginning, or as it is now if it did not carry a label; none if it is not there.
    pub(in crate::apply) async fn find(&self, object: &Object) -> Result<Option<Value>, Failure> {
        match (self.live.get(&object.id), self.path(object)) {
            (Some(live), _) => Ok(Some(live.clone())),
            (None, Some(path)) => self.get(&path).await,
            (None, None) => Ok(None),
        }
    }

    /// What is at a path; none if nothing is.
    pub(in crate::apply) async fn get(&self, path: &str) -> Result<Option<Value>, Failure> {
        match self.server.get(path).await {
            Ok(live) => Ok(Some(live)),
            Err(failure) if failure.code() == Some(404) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    pub(in crate::apply) fn body(&self, object: &Object) -> Body {
        self.policy.body(object)
    }
}

/// The version of an object's `apiVersion`.
pub(in crate::apply) fn version_of(object: &Object) -> &str {
    let api = object.root.get("apiVersion").and_then(crate::yaml::Node::as_str).unwrap_or_default();
    api.rsplit('/').next().unwrap_or_default()
}

/// The set whose label an object carries.
pub(in crate::apply) fn set_of(live: &Value) -> Option<&str> {
    live["metadata"]["labels"][PART_OF].as_str()
}

/// What a live object is.
pub(in crate::apply) fn id_of(live: &Value) -> ObjectId {
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
