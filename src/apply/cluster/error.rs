//! Why a cluster cannot be used. Also converts the error of a request to the error of an object.

use std::fmt;
use std::time::Duration;

use crate::apply::decide::inventory::InventoryLocation;
use crate::apply::decide::object_error::{ErrorClass, ObjectError};
use crate::apply::wire::error::RequestError;
use crate::object::{Object, ObjectId, SensitiveTexts};

/// Why a cluster cannot be used.
#[derive(Clone, Debug)]
pub(crate) enum ClusterError {
    /// A request failed.
    Request(RequestError),
    /// A line of the inventory does not name an object.
    InvalidInventory { location: InventoryLocation, line: usize },
    /// The inventory would be too large for one object.
    InventoryTooLarge(usize),
    /// The namespace of the inventory does not exist.
    InventoryNamespaceMissing { namespace: String },
    /// The API server does not accept the inventory.
    InventoryNotWritten(RequestError),
    /// The API server does not delete the inventory.
    InventoryNotDeleted(RequestError),
    /// All attempts conflicted, because someone else wrote the inventory each time.
    InventoryKeepsChanging,
    /// Another rollout wrote the inventory.
    OtherRollout { location: InventoryLocation, conflict: RequestError },
}

impl ClusterError {
    /// Returns whether another attempt may help.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::Request(error) if error.is_transient())
    }

    /// Returns whether the cluster does not respond.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Request(error) if error.is_unreachable())
    }

    /// Returns when to try again, if the API server says so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Request(error) => error.retry_after(),
            _ => None,
        }
    }
}

impl From<RequestError> for ClusterError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(error) => error.fmt(f),
            Self::InvalidInventory { location, line } => {
                write!(f, "line {line} of the inventory, {location}, does not name an object")
            }
            Self::InventoryTooLarge(size) => {
                write!(f, "the inventory would have {size} bytes, which is too large for one object")
            }
            Self::InventoryNamespaceMissing { namespace } => {
                write!(f, "cannot write the inventory: its namespace {namespace} does not exist")
            }
            Self::InventoryNotWritten(error) => write!(f, "cannot write the inventory: {error}"),
            Self::InventoryNotDeleted(error) => write!(f, "cannot delete the inventory: {error}"),
            Self::InventoryKeepsChanging => {
                f.write_str("cannot write the inventory, because another client keeps changing it")
            }
            Self::OtherRollout { location, conflict } => write!(
                f,
                "another rollout is running: it wrote the inventory, {location}, since this one read it ({conflict})"
            ),
        }
    }
}

/// Converts the error of a request that sends an object. Masks sensitive values of the object in the message of the API
/// server. If a value is too short to search for, leaves the message of the API server out.
pub(crate) fn error_about(error: &RequestError, object: &Object) -> ObjectError {
    let texts = SensitiveTexts::of([&object.root]);
    match object_error(error, &object.id) {
        ObjectError::Request { class, .. } if texts.has_short() => {
            ObjectError::Request { message: error.message_without_values(), class }
        }
        ObjectError::Request { message, class } => {
            ObjectError::Request { message: texts.mask(&message), class }
        }
        other => other,
    }
}

/// Converts the error of a request for an object. Errors about a Secret do not quote the API server, which may repeat its
/// values.
pub(crate) fn object_error(error: &RequestError, id: &ObjectId) -> ObjectError {
    let class = if error.is_unreachable() {
        ErrorClass::ClusterUnreachable
    } else if error.is_transient() {
        ErrorClass::Transient
    } else {
        ErrorClass::Permanent
    };
    let is_secret = id.kind == "Secret";
    let message = if is_secret { error.message_without_values() } else { error.to_string() };
    ObjectError::Request { message, class }
}
