//! Decides before every write whether this command may write to a cluster.

use std::sync::{Arc, OnceLock};

use crate::apply::cluster::error::ClusterError;
use crate::apply::cluster::inventory_store::InventoryStore;
use crate::apply::cluster::write_lock::WriteLock;
use crate::apply::decide::inventory::Inventory;

/// The right of a command to write to one cluster.
pub(crate) struct Writer {
    /// The lock of the topology; `None` for commands that do not write.
    lock: Option<Arc<WriteLock>>,
    /// The inventory to write before the first object.
    ahead: OnceLock<Inventory>,
    /// At which acquisition of the lock the inventory was last written or checked; `None` before the first write.
    begun: tokio::sync::Mutex<Option<u64>>,
}

impl Writer {
    pub(crate) fn new(lock: Option<Arc<WriteLock>>) -> Self {
        Self { lock, ahead: OnceLock::new(), begun: tokio::sync::Mutex::default() }
    }

    /// Sets the inventory that lists everything that this command may create or delete.
    pub(crate) fn set_ahead(&self, ahead: Inventory) {
        _ = self.ahead.set(ahead);
    }

    pub(crate) fn ahead(&self) -> Option<&Inventory> {
        self.ahead.get()
    }

    /// Makes sure that this command may write: it holds the lock, the inventory in the cluster lists everything that it may
    /// create, and no other command wrote the inventory.
    pub(crate) async fn begin(&self, inventory: &InventoryStore) -> Result<(), ClusterError> {
        let Some(lock) = &self.lock else { return Ok(()) };
        let epoch = lock.hold().await?;
        let mut begun = self.begun.lock().await;
        match *begun {
            // Without a Lease, only the inventory tells whether another command writes.
            Some(known) if known == epoch && !lock.is_unavailable().await => return Ok(()),
            Some(_) => inventory.check_unchanged().await?,
            None => {
                if let Some(ahead) = self.ahead.get() {
                    inventory.save(ahead).await?;
                }
            }
        }
        *begun = Some(epoch);
        Ok(())
    }

    /// Holds the lock without writing the inventory: for objects that the inventory lists already.
    pub(crate) async fn hold(&self) -> Result<(), ClusterError> {
        if let Some(lock) = &self.lock {
            lock.hold().await?;
        }
        Ok(())
    }

    /// Returns whether this command has begun to write.
    pub(crate) async fn has_begun(&self) -> bool {
        self.begun.lock().await.is_some()
    }
}
