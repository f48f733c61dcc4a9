//! The inventory in its cluster: read once, written where it changes, and only if nobody else has written it meanwhile.

use http::Method;
use serde_json::{Value, json};

use crate::apply::MANAGER;
use crate::apply::cluster::live_cluster::Side;
use crate::apply::decide::inventory::{Home, Inventory};
use crate::apply::object::server_side_apply::TRIES;
use crate::apply::wire::api_server::{Content, Server};
use crate::apply::wire::error::Failure;

/// The inventory as it is in the cluster.
pub(in crate::apply) struct Kept {
    inventory: Inventory,
    /// The version of that; none if there is no inventory.
    version: Option<String>,
}

impl Kept {
    pub(in crate::apply) async fn read(server: &Server, home: &Home) -> Result<Self, Failure> {
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

    /// Whether it is about the same render: two who want the same do not hinder each other.
    fn is_of_same(&self, other: &Inventory) -> bool {
        self.inventory == *other || !other.revision.is_empty() && self.inventory.revision == other.revision
    }

    pub(in crate::apply) fn inventory(&self) -> &Inventory {
        &self.inventory
    }
}

fn version(live: &Value) -> Option<String> {
    live["metadata"]["resourceVersion"].as_str().map(str::to_owned)
}

impl Side<'_> {
    pub(in crate::apply) fn has_inventory(&self) -> bool {
        self.kept.borrow().version.is_some()
    }

    /// Whether somebody else has begun something else since we did: then another rollout has the last word.
    pub(in crate::apply) async fn is_overtaken(&self) -> bool {
        let now = Kept::read(&self.server, &self.home).await;
        now.is_ok_and(|now| now.version.is_some() && !now.is_of_same(&self.kept.borrow().inventory))
    }

    /// Whether somebody else has written the inventory at all, be it that he brings again what we take away.
    pub(in crate::apply) async fn is_written_by_others(&self) -> bool {
        let now = Kept::read(&self.server, &self.home).await;
        now.is_ok_and(|now| now.version.is_some() && now.inventory != self.kept.borrow().inventory)
    }

    /// Writes the inventory where it differs from what is there.
    pub(in crate::apply) async fn keep(&self, inventory: &Inventory) -> Result<(), Failure> {
        let same = self.kept.borrow().inventory == *inventory;
        if same { Ok(()) } else { self.write(inventory).await }
    }

    /// Writes the inventory. Nobody else may have written it since it was read: two rollouts at once would each take
    /// away what the other brings.
    pub(in crate::apply) async fn write(&self, inventory: &Inventory) -> Result<(), Failure> {
        for _ in 0..TRIES {
            match self.try_to_write(inventory).await {
                Err(failure) if failure.code() == Some(409) => self.look_again(inventory, &failure).await?,
                written => return written,
            }
            if self.kept.borrow().inventory == *inventory {
                return Ok(());
            }
        }
        Err(Failure::Unreadable("the inventory is touched all the time, so it cannot be written".to_owned()))
    }

    async fn try_to_write(&self, inventory: &Inventory) -> Result<(), Failure> {
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
        match self.server.send(method, &path, Content::Json(&object.to_string())).await {
            Ok(answer) => {
                let version = version(&answer.value);
                *self.kept.borrow_mut() = Kept { inventory: inventory.clone(), version };
                Ok(())
            }
            Err(failure) if failure.is_passing() || failure.code() == Some(409) => Err(failure),
            Err(Failure::Refused(refusal)) if refusal.is_without_namespace() => {
                Err(Failure::NoHome(format!(
                    "the inventory cannot be written, since its namespace {} is not there",
                    self.home.namespace
                )))
            }
            Err(failure) => {
                Err(Failure::Unreadable(format!("the inventory cannot be written: {}", failure.words(false))))
            }
        }
    }

    /// A write whose answer was lost is found written, and what was only touched may be written again.
    async fn look_again(&self, wanted: &Inventory, failure: &Failure) -> Result<(), Failure> {
        let now = Kept::read(&self.server, &self.home).await?;
        if !now.is_of_same(wanted) && now.inventory != self.kept.borrow().inventory {
            return Err(self.somebody_else(failure));
        }
        *self.kept.borrow_mut() = now;
        Ok(())
    }

    fn somebody_else(&self, failure: &Failure) -> Failure {
        let Home { name, namespace } = &self.home;
        Failure::Unreadable(format!(
            "somebody else has written the inventory, ConfigMap/{name} in {namespace}, since we read it: another rollout is under way ({})",
            failure.words(false)
        ))
    }

    /// Takes the inventory itself away: the one that we know, in which nothing is any more.
    pub(in crate::apply) async fn take_inventory_away(&self) -> Result<(), Failure> {
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
