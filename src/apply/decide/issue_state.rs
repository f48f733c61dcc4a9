//! Whether an object has everything that is known only in the cluster.

use serde_json::Value;

use crate::credentials::due::Due;

/// Whether an object has everything that is known only in the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum IssueState {
    /// It has, or it needs nothing.
    #[default]
    Complete,
    /// It is an issued object with valid values, which its digest does not cover.
    Issued,
    /// It gets new values for this reason.
    Due(Due),
    /// It cannot be applied for this reason.
    Impossible(String),
}

impl IssueState {
    /// Returns whether a live object has everything.
    pub(crate) fn is_in(&self, desired: &Value, live: &Value) -> bool {
        match self {
            Self::Complete => true,
            Self::Issued => {
                let values = desired["data"].as_object().into_iter().flatten();
                values.into_iter().all(|(key, value)| live["data"].get(key) == Some(value))
            }
            Self::Due(_) | Self::Impossible(_) => false,
        }
    }
}
