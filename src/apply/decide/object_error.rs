//! The reasons why an object could not be read, applied or deleted.

use std::fmt::{self, Write};

use serde_json::Value;

use crate::apply::decide::managed_fields;
use crate::apply::decide::ownership::NotOurs;

/// The number of field managers that a message names.
const NAMED_MANAGERS: usize = 5;

/// Why an object could not be read, applied or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObjectError {
    /// The object carries the label of another `ApplySet`.
    OtherApplySet(String),
    /// The object has a tombstone and is not transship's. The text names its field managers.
    TombstoneNotOurs { reason: NotOurs, managers: String },
    /// Other field managers own fields that transship would set. Each text is a field with its manager.
    Conflict(Vec<String>),
    /// An immutable field of an object that transship did not create would have to change.
    ImmutableNotOurs { fields: String },
    /// An immutable field would have to change, and nothing allows transship to recreate the object.
    ImmutableNeedsRecreate { fields: String, flags: String },
    /// An immutable field would have to change, and deleting the object would delete more than the object.
    ImmutableCascades { fields: String, consequence: &'static str },
    /// The API server rejects a change, but the object could be created. Nothing allows transship to recreate it.
    RejectedNeedsRecreate { message: String, flags: String },
    /// The API server rejects a change, and deleting the object would delete more than the object.
    RejectedCascades { message: String, consequence: &'static str },
    /// The API server does not serve the kind.
    KindNotServed { kind: String, hint: WaitHint },
    /// A CRD is established, but the API server does not serve its resource.
    ResourceNotServed { resource: String },
    /// The values of an issued object cannot be issued yet.
    NotIssued { reason: String },
    /// The namespace of the object does not exist.
    NamespaceMissing { namespace: String, hint: WaitHint },
    /// The namespace of the object is being deleted.
    NamespaceTerminating { namespace: String },
    /// All attempts conflicted, because someone else changed the object each time.
    KeepsChanging { action: &'static str },
    /// The object was deleted and still exists. The text names its finalizers.
    StillDeleting(String),
    /// The object reports that it failed.
    NotReady(String),
    /// The deadline passed. The text says what was seen last.
    DeadlineExceeded(String),
    /// A request failed.
    Request { message: String, class: ErrorClass },
}

/// Whether a message mentions `--wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitHint {
    Mention,
    Omit,
}

/// Whether another attempt may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    /// No: it fails again.
    Permanent,
    /// Yes: someone else may create what is missing, or a server may recover.
    Transient,
    /// Yes, once the cluster responds again. At the moment, no request can succeed.
    ClusterUnreachable,
    /// No: this command may not write any more.
    MayNotWrite,
}

impl ObjectError {
    /// Creates the error for an object that has a tombstone and is not transship's.
    pub(crate) fn tombstone(reason: NotOurs, live: &Value) -> Self {
        let mut managers = managed_fields::managers(live);
        let more = managers.len().saturating_sub(NAMED_MANAGERS);
        managers.truncate(NAMED_MANAGERS);
        let mut managers = managers.join(", ");
        if more > 0 {
            let _ = write!(managers, " and {more} more");
        }
        Self::TombstoneNotOurs { reason, managers }
    }

    pub(crate) fn class(&self) -> ErrorClass {
        match self {
            Self::KindNotServed { .. } | Self::NotIssued { .. } | Self::NamespaceMissing { .. } => {
                ErrorClass::Transient
            }
            Self::Request { class, .. } => *class,
            _ => ErrorClass::Permanent,
        }
    }

    pub(crate) fn is_cluster_unreachable(&self) -> bool {
        self.class() == ErrorClass::ClusterUnreachable
    }

    /// Returns the error of a request with more text.
    pub(crate) fn with_more(self, more: &str) -> Self {
        match self {
            Self::Request { message, class } => Self::Request { message: message + more, class },
            other => other,
        }
    }

    /// Returns the error as a transient one, for a cluster that still responds to other requests.
    pub(crate) fn into_transient(self) -> Self {
        match self {
            Self::Request { message, .. } => Self::Request { message, class: ErrorClass::Transient },
            other => other,
        }
    }
}

