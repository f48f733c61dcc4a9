//! Who owns an object, and what transship does with objects and fields that others own.

/// How to handle a field that another manager owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnConflict {
    /// Report the conflict.
    Fail,
    /// Take the field over.
    Force,
}

/// Whether an object belongs to transship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// transship created or adopted it.
    Ours,
    /// It existed before transship applied it, and it was not adopted.
    NotOurs,
}

/// Whether to take over objects that others created (`--adopt`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// Objects that others created stay theirs.
    #[default]
    Off,
    /// Objects that others created become transship's.
    On,
}
