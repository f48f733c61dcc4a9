//! Decisions without side effects: no requests, no clock, nothing asynchronous.

pub(super) mod binding;
pub(super) mod decision;
pub(super) mod delete_approval;
pub(super) mod desired;
pub(super) mod digest;
pub(super) mod event;
pub(super) mod guest_inventory;
pub(super) mod inventory;
pub(super) mod inventory_entries;
pub(super) mod inventory_entry;
pub(super) mod inventory_location;
pub(super) mod inventory_shards;
pub(super) mod json_fields;
pub(super) mod lease;
pub(super) mod lost_inventory;
pub(super) mod managed_fields;
pub(super) mod object_error;
pub(super) mod orphaned_fields;
pub(super) mod ownership;
pub(super) mod progress_line;
pub(super) mod prune;
pub(super) mod readiness;
pub(super) mod release_version;
pub(super) mod rollout;
pub(super) mod run_record;
pub(super) mod url_segment;
