//! One object: server-side apply, conflicts, adoption and deletion.

pub(super) mod adopt;
pub(super) mod apply_object;
pub(super) mod delete;
pub(super) mod issue;
pub(super) mod object_task;
pub(super) mod object_version;
pub(super) mod orphan;
pub(super) mod recreate;
pub(super) mod rejection;
pub(super) mod replacement;
pub(super) mod server_side_apply;
