//! Describes why the API server rejects an apply, with the other managers that may be the reason.

use serde_json::Value;

use crate::apply::decide::co_owners::describe_co_owners;
use crate::apply::decide::displaced_items::displaced_items;
use crate::apply::decide::object_error::ObjectError;
use crate::apply::object::object_task::ObjectTask;
use crate::apply::wire::error::ApiError;

/// Returns the error for a rejected apply. If fields of other managers may be the reason, names them.
pub(crate) async fn rejection(task: &ObjectTask<'_>, fields: &Value, error: &ApiError) -> ObjectError {
    let rejected = task.api_error(error);
    if error.code != 422 {
        return rejected;
    }
    match task.read().await {
        Ok(Some(live)) => rejected.with_more(&others_in_the_way(&live, fields, error)),
        _ => rejected,
    }
}

/// Describes the fields of other managers that may be why the API server rejects an apply. Empty if there are none.
pub(crate) fn others_in_the_way(live: &Value, fields: &Value, error: &ApiError) -> String {
    match displaced_items(live, fields).first() {
        Some(item) => {
            format!("; {}; --adopt takes over what others set with update requests", item.describe(live))
        }
        None => describe_co_owners(live, error.causes().iter().map(|cause| cause.field.as_str())),
    }
}
