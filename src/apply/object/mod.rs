pub(super) mod adopt;
pub(super) mod apply_object;
pub(super) mod delete_objects;
pub(super) mod server_side_apply;
