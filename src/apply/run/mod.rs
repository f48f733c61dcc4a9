//! Whole commands: the order and progress of all objects in all clusters.

pub(super) mod apply;
pub(super) mod cluster_start;
pub(super) mod clusters;
pub(super) mod contacts;
pub(super) mod credentials;
pub(super) mod delete;
pub(super) mod diff_live;
pub(super) mod drift_live;
pub(super) mod dry_run;
pub(super) mod history;
pub(super) mod inventory_update;
pub(super) mod live_change;
pub(super) mod move_inventory;
pub(super) mod not_rendered;
pub(super) mod orphan;
pub(super) mod phased_deletion;
pub(super) mod readiness_poll;
pub(super) mod rollout_result;
pub(super) mod rollout_run;
pub(super) mod run_start;
pub(super) mod step_retries;
pub(super) mod step_states;
pub(super) mod wait_for;
