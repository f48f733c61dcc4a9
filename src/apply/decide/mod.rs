//! Decisions without side effects: no requests, no clock, nothing asynchronous.

pub(super) mod co_owners;
pub(super) mod decision;
pub(super) mod desired;
pub(super) mod digest;
pub(super) mod displaced_items;
pub(super) mod event;
pub(super) mod guest_inventory;
pub(super) mod inventory;
pub(super) mod inventory_entries;
pub(super) mod inventory_entry;
pub(super) mod json_fields;
pub(super) mod managed_fields;
pub(super) mod null_values;
pub(super) mod object_error;
pub(super) mod orphaned_fields;
pub(super) mod ownership;
pub(super) mod progress_line;
pub(super) mod prune;
pub(super) mod readiness;
pub(super) mod recreation;
pub(super) mod rollout;
pub(super) mod url_segment;