impl fmt::Display for WaitHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mention => "; --wait waits for it",
            Self::Omit => "",
        })
    }
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherApplySet(set) => {
                write!(f, "it belongs to another ApplySet, {set}, so transship does not change it")
            }
            Self::TombstoneNotOurs { reason, managers } => {
                write!(f, "it has a tombstone, but {reason}, so transship does not delete it; ")?;
                if managers.is_empty() {
                    f.write_str("it has no field managers")?;
                } else {
                    write!(f, "its field managers are {managers}")?;
                }
                f.write_str("; --adopt deletes it")
            }
            Self::Conflict(fields) => write!(
                f,
                "it existed before, and other field managers own fields that transship would set: {}; \
                 --adopt takes it over",
                fields.join(", ")
            ),
            Self::ImmutableNotOurs { fields } => {
                write!(f, "it existed before, and {fields} is immutable; --adopt takes it over")
            }
            Self::ImmutableNeedsRecreate { fields, flags } => {
                write!(f, "{fields} is immutable; {flags} deletes the object and creates it again")
            }
            Self::ImmutableCascades { fields, consequence } => {
                write!(f, "{fields} is immutable, and the object is never recreated: {consequence}")
            }
            Self::RejectedNeedsRecreate { message, flags } => write!(
                f,
                "{message}; the object can be created, but not changed: {flags} deletes it and creates it again"
            ),
            Self::RejectedCascades { message, consequence } => {
                write!(f, "{message}; the object is never recreated: {consequence}")
            }
            Self::NotIssued { reason } => write!(f, "its values cannot be issued: {reason}"),
            Self::KindNotServed { kind, hint } => {
                write!(f, "the API server does not serve the kind {kind}{hint}")
            }
            Self::ResourceNotServed { resource } => {
                write!(f, "the CRD is established, but the API server does not serve {resource}")
            }
            Self::NamespaceMissing { namespace, hint } => {
                write!(f, "its namespace {namespace} does not exist{hint}")
            }
            Self::NamespaceTerminating { namespace } => {
                write!(f, "its namespace {namespace} is being deleted, so nothing can be created in it")
            }
            Self::KeepsChanging { action } => {
                write!(f, "transship cannot {action}, because another client keeps changing it")
            }
            Self::StillDeleting(message)
            | Self::NotReady(message)
            | Self::DeadlineExceeded(message)
            | Self::Request { message, .. } => f.write_str(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorClass::{ClusterUnreachable, Permanent, Transient};
    use super::{ErrorClass, ObjectError, WaitHint};

    fn request(class: ErrorClass) -> ObjectError {
        ObjectError::Request { message: "no response".to_owned(), class }
    }

    fn missing_namespace(hint: WaitHint) -> ObjectError {
        ObjectError::NamespaceMissing { namespace: "ns".to_owned(), hint }
    }

    #[test]
    fn only_what_may_appear_later_is_tried_again() {
        let not_served = ObjectError::KindNotServed { kind: "Widget".to_owned(), hint: WaitHint::Omit };
        for (error, class) in [
            (not_served, Transient),
            (missing_namespace(WaitHint::Mention), Transient),
            (request(Permanent), Permanent),
            (request(Transient), Transient),
            (request(ClusterUnreachable), ClusterUnreachable),
            (ObjectError::NotReady("it failed".to_owned()), Permanent),
            (ObjectError::OtherApplySet("other".to_owned()), Permanent),
        ] {
            assert_eq!(error.class(), class, "{error}");
            assert_eq!(error.is_cluster_unreachable(), class == ClusterUnreachable, "{error}");
        }
    }

    #[test]
    fn an_error_of_a_cluster_that_responds_is_transient() {
        assert_eq!(request(ClusterUnreachable).into_transient(), request(Transient));
        let not_ready = ObjectError::NotReady("it failed".to_owned());
        assert_eq!(not_ready.clone().into_transient(), not_ready);
    }

    #[test]
    fn a_missing_namespace_mentions_wait_only_if_it_helps() {
        assert_eq!(
            missing_namespace(WaitHint::Mention).to_string(),
            "its namespace ns does not exist; --wait waits for it"
        );
        assert_eq!(missing_namespace(WaitHint::Omit).to_string(), "its namespace ns does not exist");
    }
}
