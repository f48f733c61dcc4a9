//! The result of a rollout, before pruning.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::apply::cluster::live_cluster::LiveCluster;
use crate::apply::decide::inventory::InventoryEntry;
use crate::apply::decide::rollout::StepId;

/// The result of a rollout.
pub(crate) struct RolloutResult<'a> {
    /// The clusters that responded.
    pub(crate) clusters: Vec<Option<Arc<LiveCluster<'a>>>>,
    /// The new entries of the inventory.
    pub(crate) entries: BTreeMap<StepId, InventoryEntry>,
    /// Whether each step is done.
    pub(crate) done: Vec<bool>,
}

impl RolloutResult<'_> {
    pub(crate) fn is_done(&self, step: StepId) -> bool {
        self.done[step.0]
    }

    /// Returns whether all steps are done.
    pub(crate) fn is_complete(&self) -> bool {
        self.done.iter().all(|done| *done)
    }
}
