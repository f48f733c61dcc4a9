//! Why something is issued.

use std::fmt;

/// The reason why an object gets new values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// It has no values yet.
    New,
    /// Its values cannot be read, or do not belong together.
    Invalid,
    /// The DNS names changed.
    Names,
    /// The identity changed.
    Identity,
    /// It is to be used by servers or clients that it is not for.
    Usage,
    /// The algorithm of the key changed.
    Algorithm,
    /// The signer changed.
    Signer,
    /// The address of the API server changed.
    Server,
    /// The authorities changed.
    Authorities,
    /// The content is a different one.
    Content,
    /// Two thirds of its lifetime are over.
    Renewal,
    /// A user asked for it.
    Requested,
}

impl fmt::Display for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::New => "it is new",
            Self::Invalid => "its values were not valid",
            Self::Names => "its names changed",
            Self::Identity => "its identity changed",
            Self::Usage => "its usage changed",
            Self::Algorithm => "the algorithm of its key changed",
            Self::Signer => "its signer changed",
            Self::Server => "the URL of the API server changed",
            Self::Authorities => "the authorities changed",
            Self::Content => "its content changed",
            Self::Renewal => "two thirds of its lifetime are over",
            Self::Requested => "its renewal was requested",
        })
    }
}
