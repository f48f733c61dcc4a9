//! The inventory in its cluster: read once, written where it changes, and only if nobody else has written it meanwhile.

use http::Method;
use serde_json::{Value, json};

use super::MANAGER;
use super::failure::Failure;
use super::inventory::{Home, Inventory};
use super::server::{Content, Server};
use super::side::Side;

/// The inventory as it is in the cluster.
pub(super) struct Kept {
    inventory: Inventory,
    /// The version of that; none if there is no inventory.
    version: Option<String>,
}

impl Kept {
    pub(super) async fn read(server: &Server, home: &Home) -> Result<Self, Failure> {
        let live = match server.get(&home.path()).await {
            Ok(live) => live,
            Err(failure) if failure.code() == Some(404) => Value::Null,
            Err(failure) => return Err(failure),
        };
        let data = |key: &str| live["data"][key].as_str().unwrap_or_default();
        let mut inventory =
            Inventory::read(data("objects"), data("installed") == "true").map_err(|line| {
                let (name, namespace) = (&home.name, &home.namespace);
                Failure::Unreadable(format!(
                    "line {line} of the inventory, ConfigMap/{name} in {namespace}, names no object"
                ))
            })?;
        data("revision").clone_into(&mut inventory.revision);
        Ok(Self { inventory, version: version(&live) })
    }

    pub(super) fn inventory(&self) -> &Inventory {
        &self.inventory
    }
}

fn version(live: &Value) -> Option<String> {
    live["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}

impl Side<'_> {
    pub(super) fn has_inventory(&self) -> bool {
        self.kept.borrow().version.is_some()
    }

    /// Whether somebody else has written the inventory since we did: then another rollout has the last word.
    pub(super) async fn is_overtaken(&self) -> bool {
        let seen = self.kept.borrow().version.clone();
        let now = self.get(&self.home.path()).await.ok().flatten();
        now.is_some_and(|now| version(&now) != seen)
    }

    /// Writes the inventory where it differs from what is there.
    pub(super) async fn keep(&self, inventory: &Inventory) -> Result<(), Failure> {
        let same = self.kept.borrow().inventory == *inventory;
        if same { Ok(()) } else { self.write(inventory).await }
    }

    /// Writes the inventory. Nobody else may have written it since it was read: two rollouts at once would each take
    /// away what the other brings.
    pub(super) async fn write(&self, inventory: &Inventory) -> Result<(), Failure> {
        let before = self.kept.borrow().version.clone();
        let object = inventory.object(&self.home, before.as_deref()).map_err(|size| {
            Failure::Unreadable(format!(
                "the inventory would have {size} bytes, which is more than an object may have"
            ))
        })?;
        let (method, path) = match before {
            Some(_) => (Method::PUT, self.home.path()),
            None => (Method::POST, self.home.collection()),
        };
        let path = format!("{path}?fieldManager={MANAGER}");
        let written = match self.server.send(method, &path, Content::Json(&object.to_string())).await {
            Ok(answer) => answer.value,
            Err(failure) if failure.code() == Some(409) => self.already_written(&object, &failure).await?,
            Err(failure) if failure.is_passing() => return Err(failure),
            Err(failure) => {
                let why = format!("the inventory cannot be written: {}", failure.words(false));
                return Err(Failure::Unreadable(why));
            }
        };
        *self.kept.borrow_mut() = Kept { inventory: inventory.clone(), version: version(&written) };
        Ok(())
    }

    /// A write whose answer was lost is found written when it is tried again.
    async fn already_written(&self, wanted: &Value, failure: &Failure) -> Result<Value, Failure> {
        let live = self.get(&self.home.path()).await.ok().flatten().unwrap_or_default();
        if live["data"] == wanted["data"] { Ok(live) } else { Err(self.somebody_else(failure)) }
    }

    fn somebody_else(&self, failure: &Failure) -> Failure {
        let Home { name, namespace } = &self.home;
        Failure::Unreadable(format!(
            "somebody else has written the inventory, ConfigMap/{name} in {namespace}, since we read it: another rollout is under way ({})",
            failure.words(false)
        ))
    }

    /// Takes the inventory itself away: the one that we know, in which nothing is any more.
    pub(super) async fn take_inventory_away(&self) -> Result<(), Failure> {
        let Some(version) = self.kept.borrow().version.clone() else { return Ok(()) };
        let same = json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"resourceVersion": version},
        });
        let same = same.to_string();
        match self.server.send(Method::DELETE, &self.home.path(), Content::Json(&same)).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.code() == Some(404) => Ok(()),
            Err(failure) if failure.code() == Some(409) => Err(self.somebody_else(&failure)),
            Err(failure) => Err(Failure::Unreadable(format!(
                "the inventory cannot be taken away: {}",
                failure.words(false)
            ))),
        }
    }
}
