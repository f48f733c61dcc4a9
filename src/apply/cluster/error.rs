//! Why a cluster cannot be used. Also converts the error of a request to the error of an object.

use std::fmt;
use std::time::Duration;

use crate::apply::decide::binding::BindingError;
use crate::apply::decide::inventory::InventoryLocation;
use crate::apply::decide::lease::LeaseHolder;
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
    /// A `ConfigMap` with the name of the inventory is not an inventory of transship.
    NotAnInventory { location: InventoryLocation },
    /// There is an inventory already, to which another one cannot be moved.
    InventoryExists { location: InventoryLocation },
    /// The inventory would have too many objects.
    InventoryTooLarge { objects: usize },
    /// The namespace of the inventory does not exist.
    InventoryNamespaceMissing { namespace: String },
    /// The API server does not accept the inventory.
    InventoryNotWritten(RequestError),
    /// The API server does not delete the inventory.
    InventoryNotDeleted(RequestError),
    /// All attempts conflicted, because someone else wrote the inventory each time.
    InventoryKeepsChanging,
    /// Another command wrote the inventory.
    OtherRollout { location: InventoryLocation },
    /// The cluster is not the one that belongs to the other cluster.
    NotBound(BindingError),
    /// The management cluster cannot be used, so nobody knows whether the guest belongs to it.
    WithoutManagement,
    /// This command may not write.
    Lock(LockError),
}

/// Why a command may not write.
#[derive(Clone, Debug)]
pub(crate) enum LockError {
    /// Another command holds the Lease.
    Held { holder: LeaseHolder, waited: Duration },
    /// This command could not renew its Lease in time.
    Lost,
    /// The namespace of the Lease does not exist.
    NamespaceMissing { namespace: String },
    /// A request for the Lease failed.
    Request(RequestError),
}

impl From<RequestError> for LockError {
    fn from(error: RequestError) -> Self {
        Self::Request(error)
    }
}

impl From<kube::core::request::Error> for LockError {
    fn from(error: kube::core::request::Error) -> Self {
        Self::Request(error.into())
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held { holder, waited } => write!(
                f,
                "another command writes to the cluster: {holder}; waited {} s for it (--lock-timeout)",
                waited.as_secs()
            ),
            Self::Lost => RequestError::LeaseEnded.fmt(f),
            Self::NamespaceMissing { namespace } => {
                write!(f, "cannot create the Lease: its namespace {namespace} does not exist")
            }
            Self::Request(error) => write!(f, "cannot use the Lease: {error}"),
        }
    }
}

impl ClusterError {
    /// Returns whether another attempt may help.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Self::Request(error) | Self::Lock(LockError::Request(error)) => error.is_transient(),
            _ => false,
        }
    }

    /// Returns whether an admission webhook or policy rejects the inventory.
    pub(crate) fn is_inventory_rejected(&self) -> bool {
        match self {
            Self::InventoryNotWritten(RequestError::Api(error)) | Self::Request(RequestError::Api(error)) => {
                error.is_rejected_by_admission()
            }
            _ => false,
        }
    }

    /// Returns whether the namespace of the inventory does not exist.
    pub(crate) fn is_namespace_missing(&self) -> bool {
        matches!(self, Self::InventoryNamespaceMissing { .. })
    }

    /// Returns whether the cluster does not respond.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, Self::Request(error) if error.is_unreachable())
    }

    /// Returns whether the cluster is not used because the management cluster cannot be used.
    pub(crate) fn is_without_management(&self) -> bool {
        matches!(self, Self::WithoutManagement)
    }

    /// Returns when to try again, if the API server says so.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Request(error) => error.retry_after(),
            _ => None,
        }
    }
}

impl From<LockError> for ClusterError {
    /// The Lease is in the namespace of the inventory.
    fn from(error: LockError) -> Self {
        match error {
            LockError::NamespaceMissing { namespace } => Self::InventoryNamespaceMissing { namespace },
            error => Self::Lock(error),
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
            Self::NotAnInventory { location } => write!(
                f,
                "{location} has the name of the inventory, but it is not an inventory of transship; delete or rename it"
            ),
            Self::InventoryExists { location } => write!(f, "there is already an inventory, {location}"),
            Self::InventoryTooLarge { objects } => {
                write!(f, "the inventory would have {objects} objects, which is more than it can store")
            }
            Self::InventoryNamespaceMissing { namespace } => {
                write!(f, "cannot write the inventory: its namespace {namespace} does not exist")
            }
            Self::InventoryNotWritten(error) => write!(f, "cannot write the inventory: {error}"),
            Self::InventoryNotDeleted(error) => write!(f, "cannot delete the inventory: {error}"),
            Self::InventoryKeepsChanging => {
                f.write_str("cannot write the inventory, because another client keeps changing it")
            }
            Self::OtherRollout { location } => write!(
                f,
                "another command has written the inventory, {location}, since this one read it, so this one stops"
            ),
            Self::NotBound(error) => {
                write!(f, "{error}: expected {}, found {}", error.expected, error.found)
            }
            Self::WithoutManagement => f.write_str(
                "the management cluster cannot be used, so transship cannot check that the guest belongs to it",
            ),
            Self::Lock(error) => error.fmt(f),
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
    let class = if error.may_not_write() {
        ErrorClass::MayNotWrite
    } else if error.is_unreachable() {
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
